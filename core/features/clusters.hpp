// Word clusters: each word of a table has a path of bits, whose prefixes are coarser clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// Words are kept as hashes of 48 bits with the number of their path in the low 16, sorted; nothing of their
// text. A word that is not in the table is taken for one that is with a chance of words / 2^48.
class WordClusters {
 public:
  static constexpr std::size_t kMostPaths = 1u << 16;
  static constexpr std::size_t kLongestPath = 255;

  struct Word {
    std::string_view path, text;
    std::uint64_t count = 0;
  };

  // Each text once. With `any_case`, a word that is not there as it is written has the path of the most
  // frequent one (of several, the first) that is the same in lower case. Throws std::invalid_argument for
  // paths that are not bits, are too long or too many.
  WordClusters(const std::vector<Word>& words, bool any_case);
  // From `entries()` and `paths()` of another table; throws std::invalid_argument unless they fit.
  WordClusters(std::vector<std::uint64_t> entries, std::vector<std::string> paths, bool any_case);

  const std::vector<std::uint64_t>& entries() const { return entries_; }
  const std::vector<std::string>& paths() const { return paths_; }
  bool any_case() const { return any_case_; }

  // The path of a word, or nullptr.
  const std::string* path_of(std::string_view word) const;

 private:
  void add_spellings(const std::vector<Word>& words, const std::vector<std::uint16_t>& numbers);
  void index();
  const std::string* find(std::uint64_t key) const;

  std::vector<std::uint64_t> entries_;
  std::vector<std::string> paths_;
  bool any_case_;
  // Hashes are spread evenly: those that begin with the same bits are a few neighbours.
  std::vector<std::uint32_t> buckets_;  // by first bits: where their entries begin
  int shift_ = 63;                      // what is left of a hash when it is shifted is its bucket
};

// How many bits of a path "all" or a number from 1 to 255 asks for; throws std::invalid_argument.
std::size_t path_bits(std::string_view argument);

}  // namespace marginalia
