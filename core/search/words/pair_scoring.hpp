// The scores of what neighbouring words share: those of words that end before a token and words that begin
// there. `Lookup` is as in search/segments/scoring.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "features/segment_extractor.hpp"
#include "search/looked_up.hpp"
#include "search/structure.hpp"
#include "search/words/shape.hpp"

namespace marginalia {

class PairScoring {
 public:
  // Both must outlive it.
  PairScoring(const SegmentExtractor& extractor, const WordShape& shape)
      : extractor_(extractor), shape_(shape), wholes_of_(std::bit_ceil(shape.most + std::size_t{1})) {}

  // Another sentence.
  void begin() { std::fill(wholes_of_.begin(), wholes_of_.end(), Wholes{}); }

  // Of the words that begin at a token and have from `least` to `most` tokens, behind each of those that
  // begin at `previous` (kNoPrevious: nothing) and end there.
  template <class Lookup>
  void score(const Lookup& lookup, const SegmentValues& x, std::size_t begin,
             std::span<const std::size_t> previous, std::size_t least, std::size_t most);
  // By type of the word, behind number k of the previous ones.
  const double* pair(std::size_t k, std::size_t tokens) const {
    return &sums_[(k * count_ + tokens - least_) * width()];
  }
  // By type of the previous word.
  const double* before(std::size_t tokens) const { return &sums_[before_at_ + (tokens - least_) * width()]; }

  // Calls f(row) for each feature of neighbours that begin or end at a token.
  template <class Lookup, class F>
  void for_rows(const Lookup& lookup, const SegmentValues& x, std::size_t begin, F&& f);

 private:
  struct Wholes {
    std::size_t begin = SIZE_MAX;
    std::vector<Hashed> values;  // [tokens][whole values]
  };
  struct PairFeature {
    std::uint64_t key;
    std::uint32_t row;
    std::uint32_t at;  // where in `sums_`
  };

  std::size_t width() const { return shape_.types() + 1; }  // one more for what has no type
  // The whole values of the word; those of all words that begin there are read at once.
  SegmentExtractor::Whole whole(const SegmentValues& x, std::size_t begin, std::size_t last);
  // Features of the words that begin at a token behind each of the previous ones, with their rows.
  template <class Lookup>
  void gather(const Lookup& lookup, const SegmentValues& x, std::size_t begin,
              std::span<const std::size_t> previous);

  const SegmentExtractor& extractor_;
  const WordShape& shape_;
  std::vector<Wholes> wholes_of_;  // by first token, modulo their number, a power of two
  std::vector<SegmentExtractor::Lead> leads_;
  std::vector<Hashed> tails_;  // [pairs of the extractor][tokens]
  WantedFeatures<PairFeature> found_;
  // [previous][tokens][width] of two words, then [tokens][width] by type of the previous one, then
  // [previous][width] of all words behind it.
  std::vector<double> sums_;
  std::size_t least_ = 1, count_ = 0, before_at_ = 0, leaving_at_ = 0;
};

inline SegmentExtractor::Whole PairScoring::whole(const SegmentValues& x, std::size_t begin,
                                                  std::size_t last) {
  if (begin == kNoPrevious) return {begin, last, nullptr};
  Wholes& all = wholes_of_[begin & (wholes_of_.size() - 1)];
  if (all.begin != begin) {
    extractor_.read_wholes(x, begin, shape_.most, all.values);
    all.begin = begin;
  }
  return {begin, last, all.values.data() + (last - begin) * extractor_.wholes()};
}

template <class Lookup>
void PairScoring::gather(const Lookup& lookup, const SegmentValues& x, std::size_t begin,
                         std::span<const std::size_t> previous) {
  const auto wanting = [&](std::size_t at) {
    return [&lookup, this, at](std::uint64_t key) {
      found_.add(lookup, {key, 0, static_cast<std::uint32_t>(at)});
    };
  };
  const auto word = [&](std::size_t n) { return whole(x, begin, begin + least_ + n - 1); };
  found_.clear();
  before_at_ = previous.size() * count_ * width();
  leaving_at_ = before_at_ + count_ * width();
  tails_.resize(count_ * extractor_.pairs());
  for (std::size_t n = 0; n < count_; ++n) extractor_.read_tails(x, word(n), n, count_, tails_.data());
  for (std::size_t k = 0; k < previous.size(); ++k) {
    const SegmentExtractor::Whole before = whole(x, previous[k], begin - 1);
    extractor_.for_leave(x, before, begin, leads_, wanting(leaving_at_ + k * width()));
    extractor_.for_pairs(
        x, before, leads_, count_, word, tails_.data(), [&](std::size_t n, std::uint64_t key) {
          found_.add(lookup, {key, 0, static_cast<std::uint32_t>((k * count_ + n) * width())});
        });
  }
  for (std::size_t n = 0; n < count_ && begin > 0; ++n)
    extractor_.for_before(x, word(n), wanting(before_at_ + n * width()));
  found_.find_rows(lookup);
}

template <class Lookup>
void PairScoring::score(const Lookup& lookup, const SegmentValues& x, std::size_t begin,
                        std::span<const std::size_t> previous, std::size_t least, std::size_t most) {
  least_ = least;
  count_ = most + 1 - least;
  gather(lookup, x, begin, previous);
  sums_.assign(leaving_at_ + previous.size() * width(), 0.0);
  found_.for_all(lookup, [&](const PairFeature& one) {
    lookup.add_types(one.row, shape_.type_of.data(), &sums_[one.at]);
  });
  for (std::size_t k = 0; k < previous.size(); ++k)
    for (std::size_t n = 0; n < count_; ++n)
      for (std::size_t s = 0; s < shape_.types(); ++s)
        sums_[(k * count_ + n) * width() + s] += sums_[leaving_at_ + k * width() + s];
}

template <class Lookup, class F>
void PairScoring::for_rows(const Lookup& lookup, const SegmentValues& x, std::size_t begin, F&& f) {
  std::vector<std::size_t> previous;
  for (std::size_t n = 1; n <= std::min<std::size_t>(begin, shape_.most); ++n) previous.push_back(begin - n);
  if (begin == 0) previous.push_back(kNoPrevious);
  least_ = 1;
  count_ = std::min<std::size_t>(shape_.most, x.length - begin);
  gather(lookup, x, begin, previous);
  for (const PairFeature& one : found_) f(one.row);
}

}  // namespace marginalia
