#include "search/chain.hpp"

namespace marginalia {

Chain::Chain(const ChainShape& shape, const Examples& examples, const SparseRows& weights)
    : shape_(shape), examples_(examples), weights_(weights), edge_weights_(weights), constants_(shape) {
  for (const Cell* c = weights.begin(kConstantRow); c != weights.end(kConstantRow); ++c)
    constants_.set(shape, c->output, c->weight);
  lattice_.shape = &shape_;
  lattice_.constants = &constants_;
}

std::vector<std::uint32_t> Chain::gold(std::size_t i) const {
  const Example x = example(examples_, i);
  return {x.gold(), x.gold() + x.length};
}

// scores[t][...] += the rows of token t. Waiting for memory is most of the cost, so rows are asked for ahead.
void Chain::add_rows(const std::vector<std::uint32_t>& rows, const std::vector<std::uint64_t>& ends,
                     const Example& x, std::size_t width, double* scores) const {
  constexpr std::uint64_t kRowAhead = 24, kCellsAhead = 8;
  const std::uint64_t last = ends[x.first + x.length];
  std::uint64_t i = ends[x.first];
  for (std::size_t t = 0; t < x.length; ++t, scores += width) {
    for (; i < ends[x.first + t + 1]; ++i) {
      if (i + kRowAhead < last) weights_.prefetch_row(rows[i + kRowAhead]);
      if (i + kCellsAhead < last) weights_.prefetch_cells(rows[i + kCellsAhead]);
      weights_.add_row(rows[i], width, scores);
    }
  }
}

const Lattice& Chain::lattice_of(std::size_t i) {
  const Example x = example(examples_, i);
  const std::size_t n = shape_.labels;
  lattice_.begin(x.length);
  add_rows(examples_.node_rows, examples_.node_end, x, n, lattice_.node.data());
  if (examples_.has_edges())
    lattice_.set_edges(edge_weights_, examples_.edge_rows,
                       std::span(examples_.edge_end).subspan(x.first, x.length + 1));
  return lattice_;
}

const Scored& Chain::best(std::size_t i) {
  const Lattice& lattice = lattice_of(i);
  best_.output.resize(lattice.length);
  best_.score = viterbi(lattice, space_, best_.output.data());
  return best_;
}

std::vector<Scored> Chain::k_best(std::size_t i, std::size_t k) {
  const Lattice& lattice = lattice_of(i);
  KBest search(lattice);
  std::vector<Scored> result;
  std::vector<std::uint32_t> labels(lattice.length);
  while (result.size() < k) {
    const auto score = search.next(labels.data());
    if (!score) break;
    result.push_back({labels, *score});
  }
  return result;
}

}  // namespace marginalia
