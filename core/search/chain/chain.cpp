#include "search/chain/chain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/vector.hpp"
#include "search/chain/best_wrong.hpp"

namespace marginalia {

Chain::Chain(const ChainShape& shape, const ChainData& data, const SparseRows& weights)
    : shape_(shape),
      examples_(data.examples),
      costs_(data.costs),
      weights_(weights),
      edge_weights_(weights),
      constants_(shape) {
  for (const Cell* c = weights.begin(kConstantRow); c != weights.end(kConstantRow); ++c)
    constants_.set(shape, c->output, c->weight);
  lattice_.shape = &shape_;
  lattice_.constants = &constants_;
}

void Chain::prefetch(std::size_t i) const {
  constexpr std::size_t kLine = 64, kMost = 4096;  // bytes
  const auto fetch = [&](const auto* first, std::size_t count) {
    const char* bytes = reinterpret_cast<const char*>(first);
    for (std::size_t at = 0; at < std::min(count * sizeof *first, kMost); at += kLine)
      marginalia::prefetch(bytes + at);
  };
  const Example x = example(examples_, i);
  const std::uint64_t* ends = examples_.node_end.data() + x.first;
  fetch(ends, x.length + 1);
  fetch(x.gold(), x.length);
  fetch(examples_.node_rows.data() + ends[0], examples_.node_end[x.first + x.length] - ends[0]);
}

Labels Chain::gold(std::size_t i) {
  const RightLabels one = right(i);
  if (one.complete()) return {one.ids(), one.ids() + one.size()};
  lattice_of(i);
  lattice_.finish();
  allow_right(i);
  ScoredLabels best;
  best_of(lattice_, space_, best);
  if (best.score == kIllegal) throw std::domain_error("an example has no right output that is legal");
  return best.output;
}

// Makes all but the right outputs illegal.
void Chain::allow_right(std::size_t i) {
  const RightLabels one = right(i);
  for (std::size_t t = 0; t < one.size(); ++t)
    lattice_.allow(t, {one.mask(t, shape_.labels, mask_), shape_.labels});
}

void Chain::hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
  hides_ = dropout.active();
  if (hides_) thin(examples_, i, dropout, step, thinned_);
}

HypothesisList Chain::rescored(std::size_t i, std::size_t n, const HypothesisList& given) {
  const Lattice& lattice = lattice_of(i);
  return given.rescored(n, [&](const Labels& y) { return path_score(lattice, y.data()); });
}

const Lattice& Chain::lattice_of(std::size_t i) {
  const Example x = at(i);
  lattice_.begin(x.length, false);
  sum_node_rows(x, weights_, shape_.labels, lattice_.node.data());
  if (examples_.has_edges())
    lattice_.set_edges(edge_weights_, x.all->edge_rows,
                       std::span(x.all->edge_end).subspan(x.first, x.length + 1));
  return lattice_;
}

const ScoredLabels& Chain::best_of_lattice() {
  lattice_.finish();
  best_of(lattice_, space_, best_);
  return best_;
}

const ScoredLabels& Chain::best(std::size_t i) {
  lattice_of(i);
  return best_of_lattice();
}

const ScoredLabels& Chain::costly_best(std::size_t i) {
  const RightLabels one = right(i);
  const std::uint32_t n = shape_.labels;
  lattice_of(i);
  for (std::size_t t = 0; t < one.size(); ++t)
    for (std::uint32_t c = 0; c < n; ++c) lattice_.node[t * n + c] += costs_->of(one, t, c);
  return best_of_lattice();
}

std::vector<ScoredLabels> Chain::k_best(std::size_t i, std::size_t k) {
  lattice_of(i);
  lattice_.finish();
  return k_best_of(lattice_, k, space_);
}

std::optional<ScoredLabels> Chain::best_wrong(std::size_t i) {
  lattice_of(i);
  lattice_.finish();
  return marginalia::best_wrong(lattice_, right(i));
}

// The probabilities of the labels of token t after the gold labels; returns the log of what they are divided
// by.
double Chain::choice(const Example& x, std::size_t t, std::vector<double>& p) const {
  const std::size_t n = shape_.labels;
  const std::uint32_t* gold = x.gold();
  const double* node = &lattice_.node[t * n];
  for (std::size_t c = 0; c < n; ++c) {
    p[c] = node[c] + (t == 0 ? constants_.start[c] : lattice_.pairs(t)[gold[t - 1] * n + c]);
    if (t > 0 && shape_.order == 2)
      p[c] += constants_.trigram[((t == 1 ? n : gold[t - 2]) * n + gold[t - 1]) * n + c];
    if (t + 1 == x.length) p[c] += constants_.end[c];
  }
  const double most = *std::max_element(p.begin(), p.end());
  if (most == kIllegal) throw std::domain_error("after the gold labels no label is legal");
  exp_all(p.data(), n, most);
  double sum = 0.0;
  for (const double value : p) sum += value;
  for (double& value : p) value /= sum;
  return most + std::log(sum);
}

}  // namespace marginalia
