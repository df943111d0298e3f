// Non-local features: the n best outputs of a structure, scored again with global features of whole outputs
// (Kazama and Torisawa 2007, algorithms 4.1 and 4.2). Search looks at n hypotheses only, so it may miss an
// output, the right one too, that scores more than all of them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "search/structure.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// An output of the structure below. `global`: do its global features count? An update of the local model
// alone, part (B) of algorithm 4.2, compares outputs without them.
template <class Local>
struct WholeOutput {
  Local local{};
  bool global = true;

  bool operator==(const WholeOutput& other) const { return local == other.local; }
  auto begin() const
    requires requires(const Local& y) { y.begin(); }
  {
    return local.begin();
  }
  auto end() const
    requires requires(const Local& y) { y.end(); }
  {
    return local.end();
  }
};

// The n best outputs of example i as the structure lists them: in a form of its own (`hypotheses`), or in
// full. Such a list has `size`, and the `score` and `output` of each.
template <class Local>
struct FullList {
  std::vector<Scored<Local>> all;
  std::size_t size() const { return all.size(); }
  double score(std::size_t k) const { return all[k].score; }
  const Local& output(std::size_t k) const { return all[k].output; }
};

template <Structure S>
auto n_best_of(S& s, std::size_t i, std::size_t n) {
  if constexpr (requires { s.hypotheses(i, n); })
    return s.hypotheses(i, n);
  else
    return FullList<typename S::Output>{s.k_best(i, n)};
}
template <Structure S>
using ListOf = decltype(n_best_of(std::declval<S&>(), 0, 0));

// Can the structure score outputs that another model lists?
template <class S>
concept ScoresLists = requires(S& s, std::size_t i, std::size_t n, const ListOf<S>& given) {
  { s.rescored(i, n, given) } -> std::same_as<ListOf<S>>;
};

// totals(i, list): the scores of listed outputs of example i by all features; difference(i, y, z, sink): the
// global features of y minus those of z; features_of(i, y, sink): those of y.
template <class Global, class S>
concept GlobalFeatures =
    requires(Global& global, std::size_t i, const ListOf<S>& list, const typename S::Output& y, NoSink sink) {
      { global.totals(i, list) } -> std::convertible_to<std::vector<double>>;
      global.difference(i, y, y, sink);
      global.features_of(i, y, sink);
    };

// The numbers of the k best by total score, best first; ties stay in the order of local scores.
inline std::vector<std::size_t> best_of(const std::vector<double>& totals, std::size_t k) {
  std::vector<std::size_t> order(totals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  k = std::min(k, order.size());
  const auto better = [&](std::size_t a, std::size_t b) {
    return totals[a] != totals[b] ? totals[a] > totals[b] : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), better);
  order.resize(k);
  return order;
}

// How the n best are looked at: n hypotheses when it learns, `in_use` when the best one is asked for, the
// margins of all features and of the local ones, and whether the local model is updated by itself (part (B)).
struct NonLocalOptions {
  std::size_t n = 20, in_use = 100;
  double margin = 0.0, local_margin = 0.0;
  bool local_updates = true;
};

// It has no tier that the hypotheses alone cannot answer: no expectations, no examples with more than one
// right output.
template <Structure S, GlobalFeatures<S> Global>
class NonLocal {
 public:
  using Local = typename S::Output;
  using Output = WholeOutput<Local>;
  static constexpr const char* kName = "non-local";

  // The structure scores with the weights of its own features, which are among `weights`; all must outlive
  // this one. If lists are `given`, one an example, their first n stand for the n best of the structure in
  // part (A) and in use (its hypotheses are then those of another model: re-ranking); part (B) is about its
  // own.
  NonLocal(S& local, const SparseRows& weights, Global& global, const NonLocalOptions& options,
           std::span<const ListOf<S>> given = {})
      : local_(local), weights_(weights), global_(global), options_(options), given_(given) {
    if (!given.empty() && (!ScoresLists<S> || given.size() != local.size()))
      throw std::invalid_argument("the given hypotheses do not fit the examples");
  }

  std::size_t size() const { return local_.size(); }
  std::size_t parts(std::size_t i) const { return local_.parts(i); }
  Output gold(std::size_t i) { return {local_.gold(i)}; }
  std::size_t errors(std::size_t i, const Output& y) const { return local_.errors(i, y.local); }

  const Scored<Output>& best(std::size_t i) {
    const std::vector<Scored<Output>> found = k_best(i, 1);
    best_ = found.empty() ? Scored<Output>{{local_.best(i).output}} : found.front();
    return best_;
  }

