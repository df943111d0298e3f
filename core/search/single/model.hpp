// A finished model of single classes: items in, scores of all classes out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/vector.hpp"
#include "search/frozen_model.hpp"
#include "search/node_sums.hpp"
#include "search/ranked.hpp"
#include "search/rule_trie.hpp"
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
    std::vector<std::uint32_t> atoms;
  };
};

class SingleModel : public FrozenModel<SingleModel, SingleTypes> {
 public:
  using FrozenModel::FrozenModel;

  // From now on scores are those of rules. Throws std::invalid_argument.
  void use(const RuleArrays& rules, const std::vector<std::string>& labels, bool) {
    if (labels.size() != shape().labels) throw std::invalid_argument("rules: labels disagree in number");
    rules_.emplace(trie_of(rules, weights(), labels, 0, false));
  }
  bool has_rules() const { return rules_.has_value(); }

  // Calls f(row of its confidences) for the rules of item s that hold, whatever its class.
  template <class F>
  void for_rules(const Extractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 F&& f) const {
    read(extractor, table, s, space);
    FeatureExtractor::resolve(space.features, space.extraction,
                              [&](const Feature& found) { return rules_->atom(found.key); });
    space.atoms.clear();
    for (const Feature& found : space.features)
      if (found.value != 0.0f) space.atoms.push_back(found.row);
    sort_unique(space.atoms);
    rules_->for_matching(space.atoms, f, [](const LabelRule&) {});
  }

  // The features of item s that the model knows; valid until the space is used again.
  const std::vector<Feature>& known(const Extractor& extractor, const TokenTable& table, std::size_t s,
                                    Space& space) const {
    read(extractor, table, s, space);
    resolve(space.features, weights(), space.extraction);
    return space.features;
  }

  const ClassScores& scores(const Extractor& extractor, const TokenTable& table, std::size_t s,
                            Space& space) const {
    space.scores.assign(shape().labels, 0.0);
    if (has_rules()) {
      for_rules(extractor, table, s, space,
                [&](std::uint32_t row) { weights().add_row(row, shape().labels, space.scores.data()); });
      for (double& score : space.scores) score = score_of_rules(score);
      return space.scores;
    }
    for (const Feature& f : known(extractor, table, s, space))
      weights().add_row(f.row, static_cast<double>(f.value), shape().labels, space.scores.data());
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

 private:
  void read(const Extractor& extractor, const TokenTable& table, std::size_t s, Space& space) const {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    if (last != first + 1) throw std::invalid_argument("an item is a sentence of one token");
    extractor.read(table, first, last, identity(), space.extraction);
    extractor.features(space.extraction, 1, 0, 1, space.features,
                       [&](std::uint64_t key) { weights().prefetch_key(key); });
  }

  std::optional<RuleTrie> rules_;
};

}  // namespace marginalia
