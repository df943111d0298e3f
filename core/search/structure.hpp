// The contract between learners and structures. A structure has its own type of output, and a learner never
// looks inside one: it asks questions about example i. Every structure answers those of `Structure`; the
// other concepts are tiers that a structure may offer and a learner may need. A pair that does not fit is
// refused by name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "features/dropout.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// The score of what a structure forbids.
inline constexpr double kIllegal = -std::numeric_limits<double>::infinity();

template <class Output>
struct Scored {
  Output output{};
  double score = 0.0;
};

// What an online update compares gold with: the best output; the best one if it is wrong, else the best wrong
// one; the best one by score + cost.
enum class Against : std::uint8_t { best, second, costly };

// The parts of two outputs that an update compares: whole outputs, or what a structure that searches by beam
// has of them.
template <class Output>
struct Violation {
  bool found = false;      // false: nothing to compare gold with
  std::size_t errors = 0;  // of the best output, by score or by score + cost
  Output right{};
  Scored<Output> wrong;
  double cost = 0.0;  // of the wrong part; only of Against::costly
  bool right_may_lead =
      false;         // search may have missed gold: the wrong part may score less than the right one
  bool due = false;  // the structure has compared the scores: an update is due
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
concept Structure = requires(S s, std::size_t i, std::size_t k, const typename S::Output& y, NoSink sink) {
  { S::kName } -> std::convertible_to<const char*>;
  { s.size() } -> std::convertible_to<std::size_t>;          // examples
  { s.parts(i) } -> std::convertible_to<std::size_t>;        // what errors are counted over
  { s.gold(i) } -> std::convertible_to<typename S::Output>;  // the right output; of several the best
  { s.errors(i, y) } -> std::convertible_to<std::size_t>;    // parts that are wrong; 0: y is right
  { s.best(i) } -> std::convertible_to<const Scored<typename S::Output>&>;
  { s.k_best(i, k) } -> std::convertible_to<std::vector<Scored<typename S::Output>>>;
  s.features_of(i, y, sink);  // sink(coordinate, count)
};

// Wrong outputs differ in what they cost, each example in its own way.
template <class S>
concept CostSensitive = Structure<S> && requires(S s, std::size_t i, const typename S::Output& y) {
  { s.cost(i, y) } -> std::convertible_to<double>;
  { s.costly_best(i) } -> std::convertible_to<const Scored<typename S::Output>&>;  // by score + cost
};

template <class S>
concept Probabilistic = Structure<S> && requires(S s, std::size_t i, NoMeans means) {
  { s.expectations(i, means) } -> std::convertible_to<double>;  // log Z
};

// Outputs are made choice by choice: expectations of each choice on the way to gold.
template <class S>
concept Stepwise = Structure<S> && requires(S s, std::size_t i, NoMeans means) {
  { s.local_expectations(i, means) } -> std::convertible_to<double>;
};

// Examples may have several right outputs. Of those that do: the best output that is not right, if there is
// one; expectations over the right outputs; the features of the right outputs' parts that the data name.
template <class S>
concept PartiallyLabelled = Structure<S> && requires(S s, std::size_t i, NoSink sink) {
  { s.complete(i) } -> std::convertible_to<bool>;  // is one output right?
  { s.best_wrong(i) } -> std::convertible_to<std::optional<Scored<typename S::Output>>>;
  s.named_features(i, sink);
} && (!Probabilistic<S> || requires(S s, std::size_t i, NoMeans means) {
                              { s.right_expectations(i, means) } -> std::convertible_to<double>;
                            });

// Examples can have some of their features left out: until the next call, example i, which alone is asked
// about.
template <class S>
concept Droppable = Structure<S> && requires(S s, std::size_t i, const Dropout& dropout) {
  s.hide(i, dropout, std::uint64_t{0});
};

// Keeps the weights of row 0 in a form of its own, and is notified when one changes.
template <class S>
concept WithConstants = Structure<S> && requires(S s, std::size_t at) { s.constant_changed(at, 0.0); };

// Knows the rows that an example's scores come from (but for row 0), so that penalties can be paid late.
template <class S>
concept LazilyPenalised = Structure<S> && requires(S s, std::size_t i, NoRow row) { s.rows_of(i, row); };

// The outputs of an example are a list that is given with it: the numbers below `outputs(i)`.
template <class S>
concept Listed = Structure<S> && std::unsigned_integral<typename S::Output> && requires(S s, std::size_t i) {
  { s.outputs(i) } -> std::convertible_to<std::size_t>;
};

// Examples are tokens (or items) with features and a label each.
template <class S>
concept Labelled = Structure<S> && requires(S s) {
  { s.examples() } -> std::convertible_to<const ExampleRows&>;
};

template <Structure S>
bool complete(S& s, std::size_t i) {
  if constexpr (PartiallyLabelled<S>)
    return s.complete(i);
  else
    return true;
}

// sink of the features of y minus those of z. A structure that can skip what they share offers `difference`.
template <Structure S, class Sink>
void difference(S& s, std::size_t i, const typename S::Output& y, const typename S::Output& z, Sink&& sink) {
  if constexpr (requires { s.difference(i, y, z, sink); }) {
    s.difference(i, y, z, sink);
  } else {
    s.features_of(i, y, sink);
    s.features_of(i, z, [&](const Coordinate& c, double count) { sink(c, -count); });
  }
}

// The best output, and if that is right the best wrong one, if there is one.
template <Structure S>
void find_second(S& s, std::size_t i, Violation<typename S::Output>& found) {
  if constexpr (PartiallyLabelled<S>) {
    if (!s.complete(i)) {
      const Scored<typename S::Output>& best = s.best(i);
      found.errors = s.errors(i, best.output);
      found.found = found.errors != 0;
      if (found.found) {
        found.wrong = best;
      } else if (std::optional<Scored<typename S::Output>> other = s.best_wrong(i)) {
        found.wrong = std::move(*other);
        found.found = true;
      }
      return;
    }
  }
  std::vector<Scored<typename S::Output>> two = s.k_best(i, 2);
  if (two.empty()) return;
  found.errors = s.errors(i, two[0].output);
  const std::size_t at = found.errors != 0 ? 0 : 1;
  found.found = at < two.size();
  if (found.found) found.wrong = std::move(two[at]);
}

// A violation of whole outputs. `found` is used again and again: its memory is.
template <Structure S>
void find_whole_violation(S& s, std::size_t i, Against which, Violation<typename S::Output>& found) {
  found.found = found.right_may_lead = found.due = false;
  found.errors = 0;
  found.cost = 0.0;
  const auto take = [&](const Scored<typename S::Output>& best) {
    found.errors = s.errors(i, best.output);
    found.found = found.errors != 0;
    if (found.found) found.wrong = best;
  };
  if (which == Against::best) take(s.best(i));
  if (which == Against::second) find_second(s, i, found);
  if (which == Against::costly) {
    if constexpr (CostSensitive<S>) {
      take(s.costly_best(i));
      if (found.found) found.cost = s.cost(i, found.wrong.output);
    } else {
      throw std::invalid_argument("the outputs of this structure have no costs");
    }
  }
  if (found.found) found.right = s.gold(i);
}

// What an online update compares: whole outputs, unless the structure offers `violation`, such as prefixes
// where a beam lost gold.
template <Structure S>
void find_violation(S& s, std::size_t i, Against which, Violation<typename S::Output>& found) {
  if constexpr (requires { s.violation(i, which, found); })
    s.violation(i, which, found);
  else
    find_whole_violation(s, i, which, found);
}

}  // namespace marginalia
