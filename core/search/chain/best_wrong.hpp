// The best output of a chain that cannot be right: with a label, at some token, that is none of its right
// ones. An output whose labels are all right ones is right, and there may be very many of those, so this one
// is not found among the k best but by a Viterbi search that knows of each path whether it went wrong yet.
//   O(T * L^2) for order 1, O(T * L^3) for order 2.
#pragma once

#include <optional>

#include "features/right.hpp"
#include "search/chain/lattice.hpp"
#include "search/labels.hpp"

namespace marginalia {

std::optional<ScoredLabels> best_wrong(const Lattice& lattice, const RightLabels& right);

}  // namespace marginalia
