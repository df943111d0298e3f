#include "search/chain/model.hpp"

#include <cmath>

#include "search/chain/marginals.hpp"

namespace marginalia {

Lattice& ChainModel::lattice(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                             Space& space) const {
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first, n = shape().labels;
  Lattice& lattice = space.lattice;
  lattice.shape = &shape();
  lattice.constants = &constants();
  lattice.begin(length);
  space.edge_rows.clear();
  space.edge_end.assign(1, 0);
  if (has_rules()) {
    space.edge_end.resize(length + 1, 0);
    add_rules(extractor, table, s, space);
    return lattice;
  }
  const auto end_tokens_before = [&](std::size_t t) {
    while (space.edge_end.size() <= t) space.edge_end.push_back(space.edge_rows.size());
  };
  const auto add = [&](const Feature& f) {
    if (!f.edge) {
      weights().add_row(f.row, static_cast<double>(f.value), n, &lattice.node[f.token * n]);
      return;
    }
    end_tokens_before(f.token);
    space.edge_rows.push_back(f.row);
  };
  if (NodeSums::fits(extractor, n))
    add_grouped(extractor, table, first, length, space, add);
  else
    for_features(extractor, table, s, space, add);
  end_tokens_before(length);
  if (extractor.has_edges()) lattice.set_edges(edge_weights_, space.edge_rows, space.edge_end);
  return lattice;
}

void ChainModel::add_rules(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                           Space& space) const {
  space.rules.begin(space.lattice.length, shape().labels, neighbours(), backwards());
  for_atoms(extractor, table, s, space,
            [&](std::size_t) { space.rules.add_token(rules(), weights(), space.atoms); });
  space.rules.score(space.lattice);
}

// The sums of groups first, then the features of the other templates.
template <class F>
void ChainModel::add_grouped(const FeatureExtractor& extractor, const TokenTable& table, std::size_t first,
                             std::size_t length, Space& space, F&& add) const {
  extractor.read(table, first, first + length, identity(), space.extraction);
  NodeSums sums(weights(), shape().labels, extractor, identity(), length, space.extraction, space.sums);
  for (std::size_t begin = 0; begin < length; begin += kTokens) {
    const std::size_t end = std::min(length, begin + kTokens);
    extractor.features(space.extraction, length, begin, end, extractor.groups().others, space.features,
                       [&](std::uint64_t key) { return weights().prefetch_key(key); });
    sums.prefetch(begin, end);
    resolve(space.features, weights(), space.extraction);
    sums.write(begin, end, space.lattice.node.data());
    use_features(space, add);
  }
}

double ChainModel::probability(const Spelling& spelling, const Labels& y, Marginals& marginals,
                               std::span<double> tokens, double factor, const ChainConstants& scaled,
                               Space& space) {
  Lattice& scores = space.lattice;
  refuse_wide(scores);
  if (factor != 1.0) scores.scale(factor, scaled);
  const double log_z = marginal_probabilities(scores, spelling, marginals, y, tokens, space.probabilities);
  return std::exp(path_score(scores, y.data()) - log_z);
}

std::vector<OutputFeature> ChainModel::differing_features(const FeatureExtractor& extractor,
                                                          const TokenTable& table, std::size_t s,
                                                          const Labels& y, const Labels& z,
                                                          Space& space) const {
  const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
  const std::uint32_t n = shape().labels;
  std::vector<OutputFeature> found;
  for_features(extractor, table, s, space, [&](const Feature& f) {
    const std::uint32_t t = f.token;
    if (f.edge && t == 0) return;
    const auto output = [&](const Labels& labels) {
      return f.edge ? labels[t - 1] * n + labels[t] : labels[t];
    };
    if (output(y) == output(z)) return;
    const double weight = weight_of(weights(), f.row, output(y));
    if (weight == 0.0) return;
    found.push_back({f.edge ? t - 1 : t, t, t, f.row, output(y), f.template_index,
                     static_cast<double>(f.value), weight,
                     extractor.texts_of(f, table, space.extraction, first, last)});
  });
  return found;
}

}  // namespace marginalia
