#include "search/segments/scoring.hpp"

namespace marginalia {

void SegmentScoring::clear(std::size_t first, std::size_t end) {
  first_ = first;
  const std::size_t tokens = end - first;
  node_.assign(tokens * shape_.labels, 0.0);
  begin_.assign(tokens * width(), 0.0);
  end_.assign(tokens * width(), 0.0);
  arrival_.assign(tokens * extractor_.spans().size() * width(), 0.0);
  lengths_.assign((shape_.most + 1) * width(), 0.0);
  running_.assign(width(), 0.0);
}

double* SegmentScoring::vector_of(const ScoredFeature& one) {
  if (one.part == Part::length) return &lengths_[one.a * width()];
  const std::size_t token = one.a - first_;
  if (one.part == Part::begin) return &begin_[token * width()];
  if (one.part == Part::end) return &end_[token * width()];
  return &arrival_[(token * extractor_.spans().size() + one.b) * width()];
}

// How probable the segments that have a feature are together, once all is added up.
const double* SegmentScoring::sum_of(const ScoredFeature& one, const SegmentScores& p) {
  const std::size_t tokens = std::size_t{one.b} - one.a + 1;
  if (one.part == Part::own) return p.at(one.a, tokens);
  if (one.part == Part::grow) return as_long_.at(one.a, tokens);
  if (one.part == Part::shrink) return as_early_.at(one.a, tokens);
  return vector_of(one);
}

// What all segments that began at `begin` have once they reach `last`.
void SegmentScoring::grow(std::size_t begin, std::size_t last) {
  const std::size_t token = last - first_, types = shape_.types();
  if (last > begin) {
    const double* node = &node_[token * shape_.labels];
    for (std::size_t s = 0; s < types; ++s)
      if (shape_.inside_label[s] != kNoLabel) running_[s] += node[shape_.inside_label[s]];
  }
  const std::vector<std::uint32_t>& spans = extractor_.spans();
  for (std::size_t g = 0; g < spans.size(); ++g) {
    if (last - begin < spans[g]) continue;
    const double* arrival = &arrival_[(token * spans.size() + g) * width()];
    for (std::size_t s = 0; s < types; ++s) running_[s] += arrival[s];
  }
}

void SegmentScoring::add_up(const SegmentScores& p) {
  clear(0, x.length);
  as_long_ = p;
  as_early_ = p;
  const std::vector<std::uint32_t>& spans = extractor_.spans();
  for (std::size_t b = 0; b < x.length; ++b)
    for (std::size_t tokens = p.longest(b); tokens >= 1; --tokens) {
      const std::size_t last = b + tokens - 1;
      double* sum = as_long_.at(b, tokens);
      if (tokens < p.longest(b)) add_types(as_long_.at(b, tokens + 1), sum);
      if (b > 0 && tokens < p.longest(b - 1))
        add_types(as_early_.at(b - 1, tokens + 1), as_early_.at(b, tokens));
      add_types(p.at(b, tokens), &end_[last * width()]);
      add_types(p.at(b, tokens), &lengths_[tokens * width()]);
      if (tokens == 1) add_types(sum, &begin_[b * width()]);
      for (std::size_t g = 0; g < spans.size(); ++g)
        if (last - b >= spans[g]) add_types(sum, &arrival_[(last * spans.size() + g) * width()]);
      const std::vector<std::uint32_t>& label = tokens == 1 ? shape_.begin_label : shape_.inside_label;
      for (std::size_t s = 0; s < shape_.types(); ++s)
        if (label[s] != kNoLabel) node_[last * shape_.labels + label[s]] += sum[s];
    }
}

void SegmentScoring::spread(const double* types, std::vector<double>& labels) const {
  std::fill(labels.begin(), labels.end(), 0.0);
  for (std::size_t s = 0; s < shape_.types(); ++s) labels[shape_.begin_label[s]] = types[s];
}

}  // namespace marginalia
