// Vectors for what is read in no order, or once in every pass, and is large: on large pages of memory where
// the system has them to give, which cost fewer page faults, and fewer lookups of where a page is.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace marginalia {

// Small vectors begin where a cache line does, large ones where a large page does.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21;
  static constexpr std::align_val_t kSmall{64}, kLarge{kPage};

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}

  T* allocate(std::size_t n) {
    const std::size_t size = n * sizeof(T);
    if (!is_large(size)) return static_cast<T*>(::operator new(size, kSmall));
    const std::size_t pages = (size + kPage - 1) / kPage * kPage;
    void* memory = ::operator new(pages, kLarge);
#ifdef __linux__
    madvise(memory, pages, MADV_HUGEPAGE);  // if that is refused, small pages do as well
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, std::size_t n) { ::operator delete(p, is_large(n * sizeof(T)) ? kLarge : kSmall); }
  bool operator==(const LargePages&) const = default;

 private:
  // Less than half of a page would waste most of it.
  static constexpr bool is_large(std::size_t size) { return size >= kPage / 2; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace marginalia
