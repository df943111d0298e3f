// A finished model of candidates: items in, a score for each of their candidates out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "search/candidates/candidates.hpp"
#include "search/frozen_model.hpp"
#include "search/node_sums.hpp"

namespace marginalia {

struct CandidateParts {
  static constexpr const char* kName = "candidates";
  using Shape = CandidateShape;
  struct Constants {  // there are none
    explicit Constants(const Shape&) {}
    void set(const Shape&, std::size_t, double) {}
  };
  using Extractor = FeatureExtractor;
  using Output = std::uint32_t;
  struct Space : FrozenSpace<Constants> {
    std::vector<Feature> features;  // of one item
    ClassScores scores;
  };
};

class CandidateModel : public FrozenModel<CandidateModel, CandidateParts> {
 public:
  CandidateModel(const CandidateShape& shape, FrozenWeights weights,
                 std::span<const std::uint32_t> constant_at, std::span<const float> constants)
      : FrozenModel(shape, weights, constant_at, constants),
        base_row_(this->weights().find(base_score_key())) {}

  // The features of the candidates of item s that the model knows, by candidate; valid until the space is
  // used again.
  const std::vector<Feature>& known(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                                    Space& space) const {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    if (first == last) throw std::invalid_argument("an item needs at least one candidate");
    extractor.read(table, first, last, identity(), space.extraction);
    extractor.features(space.extraction, last - first, 0, last - first, space.features,
                       [&](std::uint64_t key) { weights().prefetch_key(key); });
    resolve(space.features, weights(), space.extraction);
    for (Feature& f : space.features)
      if (f.row == base_row_) f.value *= shape().base_scale;
    return space.features;
  }

  const ClassScores& scores(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                            Space& space) const {
    space.scores.assign(table.sentence[s + 1] - table.sentence[s], 0.0);
    for (const Feature& f : known(extractor, table, s, space))
      weights().add_row(f.row, static_cast<double>(f.value), 1, &space.scores[f.token]);
    return space.scores;
  }

  // As FrozenModel needs them.
  void find_best(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 Output& output) const {
    output = best_class(scores(extractor, table, s, space)).output;
  }
  static std::vector<ScoredClass> k_best(const ClassScores& scores, std::size_t k, Space&) {
    return best_classes(scores, k);
  }
  auto features(const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
                Space& space) const {
    return [known = known(extractor, table, s, space)](Output y, auto&& f) {
      for (const Feature& one : known)
        if (one.token == y) f(one.row, 0u, static_cast<double>(one.value));
    };
  }
  void for_constants_of(Output, auto&&) const {}

 private:
  std::uint32_t base_row_;  // whose values are scaled
};

}  // namespace marginalia
