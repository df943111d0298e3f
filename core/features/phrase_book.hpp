// The phrases of a user's dictionary, each with a number, and which of them stand in a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/token_table.hpp"
#include "features/phrases.hpp"

namespace marginalia {

class PhraseBook {
 public:
  PhraseBook(const TokenSequences& phrases, bool ignore_case);

  // By phrase: the number of the first one that is the same (if case is ignored, others may be).
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  std::size_t bytes() const;

  struct Match {
    std::uint32_t begin, end;  // tokens, the end is not included
    std::uint32_t phrase;      // one of `numbers`
  };
  // Matches that do not overlap, in the order of their places: the longest are chosen first, of equally long
  // ones that further left. Which ones depends on the set of phrases alone, not on their order.
  std::vector<Match> longest(const std::vector<std::string_view>& tokens) const;

  // The same for all sentences of a table, with tokens of the table.
  std::vector<Match> longest(const TokenTable& table, std::uint32_t column) const;

 private:
  PhraseSet set_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> number_at_;  // by place in the states of the set
};

}  // namespace marginalia
