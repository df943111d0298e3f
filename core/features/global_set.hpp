// Global features of whole outputs: which families a set declares, how labels spell mentions, and the names
// that features get. docs/global-features.md says what each family is.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace marginalia {

// A labelled span of an output: tokens [begin, end) of a document.
struct Mention {
  std::uint32_t begin, end, type;
  auto operator<=>(const Mention&) const = default;
};

// What labels of tokens spell: label -> type of its mention, and which neighbours are in one mention.
struct MentionLabels {
  static constexpr std::uint32_t kOutside = UINT32_MAX;
  std::vector<std::string> types;    // names, in the order that decides ties
  std::vector<std::uint32_t> type;   // [L] kOutside: in no mention
  std::vector<std::uint8_t> joined;  // [L][L]

  // Throws std::invalid_argument unless the parts fit.
  MentionLabels(std::vector<std::string> types, std::vector<std::uint32_t> type,
                std::vector<std::uint8_t> joined);
  std::size_t labels() const { return type.size(); }
  bool crosses(std::span<const std::uint32_t> y, std::size_t t) const {  // is t in the mention of t - 1?
    return t > 0 && t < y.size() && joined[y[t - 1] * labels() + y[t]] != 0;
  }
  // Those within [begin, end), which no mention may cross.
  void mentions(std::span<const std::uint32_t> y, std::size_t begin, std::size_t end,
                std::vector<Mention>& out) const;
};

enum class Family : std::uint8_t {
  same,
  sub,
  majority,
  token_majority,
  super_majority,
  conjunction,  // Kazama and Torisawa 2007
  WE,
  FF,
  GF,
  LW,
  LWLC,
  BO,
  BE,
  TO,
  TO2,
  TE,
  TE2,
  PF,
  PF2,
  SF,
  SF2,  // Collins 2002, of mentions
  Q,
  Q2,
  QF,
  QF2,  // Collins 2002, of quotations
  word_length,
  word_pair,
  tag_pair,
  word_tag_pair,  // of words and tags, for segmented text
};
inline constexpr std::array<const char*, 29> kFamilies = {"same",
                                                          "sub",
                                                          "majority",
                                                          "token-majority",
                                                          "super-majority",
                                                          "conjunction",
                                                          "WE",
                                                          "FF",
                                                          "GF",
                                                          "LW",
                                                          "LWLC",
                                                          "BO",
                                                          "BE",
                                                          "TO",
                                                          "TO2",
                                                          "TE",
                                                          "TE2",
                                                          "PF",
                                                          "PF2",
                                                          "SF",
                                                          "SF2",
                                                          "Q",
                                                          "Q2",
                                                          "QF",
                                                          "QF2",
                                                          "word-length",
                                                          "word-pair",
                                                          "tag-pair",
                                                          "word-tag-pair"};
inline constexpr std::size_t kGroupFamilies = 6;

// Features of users: names of those of an output, given the words of a document and the output's mentions.
using UserFeatures = std::function<void(std::span<const std::string_view> words,
                                        std::span<const Mention> mentions, std::vector<std::string>& names)>;

// A declared set. `lowercase`: words that are more often in lower case than not, themselves in lower case.
class GlobalSet {
 public:
  struct Line {
    Family family;
    bool length;  // with the length of the string: 1, 2, 3 or more
  };
  // Lines are names of families, those of the first six also with "/length". Throws std::invalid_argument.
  GlobalSet(const std::vector<std::string>& lines, const std::vector<std::string>& lowercase,
            std::vector<UserFeatures> functions = {});

  const std::vector<Line>& lines() const { return lines_; }
  bool has(Family family) const { return has_[static_cast<std::size_t>(family)]; }
  bool has_groups() const { return has_groups_; }
  bool has_quotes() const { return has(Family::Q) || has(Family::Q2) || has(Family::QF) || has(Family::QF2); }
  bool has_neighbours() const {
    return has(Family::word_pair) || has(Family::tag_pair) || has(Family::word_tag_pair);
  }
  bool is_lowercase(const std::string& lowered) const { return lowercase_.contains(lowered); }
  const std::vector<UserFeatures>& functions() const { return functions_; }
  // The lines of a family, by their numbers.
  std::span<const std::uint32_t> of(Family family) const {
    return by_family_[static_cast<std::size_t>(family)];
  }

 private:
  std::vector<Line> lines_;
  std::array<std::vector<std::uint32_t>, kFamilies.size()> by_family_;
  std::array<bool, kFamilies.size()> has_{};
  bool has_groups_ = false;
  std::unordered_set<std::string> lowercase_;
  std::vector<UserFeatures> functions_;
};

// The key of a global feature: never that of a local one of the same name, but by chance.
std::uint64_t global_key(std::string_view name);

// Features by number, as they are met: their keys and names.
class FeaturePool {
 public:
  std::uint32_t number_of(std::string_view name);
  std::size_t size() const { return keys_.size(); }
  std::uint64_t key(std::uint32_t number) const { return keys_[number]; }
  std::string_view name(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(names_).substr(begin, ends_[number] - begin);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by key
  std::vector<std::uint64_t> keys_;
  std::string names_;  // one after another
  std::vector<std::size_t> ends_;
};

// How often features are there, each once. Those that come and go leave nothing.
class FeatureCounts {
 public:
  void add(std::uint32_t number, double count) {
    if (number >= counts_.size()) counts_.resize(number + 1, 0.0), listed_.resize(number + 1, 0);
    if (!listed_[number]) touched_.push_back(number), listed_[number] = 1;
    counts_[number] += count;
  }
  template <class F>
  void for_each(F&& f) const {  // f(number, count) of those that are not 0
    for (const std::uint32_t number : touched_)
      if (counts_[number] != 0.0) f(number, counts_[number]);
  }
  void clear() {
    for (const std::uint32_t number : touched_) counts_[number] = 0.0, listed_[number] = 0;
    touched_.clear();
  }

 private:
  std::vector<double> counts_;
  std::vector<std::uint8_t> listed_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace marginalia
