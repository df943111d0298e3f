#include "search/chain/rule_scores.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

void check_neighbours(const ChainShape& shape, std::uint32_t neighbours) {
  if (neighbours > (shape.transitions ? kMostAsked : 0))
    throw std::invalid_argument("rules: labels of too many neighbours");
  if (neighbours > static_cast<std::uint32_t>(shape.order) && shape.beam == 0)
    throw std::invalid_argument("rules: labels of more neighbours than the order need beam search");
}

void RuleScores::begin(std::size_t tokens, std::uint32_t labels, std::uint32_t neighbours, bool backwards) {
  length_ = tokens;
  labels_ = labels;
  neighbours_ = neighbours;
  backwards_ = backwards;
  plain_.assign(tokens * labels, 0.0);
  parts_.clear();
  part_end_.assign(1, 0);
}

// Node scores are 0 where the score of a token is that of a pair or triple; beside wide scores they are those
// of the rules without labels.
void RuleScores::score(Lattice& lattice) const {
  const bool wide = neighbours_ > static_cast<std::uint32_t>(lattice.shape->order);
  for (std::size_t t = 0; t < length_; ++t) {
    const bool alone = wide || neighbours_ == 0 || (backwards_ ? t + 1 == length_ : t == 0);
    for (std::size_t c = t * labels_; c < (t + 1) * labels_; ++c)
      lattice.node[c] = alone ? score_of_rules(plain_[c]) : 0.0;
  }
  if (wide)
    lattice.set_wide(*this);
  else if (neighbours_ != 0)
    lattice.set_steps(*this);
}

void RuleScores::write(std::size_t t, std::span<const std::uint32_t> near, double* scores) const {
  std::copy_n(plain_.data() + t * labels_, labels_, scores);
  for (const Part& part : parts_of(t))
    if (part.asked.hold(near)) scores[part.label] += part.weight;
  std::transform(scores, scores + labels_, scores, score_of_rules);
}

std::vector<double> RuleScores::near_sums(std::size_t t) const {
  std::vector<double> sums(std::size_t{labels_} * labels_);
  for (std::size_t near = 0; near < labels_; ++near)
    std::copy_n(plain_.data() + t * labels_, labels_, sums.data() + near * labels_);
  for (const Part& part : parts_of(t))
    if (part.near() != kAnyLabel && part.far() == kAnyLabel)
      sums[std::size_t{part.near()} * labels_ + part.label] += part.weight;
  return sums;
}

// Of order 2 only the token that has one neighbour.
void RuleScores::add_pairs(const Lattice& lattice, std::size_t t, double* scores) const {
  if (neighbours_ == 0) return;
  if (neighbours_ == 2 && (backwards_ ? t + 1 != length_ : t != 1)) return;
  const std::size_t n = labels_;
  const std::vector<double> sums = near_sums(backwards_ ? t - 1 : t);
  const std::vector<double>& legal = lattice.constants->transition;
  for (std::size_t left = 0; left < n; ++left)
    for (std::size_t right = 0; right < n; ++right)
      if (legal[left * n + right] != kIllegal)
        scores[left * n + right] += score_of_rules(sums[backwards_ ? right * n + left : left * n + right]);
}

// Most rules do not ask for the label beyond: their sums are made once for all such labels.
void RuleScores::add_triples(const Lattice& lattice, std::size_t t, double* scores) const {
  if (neighbours_ != 2) return;
  const std::size_t n = labels_, token = backwards_ ? t - 2 : t;
  const std::vector<double> sums = near_sums(token);
  std::vector<double> without(sums), more(n * n, 0.0), both;  // more: [far][own], both: [far][own][near]
  std::vector<std::uint8_t> asked(n * n, 0);
  for (double& sum : without) sum = score_of_rules(sum);
  for (const Part& part : parts_of(token)) {
    if (part.far() == kAnyLabel) continue;
    const std::size_t at = part.far() * n + part.label;
    asked[at] = 1;
    if (part.near() == kAnyLabel) {
      more[at] += part.weight;
    } else {
      both.resize(n * n * n, 0.0);
      both[at * n + part.near()] += part.weight;
    }
  }
  const std::vector<double>& legal = lattice.constants->transition;
  for (std::size_t far = 0; far < n; ++far)
    for (std::size_t near = 0; near < n; ++near) {
      if (legal[backwards_ ? near * n + far : far * n + near] == kIllegal) continue;
      for (std::size_t own = 0; own < n; ++own) {
        if (legal[backwards_ ? own * n + near : near * n + own] == kIllegal) continue;
        const std::size_t at = far * n + own;
        const double score = asked[at] == 0 ? without[near * n + own]
                                            : score_of_rules(sums[near * n + own] + more[at] +
                                                             (both.empty() ? 0.0 : both[at * n + near]));
        scores[backwards_ ? (own * n + near) * n + far : (far * n + near) * n + own] += score;
      }
    }
}

}  // namespace marginalia