  // At most as many as are looked at.
  std::vector<Scored<Output>> k_best(std::size_t i, std::size_t k) {
    const ListOf<S> list = hypotheses(i, options_.in_use);
    const std::vector<double> totals = list.size() == 0 ? std::vector<double>{} : global_.totals(i, list);
    std::vector<Scored<Output>> found;
    for (const std::size_t rank : best_of(totals, k)) found.push_back({{list.output(rank)}, totals[rank]});
    return found;
  }

  template <class Sink>
  void features_of(std::size_t i, const Output& y, Sink&& sink) {
    local_.features_of(i, y.local, sink);
    if (y.global) global_.features_of(i, y.local, sink);
  }
  template <class Sink>
  void difference(std::size_t i, const Output& y, const Output& z, Sink&& sink) {
    marginalia::difference(local_, i, y.local, z.local, sink);
    if (y.global && z.global) global_.difference(i, y.local, z.local, sink);
  }

  // Gold may be none of the hypotheses and score more than all of them. Against the second best it is decided
  // here whether all features or the local ones are to be updated, and that is then due.
  void violation(std::size_t i, Against which, Violation<Output>& found) {
    if (which == Against::costly) throw std::invalid_argument("the outputs of this structure have no costs");
    found = {};
    const ListOf<S> list = hypotheses(i, options_.n);
    if (list.size() == 0) return;
    const std::vector<double> totals = global_.totals(i, list);
    const std::vector<std::size_t> all = best_of(totals, 2);
    found.right = gold(i);
    found.wrong = {{list.output(all[0])}, totals[all[0]]};
    found.errors = errors(i, found.wrong.output);
    if (which == Against::best) {
      found.found = found.right_may_lead = found.errors != 0;
      return;
    }
    for (const std::size_t k : all)
      if (compare(i, list.output(k), totals[k], true, options_.margin, found)) return;
    if (!options_.local_updates) return;
    if (given_.empty())
      compare_local(i, list, found);
    else
      compare_local(i, n_best_of(local_, i, 2), found);
  }

  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step)
    requires Droppable<S>
  {
    local_.hide(i, dropout, step);
  }
  void prefetch(std::size_t i) const
    requires requires(const S& s) { s.prefetch(i); }
  {
    local_.prefetch(i);
  }
  std::uint32_t row_outputs() const
    requires requires(const S& s) { s.row_outputs(); }
  {
    return local_.row_outputs();
  }
  void constant_changed(std::size_t at, double value)
    requires WithConstants<S>
  {
    local_.constant_changed(at, value);
  }

 private:
  ListOf<S> hypotheses(std::size_t i, std::size_t n) {
    if constexpr (ScoresLists<S>)
      if (!given_.empty()) return local_.rescored(i, n, given_[i]);
    return n_best_of(local_, i, n);
  }

  // Part (B), among the best outputs of the local model itself, two or more if there are.
  void compare_local(std::size_t i, const ListOf<S>& own, Violation<Output>& found) {
    const bool wrong = local_.errors(i, own.output(0)) != 0;
    const std::size_t looked = wrong ? 1 : std::min<std::size_t>(own.size(), 2);
    const double margin = wrong ? std::numeric_limits<double>::infinity() : options_.local_margin;
    for (std::size_t k = 0; k < looked; ++k)
      if (compare(i, own.output(k), own.score(k), false, margin, found)) return;
  }

  // Is an output wrong, and does gold not beat it by more than a margin? Then an update is due. A wrong best
  // output of the local model always is to be updated: gold cannot score more.
  bool compare(std::size_t i, const Local& output, double score, bool global, double margin,
               Violation<Output>& found) {
    found.found = found.due = false;
    if (output == found.right.local) return false;
    found.right.global = global;
    found.wrong = {{output, global}, score};
    found.found = found.due = lead(i, found) <= margin;
    return found.found;
  }

  // By how much gold's score exceeds that of the other output.
  double lead(std::size_t i, const Violation<Output>& found) {
    double sum = 0.0;
    difference(i, found.right, found.wrong.output, [&](const Coordinate& at, double count) {
      if (const std::size_t cell = weights_.place_of(at); cell != SIZE_MAX)
        sum += count * static_cast<double>(weights_.cells[cell].weight);
    });
    return sum;
  }

  S& local_;
  const SparseRows& weights_;
  Global& global_;
  NonLocalOptions options_;
  std::span<const ListOf<S>> given_;
  Scored<Output> best_;
};

}  // namespace marginalia
