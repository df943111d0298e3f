// Kernels marked MARGINALIA_KERNEL are compiled twice, for plain x86-64 and for AVX2, and chosen at load
// time. Elsewhere (other processors, other C libraries, sanitizer builds) there is one version.
#pragma once

#include <cstdlib>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define MARGINALIA_KERNEL __attribute__((target_clones("avx2", "default")))
#else
#define MARGINALIA_KERNEL
#endif
