// The probabilities of marginals about segments.
#pragma once

#include <cstdint>
#include <vector>

#include "search/marginals.hpp"
#include "search/segments/search.hpp"

namespace marginalia {

class SegmentMarginals {
 public:
  // Both must outlive it. Throws std::invalid_argument unless the spelling is that of segments.
  SegmentMarginals(const SegmentShape& shape, const Spelling& spelling);

  // Gives each marginal its probability and returns that of the output; the scores are lost.
  double probability(const SegmentConstants& constants, const Labels& y, Marginals& marginals,
                     SegmentScores& scores) const;
  // Gives each marginal its probability, by those of all segments and of twins (search/segments/search.hpp).
  void fill(Marginals& marginals, const SegmentScores& probabilities, const std::vector<double>& twins) const;

 private:
  double of(const Marginal& marginal, const SegmentScores& one, const SegmentScores& longer,
            const std::vector<double>& twins) const;

  const SegmentShape& shape_;
  std::vector<std::uint32_t> type_;  // [types of the spelling] of segments
};

}  // namespace marginalia
