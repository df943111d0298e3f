// Finished models whose scores may be those of rules: a rule is a feature, and its weights are its
// confidences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "search/frozen_model.hpp"
#include "search/node_sums.hpp"
#include "search/rule_trie.hpp"

namespace marginalia {

// Of a shape with labels beside a token `check_neighbours` says for how many of them rules may ask.
template <class Model, class Types>
class RuleModel : public FrozenModel<Model, Types> {
 public:
  using FrozenModel<Model, Types>::FrozenModel;

  // From now on scores are those of rules, which ask for labels of so many neighbours, before a token or
  // (backwards) after it. Throws std::invalid_argument.
  void use(const RuleArrays& rules, const std::vector<std::string>& labels, std::uint32_t neighbours,
           bool backwards) {
    if (labels.size() != this->shape().labels)
      throw std::invalid_argument("rules: labels disagree in number");
    if constexpr (requires { check_neighbours(this->shape(), neighbours); })
      check_neighbours(this->shape(), neighbours);
    else if (neighbours != 0)
      throw std::invalid_argument("rules: items have no neighbours");
    rules_.emplace(trie_of(rules, this->weights(), labels, neighbours, backwards));
    neighbours_ = neighbours;
    backwards_ = backwards;
  }
  bool has_rules() const { return rules_.has_value(); }

  // Calls f(token, row of its confidences) for the rules of a single item that hold, whatever its class.
  template <class Extractor, class Space, class F>
  void for_rules(const Extractor& extractor, const TokenTable& table, std::size_t s,
                 std::span<const std::uint32_t>, Space& space, F&& f) const {
    for (const Feature& rule : static_cast<const Model&>(*this).known(extractor, table, s, space))
      f(std::size_t{0}, rule.row);
  }

 protected:
  const RuleTrie& rules() const { return *rules_; }
  std::uint32_t neighbours() const { return neighbours_; }
  bool backwards() const { return backwards_; }

  // The atoms that features are, without those that no rule has.
  void find_atoms(std::vector<Feature>& features, ExtractionSpace& space,
                  std::vector<std::uint32_t>& atoms) const {
    FeatureExtractor::resolve(features, space, [&](const Feature& found) { return rules_->atom(found.key); });
    atoms.clear();
    for (const Feature& found : features)
      if (found.value != 0.0f) atoms.push_back(found.row);
  }

  // Features that have weights, by their rows; with rules those that hold, whatever labels are beside.
  void find_rows(std::vector<Feature>& features, ExtractionSpace& space) const {
    if (!has_rules()) return resolve(features, this->weights(), space);
    std::vector<std::uint32_t> atoms;
    find_atoms(features, space, atoms);
    sort_unique(atoms);
    features.clear();
    rules_->for_matching(
        atoms, [&](std::uint32_t row) { features.push_back({0, 0, row, kUnknownRow, 0, false}); },
        [](const LabelRule&) {});
  }

 private:
  std::optional<RuleTrie> rules_;
  std::uint32_t neighbours_ = 0;
  bool backwards_ = false;
};

}  // namespace marginalia
