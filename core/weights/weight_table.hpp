// Trainable weights: one row per feature, in it only the outputs that were ever updated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/large_vector.hpp"
#include "base/prefetch.hpp"
#include "weights/dense_rows.hpp"
#include "weights/provenance.hpp"

namespace marginalia {

// Where a weight is, and one coordinate of a feature vector: a row, an output of that row, and the size of
// its output space.
struct Coordinate {
  std::uint32_t row;
  std::uint32_t output;
  std::uint32_t outputs;
};

struct Cell {
  std::uint32_t output;  // label, or previous label * labels + label, by the row's scope
  float weight;
};

// scores[i] += cells[i].weight
void add_dense(const Cell* cells, std::size_t size, double* scores);

// Weights to score with.
struct SparseRows {
  struct Row {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  LargeVector<Row> rows;
  LargeVector<Cell> cells;
  DenseRows dense;  // copies of rows that are often added, while a table learns

  const Cell* begin(std::uint32_t row) const { return cells.data() + rows[row].begin; }
  const Cell* end(std::uint32_t row) const { return begin(row) + rows[row].size; }

  // Rows come in no order: prefetch them well before they are added.
  void prefetch_row(std::uint32_t row) const { prefetch(&rows[row]); }
  void prefetch_cells(std::uint32_t row) const { prefetch(begin(row)); }

  // scores[output] += weight, for all outputs of the row; `outputs` is the size of its output space.
  void add_row(std::uint32_t row, std::size_t outputs, double* scores) const {
    const Cell* cell = begin(row);
    const std::size_t size = rows[row].size;
    if (size == outputs)  // dense: cell i has output i
      add_dense(cell, outputs, scores);
    else
      for (std::size_t i = 0; i < size; ++i) scores[cell[i].output] += cell[i].weight;
  }

  // sums[t * outputs + output] = the sum of the weights of rows[ends[t] .. ends[t + 1]), added in this order.
  // The rows are those of `outputs` outputs: dense.width().
  void sum_rows(const std::uint32_t* rows, const std::uint64_t* ends, std::size_t tokens, double* sums) const;

  // scores[output] += scale * weight
  void add_row(std::uint32_t row, double scale, std::size_t outputs, double* scores) const {
    if (scale == 1.0) return add_row(row, outputs, scores);
    for (const Cell* c = begin(row); c != end(row); ++c)
      scores[c->output] += scale * static_cast<double>(c->weight);
  }

  // Where a weight's cell is, SIZE_MAX if it has none.
  std::size_t place_of(const Coordinate& at) const {
    if (at.row >= rows.size()) return SIZE_MAX;
    const Row& row = rows[at.row];
    if (row.size == at.outputs) return row.begin + at.output;  // dense
    for (std::size_t i = row.begin; i < row.begin + row.size; ++i)
      if (cells[i].output == at.output) return i;
    return SIZE_MAX;
  }

  // Calls f(cell, k) for the cells of the row with outputs first + k, k < count.
  template <class F>
  void for_cells(std::uint32_t row, std::uint32_t first, std::uint32_t count, F&& f) const {
    const std::size_t at = rows[row].begin, size = rows[row].size;
    for (std::size_t i = at; i < at + size; ++i) {
      const std::uint32_t k = cells[i].output - first;  // wraps around below `first`
      if (k < count) f(i, k);
    }
  }

  // Rows one after another without gaps, the cells of each by rising output.
  SparseRows compact() const;
};

// Sets of weights as one: rows that a set lacks at its end are empty.
// The mean of each weight over several sets; `nonzero`: over those where it is not zero.
SparseRows mean_of(const std::vector<const SparseRows*>& all, bool nonzero);
// The sum of each weight over several sets, each times its factor.
SparseRows sum_of(const std::vector<const SparseRows*>& all, const std::vector<double>& factors);

// How weights are drawn towards zero, a little at every step (docs/regularisers.md has the formulas). A
// weight is only brought up to date when it is needed, so a step costs what it touches.
struct Penalty {
  enum class Kind : std::uint8_t {
    none,
    l2,          // w *= 1 - rate, before the update of the step
    l1,          // |w| -= rate, not below 0, before the update of the step
    cumulative,  // |w| -= what it owes, not below 0, after the update; it owes rate a step (Zhang 2014)
    signed_,     // cumulative, with debts counted in the direction of the weight (Tsuruoka 2009)
  };
  Kind kind = Kind::none;
  double rate = 0.0;
};

// Weights to learn. Rows start empty, have room for the next power of two of their size, and become dense
// (cell i = output i) when half full, so memory follows what learning touched, not features * labels. Row 0,
// the constants, is dense from the start. A weight of a row that is not there yet adds the row. Beside each
// weight stand, as far as the learner needs them:
//   total     the sum of step * change, which lazy averaging needs
//   paid      what a cumulative penalty has taken from the weight
//   variance  how unsure the weight is (1 at first)
//   log       all changes, in their order, which voting needs
//   provenance  what each example contributed to it
class WeightTable {
 public:
  WeightTable(std::uint32_t rows, std::uint32_t constants, Penalty penalty = {}, bool variances = false,
              bool log = false, bool provenance = false);

