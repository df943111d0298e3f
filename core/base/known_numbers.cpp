#include "base/known_numbers.hpp"

namespace marginalia {

void KnownNumbers::clear() {
  used_ = 0;
  if (slots_.size() <= kMost && ++round_ != 0) return;
  slots_.assign(kLeast, {});  // there were very many keys once, or rounds
  round_ = 1;
}

void KnownNumbers::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.round != round_) continue;
    std::size_t i = slot.key & mask;
    while (slots_[i].round == round_) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

}  // namespace marginalia
