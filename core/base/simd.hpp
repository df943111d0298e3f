// Kernels marked MARGINALIA_KERNEL are compiled twice, for plain x86-64 and for AVX2, and chosen at load
// time. Elsewhere (other processors, other C libraries, sanitizer builds) there is one version. The results
// are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define MARGINALIA_KERNEL __attribute__((target_clones("avx2", "default")))
#else
#define MARGINALIA_KERNEL
#endif

// For the parts of kernels: compiled as the kernel that they stand in.
#define MARGINALIA_INLINE __attribute__((always_inline)) inline

namespace marginalia {

// Four numbers at once; the compiler makes of them what the processor has.
inline constexpr std::size_t kLanes = 4;
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));

// A number of values, rounded up to whole vectors.
constexpr std::size_t in_vectors(std::size_t values) {
  return (values + kLanes - 1) / kLanes * kLanes;
}

MARGINALIA_INLINE void load(const double* from, Doubles& to) {
  std::memcpy(&to, from, sizeof to);
}

MARGINALIA_INLINE void load(const float* from, Doubles& to) {  // as one instruction where there is one
  to = Doubles{static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2]),
               static_cast<double>(from[3])};
}

MARGINALIA_INLINE void store(const Doubles& from, double* to) {
  std::memcpy(to, &from, sizeof from);
}

}  // namespace marginalia
