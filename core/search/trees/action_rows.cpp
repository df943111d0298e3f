#include "search/trees/action_rows.hpp"

#include "search/trees/scoring.hpp"

namespace marginalia {

namespace {

constexpr std::size_t kFewest = 3;  // a row is full with at least one of so many columns

}  // namespace

ActionRows::ActionRows(const FrozenWeights& weights, const TreeShape& shape)
    : weights_(weights), width_(scores_width(shape)), slots_(weights.slots()) {
  std::vector<Cell> row;
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    row.clear();
    weights.for_cells(s, [&](std::uint32_t action, float weight) {
      const std::uint32_t column = shape.column_of()[action];
      if (column < shape.columns() && weight != 0.0f) row.push_back({column, weight});
    });
    slots_[s].key = weights.key_at(s);
    if (row.size() * kFewest < width_) {
      slots_[s].begin = static_cast<std::uint32_t>(cells_.size());
      slots_[s].size = static_cast<std::uint32_t>(row.size());
      cells_.insert(cells_.end(), row.begin(), row.end());
      continue;
    }
    slots_[s].begin = static_cast<std::uint32_t>(full_.size());
    slots_[s].size = kFull;
    full_.resize(full_.size() + width_, 0.0f);
    for (const Cell& cell : row) full_[slots_[s].begin + cell.column] = cell.weight;
  }
}

void ActionRows::add(std::uint32_t slot, float* scores) const {
  const Slot& one = slots_[slot];
  if (one.size == kFull) return add_vector(full_.data() + one.begin, width_, scores);
  const Cell* cell = cells_.data() + one.begin;
  for (const Cell* end = cell + one.size; cell != end; ++cell) scores[cell->column] += cell->weight;
}

}  // namespace marginalia
