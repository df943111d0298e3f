#include "search/trees/action_rows.hpp"

#include <algorithm>
#include <cstring>

#include "search/trees/scoring.hpp"

namespace marginalia {

namespace {

constexpr std::size_t kMean = 2;  // slots in use of a bucket

}  // namespace

ActionRows::ActionRows(const FrozenWeights& weights, const TreeShape& shape)
    : weights_(weights), width_(scores_width(shape)) {
  Row row;
  const auto for_rows = [&](auto&& f) {
    for (std::uint32_t s = 0; s < weights.slots(); ++s) {
      if (weights.key_at(s) == 0) continue;
      row.weights.clear();
      row.columns.clear();
      weights.for_cells(s, [&](std::uint32_t action, float weight) {
        const std::uint16_t column = shape.column_of()[action];
        if (column == shape.columns() || weight == 0.0f) return;
        row.weights.push_back(weight);
        row.columns.push_back(column);
      });
      if (!row.weights.empty()) f(s);
    }
  };
  std::size_t known = 0, floats = 0;
  for_rows([&](std::uint32_t) {
    ++known;
    floats += floats_of(row);
  });
  slots_.resize((known / kMean + 1) * kBucket);
  rows_.reserve(floats);
  for_rows([&](std::uint32_t s) { put(weights.key_at(s), row); });
}

std::size_t ActionRows::floats_of(const Row& row) const {
  const std::size_t size = row.weights.size();
  return is_full(row) ? width_ : size == 1 ? 0 : (size * kCell + sizeof(float) - 1) / sizeof(float);
}

void ActionRows::put(std::uint64_t stored, const Row& row) {
  std::size_t i = bucket_of(stored);
  while (slots_[i + kBucket - 1].key != 0) i = after(i);
  while (slots_[i].key != 0) ++i;
  const std::size_t begin = rows_.size(), size = row.weights.size();
  slots_[i] = {stored, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)};
  rows_.resize(begin + floats_of(row), 0.0f);
  if (is_full(row)) {
    slots_[i].size = kFull;
    for (std::size_t k = 0; k < size; ++k) rows_[begin + row.columns[k]] = row.weights[k];
  } else if (size == 1) {
    slots_[i].begin = std::bit_cast<std::uint32_t>(row.weights[0]);
    slots_[i].size = kSingle + row.columns[0];
  } else {
    std::copy(row.weights.begin(), row.weights.end(), rows_.data() + begin);
    std::memcpy(rows_.data() + begin + size, row.columns.data(), size * sizeof(std::uint16_t));
  }
}

void ActionRows::add_many(const Slot& slot, float* scores) const {
  const float* weights = rows_.data() + slot.begin;
  if (slot.size == kFull) return add_vector(weights, width_, scores);
  const auto* columns = reinterpret_cast<const char*>(weights + slot.size);
  for (std::size_t k = 0; k < slot.size; ++k) {
    std::uint16_t column;
    std::memcpy(&column, columns + k * sizeof column, sizeof column);
    scores[column] += weights[k];
  }
}

}  // namespace marginalia
