#include "search/segments/shape.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace marginalia {

SegmentShape::SegmentShape(const std::vector<std::uint32_t>& inside, std::uint32_t longest,
                           bool learns_transitions, bool learns_ends)
    : labels(static_cast<std::uint32_t>(inside.size())),
      most(longest),
      transitions(learns_transitions),
      ends(learns_ends),
      type_of(inside.size()) {
  if (inside.empty()) throw std::invalid_argument("segments: there are no labels");
  if (most == 0 || most > kMostTokens)
    throw std::invalid_argument("segments: the longest must have 1 to " + std::to_string(kMostTokens) +
                                " tokens");
  for (std::uint32_t label = 0; label < labels; ++label) {
    if (inside[label] == label) continue;  // an inside label
    if (inside[label] != kNoLabel && (inside[label] >= labels || inside[inside[label]] != inside[label]))
      throw std::invalid_argument("segments: an inside label is out of range");
    begin_label.push_back(label);
    inside_label.push_back(inside[label]);
  }
  std::vector<std::uint32_t> used;
  for (const std::uint32_t label : inside_label)
    if (label != kNoLabel) used.push_back(label);
  std::sort(used.begin(), used.end());
  if (begin_label.empty() || std::adjacent_find(used.begin(), used.end()) != used.end())
    throw std::invalid_argument("segments: labels do not tell types apart");
  std::fill(type_of.begin(), type_of.end(), static_cast<std::uint32_t>(types()));
  for (std::uint32_t s = 0; s < types(); ++s) type_of[begin_label[s]] = s;
}

std::vector<Segment> SegmentShape::segments(const Labels& y) const {
  std::vector<Segment> found;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (y[t] >= labels) return {};
    if (type_of[y[t]] < types()) {
      found.push_back({t, t, type_of[y[t]]});
    } else {
      if (found.empty() || inside_label[found.back().type] != y[t] || t - found.back().begin >= most)
        return {};
      found.back().last = t;
    }
  }
  return found;
}

void SegmentShape::write(const Segment& segment, Labels& y) const {
  y[segment.begin] = begin_label[segment.type];
  for (std::size_t t = segment.begin + 1; t <= segment.last; ++t) y[t] = inside_label[segment.type];
}

std::size_t cut_long_segments(const SegmentShape& shape, std::uint32_t* labels, std::size_t length) {
  std::size_t cut = 0, begin = 0;
  std::uint32_t type = static_cast<std::uint32_t>(shape.types());
  for (std::size_t t = 0; t < length; ++t) {
    if (labels[t] >= shape.labels) throw std::invalid_argument("segments: a label is out of range");
    if (shape.type_of[labels[t]] < shape.types()) {
      type = shape.type_of[labels[t]];
      begin = t;
      continue;
    }
    if (type == shape.types() || shape.inside_label[type] != labels[t])
      throw std::invalid_argument("segments: a label continues no segment of its type");
    if ((t - begin) % shape.most != 0) continue;
    cut += t - begin == shape.most;
    labels[t] = shape.begin_label[type];
  }
  return cut;
}

bool has_right_output(const SegmentShape& shape, const RightLabels& right) {
  std::vector<std::uint8_t> reached(right.size() + 1);
  reached[0] = 1;
  for (std::size_t begin = 0; begin < right.size(); ++begin) {
    if (reached[begin] == 0) continue;
    for (std::size_t s = 0; s < shape.types(); ++s) {
      if (!right.allows(begin, shape.begin_label[s])) continue;
      const std::size_t most = std::min<std::size_t>(begin + shape.most, right.size());
      std::size_t end = begin + 1;
      for (reached[end] = 1; end < most && shape.inside_label[s] != kNoLabel; reached[++end] = 1)
        if (!right.allows(end, shape.inside_label[s])) break;
    }
  }
  return reached.back() != 0;
}

bool allow_cuts(const SegmentShape& shape, std::uint32_t* ids, std::size_t length, LabelSets& sets) {
  const RightLabels right(ids, length, sets);
  if (has_right_output(shape, right)) return false;
  for (std::size_t t = 0; t < length; ++t) {
    std::vector<std::uint8_t> wider(shape.labels);
    right.for_labels(t, [&](std::uint32_t label) { wider[label] = 1; });
    for (std::size_t s = 0; s < shape.types(); ++s)
      if (shape.inside_label[s] != kNoLabel && wider[shape.inside_label[s]] != 0)
        wider[shape.begin_label[s]] = 1;
    ids[t] = shape.labels + static_cast<std::uint32_t>(sets.size());
    sets.allowed.insert(sets.allowed.end(), wider.begin(), wider.end());
  }
  return true;
}

void SegmentConstants::set(const SegmentShape& shape, std::size_t at, double value) {
  const auto type = [&](std::size_t label) { return std::size_t{shape.type_of[label]}; };
  const std::size_t n = shape.types();
  if (at < shape.end_at()) {
    if (type(at) < n) start[type(at)] = value;
  } else if (at < shape.transition_at()) {
    if (type(at - shape.end_at()) < n) end[type(at - shape.end_at())] = value;
  } else {
    const std::size_t pair = at - shape.transition_at();
    const std::size_t from = type(pair / shape.labels), to = type(pair % shape.labels);
    if (from < n && to < n) transition[from * n + to] = value;
  }
}

void SegmentConstants::scale(double factor) {
  for (std::vector<double>* scores : {&start, &end, &transition})
    for (double& score : *scores) score *= factor;
}

}  // namespace marginalia
