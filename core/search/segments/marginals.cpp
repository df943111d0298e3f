#include "search/segments/marginals.hpp"

#include <cmath>
#include <stdexcept>

namespace marginalia {

SegmentMarginals::SegmentMarginals(const SegmentShape& shape, const Spelling& spelling)
    : shape_(shape), type_(spelling.members.size()) {
  if (spelling.prefix.empty()) throw std::invalid_argument("confidence: segments need prefixes");
  for (std::uint32_t s = 0; s < shape.types(); ++s) type_[spelling.type[shape.begin_label[s]]] = s;
}

double SegmentMarginals::probability(const SegmentConstants& constants, const Labels& y, Marginals& marginals,
                                     SegmentScores& scores) const {
  const double score = score_of(shape_, constants, scores, y);
  const SegmentExpectations expected = segment_probabilities(shape_, constants, scores);
  fill(marginals, scores, expected.twins);
  return std::exp(score - expected.log_z);
}

void SegmentMarginals::fill(Marginals& marginals, const SegmentScores& scores,
                            const std::vector<double>& twins) const {
  SegmentScores longer = scores;  // at(b, n): all that have n or more tokens
  for (std::size_t b = 0; b < scores.length; ++b)
    for (std::size_t tokens = scores.longest(b); tokens-- > 1;)
      for (std::size_t s = 0; s < shape_.types(); ++s) longer.at(b, tokens)[s] += longer.at(b, tokens + 1)[s];
  for (std::vector<Marginal>* list : {&marginals.spans, &marginals.tokens})
    for (Marginal& marginal : *list) marginal.probability = of(marginal, scores, longer, twins);
}

// The sum over the segments that cover the tokens of the marginal and end on both sides as it says. Only
// the labels of single tokens in IOB1 and IOE1 tell twins from others, and on one side alone: the other is
// any.
double SegmentMarginals::of(const Marginal& marginal, const SegmentScores& one, const SegmentScores& longer,
                            const std::vector<double>& twins) const {
  const std::uint32_t type = type_[marginal.type];
  const auto twins_at = [&](std::size_t place) {
    return place < one.length ? twins[place * shape_.types() + type] : 0.0;
  };
  if (marginal.before == 1 << kTwins) return twins_at(marginal.begin);
  if (marginal.after == 1 << kTwins) return twins_at(marginal.end);
  double sum = 0.0;
  for (std::size_t b = marginal.begin + 1; b-- > 0 && marginal.end - b <= one.most;) {
    if (!has(marginal.before, b == marginal.begin ? kApart : kJoined)) continue;
    const std::size_t tokens = marginal.end - b;
    const bool ends = has(marginal.after, kApart), goes_on = has(marginal.after, kJoined);
    if (ends && goes_on)
      sum += longer.at(b, tokens)[type];
    else if (ends)
      sum += one.at(b, tokens)[type];
    else if (tokens < one.longest(b))
      sum += longer.at(b, tokens + 1)[type];
  }
  if (has(marginal.before, kApart) && !has(marginal.before, kTwins)) sum -= twins_at(marginal.begin);
  if (has(marginal.after, kApart) && !has(marginal.after, kTwins)) sum -= twins_at(marginal.end);
  return sum;
}

}  // namespace marginalia
