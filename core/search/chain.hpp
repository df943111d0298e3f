// The chain structure: examples and weights in, answers to the four questions out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "features/examples.hpp"
#include "search/forward_backward.hpp"
#include "search/k_best.hpp"
#include "search/lattice.hpp"
#include "search/structure.hpp"
#include "search/viterbi.hpp"
#include "weights/table.hpp"

namespace marginalia {

class Chain {
 public:
  // Both must outlive the chain.
  Chain(const ChainShape& shape, const Examples& examples, const SparseRows& weights);

  std::size_t size() const { return examples_.sentences(); }
  std::vector<std::uint32_t> gold(std::size_t i) const;
  const Scored& best(std::size_t i);
  std::vector<Scored> k_best(std::size_t i, std::size_t k);
  template <class Sink>
  void features_of(std::size_t i, const std::vector<std::uint32_t>& y, Sink&& sink) const;
  template <class Sink>
  void difference(std::size_t i, const std::vector<std::uint32_t>& y, const std::vector<std::uint32_t>& z,
                  Sink&& sink) const;
  template <class Sink>
  double expectations(std::size_t i, Sink&& sink);

  void constant_changed(std::size_t at, double value) { constants_.set(shape_, at, value); }

 private:
  const Lattice& lattice_of(std::size_t i);
  void add_rows(const std::vector<std::uint32_t>& rows, const std::vector<std::uint64_t>& ends,
                const Example& x, std::size_t width, double* scores) const;
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
  const Examples& examples_;
  const SparseRows& weights_;
  EdgeWeightsOf<SparseRows> edge_weights_;
  ChainConstants constants_;
  Lattice lattice_;
  ViterbiSpace space_;
  Scored best_;
};

// The features of the label of token t.
template <class Sink>
void Chain::label_features(const Example& x, const std::uint32_t* y, std::size_t t, double count,
                           Sink&& sink) const {
  x.for_node_rows(t, [&](std::uint32_t row) { sink(Coordinate{row, y[t], shape_.labels}, count); });
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
void Chain::features_of(std::size_t i, const std::vector<std::uint32_t>& y, Sink&& sink) const {
  const Example x = example(examples_, i);
  for (std::size_t t = 0; t < x.length; ++t) {
    label_features(x, y.data(), t, 1.0, sink);
    if (t == 0) continue;
    pair_features(x, y.data(), t, 1.0, sink);
    triple_feature(y.data(), t, 1.0, sink);
  }
}

template <class Sink>
void Chain::difference(std::size_t i, const std::vector<std::uint32_t>& y,
                       const std::vector<std::uint32_t>& z, Sink&& sink) const {
  const Example x = example(examples_, i);
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

template <class Sink>
double Chain::expectations(std::size_t i, Sink&& sink) {
  const Example x = example(examples_, i);
  const std::uint32_t n = shape_.labels;
  const Marginals p = forward_backward(lattice_of(i), examples_.has_edges());
  for (std::size_t t = 0; t < x.length; ++t) {
    x.for_node_rows(t, [&](std::uint32_t row) {
      for (std::uint32_t c = 0; c < n; ++c) sink(Coordinate{row, c, n}, p.node[t * n + c]);
    });
    if (t == 0) continue;
    x.for_edge_rows(t, [&](std::uint32_t row) {
      for (std::uint32_t c = 0; c < n * n; ++c) sink(Coordinate{row, c, n * n}, p.edge[t * n * n + c]);
    });
  }
  if (x.length == 0) return p.log_z;
  const auto constants = [&](std::size_t at, const double* means, std::size_t count) {
    for (std::size_t c = 0; c < count; ++c) sink(constant(at + c), means[c]);
  };
  if (shape_.ends) {
    constants(shape_.start_at(), p.node.data(), n);
    constants(shape_.end_at(), p.node.data() + (x.length - 1) * n, n);
  }
  if (shape_.transitions) {
    constants(shape_.transition_at(), p.transition.data(), p.transition.size());
    constants(shape_.trigram_at(), p.trigram.data(), p.trigram.size());
  }
  return p.log_z;
}

static_assert(Structure<Chain>);

}  // namespace marginalia
