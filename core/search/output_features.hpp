// The features of outputs that a model has weights for, with the texts that their names are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/token_table.hpp"
#include "search/marginals.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

// It looks at the tokens `first` to `last`, in turn at `inner`; its weight is that of an output of a row.
struct OutputFeature {
  std::uint32_t first, last, inner;
  std::uint32_t row, output, template_index;
  double times, weight;
  std::vector<std::string> texts;
};

inline double weight_of(const FrozenWeights& weights, std::uint32_t row, std::uint32_t output) {
  double found = 0.0;
  weights.for_cells(row, [&](std::uint32_t one, float weight) {
    if (one == output) found = static_cast<double>(weight);
  });
  return found;
}

inline std::vector<std::uint32_t> labels_of(const TokenTable& table, std::span<const std::int32_t> ids,
                                            std::size_t s) {
  return {ids.begin() + table.sentence[s], ids.begin() + table.sentence[s + 1]};
}

// By sentence of a table: the features of the output `ids` with weights that are not 0, without those that
// another output has too. Both are labels of all tokens.
template <class Model, class Extractor, class Space>
std::vector<std::vector<OutputFeature>> differing_features(const Model& model, const Extractor& extractor,
                                                           const TokenTable& table,
                                                           std::span<const std::int32_t> ids,
                                                           std::span<const std::int32_t> others,
                                                           Space& space) {
  check_labels(table, ids, model.shape().labels);
  check_labels(table, others, model.shape().labels);
  std::vector<std::vector<OutputFeature>> found;
  for (std::size_t s = 0; s < table.sentences(); ++s)
    found.push_back(model.differing_features(extractor, table, s, labels_of(table, ids, s),
                                             labels_of(table, others, s), space));
  return found;
}

// The scores of outputs, by sentence.
template <class Model, class Extractor, class Space>
std::vector<double> scores_of(const Model& model, const Extractor& extractor, const TokenTable& table,
                              std::span<const std::int32_t> ids, Space& space) {
  check_labels(table, ids, model.shape().labels);
  std::vector<double> found;
  for (std::size_t s = 0; s < table.sentences(); ++s)
    found.push_back(model.paths(model.scores(extractor, table, s, space)).score(labels_of(table, ids, s)));
  return found;
}

}  // namespace marginalia
