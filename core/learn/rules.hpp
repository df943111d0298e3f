// AdaBoost.SDF (Iwakura and Okamoto 2008): rules that are sets of atoms, each with a confidence, learned one
// label against the rest. An atom is a feature of a token (or item), or the label of a neighbour.
//   w_i  weight of sample i, exp(-y_i F(x_i));  W+(f), W-(f)  sums of it over the right and wrong samples
//   that have all atoms of f;  gain(f) = |sqrt W+ - sqrt W-|;  no superset of f has more than u(f) = max(sqrt
//   W+, sqrt W-);  confidence 1/2 log((W+ + smoothing) / (W- + smoothing)).
// A round looks at the atoms of one bucket, grows the best sets, and adds several rules at once: it costs
// what those atoms occur in, not the corpus. Sums are in the order of the samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "features/example_rows.hpp"

namespace marginalia {

inline constexpr std::uint32_t kLabelCode = 0x80000000;  // codes of labels of neighbours begin here

// Which neighbours have labels that are atoms: so many, before a token or (backwards) after it.
struct Neighbours {
  std::uint32_t labels = 0;
  std::uint32_t count = 0;
  bool backwards = false;  // from right to left

  // The code of a label at a distance of 1 or more.
  std::uint32_t code(std::size_t distance, std::uint32_t label) const {
    return kLabelCode + static_cast<std::uint32_t>(distance - 1) * labels + label;
  }
};

// Tokens as sets of atoms. The code of an atom is the row of its feature, or that of a neighbour's label; its
// number rises with how many samples have it (then with its code).
class RuleSamples {
 public:
  explicit RuleSamples(const Neighbours& neighbours) : neighbours_(neighbours) {}

  // Gold labels must be complete; no sample weights: all are 1. Throws std::invalid_argument.
  void add(const ExampleRows& examples, std::span<const double> sample_weights);
  // Numbers the atoms, without those that fewer samples have. To be called once, when all are added.
  void finish(std::uint32_t least);

  const Neighbours& neighbours() const { return neighbours_; }
  bool finished() const { return !list_end_.empty(); }
  std::size_t size() const { return gold_.size(); }
  std::uint32_t atoms() const { return static_cast<std::uint32_t>(codes_.size()); }
  std::uint32_t code(std::uint32_t atom) const { return codes_[atom]; }
  std::uint32_t gold(std::size_t i) const { return gold_[i]; }
  double weight(std::size_t i) const { return weights_[i]; }
  double total() const { return std::accumulate(weights_.begin(), weights_.end(), 0.0); }
  std::uint32_t least() const { return least_; }
  // Of a sample its atoms, of an atom its samples; rising.
  std::span<const std::uint32_t> atoms_of(std::size_t i) const {
    return {atoms_.data() + end_[i], atoms_.data() + end_[i + 1]};
  }
  std::span<const std::uint32_t> samples_of(std::uint32_t atom) const {
    return {samples_.data() + list_end_[atom], samples_.data() + list_end_[atom + 1]};
  }
  // The samples that have all of some atoms (at least one, rising); they are in `space` if there are several.
  std::span<const std::uint32_t> samples_with(std::span<const std::uint32_t> atoms,
                                              std::vector<std::uint32_t>& space) const;

 private:
  void add_sample(const Example& x, std::size_t t);
  std::vector<std::uint32_t> number_codes();
  void set_bits();
  bool has(std::uint32_t i, std::uint32_t atom) const;

  Neighbours neighbours_;
  std::uint32_t rows_ = 0, least_ = 1;
  std::vector<std::uint32_t> gold_;
  std::vector<double> weights_;
  std::vector<std::uint64_t> end_ = {0};
  std::vector<std::uint32_t> atoms_;  // codes, until they are numbered
  std::vector<std::uint32_t> codes_;  // by number
  std::vector<std::uint64_t> list_end_;
  std::vector<std::uint32_t> samples_;
  // The samples of frequent atoms as bits, too, which take no more memory than their lists.
  std::uint32_t first_bits_ = 0;     // the first atom that has them
  std::size_t words_ = 0;            // of an atom
  std::vector<std::uint64_t> bits_;  // [atom - first_bits_][words_]
};

struct RuleOptions {
  std::size_t rules_per_round = 10;
  std::size_t width = 10;  // sets that are grown at each size; 0: all
  std::size_t size = 2;    // atoms of a rule, at most
  std::size_t buckets = 100;
  bool by_weight = true;  // buckets by current weight, anew after each sweep over them; else by frequency
  double smoothing = 1.0;
  double tolerance = 0.0;  // nothing is left to learn when a sweep has no rule of more confidence
};

// The rules of one label.
class RuleLearner {
 public:
  // The samples must be finished and outlive it.
  RuleLearner(const RuleSamples& samples, std::uint32_t label, const RuleOptions& options);

  // So many rounds, unless there are `most` rules before; the number of rules so far.
  std::size_t run(std::size_t rounds, std::size_t most);

  bool done() const { return done_; }
  std::uint32_t label() const { return label_; }
  std::size_t size() const { return confidences_.size(); }
  double default_confidence() const { return default_; }
  double confidence(std::size_t rule) const { return confidences_[rule]; }
  double gain(std::size_t rule) const { return gains_[rule]; }  // what it took from the loss
  std::span<const std::uint32_t> atoms_of(std::size_t rule) const {
    return {atoms_.data() + end_[rule], atoms_.data() + end_[rule + 1]};
  }
  const RuleSamples& samples() const { return samples_; }
  // The sum of the weights: at least the weight of the samples that the rules get wrong.
  double loss() const;

 private:
  using Body = std::vector<std::uint32_t>;  // atoms, rising
  struct Sums {
    double plus = 0.0, minus = 0.0;
    std::uint32_t count = 0;
  };
  struct Candidate {
    double gain = 0.0, bound = 0.0;
    Body body;
  };
  // Scratch memory of a run.
  struct Space {
    std::vector<Sums> sums;  // by atom
    std::vector<std::uint32_t> touched, with;
  };
  class Best;

  void distribute();
  void round(std::size_t most, Space& space);
  std::vector<Body> find_rules(std::size_t count, Space& space) const;
  void grow(const Candidate& parent, Space& space, Best& rules, Best* next) const;
  void add_rule(const Body& body, Space& space);
  Sums sums_of(std::span<const std::uint32_t> with) const;

  const RuleSamples& samples_;
  const std::uint32_t label_;
  const RuleOptions options_;
  std::vector<double> weights_;  // y_i w_i
  double default_ = 0.0;
  std::vector<std::uint32_t> order_;  // atoms; bucket b has those at b, b + buckets, ...
  std::size_t buckets_ = 1, bucket_ = 0;
  bool done_ = false, moved_ = false;
  std::vector<double> confidences_, gains_;
  std::vector<std::uint64_t> end_ = {0};
  std::vector<std::uint32_t> atoms_;
};

}  // namespace marginalia
