#include "search/trees/scoring.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace marginalia {

MARGINALIA_KERNEL void sum_vectors(const float* const* rows, std::size_t count, std::size_t width,
                                   float* sum) {
  using Floats = float __attribute__((vector_size(32)));
  for (std::size_t i = 0; i < width; i += 8) {
    Floats total{};
    for (std::size_t k = 0; k < count; ++k) {
      Floats one;
      std::memcpy(&one, rows[k] + i, sizeof one);
      total += one;
    }
    std::memcpy(sum + i, &total, sizeof total);
  }
}

bool TreeScoring::take_shared(const TreeExtractor::Group& group, std::uint32_t g, std::uint32_t place) {
  std::uint64_t key = 0x9e3779b97f4a7c15ULL * (g + 1);
  for (const TreeExtractor::Step& step : group.values) {
    const std::uint32_t number = fields_[step.field];
    const Hashed& value = step.kind == TreeFieldKind::token
                              ? x.grid[0][number * extractor_.sources() + step.source]
                              : names_->value(step.kind, number, false);
    key = scrambled(key ^ (value.absent() ? UINT64_MAX : value.hash));
  }
  if (key == 0) key = 1;
  const std::size_t slot = key >> (64 - kSharedBits);
  if (shared_keys_[slot] != key) {
    to_share_.push_back({key, place});
    return false;
  }
  std::copy_n(shared_.begin() + static_cast<std::ptrdiff_t>(slot * stride_), stride_,
              vectors_.begin() + static_cast<std::ptrdiff_t>(place * stride_));
  return true;
}

void TreeScoring::keep_shared() {
  for (const Kept& one : to_share_) {
    const std::size_t slot = one.key >> (64 - kSharedBits);
    shared_keys_[slot] = one.key;
    std::copy_n(vectors_.begin() + static_cast<std::ptrdiff_t>(one.place * stride_), stride_,
                shared_.begin() + static_cast<std::ptrdiff_t>(slot * stride_));
  }
  to_share_.clear();
}

void GroupCache::clear() {
  if (slots_.size() > 64 * kLeast) slots_.resize(kLeast);  // one long sentence, and many short ones after it
  std::fill(slots_.begin(), slots_.end(), Slot{});
  used_ = 0;
}

std::uint32_t GroupCache::find_or_add(std::uint64_t key, bool& added) {
  if (key == 0) key = 1;
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = key & mask;
  while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & mask;
  added = slots_[i].key == 0;
  if (!added) return slots_[i].place;
  const std::uint32_t place = used_++;
  slots_[i] = {key, place};
  if (std::size_t{used_} * 2 > slots_.size()) grow();
  return place;
}

void GroupCache::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.key == 0) continue;
    std::size_t i = slot.key & mask;
    while (slots_[i].key != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

}  // namespace marginalia
