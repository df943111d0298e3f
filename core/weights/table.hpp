// Trainable weights: one row per feature, in it only the outputs that were ever updated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace marginalia {

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
  std::vector<Row> rows;
  std::vector<Cell> cells;

  const Cell* begin(std::uint32_t row) const { return cells.data() + rows[row].begin; }
  const Cell* end(std::uint32_t row) const { return begin(row) + rows[row].size; }

  // Rows are met in no order: ask the memory for them well before they are added.
  void prefetch_row(std::uint32_t row) const { __builtin_prefetch(&rows[row]); }
  void prefetch_cells(std::uint32_t row) const { __builtin_prefetch(begin(row)); }

  // scores[output] += weight, for all outputs of the row; `outputs` is the size of its output space.
  void add_row(std::uint32_t row, std::size_t outputs, double* scores) const {
    const Cell* cell = begin(row);
    const std::size_t size = rows[row].size;
    if (size == outputs)  // dense: cell i has output i
      add_dense(cell, outputs, scores);
    else
      for (std::size_t i = 0; i < size; ++i) scores[cell[i].output] += cell[i].weight;
  }
};

// Weights to learn. Rows start empty, have room for the next power of two of their size, and become dense
// (cell i = output i) when half full, so memory follows what learning touched, not features * labels. Row 0,
// the constants, is dense from the start. Beside each weight stands `total`, the sum of step * change that
// lazy averaging needs.
class WeightTable {
 public:
  WeightTable(std::uint32_t rows, std::uint32_t constants);

  const SparseRows& current() const { return table_; }

  // weight += change; total += step * change; returns the new weight. `outputs`: size of the row's output
  // space.
  double update(std::uint32_t row, std::uint32_t output, std::uint32_t outputs, double change, double step);

  // The mean of the weights after each of `steps` steps.
  SparseRows averaged(double steps) const;

 private:
  std::size_t cell_of(SparseRows::Row& row, std::uint32_t output, std::uint32_t outputs);
  void enlarge(SparseRows::Row& row, std::uint32_t outputs);
  std::uint32_t allocate(std::uint32_t capacity);

  SparseRows table_;
  std::vector<double> totals_;                    // parallel to table_.cells
  std::vector<std::vector<std::uint32_t>> free_;  // abandoned places, by the bit width of their capacity
};

}  // namespace marginalia
