// The chain structure: examples and weights in, answers to a learner's questions out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "features/example_rows.hpp"
#include "search/chain/decoding.hpp"
#include "search/chain/forward_backward.hpp"
#include "search/chain/lattice.hpp"
#include "search/chain/viterbi.hpp"
#include "search/hypothesis_list.hpp"
#include "search/labels.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

using ChainData = LabelData;

class Chain {
 public:
  using Output = Labels;
  static constexpr const char* kName = "chain";

  // All must outlive the chain.
  Chain(const ChainShape& shape, const ChainData& data, const SparseRows& weights);

  std::size_t size() const { return examples_.sentences(); }
  const ExampleRows& examples() const { return examples_; }
  std::uint32_t row_outputs() const { return shape_.labels; }  // of the rows that most scores come from
  void prefetch(std::size_t i) const;                          // example i is next
  std::size_t parts(std::size_t i) const { return right(i).size(); }
  Labels gold(std::size_t i);
  std::size_t errors(std::size_t i, const Labels& y) const { return errors_of(right(i), y); }
  const ScoredLabels& best(std::size_t i);
  std::vector<ScoredLabels> k_best(std::size_t i, std::size_t k);
  HypothesisList hypotheses(std::size_t i, std::size_t n) { return hypotheses_of(lattice_of(i), n); }
  HypothesisList rescored(std::size_t i, std::size_t n, const HypothesisList& given);
  double cost(std::size_t i, const Labels& y) const { return costs_->of(right(i), y); }
  const ScoredLabels& costly_best(std::size_t i);
  bool complete(std::size_t i) const { return right(i).complete(); }
  template <class Sink>
  void features_of(std::size_t i, const Labels& y, Sink&& sink) const;
  template <class Sink>
  void difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink) const;
  template <class Means>
  double expectations(std::size_t i, Means&& means) {
    return expect(i, lattice_of(i), means);
  }
  std::optional<ScoredLabels> best_wrong(std::size_t i);
  template <class Means>
  double right_expectations(std::size_t i, Means&& means) {
    lattice_of(i);
    allow_right(i);
    return expect(i, lattice_, means);
  }
  template <class Sink>
  void named_features(std::size_t i, Sink&& sink) const;
  template <class Means>
  double local_expectations(std::size_t i, Means&& means);
  template <class F>
  void rows_of(std::size_t i, F&& f) const;

  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step);
  void constant_changed(std::size_t at, double value) { constants_.set(shape_, at, value); }

 private:
  RightLabels right(std::size_t i) const { return right_labels(examples_, i); }
  Example at(std::size_t i) const { return hides_ ? example(thinned_, 0) : example(examples_, i); }
  const Lattice& lattice_of(std::size_t i);
  const ScoredLabels& best_of_lattice();
  void allow_right(std::size_t i);
  template <class Means>
  double expect(std::size_t i, const Lattice& lattice, Means& means);
  double choice(const Example& x, std::size_t t, std::vector<double>& p) const;
  template <class Means>
  void add_node_means(const Example& x, std::size_t t, const double* node, Means& means) const;
  // means of `value` times what labels are expected.
  template <class Means>
  void give_means(std::uint32_t row, double value, const double* labels, Means& means) const {
    if (value == 1.0) {
      means(row, 0u, labels, shape_.labels);
      return;
    }
    scaled_.assign(labels, labels + shape_.labels);
    for (double& mean : scaled_) mean *= value;
    means(row, 0u, scaled_.data(), shape_.labels);
  }
  Coordinate constant(std::size_t at) const {
    return {kConstantRow, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(shape_.constants())};
  }
  template <class Sink>
  void label_features(const Example& x, const std::uint32_t* y, std::size_t t, double count,
                      Sink&& sink) const;
  template <class Sink>
  void pair_features(const Example& x, const std::uint32_t* y, std::size_t t, double count,
                     Sink&& sink) const;
  template <class Sink>
  void triple_feature(const std::uint32_t* y, std::size_t t, double count, Sink&& sink) const;

  const ChainShape& shape_;
  const ExampleRows& examples_;
  const std::shared_ptr<const LabelCosts> costs_;
  const SparseRows& weights_;
  EdgeWeightsOf<SparseRows> edge_weights_;
  ChainConstants constants_;
  Lattice lattice_;
  ViterbiSpace space_;
  ForwardBackwardSpace probabilities_;
  ScoredLabels best_;
  std::vector<std::uint8_t> mask_;
  ExampleRows thinned_;
  mutable std::vector<double> scaled_;
  bool hides_ = false;
};

