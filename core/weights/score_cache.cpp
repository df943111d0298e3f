#include "weights/score_cache.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace marginalia {

namespace {

// The sums of a few neighbours stay in registers while all vectors are added.
template <std::size_t Width>
inline __attribute__((always_inline)) void sum_block(const float* const* rows, std::size_t row_count,
                                                     const double* const* sums, std::size_t sum_count,
                                                     std::size_t at, double* out) {
  double total[Width] = {};
  for (std::size_t k = 0; k < row_count; ++k)
    for (std::size_t i = 0; i < Width; ++i) total[i] += static_cast<double>(rows[k][at + i]);
  for (std::size_t k = 0; k < sum_count; ++k)
    for (std::size_t i = 0; i < Width; ++i) total[i] += sums[k][at + i];
  for (std::size_t i = 0; i < Width; ++i) out[at + i] = total[i];
}

// What is left after whole blocks is the end of one more, which sums some again: to the same numbers.
MARGINALIA_KERNEL
void sum_all(const float* const* rows, std::size_t row_count, const double* const* sums,
             std::size_t sum_count, std::size_t size, double* out) {
  std::size_t at = 0;
  for (; at + 16 <= size; at += 16) sum_block<16>(rows, row_count, sums, sum_count, at, out);
  for (; at + 8 <= size; at += 8) sum_block<8>(rows, row_count, sums, sum_count, at, out);
  if (size - at > 4 && size >= 8) return sum_block<8>(rows, row_count, sums, sum_count, size - 8, out);
  for (; at + 4 <= size; at += 4) sum_block<4>(rows, row_count, sums, sum_count, at, out);
  for (; at < size; ++at) sum_block<1>(rows, row_count, sums, sum_count, at, out);
}

}  // namespace

void sum_vectors(std::span<const float* const> rows, std::span<const double* const> sums, std::size_t size,
                 double* out) {
  sum_all(rows.data(), rows.size(), sums.data(), sums.size(), size, out);
}

void ScoreCache::reset(std::size_t tables, const std::vector<std::uint8_t>& is_row, std::size_t size) {
  size_ = size;
  is_row_ = is_row;
  offset_.clear();
  stride_ = kHead;
  for (const std::uint8_t row : is_row) {
    offset_.push_back(stride_);
    stride_ += (size * (row != 0 ? sizeof(float) : sizeof(double)) + 7) / 8 * 8;
  }
  stride_ = (stride_ + 31) / 32 * 32;
  records_ = kMostRecords;
  while (records_ > kLeastRecords && tables * records_ * stride_ > kMostBytes) records_ /= 2;
  shift_ = 64 - std::countr_zero(records_);
  // The system gives pages when they are first touched: a short text needs little of it.
  memory_.reset(static_cast<char*>(std::calloc(std::max<std::size_t>(tables, 1) * records_, stride_)));
  if (memory_ == nullptr) throw std::bad_alloc();
}

void ScoreCache::start_vector(Record record, std::size_t vector, bool zero) const {
  const std::uint64_t known = std::uint64_t{1} << vector;
  const std::uint64_t others = states(record) & ~(known | known << kMostVectors);
  const std::uint64_t now = others | known | (zero ? 0 : known << kMostVectors);
  std::memcpy(record + 8, &now, sizeof now);
  if (!zero)
    std::memset(record + offset_[vector], 0, size_ * (is_row(vector) ? sizeof(float) : sizeof(double)));
}

}  // namespace marginalia
