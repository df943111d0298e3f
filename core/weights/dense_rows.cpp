#include "weights/dense_rows.hpp"

#include "base/simd.hpp"

namespace marginalia {

void DenseRows::begin(std::uint32_t width, std::size_t rows) {
  clear();
  width_ = width;
  stride_ = in_vectors(width);
  places_.assign(rows, kEmpty);
  dense_.assign(stride_, 0.0f);
}

void DenseRows::clear() {
  *this = DenseRows();
}

void DenseRows::set(std::uint32_t row, std::uint32_t output, float weight) {
  if (places_[row] == kEmpty) {
    if (weight == 0.0f) return;
    add_pair(row);
  }
  if (places_[row] >= kPair) {
    if (pairs_[places_[row] - kPair].set(output, weight)) return;
    make_dense(row);
  }
  dense_[places_[row] * stride_ + output] = weight;
}

// False if there is no room.
bool DenseRows::Pair::set(std::uint32_t at, float to) {
  std::size_t slot = output[0] == at ? 0 : 1;
  if (output[slot] != at) {
    if (to == 0.0f) return true;
    slot = weight[0] == 0.0f ? 0 : 1;
    if (weight[slot] != 0.0f) return false;
  }
  output[slot] = static_cast<std::uint8_t>(at);
  weight[slot] = to;
  return true;
}

void DenseRows::add_pair(std::uint32_t row) {
  if (free_pairs_.empty()) {
    free_pairs_.push_back(static_cast<std::uint32_t>(pairs_.size()));
    pairs_.emplace_back();
  }
  places_[row] = kPair + free_pairs_.back();
  pairs_[free_pairs_.back()] = {};
  free_pairs_.pop_back();
}

void DenseRows::make_dense(std::uint32_t row) {
  const std::uint32_t pair = places_[row] - kPair;
  places_[row] = static_cast<std::uint32_t>(dense_.size() / stride_);
  dense_.resize(dense_.size() + stride_);
  expand(pairs_[pair], &dense_[places_[row] * stride_]);
  free_pairs_.push_back(pair);
}

namespace {

// Adds the same `Vectors` * 4 outputs of all rows; the sums stay in registers meanwhile.
template <std::size_t Vectors>
MARGINALIA_INLINE void add_columns(const float* const* rows, std::size_t count, std::size_t at, bool first,
                                   double* sums) {
  Doubles sum[Vectors] = {}, weights;
  if (!first) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Vectors; ++v) load(sums + at + v * kLanes, sum[v]);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const float* row = rows[k] + at;
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Vectors; ++v) {
      load(row + v * kLanes, weights);
      sum[v] += weights;
    }
  }
#pragma GCC unroll 8
  for (std::size_t v = 0; v < Vectors; ++v) store(sum[v], sums + at + v * kLanes);
}

}  // namespace

MARGINALIA_KERNEL
void add_rows(const float* const* rows, std::size_t count, std::size_t width, bool first, double* sums) {
  std::size_t at = 0;
  for (; at + 8 * kLanes <= width; at += 8 * kLanes) add_columns<8>(rows, count, at, first, sums);
  switch ((width - at) / kLanes) {
    case 7:
      return add_columns<7>(rows, count, at, first, sums);
    case 6:
      return add_columns<6>(rows, count, at, first, sums);
    case 5:
      return add_columns<5>(rows, count, at, first, sums);
    case 4:
      return add_columns<4>(rows, count, at, first, sums);
    case 3:
      return add_columns<3>(rows, count, at, first, sums);
    case 2:
      return add_columns<2>(rows, count, at, first, sums);
    case 1:
      return add_columns<1>(rows, count, at, first, sums);
    default:
      return;
  }
}

}  // namespace marginalia
