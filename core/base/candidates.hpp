// Lists of candidates as tables: an item is a sentence, its candidates are the tokens, with their features as
// attributes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/items.hpp"
#include "base/token_table.hpp"

namespace marginalia {

// The base model's score of a candidate is a feature like others, of this name.
inline constexpr std::string_view kBaseScore = "base score";
inline constexpr std::string_view kBestLabel = "best", kOtherLabel = "other";

// Which candidates are right: of each item the one with the least loss, of those the one with the greatest
// score, of those the first; `all`: every one with the least loss. Throws std::invalid_argument.
std::vector<std::uint8_t> right_candidates(std::span<const std::uint32_t> lengths,
                                           std::span<const double> losses, std::span<const double> scores,
                                           bool all);

// Features of candidates as numbers of names, one candidate after another.
struct CandidateFeatures {
  std::span<const std::uint64_t> ends;  // [candidates]
  std::span<const std::uint32_t> features;
  std::span<const float> values;  // beside them; empty if all are 1
  std::span<const std::string_view> names;
  std::span<const std::uint64_t> keys;  // of the names; empty: their hashes
};

// The table of items with so many candidates each. Its columns are those of attributes and outputs (both
// empty), score, loss and label; without losses there are the first two only. Throws std::invalid_argument.
TokenTable candidate_table(std::span<const std::uint32_t> lengths, const CandidateFeatures& features,
                           std::span<const double> scores, std::span<const double> losses, bool all_right);

}  // namespace marginalia
