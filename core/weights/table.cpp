#include "weights/table.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/simd.hpp"

namespace marginalia {

MARGINALIA_KERNEL
void add_dense(const Cell* __restrict cells, std::size_t size, double* __restrict scores) {
  for (std::size_t i = 0; i < size; ++i) scores[i] += static_cast<double>(cells[i].weight);
}

WeightTable::WeightTable(std::uint32_t rows, std::uint32_t constants) : free_(33) {
  if (rows == 0) throw std::invalid_argument("weights: row 0 is missing");
  table_.rows.resize(rows);
  table_.rows[0] = {0, constants};
  table_.cells.resize(constants);
  totals_.resize(constants);
  for (std::uint32_t i = 0; i < constants; ++i) table_.cells[i] = {i, 0.0f};
}

double WeightTable::update(std::uint32_t row, std::uint32_t output, std::uint32_t outputs, double change,
                           double step) {
  const std::size_t i = cell_of(table_.rows[row], output, outputs);
  table_.cells[i].weight = static_cast<float>(table_.cells[i].weight + change);
  totals_[i] += step * change;
  return table_.cells[i].weight;
}

std::size_t WeightTable::cell_of(SparseRows::Row& row, std::uint32_t output, std::uint32_t outputs) {
  if (row.size == outputs) return row.begin + output;  // dense
  for (std::size_t i = row.begin; i < row.begin + row.size; ++i)
    if (table_.cells[i].output == output) return i;
  if (row.size == 0 || std::has_single_bit(row.size)) enlarge(row, outputs);
  if (row.size == outputs) return row.begin + output;
  const std::size_t i = row.begin + row.size++;
  table_.cells[i] = {output, 0.0f};
  totals_[i] = 0.0;
  return i;
}

// Moves a full row to a place with room for one more cell.
void WeightTable::enlarge(SparseRows::Row& row, std::uint32_t outputs) {
  const SparseRows::Row old = row;
  const std::uint32_t capacity = std::max(1u, old.size * 2);
  const bool dense = capacity > outputs / 2;
  row.begin = allocate(dense ? outputs : capacity);
  if (dense) {
    row.size = outputs;
    for (std::uint32_t o = 0; o < outputs; ++o) {
      table_.cells[row.begin + o] = {o, 0.0f};
      totals_[row.begin + o] = 0.0;
    }
  }
  for (std::uint32_t k = 0; k < old.size; ++k) {
    const std::size_t from = old.begin + k, to = row.begin + (dense ? table_.cells[from].output : k);
    table_.cells[to] = table_.cells[from];
    totals_[to] = totals_[from];
  }
  if (old.size != 0) free_[static_cast<std::size_t>(std::bit_width(old.size))].push_back(old.begin);
}

std::uint32_t WeightTable::allocate(std::uint32_t capacity) {
  auto& reusable = free_[static_cast<std::size_t>(std::bit_width(capacity))];
  if (std::has_single_bit(capacity) && !reusable.empty()) {
    const std::uint32_t begin = reusable.back();
    reusable.pop_back();
    return begin;
  }
  const std::size_t begin = table_.cells.size();
  if (begin + capacity > UINT32_MAX) throw std::length_error("more than 4 billion weights");
  table_.cells.resize(begin + capacity);
  totals_.resize(begin + capacity);
  return static_cast<std::uint32_t>(begin);
}

SparseRows WeightTable::averaged(double steps) const {
  SparseRows result = table_;
  if (steps <= 0) return result;
  for (const SparseRows::Row& row : table_.rows)
    for (std::size_t i = row.begin; i < row.begin + row.size; ++i)
      result.cells[i].weight = static_cast<float>(table_.cells[i].weight - totals_[i] / steps);
  return result;
}

}  // namespace marginalia
