// Adding the rows of many tokens, with what has to be asked of the memory ahead.
#include <algorithm>
#include <bit>

#include "base/simd.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

namespace {

constexpr std::size_t kPiece = 64;  // rows

// Some of the rows of a sentence: asked for, then in a form that can be added.
class Piece {
 public:
  void ask(const DenseRows& dense, const std::uint32_t* rows, std::size_t count) {
    pairs_ = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const DenseRows::Address address = dense.prefetch_row(rows[k]);
      rows_[k] = static_cast<const float*>(address.at);
      pairs_ |= std::uint64_t{address.is_pair} << k;
    }
  }
  const float* const* read(const DenseRows& dense) {
    for (; pairs_ != 0; pairs_ &= pairs_ - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(pairs_));
      float* row = &expanded_[k * dense.stride()];
      dense.expand(rows_[k], row);
      rows_[k] = row;
    }
    return rows_;
  }

 private:
  std::uint64_t pairs_ = 0;  // which rows are pairs
  const float* rows_[kPiece];
  float expanded_[kPiece * DenseRows::kMostOutputs];
};

}  // namespace

// Waiting for memory would be most of the cost. So while the rows of one piece are added, those of the next
// are on their way, and the places of those after it.
void SparseRows::sum_rows(const std::uint32_t* rows, const std::uint64_t* ends, std::size_t tokens,
                          double* sums) const {
  const std::size_t width = dense.width(), stride = dense.stride();
  const std::uint64_t last = ends[tokens];
  double space[DenseRows::kMostOutputs];  // for the last tokens: whole vectors may be more than the width
  Piece pieces[2];
  const auto ask = [&](std::uint64_t begin, Piece& piece) {
    const std::uint64_t end = std::min(last, begin + kPiece);
    for (std::uint64_t i = end; i < std::min(last, end + kPiece); ++i) dense.prefetch_place(rows[i]);
    piece.ask(dense, rows + begin, end - begin);
  };
  ask(ends[0], pieces[0]);
  std::size_t t = 0, now = 0;
  std::uint64_t i = ends[0];
  for (std::uint64_t begin = i; t < tokens; begin += kPiece, now = 1 - now) {
    const std::uint64_t end = std::min(last, begin + kPiece);
    ask(end, pieces[1 - now]);
    const float* const* found = pieces[now].read(dense);
    for (; t < tokens; ++t) {
      const std::uint64_t stop = std::min(end, ends[t + 1]);
      const bool fits = t * width + stride <= tokens * width;  // what is too much is overwritten by the next
      add_rows(found + (i - begin), stop - i, stride, i == ends[t], fits ? sums + t * width : space);
      i = stop;
      if (i != ends[t + 1]) break;
      if (!fits) std::copy(space, space + width, sums + t * width);
    }
  }
}

}  // namespace marginalia
