#include "features/phrase_book.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

namespace {

constexpr std::uint32_t kNoPhrase = UINT32_MAX;

bool longer_or_left(const PhraseBook::Match& a, const PhraseBook::Match& b) {
  const std::uint32_t first = a.end - a.begin, second = b.end - b.begin;
  return first != second ? first > second : a.begin < b.begin;
}

// Leaves what does not overlap with what is longer, or as long and further left. Nothing that is taken lies
// inside of what comes later, which is no longer: so if they overlap, an end of the later one is taken.
void drop_overlapping(std::vector<PhraseBook::Match>& matches, std::size_t tokens) {
  std::sort(matches.begin(), matches.end(), longer_or_left);
  std::vector<bool> taken(tokens, false);
  std::erase_if(matches, [&](const PhraseBook::Match& match) {
    if (taken[match.begin] || taken[match.end - 1]) return true;
    std::fill(taken.begin() + match.begin, taken.begin() + match.end, true);
    return false;
  });
  std::sort(matches.begin(), matches.end(),
            [](const PhraseBook::Match& a, const PhraseBook::Match& b) { return a.begin < b.begin; });
}

}  // namespace

PhraseBook::PhraseBook(const TokenSequences& phrases, bool ignore_case)
    : set_(phrases, ignore_case), number_at_(set_.states().size(), kNoPhrase) {
  if (phrases.size() >= kNoPhrase) throw std::invalid_argument("dictionary: too many phrases");
  const std::vector<std::uint64_t> hashes = set_.hashes_of(phrases.tokens);
  for (std::uint32_t p = 0; p < phrases.size(); ++p) {
    const std::size_t begin = phrases.ends[p], end = phrases.ends[p + 1];
    numbers_.push_back(p);
    if (begin == end) continue;  // such a phrase is nowhere
    std::uint32_t& number = number_at_[set_.place_of(hashes.data() + begin, end - begin)];
    numbers_[p] = number = std::min(number, p);
  }
}

std::size_t PhraseBook::bytes() const {
  return set_.bytes() + sizeof(std::uint32_t) * (numbers_.capacity() + number_at_.capacity());
}

std::vector<PhraseBook::Match> PhraseBook::longest(const std::vector<std::string_view>& tokens) const {
  std::vector<Match> found;
  set_.match_all(set_.hashes_of(tokens), [&](std::size_t begin, std::size_t last, std::size_t place) {
    found.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(last + 1), number_at_[place]});
  });
  drop_overlapping(found, tokens.size());
  return found;
}

std::vector<PhraseBook::Match> PhraseBook::longest(const TokenTable& table, std::uint32_t column) const {
  if (column >= table.columns && table.tokens() != 0)
    throw std::invalid_argument("dictionary: column out of range");
  std::vector<Match> all;
  std::vector<std::string_view> tokens;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::uint32_t first = table.sentence[s], last = table.sentence[s + 1];
    tokens.clear();
    for (std::size_t t = first; t < last; ++t) tokens.push_back(table.field(t, column));
    for (const Match& match : longest(tokens))
      all.push_back({match.begin + first, match.end + first, match.phrase});
  }
  return all;
}

}  // namespace marginalia
