// The words of documents, as global features look at them. Words are numbers, the same in all documents of one
// store; what features need to know of a word is found out once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/table.hpp"
#include "features/global_set.hpp"

namespace marginalia {

enum class Quote : std::uint8_t { none, either, opening, closing };

struct WordFacts {
  std::string text;
  std::string shape;     // Collins' f: A, a, 0 or the character itself, runs collapsed
  std::string flagged;   // his g: the same, and whether the word is more often in lower case
  std::uint32_t lower;   // number of the word in lower case, among those
  bool starts_lower, starts_upper, starts_word;  // with a lower-case letter; a capital; a letter or digit
  bool joins;            // a comma, "and", "or", "&", "/"
  Quote quote;
};

class GlobalTexts {
 public:
  explicit GlobalTexts(std::shared_ptr<const GlobalSet> set) : set_(std::move(set)) {}

  // Appends the table's sentences, each a document; words are those of a column.
  void add(const TokenTable& table, std::uint32_t column);

  std::size_t size() const { return start_.size() - 1; }
  std::size_t tokens() const { return words_.size(); }
  std::span<const std::uint32_t> words(std::size_t i) const {
    return std::span(words_).subspan(start_[i], start_[i + 1] - start_[i]);
  }
  const WordFacts& facts(std::uint32_t word) const { return facts_[word]; }

 private:
  std::uint32_t number_of(std::string_view text);

  std::shared_ptr<const GlobalSet> set_;
  std::vector<std::size_t> start_ = {0};
  std::vector<std::uint32_t> words_;
  std::vector<WordFacts> facts_;
  std::unordered_map<std::string, std::uint32_t> numbers_, lower_numbers_;
};

}  // namespace marginalia
