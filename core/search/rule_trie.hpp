// Rules in use: sets of atoms, kept so that only those are looked at whose atoms are there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "features/extractor.hpp"

namespace marginalia {

// Rule r, whose confidences are the weights of the feature keys[r], has the atoms [end[r - 1], end[r]): keys
// of features, or of labels of neighbours.
struct RuleArrays {
  std::span<const std::uint64_t> keys;
  std::span<const std::uint32_t> end;
  std::span<const std::uint64_t> atoms;
};

inline constexpr std::uint32_t kAnyLabel = UINT32_MAX;
inline constexpr std::size_t kMostAtoms = 64;  // of a rule
inline constexpr std::size_t kMostAsked = 3;   // whose labels rules may ask for

// The labels of neighbours that a rule asks for, the nearest first.
struct AskedLabels : std::array<std::uint32_t, kMostAsked> {
  AskedLabels() { fill(kAnyLabel); }

  bool any() const {
    return std::any_of(begin(), end(), [](std::uint32_t label) { return label != kAnyLabel; });
  }
  // Whether neighbours with these labels, maybe fewer, have them.
  bool hold(std::span<const std::uint32_t> labels) const {
    for (std::size_t k = 0; k < size(); ++k)
      if ((*this)[k] != kAnyLabel && (k >= labels.size() || labels[k] != (*this)[k])) return false;
    return true;
  }
};

// A rule that also asks for labels.
struct LabelRule {
  AskedLabels asked;
  std::uint32_t row = 0;
};

// log sigmoid(5 F): the score of a label whose rules sum up to F.
inline double score_of_rules(double sum) {
  const double x = 5.0 * sum;
  return x >= 0.0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}

// The name of an atom that is the label of a neighbour, before a token or (backwards) after it.
std::string label_atom(std::size_t distance, const std::string& label, bool backwards);
// The keys of such atoms, [distance - 1][label].
std::vector<std::uint64_t> label_atom_keys(const std::vector<std::string>& labels, std::size_t neighbours,
                                           bool backwards);

// The name of a rule by those of its atoms: that of a single one as it is, of more with " & " between them,
// and with a backslash before such a sign of an atom's own.
std::string rule_name(std::vector<std::string> atoms);

inline void sort_unique(std::vector<std::uint32_t>& atoms) {
  std::sort(atoms.begin(), atoms.end());
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
}

// Features that are atoms are numbered, those of few rules first; a node is a set of them, in this order.
class RuleTrie {
 public:
  // `rows` are those of the rules' confidences (kUnknownRow: the rule is left out), `label_keys` the keys of
  // the labels of neighbours, [distance - 1][label]. Throws std::invalid_argument.
  RuleTrie(const RuleArrays& rules, std::span<const std::uint32_t> rows,
           std::span<const std::uint64_t> label_keys, std::uint32_t labels);

  std::uint32_t labels() const { return labels_; }
  std::uint32_t atom(std::uint64_t key) const {
    const auto found = atoms_.find(key);
    return found == atoms_.end() ? kUnknownRow : found->second;
  }

  // Calls f(row) for the rules without labels, and g(rule) for those with labels, that have no other features
  // than these, which rise.
  template <class F, class G>
  void for_matching(std::span<const std::uint32_t> atoms, F&& f, G&& g) const {
    visit(0, f, g);
    for (std::size_t k = 0; k < atoms.size(); ++k)
      if (const std::uint32_t node = first_[atoms[k]]; node != 0) descend(node, atoms, k + 1, f, g);
  }

 private:
  struct Node {
    std::uint32_t row = kUnknownRow;
    std::uint32_t child = 0, children = 0;  // in `child_atom_`
    std::uint32_t rule = 0, rules = 0;      // in `label_rules_`
  };
  struct Body {
    std::vector<std::uint32_t> features;
    LabelRule labels;
  };

  template <class F, class G>
  void visit(std::uint32_t node, F& f, G& g) const {
    const Node& here = nodes_[node];
    if (here.row != kUnknownRow) f(here.row);
    for (std::uint32_t k = here.rule; k < here.rule + here.rules; ++k) g(label_rules_[k]);
  }
  template <class F, class G>
  void descend(std::uint32_t node, std::span<const std::uint32_t> atoms, std::size_t next, F& f, G& g) const {
    visit(node, f, g);
    const Node& here = nodes_[node];
    const auto begin = child_atom_.begin() + here.child, end = begin + here.children;
    auto from = begin;
    for (std::size_t k = next; k < atoms.size() && from != end; ++k) {
      from = std::lower_bound(from, end, atoms[k]);
      if (from != end && *from == atoms[k])
        descend(child_node_[static_cast<std::size_t>(from - child_atom_.begin())], atoms, k + 1, f, g);
    }
  }

  void number_atoms(const RuleArrays& rules, std::span<const std::uint32_t> rows,
                    const std::unordered_map<std::uint64_t, std::uint32_t>& places);
  Body body_of(const RuleArrays& rules, std::size_t rule,
               const std::unordered_map<std::uint64_t, std::uint32_t>& places) const;
  void build(const std::vector<Body>& bodies);

  std::uint32_t labels_;
  std::unordered_map<std::uint64_t, std::uint32_t> atoms_;  // by key
  std::vector<std::uint32_t> first_;                        // [atoms] nodes of one atom; 0: none
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> child_atom_, child_node_;
  std::vector<LabelRule> label_rules_;
};

// The rules of a finished model, whose confidences are its weights.
template <class Weights>
RuleTrie trie_of(const RuleArrays& rules, const Weights& weights, const std::vector<std::string>& labels,
                 std::size_t neighbours, bool backwards) {
  std::vector<std::uint32_t> rows;
  for (const std::uint64_t key : rules.keys) rows.push_back(weights.find(key, false));
  return {rules, rows, label_atom_keys(labels, neighbours, backwards),
          static_cast<std::uint32_t>(labels.size())};
}

}  // namespace marginalia
