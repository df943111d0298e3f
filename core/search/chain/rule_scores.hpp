// The scores that rules give to the labels of one sentence. F(t, label, labels of neighbours) is the sum of
// the rules that hold; log sigmoid(5 F) needs all of it, so it is made for each pair (order 1) or triple
// (order 2) of labels, at the token where the last of them becomes known to a search from left to right. If
// rules ask for labels of more neighbours than that, a beam search asks for the score of each prefix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/chain/lattice.hpp"
#include "search/rule_trie.hpp"

namespace marginalia {

// Throws std::invalid_argument if rules of such chains cannot ask for labels of so many neighbours.
void check_neighbours(const ChainShape& shape, std::uint32_t neighbours);

class RuleScores final : public StepScores, public WideScores {
 public:
  // Rules ask for labels of so many neighbours, before a token or (backwards) after it.
  void begin(std::size_t tokens, std::uint32_t labels, std::uint32_t neighbours, bool backwards);

  // The rules of the next token, whose atoms are in `atoms`, in any order. `Weights` is where confidences
  // are.
  template <class Weights>
  void add_token(const RuleTrie& trie, const Weights& weights, std::vector<std::uint32_t>& atoms) {
    sort_unique(atoms);
    double* const sums = plain_.data() + (part_end_.size() - 1) * labels_;
    trie.for_matching(
        atoms, [&](std::uint32_t row) { weights.add_row(row, labels_, sums); },
        [&](const LabelRule& rule) {
          if (neighbours_ == 0) return;
          row_.assign(labels_, 0.0);
          weights.add_row(rule.row, labels_, row_.data());
          for (std::uint32_t label = 0; label < labels_; ++label)
            if (row_[label] != 0.0) parts_.push_back({rule.asked, label, row_[label]});
        });
    part_end_.push_back(parts_.size());
  }

  // Gives a lattice of this length its scores, when the rules of all tokens are there. It looks at them.
  void score(Lattice& lattice) const;
  void add_pairs(const Lattice& lattice, std::size_t t, double* scores) const override;
  void add_triples(const Lattice& lattice, std::size_t t, double* scores) const override;
  bool backwards() const override { return backwards_; }
  std::size_t neighbours() const override { return neighbours_; }
  void write(std::size_t t, std::span<const std::uint32_t> near, double* scores) const override;

 private:
  struct Part {
    AskedLabels asked;
    std::uint32_t label;
    double weight;

    std::uint32_t near() const { return asked[0]; }
    std::uint32_t far() const { return asked[1]; }
  };

  std::span<const Part> parts_of(std::size_t t) const {
    return std::span(parts_).subspan(part_end_[t], part_end_[t + 1] - part_end_[t]);
  }
  // [near][own] F of the rules that do not ask for the label beyond.
  std::vector<double> near_sums(std::size_t t) const;

  std::uint32_t labels_ = 0, neighbours_ = 0;
  bool backwards_ = false;
  std::size_t length_ = 0;
  std::vector<double> plain_;  // [T][L] F of rules without labels
  std::vector<Part> parts_;    // of rules with labels, by token
  std::vector<std::uint64_t> part_end_;
  std::vector<double> row_;
};

}  // namespace marginalia
