// The probabilities of claims about segments.
#pragma once

#include <cstdint>
#include <vector>

#include "search/claims.hpp"
#include "search/segment_search.hpp"

namespace marginalia {

class SegmentClaims {
 public:
  // Both must outlive it. Throws std::invalid_argument unless the spelling is that of segments.
  SegmentClaims(const SegmentShape& shape, const Spelling& spelling);

  // Gives each claim its probability and returns that of the output; the scores are lost.
  double probability(const SegmentConstants& constants, const Labels& y, Claims& claims,
                     SegmentScores& scores) const;

 private:
  double of(const Claim& claim, const SegmentScores& one, const SegmentScores& longer,
            const std::vector<double>& twins) const;

  const SegmentShape& shape_;
  std::vector<std::uint32_t> type_;  // [types of the spelling] of segments
};

}  // namespace marginalia