// The features of the label of token t.
template <class Sink>
void Chain::label_features(const Example& x, const std::uint32_t* y, std::size_t t, double count,
                           Sink&& sink) const {
  x.for_node_rows(t, [&](std::uint32_t row, double value) {
    sink(Coordinate{row, y[t], shape_.row_width()}, count * value);
  });
  if (!shape_.ends) return;
  if (t == 0) sink(constant(shape_.start_at() + y[0]), count);
  if (t + 1 == x.length) sink(constant(shape_.end_at() + y[t]), count);
}

// The features of the labels of tokens t - 1 and t.
template <class Sink>
void Chain::pair_features(const Example& x, const std::uint32_t* y, std::size_t t, double count,
                          Sink&& sink) const {
  const std::uint32_t n = shape_.labels, pair = y[t - 1] * n + y[t];
  x.for_edge_rows(t, [&](std::uint32_t row) { sink(Coordinate{row, pair, n * n}, count); });
  if (shape_.transitions) sink(constant(shape_.transition_at() + pair), count);
}

// The feature of the labels of tokens t - 2 (or the sentence's start), t - 1 and t.
template <class Sink>
void Chain::triple_feature(const std::uint32_t* y, std::size_t t, double count, Sink&& sink) const {
  if (shape_.order != 2 || !shape_.transitions) return;
  const std::size_t n = shape_.labels, older = t == 1 ? n : y[t - 2];
  sink(constant(shape_.trigram_at() + (older * n + y[t - 1]) * n + y[t]), count);
}

template <class Sink>
void Chain::features_of(std::size_t i, const Labels& y, Sink&& sink) const {
  const Example x = at(i);
  for (std::size_t t = 0; t < x.length; ++t) {
    label_features(x, y.data(), t, 1.0, sink);
    if (t == 0) continue;
    pair_features(x, y.data(), t, 1.0, sink);
    triple_feature(y.data(), t, 1.0, sink);
  }
}

template <class Sink>
void Chain::difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink) const {
  const Example x = at(i);
  std::size_t since = 3;  // tokens since y and z last differed
  for (std::size_t t = 0; t < x.length; ++t) {
    since = y[t] != z[t] ? 0 : since + 1;
    if (since > 2) continue;
    for (const auto& [labels, count] : {std::pair(y.data(), 1.0), std::pair(z.data(), -1.0)}) {
      if (since == 0) label_features(x, labels, t, count, sink);
      if (t > 0 && since <= 1) pair_features(x, labels, t, count, sink);
      if (t > 0) triple_feature(labels, t, count, sink);
    }
  }
}

// The labels that tokens name, and the pairs of neighbours that both do; constants always have room.
template <class Sink>
void Chain::named_features(std::size_t i, Sink&& sink) const {
  const Example x = at(i);
  const RightLabels named = right(i);
  const std::uint32_t n = shape_.labels;
  for (std::size_t t = 0; t < x.length; ++t) {
    if (!named.names(t)) continue;
    named.for_labels(t, [&](std::uint32_t label) {
      x.for_node_rows(t, [&](std::uint32_t row, double value) { sink(Coordinate{row, label, n}, value); });
      if (t == 0 || !named.names(t - 1)) return;
      named.for_labels(t - 1, [&](std::uint32_t before) {
        if (shape_.transition[before * n + label] == 0) return;
        x.for_edge_rows(t, [&](std::uint32_t row) { sink(Coordinate{row, before * n + label, n * n}, 1.0); });
      });
    });
  }
}

