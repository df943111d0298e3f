// Scores of all actions at states. What a group of templates adds depends on the fields of a state that it
// looks at, so it is computed once for all states of a sentence that agree in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/known_numbers.hpp"
#include "base/large_vector.hpp"
#include "features/tree_extractor.hpp"
#include "search/trees/shape.hpp"
#include "search/trees/states.hpp"

namespace marginalia {

// sum[i] = rows[0][i] + rows[1][i] + ...; `width` is a multiple of 8.
void sum_vectors(const float* const* rows, std::size_t count, std::size_t width, float* sum);
// sum[i] += row[i]; the same.
void add_vector(const float* row, std::size_t width, float* sum);

// How many numbers the scores of a state's actions are: a column for each that may be taken, one for all
// others, and what makes vectors of them whole.
inline std::size_t scores_width(const TreeShape& shape) {
  return (shape.columns() + 1 + 7) / 8 * 8;
}

class TreeScoring {
 public:
  TreeScoring(const TreeExtractor& extractor, const TreeShape& shape)
      : extractor_(extractor), shape_(shape), stride_(scores_width(shape)) {}

  TreeValues x;                                   // of the sentence
  std::vector<std::uint32_t>* touched = nullptr;  // gets the rows that scores come from

  // Forgets what is known of a sentence or of weights.
  void begin() {
    known_.clear();
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
  void add_keys(TreeStates& states, const TreeState& s);
  template <class Lookup>
  void collect(const Lookup& lookup, const TreeNames& names, const std::uint32_t* fields,
               const std::uint64_t* keys);
  template <class Lookup>
  void add_rows(const Lookup& lookup);

  static constexpr std::size_t kMostFloats = std::size_t{1} << 19;  // then what is known is computed anew

  const TreeExtractor& extractor_;
  const TreeShape& shape_;
  std::size_t stride_;
  std::uint64_t sentence_ = 0;         // of the states that were scored last
  KnownNumbers known_;                 // places of groups with the fields that they look at
  LargeVector<float> vectors_;         // [places][stride]
  std::vector<float> sums_;            // [states][stride]
  std::vector<std::uint64_t> keys_;    // [states][groups]
  std::vector<std::uint32_t> fields_;  // [states][fields]
  std::vector<std::uint32_t> places_;  // [states][groups]
  std::vector<const float*> rows_;
  std::vector<Work> work_;
};

// What the groups of a state add, computed if it is not known: as work, to be done for several states at
// once, because it waits for memory.
template <class Lookup>
void TreeScoring::collect(const Lookup& lookup, const TreeNames& names, const std::uint32_t* fields,
                          const std::uint64_t* keys) {
  for (const TreeExtractor::Group& group : extractor_.groups()) {
    bool added = false;
    const std::uint32_t place = known_.find_or_add(*keys++, added);
    places_.push_back(place);
    if (!added) continue;
    vectors_.resize((std::size_t{place} + 1) * stride_, 0.0f);
    for (const std::uint32_t t : group.templates) {
      const std::uint64_t name = extractor_.key(t, fields, x, names);
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
  if (sentence_ != states.sentence() || vectors_.size() > kMostFloats) begin();
  sentence_ = states.sentence();
  places_.clear();
  keys_.clear();
  fields_.clear();
  for (const std::uint32_t s : which) add_keys(states, states[s]);
  const std::size_t groups = extractor_.groups().size();
  for (std::size_t k = 0; k < which.size(); ++k)
    collect(lookup, states.names(), fields_.data() + k * extractor_.fields().size(),
            keys_.data() + k * groups);
  add_rows(lookup);
  sums_.resize(which.size() * stride_);
  for (std::size_t k = 0; k < which.size(); ++k) {
    rows_.clear();
    for (std::size_t g = 0; g < groups; ++g)
      rows_.push_back(vectors_.data() + places_[k * groups + g] * stride_);
    sum_vectors(rows_.data(), groups, stride_, sums_.data() + k * stride_);
  }
}

}  // namespace marginalia
