// A finished model of single classes: items in, scores of all classes out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/vector.hpp"
#include "search/ranked.hpp"
#include "search/rule_model.hpp"
#include "search/single/single.hpp"

namespace marginalia {

struct SingleTypes {
  static constexpr const char* kName = "single";
  using Shape = SingleShape;
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

class SingleModel : public RuleModel<SingleModel, SingleTypes> {
 public:
  using RuleModel::RuleModel;

  // The features of item s that the model knows (with rules, those that hold); valid until the space is used
  // again.
  const std::vector<Feature>& known(const Extractor& extractor, const TokenTable& table, std::size_t s,
                                    Space& space) const {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    if (last != first + 1) throw std::invalid_argument("an item is a sentence of one token");
    extractor.read(table, first, last, identity(), space.extraction);
    extractor.features(space.extraction, 1, 0, 1, space.features,
                       [&](std::uint64_t key) { weights().prefetch_key(key); });
    find_rows(space.features, space.extraction);
    return space.features;
  }

  const ClassScores& scores(const Extractor& extractor, const TokenTable& table, std::size_t s,
                            Space& space) const {
    space.scores.assign(shape().labels, 0.0);
    for (const Feature& f : known(extractor, table, s, space))
      weights().add_row(f.row, static_cast<double>(f.value), shape().labels, space.scores.data());
    if (has_rules()) std::ranges::transform(space.scores, space.scores.begin(), score_of_rules);
    return space.scores;
  }

  // As FrozenModel needs them.
  void find_best(const Extractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 Output& output) const {
    output = best_class(scores(extractor, table, s, space)).output;
  }
  static std::vector<ScoredClass> k_best(const ClassScores& scores, std::size_t k, Space&) {
    return best_classes(scores, k);
  }
  auto features(const Extractor& extractor, const TokenTable& table, std::size_t s, Space& space) const {
    return [known = known(extractor, table, s, space)](Output y, auto&& f) {
      for (const Feature& one : known) f(one.row, y, static_cast<double>(one.value));
    };
  }
  void for_constants_of(Output, auto&&) const {}

  // Given classes, changed where others break fewer constraints.
  ConstrainedLabels constrain(const FeatureExtractor& extractor, const TokenTable& table,
                              std::span<const std::int32_t> labels, std::span<const std::uint8_t> chosen,
                              const ConstraintSet& rules, const std::vector<PlacedConstraints>& placed,
                              Space& space) const {
    RankedLabels best = ranked_constrained(*this, extractor, table, 1, labels, chosen, rules, placed, space);
    TokenViolations violations(rules, chosen, placed);
    for (std::size_t s = 0; s < labels.size(); ++s)
      if (violations.of(s)[static_cast<std::size_t>(labels[s])] == best.violations[s])
        best.labels[s] = labels[s];
    return {std::move(best.labels), std::move(best.violations), std::move(best.exact)};
  }

  // The probabilities of given classes; there are no spans.
  Confidences confidences(const FeatureExtractor& extractor, const TokenTable& table,
                          std::span<const std::int32_t> labels, std::span<const std::uint32_t>,
                          const Spelling&, double factor, Space& space) const {
    check_labels(table, labels, shape().labels);
    Confidences found;
    for (std::size_t s = 0; s < table.sentences(); ++s) {
      ClassScores p = scores(extractor, table, s, space);
      for (double& score : p) score *= factor;
      exp_all(p.data(), p.size(), *std::max_element(p.begin(), p.end()));
      found.token.push_back(p[static_cast<std::size_t>(labels[s])] /
                            std::accumulate(p.begin(), p.end(), 0.0));
    }
    found.output = found.token;
    return found;
  }
};

}  // namespace marginalia
