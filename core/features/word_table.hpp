// Tables of words: each has a text, the path of bits of its cluster or its entry in a lexicon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// Words are kept as hashes of 48 bits with the number of their text in the low 16, sorted; nothing of their
// own. A word that is not in the table is taken for one that is with a chance of words / 2^48.
class WordTable {
 public:
  static constexpr std::size_t kMostTexts = 1u << 16;

  struct Word {
    std::string_view text, word;
    std::uint64_t count = 0;
  };

  // Each word once. With `any_case`, a word that is not there as it is written has the text of the most
  // frequent one (of several, the first) that is the same in lower case. Throws std::invalid_argument for
  // too many different texts.
  WordTable(const std::vector<Word>& words, bool any_case);
  // From `entries()` and `texts()` of another table; throws std::invalid_argument unless they fit.
  WordTable(std::vector<std::uint64_t> entries, std::vector<std::string> texts, bool any_case);

  const std::vector<std::uint64_t>& entries() const { return entries_; }
  const std::vector<std::string>& texts() const { return texts_; }
  bool any_case() const { return any_case_; }

  // The text of a word, or nullptr.
  const std::string* text_of(std::string_view word) const;

 private:
  void add_spellings(const std::vector<Word>& words, const std::vector<std::uint16_t>& numbers);
  void index();
  const std::string* find(std::uint64_t key) const;

  std::vector<std::uint64_t> entries_;
  std::vector<std::string> texts_;
  bool any_case_;
  // Hashes are spread evenly: those that begin with the same bits are a few neighbours.
  std::vector<std::uint32_t> buckets_;  // by first bits: where their entries begin
  int shift_ = 63;                      // what is left of a hash when it is shifted is its bucket
};

}  // namespace marginalia
