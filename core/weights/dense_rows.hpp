// Copies of weight rows for adding many of them quickly. In training, the row of each feature of each token
// is added in every pass and changed in few: what is read often stands close together here, apart from what
// learning needs beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/large_vector.hpp"
#include "base/prefetch.hpp"
#include "base/simd.hpp"

namespace marginalia {

// Copies of rows of one output space, that of `width` outputs; which rows have another one is for the caller
// to know. They belong to the table that learns: copying an object of this class gives one without any.
class DenseRows {
 public:
  static constexpr std::uint32_t kMostOutputs = 64;

  DenseRows() = default;
  DenseRows(const DenseRows&) {}
  DenseRows(DenseRows&&) = default;
  DenseRows& operator=(const DenseRows&) {
    clear();
    return *this;
  }
  DenseRows& operator=(DenseRows&&) = default;

  // Begins with so many rows, all of them empty.
  void begin(std::uint32_t width, std::size_t rows);
  void clear();
  void resize(std::size_t rows) { places_.resize(rows, kEmpty); }
  std::uint32_t width() const { return width_; }  // 0: there are no copies
  std::size_t stride() const { return stride_; }

  // Weights as they are from now on; a row of which more than two are not zero becomes dense.
  void set(std::uint32_t row, std::uint32_t output, float weight);

  // Rows come in no order, so they are prefetched: first where a row is, then the row,
  // of which the address is all that is known until it is read.
  struct Address {
    const void* at;
    bool is_pair;
  };
  void prefetch_place(std::uint32_t row) const { prefetch(&places_[row]); }
  Address prefetch_row(std::uint32_t row) const {
    const std::uint32_t place = places_[row];
    const bool is_pair = place >= kPair;
    const void* at = is_pair ? static_cast<const void*>(pairs_.data() + (place - kPair))
                             : static_cast<const void*>(dense_.data() + place * stride_);
    prefetch(at);
    prefetch(static_cast<const float*>(at) + (is_pair ? 0 : stride_ - 1));
    return {at, is_pair};
  }
  // Writes the weights of a pair as those of a dense row: [stride], zero beyond the width.
  void expand(const void* pair, float* row) const { expand(*static_cast<const Pair*>(pair), row); }

 private:
  struct Pair {  // most rows have no more than two weights: that of a right output and that of a wrong one
    float weight[2] = {0.0f, 0.0f};
    std::uint8_t output[2] = {0, 1};
    bool set(std::uint32_t at, float to);
  };
  static constexpr std::uint32_t kEmpty = 0;        // dense row 0, which is all zero
  static constexpr std::uint32_t kPair = 1u << 31;  // the places of pairs begin here
  void expand(const Pair& pair, float* row) const {
    for (std::size_t i = 0; i < stride_; ++i) row[i] = 0.0f;
    row[pair.output[0]] = pair.weight[0];
    row[pair.output[1]] = pair.weight[1];
  }
  void add_pair(std::uint32_t row);
  void make_dense(std::uint32_t row);

  std::uint32_t width_ = 0;
  std::size_t stride_ = 0;             // the width in whole vectors
  LargeVector<std::uint32_t> places_;  // [rows]
  LargeVector<float> dense_;           // [dense rows][stride]
  LargeVector<Pair> pairs_;
  std::vector<std::uint32_t> free_pairs_;  // of rows that became dense
};

// sums[i] (0 if `first`) += rows[0][i], then += rows[1][i] and so on; `width` is a number of whole vectors.
void add_rows(const float* const* rows, std::size_t count, std::size_t width, bool first, double* sums);

}  // namespace marginalia
