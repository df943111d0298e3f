// The contract between learners and structures. A learner asks four questions about an example and nothing
// else: its best output, its k best outputs, the features of an output, and the expected features. It tells
// the structure when a weight of row 0 moved, because a structure may keep those in another form.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace marginalia {

// One coordinate of a feature vector: a weight row, an output of that row, and the size of its output space.
struct Coordinate {
  std::uint32_t row;
  std::uint32_t output;
  std::uint32_t outputs;
};

struct Scored {
  std::vector<std::uint32_t> output;
  double score = 0.0;
};

struct NoSink {
  void operator()(const Coordinate&, double) const {}
};

template <class S>
concept Structure =
    requires(S s, std::size_t i, std::size_t k, const std::vector<std::uint32_t>& y, NoSink sink) {
      { s.size() } -> std::convertible_to<std::size_t>;  // examples
      { s.gold(i) } -> std::convertible_to<std::vector<std::uint32_t>>;
      { s.best(i) } -> std::convertible_to<const Scored&>;             // 1
      { s.k_best(i, k) } -> std::convertible_to<std::vector<Scored>>;  // 2
      s.features_of(i, y, sink);                                       // 3: sink(coordinate, count)
      { s.expectations(i, sink) } -> std::convertible_to<double>;      // 4: sink(coordinate, mean); log Z
      s.constant_changed(i, 0.0);
    };

// sink of the features of y minus those of z. A structure that can skip what they share offers `difference`.
template <Structure S, class Sink>
void difference(S& s, std::size_t i, const std::vector<std::uint32_t>& y, const std::vector<std::uint32_t>& z,
                Sink&& sink) {
  if constexpr (requires { s.difference(i, y, z, sink); }) {
    s.difference(i, y, z, sink);
  } else {
    s.features_of(i, y, sink);
    s.features_of(i, z, [&](const Coordinate& c, double count) { sink(c, -count); });
  }
}

}  // namespace marginalia
