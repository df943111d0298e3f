// Scores of all actions at states. What a group of templates adds depends on the fields that it looks at, so
// it is computed once for all states of a sentence that agree in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.hpp"
#include "features/tree_extractor.hpp"
#include "search/trees/shape.hpp"
#include "search/trees/states.hpp"

namespace marginalia {

// sum[i] = rows[0][i] + rows[1][i] + ...; `width` is a multiple of 8.
void sum_vectors(const float* const* rows, std::size_t count, std::size_t width, float* sum);

// From a number that stands for a group and what it looks at to a place.
class GroupCache {
 public:
  GroupCache() : slots_(kLeast) {}
  void clear();
  // The place of a key; a new one (`added`) gets the next.
  std::uint32_t find_or_add(std::uint64_t key, bool& added);

 private:
  static constexpr std::size_t kLeast = 1024;
  struct Slot {
    std::uint64_t key = 0;  // 0: empty
    std::uint32_t place = 0;
  };
  void grow();

  std::vector<Slot> slots_;
  std::uint32_t used_ = 0;
};

class TreeScoring {
 public:
  TreeScoring(const TreeExtractor& extractor, const TreeShape& shape)
      : extractor_(extractor), shape_(shape), stride_((shape.columns() + 1 + 7) / 8 * 8) {}

  TreeValues x;                                   // of the sentence
  std::vector<std::uint32_t>* touched = nullptr;  // gets the rows that scores come from

  // From now on, what groups of tags or of one token add is kept from sentence to sentence: weights must not
  // change.
  void share() {
    shared_keys_.assign(kShared, 0);
    shared_.resize(kShared * stride_);
  }
  // Forgets what is known of a sentence or of weights.
  void begin() {
    cache_.clear();
    vectors_.clear();
  }

  // Scores by column of some states, in `scores(k)`.
  template <class Lookup>
  void score(const Lookup& lookup, TreeStates& states, std::span<const std::uint32_t> which);
  const float* scores(std::size_t k) const { return sums_.data() + k * stride_; }

 private:
  struct Work {
    std::uint64_t key;
    std::uint32_t place;
    std::uint32_t row;
  };
  template <class Lookup>
  void collect(const Lookup& lookup, TreeStates& states);
  template <class Lookup>
  void add_rows(const Lookup& lookup);
  bool take_shared(const TreeExtractor::Group& group, std::uint32_t g, std::uint32_t place);
  void keep_shared();

  static constexpr int kSharedBits = 14;
  static constexpr std::size_t kShared = std::size_t{1} << kSharedBits;
  struct Kept {
    std::uint64_t key;
    std::uint32_t place;
  };
  static constexpr std::size_t kMostFloats = std::size_t{1} << 22;  // then what is known is computed anew

  const TreeExtractor& extractor_;
  const TreeShape& shape_;
  std::size_t stride_;
  GroupCache cache_;
  LargeVector<float> vectors_;  // [places][stride]
  std::vector<float> sums_;     // [states][stride]
  std::vector<std::uint32_t> fields_, places_;
  std::vector<const float*> parts_;
  std::vector<Work> work_;
  std::vector<std::uint64_t> shared_keys_;  // [kShared] 0: empty
  LargeVector<float> shared_;               // [kShared][stride]
  std::vector<Kept> to_share_;
  const TreeNames* names_ = nullptr;
};

// What the groups of a state add, computed if it is not known: as work, to be done for several states at
// once, because it waits for memory.
template <class Lookup>
void TreeScoring::collect(const Lookup& lookup, TreeStates& states) {
  const auto& groups = extractor_.groups();
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    std::uint64_t key = 0x9e3779b97f4a7c15ULL * (g + 1);
    for (const std::uint32_t f : groups[g].fields) key = scrambled(key ^ fields_[f]);
    bool added = false;
    const std::uint32_t place = cache_.find_or_add(key, added);
    places_.push_back(place);
    if (!added) continue;
    vectors_.resize((std::size_t{place} + 1) * stride_, 0.0f);
    if (!shared_keys_.empty() && groups[g].shared && take_shared(groups[g], g, place)) continue;
    for (const std::uint32_t t : groups[g].templates) {
      const std::uint64_t name = extractor_.key(t, fields_.data(), x, states.names());
      if (name == 0) continue;
      lookup.prefetch_filter(name);
      work_.push_back({name, place, 0});
    }
  }
}

template <class Lookup>
void TreeScoring::add_rows(const Lookup& lookup) {
  constexpr std::size_t kAhead = 8;
  std::size_t known = 0;
  for (const Work& one : work_) {
    if (!lookup.may_have(one.key)) continue;
    lookup.prefetch_key(one.key);
    work_[known++] = one;
  }
  work_.resize(known);
  known = 0;
  for (Work& one : work_) {
    one.row = lookup.find(one.key);
    if (one.row == kUnknownRow) continue;
    lookup.prefetch_row(one.row);
    work_[known++] = one;
  }
  work_.resize(known);
  for (std::size_t k = 0; k < std::min(kAhead, known); ++k) lookup.prefetch_cells(work_[k].row);
  for (std::size_t k = 0; k < known; ++k) {
    if (k + kAhead < known) lookup.prefetch_cells(work_[k + kAhead].row);
    lookup.add(work_[k].row, shape_.column_of().data(), vectors_.data() + work_[k].place * stride_);
    if (touched != nullptr) touched->push_back(work_[k].row);
  }
  work_.clear();
}

template <class Lookup>
void TreeScoring::score(const Lookup& lookup, TreeStates& states, std::span<const std::uint32_t> which) {
  if (vectors_.size() > kMostFloats) begin();
  places_.clear();
  names_ = &states.names();
  for (const std::uint32_t s : which) {
    states.fields(extractor_, states[s], fields_);
    collect(lookup, states);
  }
  add_rows(lookup);
  keep_shared();
  const std::size_t groups = extractor_.groups().size();
  sums_.resize(which.size() * stride_);
  for (std::size_t k = 0; k < which.size(); ++k) {
    parts_.clear();
    for (std::size_t g = 0; g < groups; ++g)
      parts_.push_back(vectors_.data() + places_[k * groups + g] * stride_);
    sum_vectors(parts_.data(), groups, stride_, sums_.data() + k * stride_);
  }
}

}  // namespace marginalia
