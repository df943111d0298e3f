// The probabilities of hypotheses about segments.
#pragma once

#include <cstdint>
#include <vector>

#include "search/hypotheses.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

class SegmentHypotheses {
 public:
  // Both must outlive it. Throws std::invalid_argument unless the spelling is that of segments.
  SegmentHypotheses(const SegmentShape& shape, const Spelling& spelling);

  // Gives each hypothesis its probability and returns that of the output; the scores are lost.
  double probability(const SegmentConstants& constants, const Labels& y, Hypotheses& hypotheses,
                     SegmentScores& scores) const;

 private:
  double of(const Hypothesis& hypothesis, const SegmentScores& one, const SegmentScores& longer,
            const std::vector<double>& twins) const;

  const SegmentShape& shape_;
  std::vector<std::uint32_t> type_;  // [types of the spelling] of segments
};

}  // namespace marginalia
