// The contract between learners and structures. A learner asks four questions about an example and nothing
// else: its best output (with or without costs added to the scores), its k best outputs, the features of an
// output, and the expected features. Around them stand: which weight rows an example's scores come from (for
// regularisers that settle weights late), hiding some of its features (dropout), and word that a weight of
// row 0 moved, because a structure may keep those in another form.
// Examples may leave open what is right: then `gold` is the best of the right outputs, and three more
// questions are asked of them alone.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "features/dropout.hpp"
#include "features/right.hpp"
#include "weights/table.hpp"

namespace marginalia {

using Output = std::vector<std::uint32_t>;  // a label for each part

struct Scored {
  Output output;
  double score = 0.0;
};

// What it costs to give a part one label when another one is right: the sum over an output's parts.
struct Costs {
  std::uint32_t labels = 0;
  std::vector<float> cost;  // [right][given]

  // Of part t. Where several labels may be right, those cost nothing, and others what they cost at least.
  double of(const RightLabels& right, std::size_t t, std::uint32_t given) const {
    if (!right.is_set(t)) return static_cast<double>(cost[std::size_t{right.ids()[t]} * labels + given]);
    if (right.allows(t, given)) return 0.0;
    float least = std::numeric_limits<float>::max();
    right.for_labels(
        t, [&](std::uint32_t one) { least = std::min(least, cost[std::size_t{one} * labels + given]); });
    return static_cast<double>(least);
  }
  double of(const RightLabels& right, const Output& given) const {
    double sum = 0.0;
    for (std::size_t t = 0; t < right.size(); ++t) sum += of(right, t, given[t]);
    return sum;
  }
};

struct NoSink {
  void operator()(const Coordinate&, double) const {}
};

// Gets the mean counts of `count` neighbouring outputs of a row, from output `first` on.
struct NoMeans {
  void operator()(std::uint32_t, std::uint32_t, const double*, std::uint32_t) const {}
};

struct NoRow {
  void operator()(std::uint32_t) const {}
};

template <class S>
concept Structure = requires(S s, std::size_t i, std::size_t k, const Output& y, const Costs& costs,
                             NoSink sink, NoMeans means, NoRow row, const Dropout& dropout) {
  { s.size() } -> std::convertible_to<std::size_t>;  // examples
  { s.right(i) } -> std::convertible_to<RightLabels>;
  { s.gold(i) } -> std::convertible_to<Output>;                    // the right output; of several the best
  { s.best(i) } -> std::convertible_to<const Scored&>;             // 1
  { s.best(i, costs) } -> std::convertible_to<const Scored&>;      // 1, of score + costs
  { s.k_best(i, k) } -> std::convertible_to<std::vector<Scored>>;  // 2
  s.features_of(i, y, sink);                                       // 3: sink(coordinate, count)
  { s.expectations(i, means) } -> std::convertible_to<double>;     // 4: log Z
  // Of examples that leave open what is right: the best output that is not right, if there is one; expected
  // features if it is a right one, and the log of their sum; the features that labels have which the data
  // name.
  { s.best_wrong(i) } -> std::convertible_to<std::optional<Scored>>;
  { s.right_expectations(i, means) } -> std::convertible_to<double>;
  s.named_features(i, sink);
  s.rows_of(i, row);                     // all but row 0
  s.hide(i, dropout, std::uint64_t{0});  // until the next call: example i, and no other, is asked about
  s.constant_changed(i, 0.0);
};

// A structure whose outputs are made choice by choice can also say what is expected of each choice on the way
// to gold.
template <class S>
concept StepwiseStructure = Structure<S> && requires(S s, std::size_t i, NoMeans means) {
  { s.local_expectations(i, means) } -> std::convertible_to<double>;
};

template <Structure S, class Means>
double local_expectations(S& s, std::size_t i, Means&& means) {
  if constexpr (StepwiseStructure<S>)
    return s.local_expectations(i, means);
  else
    throw std::invalid_argument("the outputs of this structure are not made choice by choice");
}

// sink of the features of y minus those of z. A structure that can skip what they share offers `difference`.
template <Structure S, class Sink>
void difference(S& s, std::size_t i, const Output& y, const Output& z, Sink&& sink) {
  if constexpr (requires { s.difference(i, y, z, sink); }) {
    s.difference(i, y, z, sink);
  } else {
    s.features_of(i, y, sink);
    s.features_of(i, z, [&](const Coordinate& c, double count) { sink(c, -count); });
  }
}

}  // namespace marginalia
