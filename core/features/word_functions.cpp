#include "features/word_functions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>
#include <vector>

namespace marginalia {

namespace {

using How = LexiconQuestion::How;

constexpr std::array<std::pair<std::string_view, How>, 5> kHows{{
    {"candidate", How::candidate},
    {"band", How::band},
    {"rank", How::rank},
    {"set", How::set},
    {"best", How::best},
}};

// The fields of an entry, one after another.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  bool next(std::string_view& field) {
    if (ended_) return false;
    const std::size_t end = rest_.find('\t');
    ended_ = end == rest_.npos;
    field = rest_.substr(0, end);
    if (!ended_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  bool ended_ = false;
};

std::string all_labels(std::string_view entry) {
  std::vector<std::string_view> labels;
  std::string_view label, band;
  for (Fields fields(entry); fields.next(label) && fields.next(band);) labels.push_back(label);
  std::sort(labels.begin(), labels.end());
  std::string out;
  for (const std::string_view one : labels) (out += out.empty() ? "" : "|") += one;
  return out;
}

}  // namespace

std::size_t path_bits(std::string_view argument) {
  if (argument == "all") return kLongestPath;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), bits);
  if (error != std::errc{} || end != argument.data() + argument.size() || bits < 1 || bits > kLongestPath)
    throw std::invalid_argument("'" + std::string(argument) +
                                "' is neither all nor a number of bits from 1 to " +
                                std::to_string(kLongestPath));
  return bits;
}

void check_paths(const WordTable& words) {
  for (const std::string& path : words.texts())
    if (path.empty() || path.size() > kLongestPath || path.find_first_not_of("01") != path.npos)
      throw std::invalid_argument("the path '" + path + "' is not 1 to " + std::to_string(kLongestPath) +
                                  " bits 0 and 1");
}

bool cluster(const WordTable& words, std::size_t bits, std::string_view word, std::string& out) {
  const std::string* path = words.text_of(word);
  if (path != nullptr) out.assign(*path, 0, bits);
  return path != nullptr;
}

LexiconQuestion lexicon_question(std::string_view argument) {
  const std::size_t comma = argument.find(',');
  const std::string_view name = argument.substr(0, comma);
  for (const auto& [known, how] : kHows) {
    if (known != name) continue;
    const bool whole = how == How::set || how == How::best;
    if (whole != (comma == argument.npos) || comma + 1 == argument.size()) break;
    return {how, whole ? std::string_view() : argument.substr(comma + 1)};
  }
  throw std::invalid_argument("'" + std::string(argument) +
                              "' asks nothing of a lexicon: expected set, best, or candidate, band or rank "
                              "with a label");
}

void check_entries(const WordTable& words) {
  for (const std::string& entry : words.texts()) {
    std::string_view label, band;
    for (Fields fields(entry); fields.next(label);)
      if (label.empty() || !fields.next(band) || band.empty())
        throw std::invalid_argument("the entry '" + entry + "' is not labels with their bands");
  }
}

bool lexicon(const WordTable& words, const LexiconQuestion& asked, std::string_view word, std::string& out) {
  const std::string* entry = words.text_of(word);
  if (entry == nullptr) return false;
  std::string_view label, band;
  unsigned rank = 0;
  if (asked.how == How::set) {
    out = all_labels(*entry);
    return true;
  }
  for (Fields fields(*entry); fields.next(label) && fields.next(band);) {
    ++rank;
    if (asked.how != How::best && label != asked.label) continue;
    if (asked.how == How::best) out = label;
    if (asked.how == How::candidate) out += '1';
    if (asked.how == How::band) out = band;
    if (asked.how == How::rank) out = std::to_string(rank);
    return true;
  }
  return false;
}

}  // namespace marginalia
