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

// All keys are made before the first is looked up, all rows are looked up before the first is added: each
// step asks the memory for what the next one reads.
const std::vector<ChainModel::Feature>& ChainModel::features(const Program& program, const TokenTable& table,
                                                             std::size_t s, Space& space) const {
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first;
  std::vector<Feature>& found = space.features;
  program.read(table, first, first + length, space.extraction);
  found.clear();
  for (std::size_t at = 0; at < length; ++at) {
    program.emit_at(space.extraction, at, length, [&](std::uint32_t i, std::uint64_t key) {
      weights_.prefetch_key(key);
      found.push_back({key, static_cast<std::uint32_t>(at), 0, program.scope(i) == Scope::edge});
    });
  }
  std::size_t known = 0;
  for (const Feature& feature : found) {
    const std::uint32_t row = weights_.find(feature.key);
    if (row == FrozenWeights::kNone) continue;
    weights_.prefetch_row(row);
    found[known] = feature;
    found[known++].row = row & 0x7fffffffu;
  }
  found.resize(known);
  return found;
}

const Lattice& ChainModel::lattice(const Program& program, const TokenTable& table, std::size_t s,
                                   Space& space) const {
  constexpr std::size_t kCellsAhead = 8;
  const std::size_t n = shape_.labels, length = table.sentence[s + 1] - table.sentence[s];
  Lattice& lattice = space.lattice;
  lattice.shape = &shape_;
  lattice.constants = &constants_;
  lattice.length = length;
  lattice.node.assign(length * n, 0.0);
  lattice.edge.assign(program.has_edges() ? length * n * n : 0, 0.0);
  const std::vector<Feature>& found = features(program, table, s, space);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i + kCellsAhead < found.size()) weights_.prefetch_cells(found[i + kCellsAhead].row);
    const std::size_t t = found[i].token;
    if (!found[i].edge)
      weights_.add_row(found[i].row, n, &lattice.node[t * n]);
    else if (t > 0)
      weights_.add_row(found[i].row, n * n, &lattice.edge[t * n * n]);
  }
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
