#include "features/word_table.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "base/hash.hpp"
#include "base/unicode.hpp"

namespace marginalia {

namespace {

constexpr std::uint64_t kNumber = 0xffff;  // the bits of an entry that are the number of its text
constexpr std::uint64_t kOfSpellings = 0x9e3779b97f4a7c15ULL;  // keeps spellings apart from words

std::uint64_t key_of_word(std::string_view text) {
  return scrambled(hash_of(text).hash) & ~kNumber;
}

std::uint64_t key_of_spellings(std::string_view lowered) {
  return scrambled(hash_of(lowered).hash + kOfSpellings) & ~kNumber;
}

std::string lowered(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) append(out, lower_of(next_code_point(text, at)));
  return out;
}

// Sorts entries and leaves one of each key.
void unite(std::vector<std::uint64_t>& entries) {
  std::sort(entries.begin(), entries.end());
  const auto same = [](std::uint64_t a, std::uint64_t b) { return (a & ~kNumber) == (b & ~kNumber); };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  entries.shrink_to_fit();
}

}  // namespace

WordTable::WordTable(const std::vector<Word>& words, bool any_case) : any_case_(any_case) {
  std::unordered_map<std::string_view, std::uint16_t> known;
  std::vector<std::uint16_t> numbers;
  for (const Word& word : words) {
    const auto [found, is_new] = known.try_emplace(word.text, static_cast<std::uint16_t>(texts_.size()));
    if (is_new) {
      if (texts_.size() == kMostTexts)
        throw std::invalid_argument("there are more than " + std::to_string(kMostTexts) + " different ones");
      texts_.emplace_back(word.text);
    }
    numbers.push_back(found->second);
    entries_.push_back(key_of_word(word.word) | found->second);
  }
  if (any_case) add_spellings(words, numbers);
  unite(entries_);
  index();
}

// An entry for each text in lower case whose most frequent spelling is another: it stands for all that are
// not there. A text whose own entry would say the same needs none.
void WordTable::add_spellings(const std::vector<Word>& words, const std::vector<std::uint16_t>& numbers) {
  std::unordered_map<std::string, std::size_t> most_frequent;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [found, is_new] = most_frequent.try_emplace(lowered(words[i].word), i);
    if (!is_new && words[i].count > words[found->second].count) found->second = i;
  }
  for (const auto& [text, i] : most_frequent)
    if (words[i].word != text) entries_.push_back(key_of_spellings(text) | numbers[i]);
}

WordTable::WordTable(std::vector<std::uint64_t> entries, std::vector<std::string> texts, bool any_case)
    : entries_(std::move(entries)), texts_(std::move(texts)), any_case_(any_case) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if ((entries_[i] & kNumber) >= texts_.size())
      throw std::invalid_argument("a table of words: a word has a text that is not there");
    if (i != 0 && (entries_[i - 1] & ~kNumber) >= (entries_[i] & ~kNumber))
      throw std::invalid_argument("a table of words: the words are not in order");
  }
  index();
}

void WordTable::index() {
  const int bits = std::max(1, static_cast<int>(std::bit_width(entries_.size())) - 1);
  shift_ = 64 - bits;
  buckets_.assign((std::size_t{1} << bits) + 1, 0);
  for (const std::uint64_t entry : entries_) ++buckets_[(entry >> shift_) + 1];
  for (std::size_t i = 1; i < buckets_.size(); ++i) buckets_[i] += buckets_[i - 1];
}

const std::string* WordTable::find(std::uint64_t key) const {
  const std::size_t bucket = key >> shift_;
  for (std::size_t i = buckets_[bucket]; i < buckets_[bucket + 1]; ++i)
    if ((entries_[i] & ~kNumber) == key) return &texts_[entries_[i] & kNumber];
  return nullptr;
}

const std::string* WordTable::text_of(std::string_view word) const {
  const std::string* found = find(key_of_word(word));
  if (found != nullptr || !any_case_) return found;
  const std::string lower = lowered(word);
  found = find(key_of_spellings(lower));
  return found != nullptr ? found : find(key_of_word(lower));
}

}  // namespace marginalia
