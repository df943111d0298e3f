#include "search/chain_model.hpp"

#include <cmath>
#include <stdexcept>

#include "search/chain_claims.hpp"
#include "search/walks.hpp"

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

Lattice& ChainModel::lattice(const Program& program, const TokenTable& table, std::size_t s,
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
  for_features(program, table, s, space, [&](const Feature& f) {
    if (!f.edge) {
      weights_.add_row(f.row, static_cast<double>(f.value), n, &lattice.node[f.token * n]);
      return;
    }
    end_tokens_before(f.token);
    space.edge_rows.push_back(f.row);
  });
  end_tokens_before(length);
  if (program.has_edges()) lattice.set_edges(edge_weights_, space.edge_rows, space.edge_end);
  return lattice;
}

std::vector<std::int32_t> ChainModel::best(const Program& program, const TokenTable& table,
                                           Space& space) const {
  std::vector<std::int32_t> labels(table.sentence.back());
  ScoredLabels found;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    Lattice& scores = lattice(program, table, s, space);
    scores.finish();
    best_of(scores, space.viterbi, found);
    for (std::size_t t = 0; t < scores.length; ++t)
      labels[table.sentence[s] + t] = static_cast<std::int32_t>(found.output[t]);
  }
  return labels;
}

std::vector<std::int32_t> ChainModel::voted(const Program& program, const TokenTable& table,
                                            const VoteLog& log, std::size_t k, Space& space) const {
  if (log.row_end.size() != weights_.slots() + 1)
    throw std::invalid_argument("votes: the log does not fit the weights");
  const auto constant_row = static_cast<std::uint32_t>(weights_.slots());
  const std::uint32_t n = shape_.labels;
  std::vector<std::int32_t> labels;
  std::vector<Feature> features;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    Lattice& scores = lattice(program, table, s, space);
    scores.finish();
    const std::vector<ScoredLabels> candidates = k_best_of(scores, k, space.viterbi);
    features.clear();
    for_features(program, table, s, space, [&](const Feature& f) {
      if (!f.edge || f.token > 0) features.push_back(f);
    });
    Ballot ballot(candidates.size());
    const auto add = [&](const Labels& y, std::size_t j, double count) {
      for (const Feature& f : features)
        ballot.add(j, f.row, f.edge ? y[f.token - 1] * n + y[f.token] : y[f.token],
                   count * static_cast<double>(f.value));
      for_constants(shape_, y, [&](std::size_t at) {
        ballot.add(j, constant_row, static_cast<std::uint32_t>(at), count);
      });
    };
    for (std::size_t j = 1; j < candidates.size(); ++j) {
      add(candidates[j].output, j, 1.0);
      add(candidates[0].output, j, -1.0);
    }
    const Labels& chosen = candidates.at(candidates.empty() ? 0 : ballot.winner(log)).output;
    for (const std::uint32_t label : chosen) labels.push_back(static_cast<std::int32_t>(label));
  }
  return labels;
}

ConstrainedLabels ChainModel::constrain(const Program& program, const TokenTable& table,
                                        std::span<const std::int32_t> labels,
                                        std::span<const std::uint8_t> chosen, const Rules& rules,
                                        const std::vector<Places>& places, Space& space) const {
  return constrained_labels(table, labels, shape_.labels, chosen, rules, places,
                            [&](std::size_t s, const Demands& demands, const Labels& free) {
                              Lattice& scores = lattice(program, table, s, space);
                              scores.finish();
                              return constrained(ChainWalks{scores}, demands, free);
                            });
}

Confidences ChainModel::confidences(const Program& program, const TokenTable& table,
                                    std::span<const std::int32_t> labels,
                                    std::span<const std::uint32_t> sentences, const Spelling& spelling,
                                    double factor, Space& space) const {
  if (spelling.labels != shape_.labels) throw std::invalid_argument("confidence: the spelling does not fit");
  if (factor != 1.0 && (space.scaled_of != identity_ || space.factor != factor || !space.scaled)) {
    space.scaled.emplace(constants_).scale(factor);
    space.scaled_of = identity_;
    space.factor = factor;
  }
  return confidences_of(table, labels, sentences, spelling,
                        [&](std::size_t s, const Labels& y, Claims& claims, std::span<double> tokens) {
                          Lattice& scores = lattice(program, table, s, space);
                          scores.finish();
                          if (factor != 1.0) scores.scale(factor, *space.scaled);
                          const double log_z =
                              claim_probabilities(scores, spelling, claims, y, tokens, space.probabilities);
                          return std::exp(path_score(scores, y.data()) - log_z);
                        });
}

}  // namespace marginalia
