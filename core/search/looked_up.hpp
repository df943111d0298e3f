// Features that were gathered, on their way to rows and weights. Each look-up waits for memory: many at once
// wait together. `Lookup` is as in search/segments/scoring.hpp; features have a `key` and a `row`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "search/structure.hpp"

namespace marginalia {

inline constexpr std::size_t kCellsAhead = 8;  // so many features are on their way to their weights at once

// Features that are wanted, and then those of them that have a row.
template <class Feature>
class WantedFeatures {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  const Feature& operator[](std::size_t i) const { return features_[i]; }
  const Feature* begin() const { return features_.data(); }
  const Feature* end() const { return features_.data() + size_; }

  template <class Lookup>
  void add(const Lookup& lookup, const Feature& one) {
    if (size_ == features_.size()) features_.resize(std::max<std::size_t>(kFirst, 2 * size_));
    lookup.prefetch_filter(one.key);
    features_[size_++] = one;
  }

  // Sets the rows, and forgets what has none.
  template <class Lookup>
  void find_rows(const Lookup& lookup) {
    std::size_t possible = 0, known = 0;
    for (std::size_t i = 0; i < size_; ++i) {  // no branch: what it would depend on cannot be foreseen
      const bool may_be = lookup.may_have(features_[i].key);
      features_[possible] = features_[i];
      possible += may_be ? 1 : 0;
    }
    for (std::size_t i = 0; i < possible; ++i) lookup.prefetch_key(features_[i].key);
    for (std::size_t i = 0; i < possible; ++i) {
      Feature one = features_[i];
      one.row = lookup.find(one.key);
      if (one.row == kUnknownRow) continue;
      lookup.prefetch_row(one.row);
      features_[known++] = one;
    }
    size_ = known;
  }

  // Calls f(feature) for each of them, with its weights at hand.
  template <class Lookup, class F>
  void for_all(const Lookup& lookup, F&& f) const {
    for (std::size_t i = 0; i < size_; ++i) {
      prefetch_cells(lookup, i);
      f(features_[i]);
    }
  }
  // Asks for the weights of the feature some places behind this one.
  template <class Lookup>
  void prefetch_cells(const Lookup& lookup, std::size_t i) const {
    if (i + kCellsAhead < size_) lookup.prefetch_cells(features_[i + kCellsAhead].row);
  }

 private:
  static constexpr std::size_t kFirst = 64;
  std::vector<Feature> features_;  // what stands behind `size_` is nothing
  std::size_t size_ = 0;
};

}  // namespace marginalia
