// Labelled segments as labels of tokens: the first token of a segment has its type's begin label, the others
// its inside label. An output of one label per token therefore says which segments there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/labels.hpp"

namespace marginalia {

inline constexpr std::uint32_t kNoLabel = UINT32_MAX;
inline constexpr std::uint32_t kMostTokens = 1000;  // of a segment: memory grows with them

struct Segment {
  std::size_t begin, last;  // tokens, both included
  std::uint32_t type;
  bool operator==(const Segment&) const = default;
};

// What does not change from sentence to sentence. S types, numbered by rising begin label.
struct SegmentShape {
  std::uint32_t labels = 0;
  std::uint32_t most = 10;                  // tokens of the longest segment
  bool transitions = false;                 // are there learned weights of neighbouring types?
  bool ends = false;                        // ... and of the first and the last type?
  std::vector<std::uint32_t> begin_label;   // [S]
  std::vector<std::uint32_t> inside_label;  // [S] kNoLabel: its segments have one token
  std::vector<std::uint32_t> type_of;       // [labels] of begin labels; S of all others

  // inside[label]: the inside label of a begin label, kNoLabel if it has none; inside labels name themselves.
  // Throws std::invalid_argument.
  SegmentShape(const std::vector<std::uint32_t>& inside, std::uint32_t most, bool transitions, bool ends);

  std::size_t types() const { return begin_label.size(); }
  // Row 0, as that of a chain of order 1.
  std::size_t start_at() const { return 0; }
  std::size_t end_at() const { return labels; }
  std::size_t transition_at() const { return 2 * std::size_t{labels}; }
  std::uint32_t row_width() const { return labels; }  // outputs of a feature's row
  std::size_t constants() const { return transition_at() + std::size_t{labels} * labels; }

  // The segments of an output; nothing if its labels spell none or too long ones.
  std::vector<Segment> segments(const Labels& y) const;
  void write(const Segment& segment, Labels& y) const;
};

// Calls f(number in row 0) for each constant that an output has.
template <class F>
void for_constants(const SegmentShape& shape, const std::vector<Segment>& y, F&& f) {
  const auto label = [&](std::size_t k) { return std::size_t{shape.begin_label[y[k].type]}; };
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (shape.ends && k == 0) f(shape.start_at() + label(k));
    if (shape.ends && k + 1 == y.size()) f(shape.end_at() + label(k));
    if (shape.transitions && k > 0) f(shape.transition_at() + label(k - 1) * shape.labels + label(k));
  }
}

// Cuts segments that are longer than the shape allows into pieces, the longest first; returns how many were
// cut. Throws std::invalid_argument if the labels spell no segments.
std::size_t cut_long_segments(const SegmentShape& shape, std::uint32_t* labels, std::size_t length);

// Is there an output with right labels only?
bool has_right_output(const SegmentShape& shape, const RightLabels& right);

// The same for an example that leaves open what is right: if it has no right output, because they all have
// segments that are too long, those may be cut anywhere (tokens inside may be first ones, too); returns
// whether it was so. Adds to the sets.
bool allow_cuts(const SegmentShape& shape, std::uint32_t* ids, std::size_t length, LabelSets& sets);

// Row 0 as scores of types.
struct SegmentConstants {
  std::vector<double> start, end;  // [S]
  std::vector<double> transition;  // [S][S]

  explicit SegmentConstants(const SegmentShape& shape)
      : start(shape.types()), end(shape.types()), transition(shape.types() * shape.types()) {}
  void set(const SegmentShape& shape, std::size_t at, double value);  // constant number `at` of row 0
  void scale(double factor);
};

}  // namespace marginalia
