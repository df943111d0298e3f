#include "search/chain_model.hpp"

#include <cmath>
#include <stdexcept>

namespace marginalia {

ChainModel::ChainModel(ChainShape shape, FrozenWeights weights, std::span<const std::uint32_t> constant_at,
                       std::span<const float> constants)
    : shape_(std::move(shape)), weights_(weights), constants_(shape_) {
  if (constant_at.size() != constants.size())
    throw std::invalid_argument("chain: constants disagree in number");
  for (std::size_t k = 0; k < constants.size(); ++k) {
    if (constant_at[k] >= shape_.constants() || !std::isfinite(constants[k]))
      throw std::invalid_argument("chain: a constant is out of range");
    constants_.set(shape_, constant_at[k], constants[k]);
  }
}

// All keys first, asking the memory for their buckets on the way; the look-ups then find them near.
std::size_t ChainModel::read_keys(const Program& program, const TokenTable& table, std::size_t s,
                                  Space& space) const {
  const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
  program.read(table, first, last, space.extraction);
  space.keys.clear();
  space.key_edge.clear();
  space.key_end.clear();
  for (std::size_t at = 0; at < last - first; ++at) {
    program.emit_at(space.extraction, at, last - first, [&](std::uint32_t i, std::uint64_t key) {
      weights_.prefetch(key);
      space.keys.push_back(key);
      space.key_edge.push_back(program.scope(i) == Scope::edge);
    });
    space.key_end.push_back(static_cast<std::uint32_t>(space.keys.size()));
  }
  return last - first;
}

const Lattice& ChainModel::lattice(const Program& program, const TokenTable& table, std::size_t s,
                                   Space& space) const {
  const std::size_t n = shape_.labels, length = table.sentence[s + 1] - table.sentence[s];
  Lattice& lattice = space.lattice;
  lattice.shape = &shape_;
  lattice.constants = &constants_;
  lattice.length = length;
  lattice.node.assign(length * n, 0.0);
  lattice.edge.assign(program.has_edges() ? length * n * n : 0, 0.0);
  for_rows(program, table, s, space, [&](std::size_t t, bool edge, std::uint32_t row) {
    if (!edge)
      weights_.add_row(row, n, &lattice.node[t * n]);
    else if (t > 0)
      weights_.add_row(row, n * n, &lattice.edge[t * n * n]);
  });
  return lattice;
}

std::vector<std::int32_t> ChainModel::best(const Program& program, const TokenTable& table,
                                           Space& space) const {
  std::vector<std::int32_t> labels(table.sentence.back());
  std::vector<std::uint32_t> sentence;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const Lattice& scores = lattice(program, table, s, space);
    sentence.resize(scores.length);
    viterbi(scores, space.viterbi, sentence.data());
    for (std::size_t t = 0; t < scores.length; ++t)
      labels[table.sentence[s] + t] = static_cast<std::int32_t>(sentence[t]);
  }
  return labels;
}

}  // namespace marginalia
