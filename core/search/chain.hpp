// The chain structure: examples and weights in, answers to the four questions out.
#pragma once

#include <cstdint>
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
  template <class Sink>
  void features_at(const Example& x, const std::uint32_t* y, std::size_t t, double count, Sink&& sink) const;

  const ChainShape& shape_;
  const Examples& examples_;
  const SparseRows& weights_;
  ChainConstants constants_;
  Lattice lattice_;
  ViterbiSpace space_;
  Scored best_;
};

// The features that end at token t: those of its label and of the label n-grams that end there.
template <class Sink>
void Chain::features_at(const Example& x, const std::uint32_t* y, std::size_t t, double count,
                        Sink&& sink) const {
  const std::uint32_t n = shape_.labels;
  x.for_node_rows(t, [&](std::uint32_t row) { sink(Coordinate{row, y[t], n}, count); });
  if (t > 0) {
    const std::uint32_t pair = y[t - 1] * n + y[t];
    x.for_edge_rows(t, [&](std::uint32_t row) { sink(Coordinate{row, pair, n * n}, count); });
  }
  if (!shape_.transitions) return;
  const auto constant = [&](std::size_t at) {
    sink(Coordinate{kConstantRow, static_cast<std::uint32_t>(at),
                    static_cast<std::uint32_t>(shape_.constants())},
         count);
  };
  if (t == 0) constant(shape_.start_at() + y[0]);
  if (t + 1 == x.length) constant(shape_.end_at() + y[t]);
  if (t > 0) constant(shape_.transition_at() + std::size_t{y[t - 1]} * n + y[t]);
  if (t > 0 && shape_.order == 2) {
    const std::size_t older = t == 1 ? n : y[t - 2];
    constant(shape_.trigram_at() + (older * n + y[t - 1]) * n + y[t]);
  }
}

template <class Sink>
void Chain::features_of(std::size_t i, const std::vector<std::uint32_t>& y, Sink&& sink) const {
  const Example x = example(examples_, i);
  for (std::size_t t = 0; t < x.length; ++t) features_at(x, y.data(), t, 1.0, sink);
}

template <class Sink>
void Chain::difference(std::size_t i, const std::vector<std::uint32_t>& y,
                       const std::vector<std::uint32_t>& z, Sink&& sink) const {
  const Example x = example(examples_, i);
  const auto reach = static_cast<std::size_t>(shape_.order);
  std::size_t since = reach + 1;  // tokens since y and z last differed
  for (std::size_t t = 0; t < x.length; ++t) {
    since = y[t] != z[t] ? 0 : since + 1;
    if (since > reach) continue;
    features_at(x, y.data(), t, 1.0, sink);
    features_at(x, z.data(), t, -1.0, sink);
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
  if (!shape_.transitions || x.length == 0) return p.log_z;
  const auto constants = [&](std::size_t at, const double* means, std::size_t count) {
    for (std::size_t c = 0; c < count; ++c)
      sink(Coordinate{kConstantRow, static_cast<std::uint32_t>(at + c),
                      static_cast<std::uint32_t>(shape_.constants())},
           means[c]);
  };
  constants(shape_.start_at(), p.node.data(), n);
  constants(shape_.end_at(), p.node.data() + (x.length - 1) * n, n);
  constants(shape_.transition_at(), p.transition.data(), p.transition.size());
  constants(shape_.trigram_at(), p.trigram.data(), p.trigram.size());
  return p.log_z;
}

static_assert(Structure<Chain>);

}  // namespace marginalia
