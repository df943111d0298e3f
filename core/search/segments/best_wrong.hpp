// The best output of segments that cannot be right: with a label, at some token, that is none of its right
// ones. An output whose labels are all right ones is right, and there may be very many of those, so this one
// is not found among the k best but by a Viterbi search that knows of each path whether it went wrong yet.
//   O(T * S * (M + S)).
#pragma once

#include <optional>

#include "features/right.hpp"
#include "search/labels.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

// The scores are those of the whole sentence.
std::optional<ScoredLabels> best_wrong(const SegmentShape& shape, const SegmentConstants& constants,
                                       const SegmentScores& scores, const RightLabels& right);

}  // namespace marginalia