  const SparseRows& current() const { return table_; }
  const Penalty& penalty() const { return penalty_; }
  bool penalised() const { return penalty_.kind != Penalty::Kind::none; }
  // Do weights pay the penalty of a step before its update?
  bool shrinks_first() const {
    return penalty_.kind == Penalty::Kind::l2 || penalty_.kind == Penalty::Kind::l1;
  }
  bool has_variances() const { return has_variances_; }

  // weight += change; total += step * change; returns the new weight.
  double update(const Coordinate& at, double change, double step);
  // weight += change, for a cell of current(), without its total.
  void add_to_cell(std::size_t cell, double change) {
    drop_copies();
    table_.cells[cell].weight = static_cast<float>(table_.cells[cell].weight + change);
  }
  // From now on keeps copies of the rows of so many outputs, if that is worth it.
  void keep_copies(std::uint32_t outputs);
  // Makes room for a weight, or for all of its row.
  void make_room(const Coordinate& at, bool whole_row);

  // Rows that will soon be updated; one that is not there yet is none.
  void prefetch_row(std::uint32_t row) const {
    if (row < table_.rows.size()) table_.prefetch_row(row);
  }
  void prefetch_cells(std::uint32_t row) const {
    if (row >= table_.rows.size()) return;
    table_.prefetch_cells(row);
    prefetch(totals_.data() + table_.rows[row].begin);
  }

  double weight(const Coordinate& at) const;
  double variance(const Coordinate& at) const;
  void set_variance(const Coordinate& at, double variance);

  // The penalty of one more step falls due, `scale` times the rate.
  void charge(double scale = 1.0);
  // Lazy penalties: takes from the weights of a row those that fell due before `steps` steps were over, and
  // nothing if there is no penalty. Penalties of other scales than 1 and averaging do not go together.
  void catch_up(std::uint32_t row, double steps);
  void catch_up_all(double steps);

  struct Change {
    std::uint32_t row, output, step;
    float change;
  };
  const std::vector<Change>& log() const { return log_; }
  bool keeps_log() const { return keeps_log_; }
  void restore_log(std::vector<Change> log) { log_ = std::move(log); }

  // The example that changes from now on are made at.
  void visit(std::uint32_t example) { example_ = example; }
  bool keeps_provenance() const { return keeps_provenance_; }
  // What each example has of each weight, or of the mean of the weights after each of `steps` steps.
  std::vector<ProvenanceEntry> provenance(double steps) { return provenance_.provenance(steps); }

  // The mean of the weights after each of `steps` steps; all must be caught up.
  SparseRows averaged(double steps) const;

  // A table whose weights, totals and the rest are the means of those of tables of the same kind that are
  // caught up. `outputs_of(row)`: size of the row's output space.
  static WeightTable mixed(const std::vector<const WeightTable*>& tables,
                           const std::function<std::uint32_t(std::uint32_t)>& outputs_of);

  // Keeps the weights and forgets how they came about.
  void forget_totals();

  // All that further learning depends on, by row and output; rows must be caught up.
  struct State {
    std::vector<std::uint32_t> row_end;  // [rows] cells up to and with this row
    std::vector<std::uint32_t> outputs;
    std::vector<float> weights;
    std::vector<double> totals;
    std::vector<double> paid;  // empty if there are none
    std::vector<float> variances;
    double due = 0.0;
  };
  State state() const;
  // Sets what belongs to one weight, as it was in a state (where there are no payments, 0, no variances, 1).
  void restore(const Coordinate& at, float weight, double total, double paid, float variance);
  // To be called when all weights are restored.
  void restore_due(double due);

 private:
  std::size_t cell_of(const Coordinate& at);
  void set_weight(const Coordinate& at, std::size_t cell, float weight) {
    table_.cells[cell].weight = weight;
    if (at.outputs == table_.dense.width()) table_.dense.set(at.row, at.output, weight);
  }
  void copy_row(std::uint32_t row);
  void drop_copies() {
    may_copy_ = false;
    if (table_.dense.width() != 0) table_.dense.clear();
  }
  SparseRows::Row& row_at(std::uint32_t row);
  void enlarge(SparseRows::Row& row, std::uint32_t outputs, bool whole);
  std::uint32_t allocate(std::uint32_t capacity);
  void resize_cells(std::size_t size);
  void clear_cell(std::size_t i, std::uint32_t output);
  void shrink(const SparseRows::Row& row, double since, double steps);
  void clip(const SparseRows::Row& row, double since, double steps);

  SparseRows table_;
  Penalty penalty_;
  bool has_variances_, keeps_log_, keeps_provenance_;
  bool may_copy_ = true;  // are all changes made by coordinate?
  std::vector<Change> log_;
  ProvenanceLog provenance_;
  std::uint32_t example_ = kNoExample;
  double log_rate_ = 0.0;                         // log(1 - rate)
  double due_ = 0.0;                              // penalties so far: their sum, for l2 the sum of logarithms
  std::vector<double> caught_up_;                 // [rows] what was due when the row was last caught up
  LargeVector<double> totals_;                    // parallel to table_.cells
  std::vector<double> paid_;                      // the same, or empty
  std::vector<float> variances_;                  // the same, or empty
  std::vector<std::vector<std::uint32_t>> free_;  // abandoned places, by the bit width of their capacity
};

}  // namespace marginalia
