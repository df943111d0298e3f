// The weights of a finished model as search for trees reads them: a look-up waits for memory twice, for the
// slot of a key and for what it adds to the scores of actions.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/large_vector.hpp"
#include "base/prefetch.hpp"
#include "search/trees/shape.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

class ActionRows {
 public:
  // The weights must outlive it.
  ActionRows(const FrozenWeights& weights, const TreeShape& shape);

  void prefetch_slot(std::uint64_t key) const { prefetch(&slots_[bucket_of(weights_.stored(key))]); }
  // The slot of a key, kUnknownRow if there is none.
  std::uint32_t find(std::uint64_t key) const {
    const std::uint64_t stored = weights_.stored(key);
    for (std::size_t i = bucket_of(stored);; i = after(i)) {
      const Slot* bucket = &slots_[i];
      std::size_t k = 0;  // without branches: nobody could foretell them
      for (std::size_t other = 1; other < kBucket; ++other) k = bucket[other].key == stored ? other : k;
      if (bucket[k].key == stored) return static_cast<std::uint32_t>(i + k);
      if (bucket[kBucket - 1].key == 0) return kUnknownRow;
    }
  }
  void prefetch_scores(std::uint32_t slot) const {
    const Slot& one = slots_[slot];
    if (one.size >= kSingle && one.size != kFull) return;
    const auto* first = reinterpret_cast<const char*>(rows_.data() + one.begin);
    const std::size_t size = one.size == kFull ? width_ * sizeof(float) : one.size * kCell;
    for (std::size_t i = 0; i < size; i += kLine) prefetch(first + i);
  }
  // scores[column] += weight
  void add(std::uint32_t slot, float* scores) const {
    const Slot& one = slots_[slot];
    if (one.size >= kSingle && one.size != kFull)
      scores[one.size - kSingle] += std::bit_cast<float>(one.begin);
    else
      add_many(one, scores);
  }

 private:
  static constexpr std::uint32_t kFull = UINT32_MAX, kSingle = std::uint32_t{1} << 31;
  static constexpr std::size_t kLine = 64, kFewest = 3;  // full: at least one of so many columns
  struct Row {
    std::vector<float> weights;
    std::vector<std::uint16_t> columns;
  };
  static constexpr std::size_t kCell = sizeof(float) + sizeof(std::uint16_t);
  // A row is so many weights and then their columns. `size` is kFull if it is the weights of all columns,
  // because a vector is quicker to add than many cells; kSingle and a column if that is the only one: then
  // `begin` has the bits of its weight.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t begin = 0, size = 0;
  };
  // Slots come in buckets of one cache line, which are filled from their first slot on; what does not fit
  // into its bucket is in the next one.
  static constexpr std::size_t kBucket = kLine / sizeof(Slot);

  std::size_t bucket_of(std::uint64_t stored) const {
    return home_of(std::uint64_t{stored * 0x9e3779b97f4a7c15ULL}, slots_.size() / kBucket) * kBucket;
  }
  bool is_full(const Row& row) const { return row.weights.size() * kFewest >= width_; }
  std::size_t after(std::size_t bucket) const {
    return bucket + kBucket == slots_.size() ? 0 : bucket + kBucket;
  }
  std::size_t floats_of(const Row& row) const;
  void put(std::uint64_t stored, const Row& row);
  void add_many(const Slot& slot, float* scores) const;

  const FrozenWeights& weights_;
  std::size_t width_;
  LargeVector<Slot> slots_;
  LargeVector<float> rows_;
};

}  // namespace marginalia
