// The boosting re-ranker of Collins 2002 (Fig. 2): minimises the sum of exp(-margin) over all pairs of a
// right candidate and another one, a weight at a time. Features know their pairs and pairs their features, so
// that a round costs what it touches. docs/rank-boost.md has the formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/difference.hpp"
#include "search/structure.hpp"
#include "search/tiers.hpp"

namespace marginalia {

// The pairs of all examples: by how much the right candidate has more of each feature than the other.
struct CandidatePairs {
  std::vector<double> weight;            // [pairs] the example's sample weight
  std::vector<double> base;              // [pairs] difference of the base score
  std::vector<std::uint64_t> end = {0};  // [pairs + 1] into the two below
  std::vector<std::uint32_t> rows;
  std::vector<float> values;
  double examples = 0.0;  // the sum of all sample weights

  std::size_t size() const { return weight.size(); }
};

// Appends the pairs of a structure's examples; the row of the base score is kept apart.
template <Listed S>
void add_pairs(S& structure, std::span<const double> sample_weights, std::uint32_t base_row,
               CandidatePairs& out) {
  NetDifference net;
  for (std::size_t i = 0; i < structure.size(); ++i) {
    const double weight = sample_weights.empty() ? 1.0 : sample_weights[i];
    out.examples += weight;
    const typename S::Output right = structure.gold(i);
    for (typename S::Output y = 0; y < structure.outputs(i) && weight > 0.0; ++y) {
      if (structure.errors(i, y) == 0) continue;
      net.clear();
      difference(structure, i, right, y, [&](const Coordinate& at, double count) { net.add(at, count); });
      net.finish();
      double base = 0.0;
      for (const auto& [at, value] : net.terms()) {
        if (at.row == base_row) {
          base = value;
          continue;
        }
        out.rows.push_back(at.row);
        out.values.push_back(static_cast<float>(value));
      }
      out.weight.push_back(weight);
      out.base.push_back(base);
      out.end.push_back(out.rows.size());
    }
  }
}

// The places of the greatest numbers of an array that changes: a tournament. Ties go to the lowest place.
class Tournament {
 public:
  explicit Tournament(std::span<const double> values) : values_(values) { rebuild(); }

  std::uint32_t winner() const { return winners_[1]; }
  void rebuild();
  void changed(std::uint32_t place);  // its value did; all changes are made before the first call

 private:
  std::uint32_t played(std::size_t node) const {
    const std::uint32_t a = winners_[2 * node], b = winners_[2 * node + 1];
    return value(b) > value(a) ? b : a;
  }
  double value(std::uint32_t place) const { return place < values_.size() ? values_[place] : -1.0; }

  std::span<const double> values_;
  std::size_t leaves_ = 1;
  std::vector<std::uint32_t> winners_;  // [2 * leaves] of a complete tree; the root is 1
};

class RankBoost {
 public:
  // `rows`: so many, with the one of the base score. `smoothing` is the paper's epsilon.
  RankBoost(const CandidatePairs& pairs, std::uint32_t rows, std::uint32_t base_row, double smoothing);
  RankBoost(const RankBoost&) = delete;  // its parts point at each other

  // Sets the weight of the base score to where the loss is least while all other weights are 0.
  void find_base_weight();
  // Goes on from these weights, by row.
  void begin_with(std::span<const double> weights);
  // Up to so many rounds; how many were made: fewer if no weight can make the loss smaller.
  std::size_t run(std::size_t rounds);
  // Computes all sums anew from the weights, without what rounding added to them.
  void refresh();

  const std::vector<double>& weights() const { return weights_; }
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }  // the row of each round
  double loss() const { return loss_; }                                 // bounds the pairs in wrong order
  double bound() const { return examples_ > 0.0 ? loss_ / examples_ : 0.0; }  // ... and the share of examples

 private:
  // Which pair, or which row, and on which side: 2 * number + (the right candidate has less).
  using Code = std::uint32_t;
  struct Side {
    std::vector<std::uint64_t> end = {0};
    std::vector<Code> codes;
    std::vector<float> sizes;  // of differences, at most 1; empty if all are 1
    double size(std::uint64_t i) const { return sizes.empty() ? 1.0 : static_cast<double>(sizes[i]); }
  };

  void scale(const CandidatePairs& pairs);
  void index(const CandidatePairs& pairs);
  void move(std::uint32_t row, double delta);
  double gain(std::uint32_t row) const;

  double smoothing_, examples_;
  std::uint32_t base_row_;
  std::vector<double> sample_, base_;     // [pairs]
  std::vector<double> scale_;             // [rows] the largest difference of the feature in a pair
  Side of_pair_, of_row_;                 // rows of pairs, pairs of rows
  std::vector<double> weights_;           // [rows]
  std::vector<double> pair_;              // [pairs] sample weight * exp(-margin)
  std::vector<double> sums_;              // [2 * rows] W+ and W-, by code
  std::vector<double> gains_;             // [rows]
  double loss_ = 0.0, exact_loss_ = 0.0;  // now, and when sums were last made anew
  std::vector<std::uint32_t> chosen_, touched_, seen_;  // seen_[row]: the last round that touched it
  std::uint32_t round_ = 0;
  Tournament best_;
};

}  // namespace marginalia
