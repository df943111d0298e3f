// Sums of weight rows that are likely to be needed again: vectors of label scores by key, in bounded memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace marginalia {

// out[i] = vectors[0][i] + ... + vectors[count - 1][i], added in this order; 0 if there are none.
void sum_vectors(const double* const* vectors, std::size_t count, std::size_t size, double* out);

// Tables, each with a fixed number of entries. An entry has one place in its table, where a new one takes the
// place of the old one.
class ScoreCache {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  static constexpr std::size_t kMostEntries = 16384, kLeastEntries = 256;  // of a table

  // Empty tables of vectors of this size.
  void reset(std::size_t tables, std::size_t size) {
    size_ = size;
    entries_ = kMostEntries;
    while (entries_ > kLeastEntries && tables * entries_ * stride() * sizeof(double) > kMostBytes)
      entries_ /= 2;
    shift_ = 64 - std::countr_zero(entries_);
    // The system gives pages when they are first touched: a short text needs little of it.
    memory_.reset(static_cast<double*>(std::calloc(tables * entries_ * stride(), sizeof(double))));
    if (memory_ == nullptr) throw std::bad_alloc();
  }

  // Where the vector of a key belongs; keys are not 0.
  double* place(std::size_t table, std::uint64_t key) const {
    const std::uint64_t hash = key * 0x9e3779b97f4a7c15ULL >> shift_;
    return &memory_[(table * entries_ + hash) * stride()];
  }
  static bool holds(const double* place, std::uint64_t key) {
    return std::bit_cast<std::uint64_t>(place[0]) == key;
  }
  // A vector of zeros for the key, to be filled.
  double* start(double* place, std::uint64_t key) const {
    place[0] = std::bit_cast<double>(key);
    place[1] = 0.0;
    for (std::size_t i = 0; i < size_; ++i) place[kHead + i] = 0.0;
    return vector(place);
  }
  // Whether anything was added to the vector of zeros.
  static bool is_filled(const double* place) { return place[1] != 0.0; }
  static void set_filled(double* place) { place[1] = 1.0; }
  static double* vector(double* place) { return place + kHead; }

 private:
  static constexpr std::size_t kHead = 2;
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };
  std::size_t stride() const { return (kHead + size_ + 7) / 8 * 8; }  // whole cache lines

  std::size_t size_ = 0, entries_ = 0;
  int shift_ = 0;
  std::unique_ptr<double[], Free> memory_;
};

}  // namespace marginalia
