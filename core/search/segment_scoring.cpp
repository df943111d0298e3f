#include "search/segment_scoring.hpp"

namespace marginalia {

void SegmentScoring::clear(std::size_t first, std::size_t end) {
  first_ = first;
  const std::size_t tokens = end - first;
  node_.assign(tokens * shape_.labels, 0.0);
  begin_.assign(tokens * width(), 0.0);
  end_.assign(tokens * width(), 0.0);
  arrival_.assign(tokens * program_.spans().size() * width(), 0.0);
  lengths_.assign((shape_.most + 1) * width(), 0.0);
  running_.assign(width(), 0.0);
}

double* SegmentScoring::vector_of(const Found& one) {
  if (one.part == Part::length) return &lengths_[one.a * width()];
  const std::size_t token = one.a - first_;
  if (one.part == Part::begin) return &begin_[token * width()];
  if (one.part == Part::end) return &end_[token * width()];
  return &arrival_[(token * program_.spans().size() + one.b) * width()];
}

// What all segments that began at `begin` have once they reach `last`.
void SegmentScoring::grow(std::size_t begin, std::size_t last) {
  const std::size_t token = last - first_, types = shape_.types();
  if (last > begin) {
    const double* node = &node_[token * shape_.labels];
    for (std::size_t s = 0; s < types; ++s)
      if (shape_.inside_label[s] != kNoLabel) running_[s] += node[shape_.inside_label[s]];
  }
  const std::vector<std::uint32_t>& spans = program_.spans();
  for (std::size_t g = 0; g < spans.size(); ++g) {
    if (last - begin < spans[g]) continue;
    const double* arrival = &arrival_[(token * spans.size() + g) * width()];
    for (std::size_t s = 0; s < types; ++s) running_[s] += arrival[s];
  }
}

void SegmentScoring::spread(const double* types, std::vector<double>& labels) const {
  std::fill(labels.begin(), labels.end(), 0.0);
  for (std::size_t s = 0; s < shape_.types(); ++s) labels[shape_.begin_label[s]] = types[s];
}

}  // namespace marginalia
