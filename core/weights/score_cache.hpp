// Weight rows and sums of them that are likely to be needed again: vectors of label scores by key, in bounded
// memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/prefetch.hpp"

namespace marginalia {

// out[i] = the sum of rows[k][i], then of sums[k][i], added in this order; 0 if there are none.
void sum_vectors(std::span<const float* const> rows, std::span<const double* const> sums, std::size_t size,
                 double* out);

// Tables of records. A record has a key and a few vectors, each of which may yet be unknown, or known to be
// zero. Vectors of single rows take half the space of sums. A new record takes the place of an old one.
class ScoreCache {
 public:
  using Record = char*;
  static constexpr std::size_t kMostBytes = std::size_t{12} << 20;
  static constexpr std::size_t kMostRecords = 16384, kLeastRecords = 64;  // of a table
  static constexpr std::size_t kMostVectors = 32;                         // of a record

  // Empty tables for records of vectors of this size; is_row: which are single rows.
  void reset(std::size_t tables, const std::vector<std::uint8_t>& is_row, std::size_t size);

  // The place of a key's record; by hash, or for keys that are numbers without gaps. Keys are not 0.
  Record hashed(std::size_t table, std::uint64_t key) const {
    return record(table * records_ + (key * 0x9e3779b97f4a7c15ULL >> shift_));
  }
  Record numbered(std::uint64_t key) const { return record(key & (records_ - 1)); }

  // Asks the memory for a record.
  void prefetch_record(const char* record) const {
    for (std::size_t at = 0; at < stride_ && at < kMostAhead; at += 64) prefetch(record + at);
  }

  // The record of the key at its place by hash, or at another one; a new one if it has none, which takes the
  // place of an old one only if both have one.
  Record of_two(std::size_t table, Record place, std::uint64_t key) const {
    if (key_of(place) == key) return place;
    Record other = record(table * records_ + (key * 0xd6e8feb86659fd93ULL >> shift_));
    if (key_of(other) == key) return other;
    if (key_of(place) != 0 && key_of(other) == 0) place = other;
    start(place, key);
    return place;
  }
  // The record of the key at its place; a new one if it has none.
  static Record of_one(Record place, std::uint64_t key) {
    if (key_of(place) != key) start(place, key);
    return place;
  }

  bool is_row(std::size_t vector) const { return is_row_[vector] != 0; }
  static bool is_known(Record record, std::size_t vector) { return (states(record) >> vector & 1) != 0; }
  static bool is_zero(Record record, std::size_t vector) {
    return (states(record) >> (kMostVectors + vector) & 1) == 0;
  }
  // From now on the vector is known: zeros, to be filled unless `zero`.
  void start_vector(Record record, std::size_t vector, bool zero) const;
  float* row(Record record, std::size_t vector) const {
    return reinterpret_cast<float*>(record + offset_[vector]);
  }
  double* sum(Record record, std::size_t vector) const {
    return reinterpret_cast<double*>(record + offset_[vector]);
  }

 private:
  static constexpr std::size_t kHead = 16;         // bytes: the key, and states of vectors
  static constexpr std::size_t kMostAhead = 1024;  // bytes that are worth asking for at once
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  static std::uint64_t number_at(const char* at) {
    std::uint64_t number;
    std::memcpy(&number, at, sizeof number);
    return number;
  }
  static std::uint64_t key_of(const char* record) { return number_at(record); }
  static std::uint64_t states(const char* record) { return number_at(record + 8); }
  static void start(Record record, std::uint64_t key) {
    std::memcpy(record, &key, sizeof key);
    std::memset(record + 8, 0, 8);
  }
  Record record(std::size_t number) const { return memory_.get() + number * stride_; }

  std::size_t size_ = 0, stride_ = 0, records_ = 0;  // stride: bytes
  int shift_ = 0;
  std::vector<std::uint8_t> is_row_;
  std::vector<std::size_t> offset_;  // of vectors in a record
  std::unique_ptr<char[], Free> memory_;
};

}  // namespace marginalia
