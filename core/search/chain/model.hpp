// A finished chain model.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features/extractor.hpp"
#include "search/chain/decoding.hpp"
#include "search/chain/forward_backward.hpp"
#include "search/chain/lattice.hpp"
#include "search/chain/paths.hpp"
#include "search/chain/rule_scores.hpp"
#include "search/chain/viterbi.hpp"
#include "search/hypothesis_list.hpp"
#include "search/node_sums.hpp"
#include "search/output_features.hpp"
#include "search/rule_model.hpp"

namespace marginalia {

struct ChainTypes {
  static constexpr const char* kName = "chain";
  using Shape = ChainShape;
  using Constants = ChainConstants;
  using Extractor = FeatureExtractor;
  using Output = Labels;
  struct Space : FrozenSpace<ChainConstants> {
    std::vector<Feature> features;  // of some tokens
    NodeSums::Space sums;
    std::vector<std::uint32_t> edge_rows;  // of the sentence
    std::vector<std::uint64_t> edge_end;   // [T + 1]
    Lattice lattice;
    ViterbiSpace viterbi;
    ForwardBackwardSpace probabilities;
    ScoredLabels best;
    std::vector<std::uint32_t> atoms;  // of a token
    RuleScores rules;
  };
};

class ChainModel : public RuleModel<ChainModel, ChainTypes> {
 public:
  using RuleModel::RuleModel;

  // Calls f(token, row of its confidences) for the rules of an output of sentence s that hold, whatever its
  // label.
  template <class F>
  void for_rules(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                 std::span<const std::uint32_t> y, Space& space, F&& f) const;

  const EdgeWeights& edge_weights() const { return edge_weights_; }

  // Scores of sentence s of the table under the extractor, yet to be finished; valid until the space is used
  // again.
  Lattice& lattice(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                   Space& space) const;

  // Calls f(feature) for the features of sentence s that the model knows.
  template <class F>
  void for_features(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                    F&& f) const;

  // Those of output y of sentence s that have a weight and that output z has not.
  std::vector<OutputFeature> differing_features(const FeatureExtractor& extractor, const TokenTable& table,
                                                std::size_t s, const Labels& y, const Labels& z,
                                                Space& space) const;

  // As FrozenModel needs them.
  const Lattice& scores(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                        Space& space) const {
    Lattice& scores = lattice(extractor, table, s, space);
    scores.finish();
    return scores;
  }
  void find_best(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 Labels& output) const {
    best_of(scores(extractor, table, s, space), space.viterbi, space.best);
    std::swap(output, space.best.output);
  }
  static std::vector<ScoredLabels> k_best(const Lattice& scores, std::size_t k, Space& space) {
    return k_best_of(scores, k, space.viterbi);
  }
  HypothesisList hypotheses(const Lattice& scores, std::size_t n) const { return hypotheses_of(scores, n); }
  static ChainPaths paths(const Lattice& scores) { return {scores}; }
  auto features(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                Space& space) const {
    std::vector<Feature> known;
    for_features(extractor, table, s, space, [&](const Feature& f) {
      if (!f.edge || f.token > 0) known.push_back(f);
    });
    return [known = std::move(known), n = shape().labels](const Labels& y, auto&& f) {
      for (const Feature& one : known)
        f(one.row, one.edge ? y[one.token - 1] * n + y[one.token] : y[one.token],
          static_cast<double>(one.value));
    };
  }
  template <class F>
  void for_constants_of(const Labels& y, F&& f) const {
    for_constants(shape(), y, f);
  }
  static const Spelling& marginals(const Spelling& spelling) { return spelling; }
  static double probability(const Spelling& spelling, const Labels& y, Marginals& marginals,
                            std::span<double> tokens, double factor, const ChainConstants& scaled,
                            Space& space);

 private:
  // Features are found and added for a few tokens at a time, so that what one step asked the memory for is
  // still near when the next one needs it.
  static constexpr std::size_t kTokens = 8, kCellsAhead = 8;

  // Calls f(token) for each token of sentence s, with its atoms in the space.
  template <class F>
  void for_atoms(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 F&& f) const;
  void add_rules(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                 Space& space) const;
  template <class F>
  void add_grouped(const FeatureExtractor& extractor, const TokenTable& table, std::size_t first,
                   std::size_t length, Space& space, F&& add) const;
  // Calls f(feature) for those of the tokens [begin, end), in order.
  template <class F>
  void use_features(Space& space, F&& f) const {
    const std::vector<Feature>& found = space.features;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i + kCellsAhead < found.size()) weights().prefetch_cells(found[i + kCellsAhead].row);
      f(found[i]);
    }
  }

  EdgeWeightsOf<FrozenWeights> edge_weights_{weights()};
};

template <class F>
void ChainModel::for_atoms(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                           Space& space, F&& f) const {
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first;
  extractor.read(table, first, first + length, identity(), space.extraction);
  for (std::size_t t = 0; t < length; ++t) {
    extractor.features(space.extraction, length, t, t + 1, space.features, [](std::uint64_t) {});
    find_atoms(space.features, space.extraction, space.atoms);
    f(t);
  }
}

template <class F>
void ChainModel::for_rules(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                           std::span<const std::uint32_t> y, Space& space, F&& f) const {
  const auto label_at = [&](std::size_t t, std::size_t distance) {
    const std::size_t at = backwards() ? t + distance : t - distance;  // wraps around before the sentence
    return at < y.size() ? y[at] : kAnyLabel;
  };
  for_atoms(extractor, table, s, space, [&](std::size_t t) {
    sort_unique(space.atoms);
    std::array<std::uint32_t, kMostAsked> near;
    for (std::size_t k = 0; k < neighbours(); ++k) near[k] = label_at(t, k + 1);
    rules().for_matching(
        space.atoms, [&](std::uint32_t row) { f(t, row); },
        [&](const LabelRule& rule) {
          if (rule.asked.hold(std::span(near).first(neighbours()))) f(t, rule.row);
        });
  });
}

template <class F>
void ChainModel::for_features(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                              Space& space, F&& f) const {
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first;
  extractor.read(table, first, first + length, identity(), space.extraction);
  for (std::size_t begin = 0; begin < length; begin += kTokens) {
    extractor.features(space.extraction, length, begin, std::min(length, begin + kTokens), space.features,
                       [&](std::uint64_t key) { return weights().prefetch_key(key); });
    resolve(space.features, weights(), space.extraction);
    use_features(space, f);
  }
}

}  // namespace marginalia
