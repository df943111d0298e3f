// Learned rules as features: the set of a rule's atoms has a name, a key and a row, and the confidences of
// its rules are the weights of that row.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "features/index.hpp"
#include "learn/rules.hpp"

namespace marginalia {

class RuleTable {
 public:
  // The samples and the index must outlive it; the index gets rows for sets of atoms.
  RuleTable(const RuleSamples& samples, FeatureIndex& index, std::vector<std::string> labels);

  // Adds the rules that a learner has found since it was last asked.
  void take(const RuleLearner& learner);

  // As a model keeps them: the keys of rules, those of their atoms, how many samples have all of them, and by
  // how much they made the losses of all labels smaller.
  struct Arrays {
    std::vector<std::uint64_t> keys, atoms;
    std::vector<std::uint32_t> end, support;
    std::vector<double> gain;
  };
  const Arrays& arrays() const { return arrays_; }

  struct Cells {
    std::vector<std::uint32_t> rows, outputs;
    std::vector<float> weights;
  };
  // The sums of the confidences of each set for each label, by row.
  Cells cells() const;

 private:
  using Codes = std::vector<std::uint32_t>;  // rising
  struct Place {
    std::uint32_t row, number;  // in the index, and in the arrays
  };

  Place place_of(std::span<const std::uint32_t> atoms);
  void add(const Codes& codes, std::uint64_t key);
  std::uint32_t support_of(std::span<const std::uint32_t> atoms);
  std::string text_of(std::uint32_t code) const;
  std::uint64_t key_of_atom(std::uint32_t code) const;

  const RuleSamples& samples_;
  FeatureIndex& index_;
  std::vector<std::string> labels_;
  std::vector<std::size_t> taken_;  // [labels] rules so far
  std::map<Codes, Place> places_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> sums_;  // by row and label
  Arrays arrays_;
  std::vector<std::uint32_t> space_;
};

}  // namespace marginalia