template <class Means>
double Chain::expect(std::size_t i, const Lattice& lattice, Means& means) {
  const Example x = at(i);
  const std::uint32_t n = shape_.labels;
  const bool edges = examples_.has_edges();
  const auto constants = [&](std::size_t first, const double* counts, std::size_t count) {
    if (count != 0)
      means(kConstantRow, static_cast<std::uint32_t>(first), counts, static_cast<std::uint32_t>(count));
  };
  const double log_z = forward_backward(
      lattice, edges, probabilities_, [&](std::size_t t, const double* node, const double* pairs) {
        add_node_means(x, t, node, means);
        if (t > 0 && edges) x.for_edge_rows(t, [&](std::uint32_t row) { means(row, 0u, pairs, n * n); });
        if (!shape_.ends) return;
        if (t == 0) constants(shape_.start_at(), node, n);
        if (t + 1 == x.length) constants(shape_.end_at(), node, n);
      });
  if (shape_.transitions && x.length > 1) {
    constants(shape_.transition_at(), probabilities_.transition.data(), probabilities_.transition.size());
    constants(shape_.trigram_at(), probabilities_.trigram.data(), probabilities_.trigram.size());
  }
  return log_z;
}

// Rows come in no order: if `means` can prefetch them, it does so before they are needed.
template <class Means>
void Chain::add_node_means(const Example& x, std::size_t t, const double* node, Means& means) const {
  constexpr std::uint64_t kRowAhead = 24, kCellsAhead = 10;
  const LargeVector<std::uint32_t>& rows = x.all->node_rows;
  const std::uint64_t begin = x.all->node_end[x.first + t], end = x.all->node_end[x.first + t + 1];
  const std::uint64_t first = x.all->node_end[x.first];  // the tokens come from the last to the first
  for (std::uint64_t i = end; i-- > begin;) {
    if constexpr (requires { means.prefetch_row(rows[i]); }) {
      if (i >= first + kRowAhead) means.prefetch_row(rows[i - kRowAhead]);
      if (i >= first + kCellsAhead) means.prefetch_cells(rows[i - kCellsAhead]);
    }
    give_means(rows[i], x.all->node_value(i), node, means);
  }
}

template <class Means>
double Chain::local_expectations(std::size_t i, Means&& means) {
  if (!right(i).complete()) throw std::invalid_argument("choices label by label need complete labels");
  const Example x = at(i);
  const std::uint32_t n = shape_.labels;
  lattice_of(i);
  std::vector<double> p(n);
  double log_z = 0.0;
  for (std::size_t t = 0; t < x.length; ++t) {
    log_z += choice(x, t, p);
    x.for_node_rows(t, [&](std::uint32_t row, double value) { give_means(row, value, p.data(), means); });
    const auto constants = [&](std::size_t first) {
      means(kConstantRow, static_cast<std::uint32_t>(first), p.data(), n);
    };
    if (shape_.ends && t == 0) constants(shape_.start_at());
    if (shape_.ends && t + 1 == x.length) constants(shape_.end_at());
    if (t == 0) continue;
    const std::uint32_t before = x.gold()[t - 1];
    x.for_edge_rows(t, [&](std::uint32_t row) { means(row, before * n, p.data(), n); });
    if (!shape_.transitions) continue;
    constants(shape_.transition_at() + before * n);
    const std::size_t older = t == 1 ? n : x.gold()[t - 2];
    if (shape_.order == 2) constants(shape_.trigram_at() + (older * n + before) * n);
  }
  return log_z;
}

template <class F>
void Chain::rows_of(std::size_t i, F&& f) const {
  const Example x = at(i);
  for (std::size_t t = 0; t < x.length; ++t) {
    x.for_node_rows(t, [&](std::uint32_t row, double) { f(row); });
    if (t > 0) x.for_edge_rows(t, f);
  }
}

static_assert(CostSensitive<Chain> && Probabilistic<Chain> && Stepwise<Chain> && PartiallyLabelled<Chain> &&
              Droppable<Chain> && WithConstants<Chain> && LazilyPenalised<Chain> && Labelled<Chain>);

}  // namespace marginalia
