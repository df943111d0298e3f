// Numbers for keys, in the order in which they come: quick to forget all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.hpp"

namespace marginalia {

class KnownNumbers {
 public:
  KnownNumbers() : slots_(kLeast) {}
  void clear();
  std::uint32_t size() const { return used_; }
  void prefetch_slot(std::uint64_t key) const { prefetch(&slots_[key & (slots_.size() - 1)]); }
  // The number of a key, whose bits should be well mixed; a new one (`added`) gets the next number.
  std::uint32_t find_or_add(std::uint64_t key, bool& added) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = key & mask;
    while (slots_[i].round == round_ && slots_[i].key != key) i = (i + 1) & mask;
    added = slots_[i].round != round_;
    if (!added) return slots_[i].number;
    slots_[i] = {key, used_, round_};
    if (std::size_t{used_} * 2 >= slots_.size()) grow();
    return used_++;
  }

 private:
  static constexpr std::size_t kLeast = 256, kMost = std::size_t{1} << 16;
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = 0, round = 0;  // of another round: empty
  };
  void grow();

  std::vector<Slot> slots_;
  std::uint32_t used_ = 0, round_ = 1;
};

}  // namespace marginalia
