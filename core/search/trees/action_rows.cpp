#include "search/trees/action_rows.hpp"

#include "search/trees/scoring.hpp"

namespace marginalia {

namespace {

constexpr std::size_t kFewest = 3;  // a row is full with at least one of so many columns
constexpr std::size_t kMean = 2;    // slots in use of a bucket

}  // namespace

ActionRows::ActionRows(const FrozenWeights& weights, const TreeShape& shape)
    : weights_(weights), width_(scores_width(shape)) {
  std::size_t known = 0, cells = 0, full = 0;
  std::vector<Cell> row;
  const auto for_rows = [&](auto&& f) {
    for (std::uint32_t s = 0; s < weights.slots(); ++s) {
      if (weights.key_at(s) == 0) continue;
      row.clear();
      weights.for_cells(s, [&](std::uint32_t action, float weight) {
        const std::uint32_t column = shape.column_of()[action];
        if (column < shape.columns() && weight != 0.0f) row.push_back({column, weight});
      });
      if (!row.empty()) f(weights.key_at(s), row.size() * kFewest >= width_);
    }
  };
  for_rows([&](std::uint64_t, bool is_full) {
    ++known;
    (is_full ? full : cells) += is_full ? width_ : row.size();
  });
  slots_.resize((known / kMean + 1) * kBucket);
  cells_.reserve(cells);
  full_.reserve(full);
  for_rows([&](std::uint64_t key, bool is_full) { put(key, row, is_full); });
}

void ActionRows::put(std::uint64_t stored, const std::vector<Cell>& row, bool is_full) {
  std::size_t i = bucket_of(stored);
  while (slots_[i + kBucket - 1].key != 0) i = after(i);
  while (slots_[i].key != 0) ++i;
  Slot& slot = slots_[i];
  slot.key = stored;
  if (is_full) {
    slot.begin = static_cast<std::uint32_t>(full_.size());
    slot.size = kFull;
    full_.resize(full_.size() + width_, 0.0f);
    for (const Cell& cell : row) full_[slot.begin + cell.column] = cell.weight;
  } else if (row.size() == 1) {
    slot.begin = std::bit_cast<std::uint32_t>(row[0].weight);
    slot.size = kSingle + row[0].column;
  } else {
    slot.begin = static_cast<std::uint32_t>(cells_.size());
    slot.size = static_cast<std::uint32_t>(row.size());
    cells_.insert(cells_.end(), row.begin(), row.end());
  }
}

void ActionRows::add_many(const Slot& slot, float* scores) const {
  if (slot.size == kFull) return add_vector(full_.data() + slot.begin, width_, scores);
  const Cell* cell = cells_.data() + slot.begin;
  for (const Cell* end = cell + slot.size; cell != end; ++cell) scores[cell->column] += cell->weight;
}

}  // namespace marginalia
