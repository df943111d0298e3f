// Column files with the best outputs of each unit (sentence or document), one after another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/token_table.hpp"

namespace marginalia {

// What is known of the outputs of one rank, by unit.
struct RankedUnits {
  std::span<const double> scores;         // not a number: the unit has no such output
  std::span<const double> probabilities;  // empty: nobody knows
};

// A number as Python writes it after round(x, 4).
std::string rounded(double x);

// `texts` are renderings of the table, one for each rank. The lines of each unit, which are given by their
// first tokens and the number of all, come once for each of its outputs, with a comment line before them and
// a blank line after them; other lines are those of the first text. Throws std::invalid_argument.
std::string ranked_text(const TokenTable& table, std::uint32_t first_line,
                        std::span<const std::uint32_t> units, std::span<const std::string> texts,
                        std::span<const RankedUnits> ranks);

}  // namespace marginalia
