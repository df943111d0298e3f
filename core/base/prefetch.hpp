// Asking the memory early for what will soon be read.
#pragma once

namespace marginalia {

// GCC takes a function that only prefetches for one without effects, and drops the calls of it that it
// does not inline: the empty statement is the effect that keeps them.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  __asm__ volatile("");
}

}  // namespace marginalia
