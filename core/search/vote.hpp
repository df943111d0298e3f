// The voted perceptron: every weight vector that training went through has a vote. What is kept is not the
// vectors but the changes that led from one to the next; the scores of a few candidates under all of them are
// running sums over the changes of the features in which the candidates differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weights/weight_table.hpp"

namespace marginalia {

// Changes by row, output and step.
struct VoteLog {
  std::span<const std::uint32_t> row_end;     // [rows] into outputs
  std::span<const std::uint32_t> outputs;     // rising in each row
  std::span<const std::uint32_t> change_end;  // [outputs] into steps and changes
  std::span<const std::uint32_t> steps;       // rising for each output: the example after which it changed
  std::span<const float> changes;
  std::uint32_t versions = 0;  // weight vectors: one after each example

  // Throws std::invalid_argument if the parts do not fit.
  void check() const;
  // Calls f(step, change) for the changes of one weight.
  template <class F>
  void for_changes(std::uint32_t row, std::uint32_t output, F&& f) const {
    for (std::uint32_t i = row == 0 ? 0 : row_end[row - 1]; i < row_end[row]; ++i) {
      if (outputs[i] != output) continue;
      for (std::uint32_t k = i == 0 ? 0 : change_end[i - 1]; k < change_end[i]; ++k) f(steps[k], changes[k]);
      return;
    }
  }
};

// A log made from the changes of training. Row r of it is that of training row `rows[r]`.
struct VoteStorage {
  std::vector<std::uint32_t> row_end, outputs, change_end, steps;
  std::vector<float> changes;
  std::uint32_t versions = 0;

  VoteStorage(std::vector<WeightTable::Change> log, std::span<const std::uint32_t> rows,
              std::uint32_t versions);
  VoteLog view() const { return {row_end, outputs, change_end, steps, changes, versions}; }
};

// Candidates as differences from the first one.
class Ballot {
 public:
  explicit Ballot(std::size_t candidates) : candidates_(candidates) {}

  // Candidate j has `count` more of this feature than the first one.
  void add(std::size_t j, std::uint32_t row, std::uint32_t output, double count);

  // The candidate that most versions like best; all ties go to the lowest.
  std::size_t winner(const VoteLog& log) const;

 private:
  struct Term {
    std::uint32_t row, output;
    std::uint32_t candidate;
    double count;
  };
  std::size_t candidates_;
  mutable std::vector<Term> terms_;
};

}  // namespace marginalia
