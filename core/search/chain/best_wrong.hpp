// The best output that cannot be right: with a label, at some token, that is none of its right ones. An
// output of a lattice whose labels are all right ones is right, and there may be very many of those, so this
// one is not found among the k best but by a Viterbi search that knows of each way whether it went wrong yet.
//   O(T * L^2) for a chain of order 1, O(T * L^3) for order 2, O(T * S * (M + S)) for segments.
#pragma once

#include <optional>

#include "features/right.hpp"
#include "search/chain/lattice.hpp"
#include "search/labels.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

std::optional<ScoredLabels> best_wrong(const Lattice& lattice, const RightLabels& right);

// The scores are those of the whole sentence.
std::optional<ScoredLabels> best_wrong(const SegmentShape& shape, const SegmentConstants& constants,
                                       const SegmentScores& scores, const RightLabels& right);

}  // namespace marginalia
