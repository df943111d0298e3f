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

// All keys are made before the first is looked up: each step asks the memory for what the next one reads.
void ChainModel::find_features(const Program& program, std::size_t length, std::size_t begin, std::size_t end,
                               Space& space) const {
  program.features(space.extraction, length, begin, end, space.features,
                   [&](std::uint64_t key) { weights_.prefetch_key(key); });
  Program::resolve(space.features, space.extraction, [&](const Feature& f) {
    const std::uint32_t row = weights_.find(f.key);
    if (row == kUnknownRow || weights_.is_edge(row) != f.edge) return kUnknownRow;  // outputs would not fit
    weights_.prefetch_row(row);
    return row;
  });
}

const Lattice& ChainModel::lattice(const Program& program, const TokenTable& table, std::size_t s,
                                   Space& space) const {
  const std::size_t n = shape_.labels, length = table.sentence[s + 1] - table.sentence[s];
  Lattice& lattice = space.lattice;
  lattice.shape = &shape_;
  lattice.constants = &constants_;
  lattice.begin(length);
  space.edge_rows.clear();
  space.edge_end.assign(1, 0);
  const auto end_tokens_before = [&](std::size_t t) {
    while (space.edge_end.size() <= t) space.edge_end.push_back(space.edge_rows.size());
  };
  for_features(program, table, s, space, [&](std::size_t t, bool edge, std::uint32_t row) {
    if (!edge) {
      weights_.add_row(row, n, &lattice.node[t * n]);
      return;
    }
    end_tokens_before(t);
    space.edge_rows.push_back(row);
  });
  end_tokens_before(length);
  if (program.has_edges()) lattice.set_edges(edge_weights_, space.edge_rows, space.edge_end);
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
