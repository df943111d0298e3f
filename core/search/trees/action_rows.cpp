#include "search/trees/action_rows.hpp"

#include "search/trees/scoring.hpp"

namespace marginalia {

namespace {

constexpr std::size_t kFewest = 3;  // a row is full with at least one of so many columns

}  // namespace

ActionRows::ActionRows(const FrozenWeights& weights, const TreeShape& shape)
    : weights_(weights), width_(scores_width(shape)), slots_(weights.slots()) {
  const auto for_columns = [&](std::uint32_t s, auto&& f) {
    weights.for_cells(s, [&](std::uint32_t action, float weight) {
      const std::uint32_t column = shape.column_of()[action];
      if (column < shape.columns() && weight != 0.0f) f(column, weight);
    });
  };
  std::size_t cells = 0, full = 0;
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    std::uint32_t size = 0;
    for_columns(s, [&](std::uint32_t, float) { ++size; });
    const bool is_full = size * kFewest >= width_;
    slots_[s] = {weights.key_at(s), static_cast<std::uint32_t>(is_full ? full : cells),
                 is_full ? kFull : size};
    (is_full ? full : cells) += is_full ? width_ : size;
  }
  cells_.reserve(cells);
  full_.resize(full, 0.0f);
  for (std::uint32_t s = 0; s < slots_.size(); ++s)
    for_columns(s, [&](std::uint32_t column, float weight) {
      if (slots_[s].size == kFull)
        full_[slots_[s].begin + column] = weight;
      else
        cells_.push_back({column, weight});
    });
}

void ActionRows::add(std::uint32_t slot, float* scores) const {
  const Slot& one = slots_[slot];
  if (one.size == kFull) return add_vector(full_.data() + one.begin, width_, scores);
  const Cell* cell = cells_.data() + one.begin;
  for (const Cell* end = cell + one.size; cell != end; ++cell) scores[cell->column] += cell->weight;
}

}  // namespace marginalia
