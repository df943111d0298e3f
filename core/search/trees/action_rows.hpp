// The weights of a finished model as search for trees reads them: a look-up waits for memory twice, for the
// slot of a key and for what it adds to the scores of actions.
#pragma once

#include <cstdint>

#include "base/large_vector.hpp"
#include "base/prefetch.hpp"
#include "search/trees/shape.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

class ActionRows {
 public:
  // The weights must outlive it.
  ActionRows(const FrozenWeights& weights, const TreeShape& shape);

  void prefetch_slot(std::uint64_t key) const { prefetch(&slots_[weights_.home(key)]); }
  // The slot of a key, kUnknownRow if there is none.
  std::uint32_t find(std::uint64_t key) const {
    const std::uint64_t stored = weights_.stored(key);
    std::size_t i = weights_.home(key);
    while (slots_[i].key != 0 && slots_[i].key < stored) ++i;
    return slots_[i].key == stored ? static_cast<std::uint32_t>(i) : kUnknownRow;
  }
  void prefetch_scores(std::uint32_t slot) const {
    const Slot& one = slots_[slot];
    const bool full = one.size == kFull;
    const auto* first = full ? reinterpret_cast<const char*>(full_.data() + one.begin)
                             : reinterpret_cast<const char*>(cells_.data() + one.begin);
    const std::size_t size = full ? width_ * sizeof(float) : one.size * sizeof(Cell);
    for (std::size_t i = 0; i < size; i += kLine) prefetch(first + i);
  }
  // scores[column] += weight
  void add(std::uint32_t slot, float* scores) const;

 private:
  static constexpr std::uint32_t kFull = UINT32_MAX;
  static constexpr std::size_t kLine = 64;
  struct Cell {
    std::uint32_t column;
    float weight;
  };
  // Slots are those of the weights. `size` is kFull if all columns stand there, because a vector is quicker
  // to add than many cells.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t begin = 0, size = 0;
  };

  const FrozenWeights& weights_;
  std::size_t width_;
  LargeVector<Slot> slots_;
  LargeVector<Cell> cells_;
  LargeVector<float> full_;
};

}  // namespace marginalia
