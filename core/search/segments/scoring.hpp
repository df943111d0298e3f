// From the features of a sentence to the scores of its segments, and from the probabilities of its segments
// to expected features. `Lookup` knows rows and weights:
//   prefetch_filter(key), may_have(key): false if find(key) surely is kUnknownRow
//   prefetch_key(key), find(key) -> row or kUnknownRow, prefetch_row(row), prefetch_cells(row)
//   add_types(row, type_of, scores): scores[type_of[output]] += weight
//   add_labels(row, scale, labels, scores): scores[output] += scale * weight
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/vector.hpp"
#include "features/segment_extractor.hpp"
#include "search/looked_up.hpp"
#include "search/segments/search.hpp"
#include "search/structure.hpp"

namespace marginalia {

// Where a feature of a segment has its weight: that of a token behind the first at the label inside segments
// of the type, any other at the label that begins them.
inline std::uint32_t label_of(const SegmentShape& shape, const SegmentExtractor& extractor,
                              const SegmentExtractor::Origin& origin, std::uint32_t type) {
  const bool later = extractor.is_of_token(origin) && origin.inner > origin.begin;
  return (later ? shape.inside_label : shape.begin_label)[type];
}

class SegmentScoring {
 public:
  // Both must outlive it.
  SegmentScoring(const SegmentExtractor& extractor, const SegmentShape& shape)
      : extractor_(extractor), shape_(shape), scratch_(extractor) {}

  SegmentValues x;  // the sentence

  // How many first tokens to score at once, so that a sentence of any length needs a bounded memory.
  std::size_t block() const {
    constexpr std::size_t kNumbers = std::size_t{1} << 22;
    return std::max<std::size_t>(64, kNumbers / ((shape_.types() + 1) * shape_.most));
  }

  // The scores of the segments that begin at the tokens [first, first + count), with costs of labels, [tokens
  // of the sentence][labels], if there are any.
  template <class Lookup>
  void score(const Lookup& lookup, std::size_t first, std::size_t count, const std::vector<double>& costs,
             SegmentScores& out);
  template <class Lookup>
  void score_all(const Lookup& lookup, SegmentScores& out) {
    score(lookup, 0, x.length, {}, out);
  }

  // Scores all segments and keeps the rows of their features, which take most of the time to find, for
  // `expect`.
  template <class Lookup>
  void score_and_keep(const Lookup& lookup, SegmentScores& out) {
    kept_.clear();
    keeps_ = true;
    score_all(lookup, out);
    keeps_ = false;
  }
  // means(row, 0, expected counts by label, labels) for each feature that was kept.
  template <class Means>
  void expect(const SegmentScores& probabilities, Means&& means);

  // Calls f(row) for each feature that some segment of the sentence has.
  template <class Lookup, class F>
  void for_rows(const Lookup& lookup, F&& f);

 private:
  struct ScoredFeature {
    std::uint64_t key;
    std::uint32_t row;
    Part part;
    std::uint32_t a, b;
    float value;
  };
  static constexpr std::size_t kMany = 512;

  // What gathers the features of several calls of the extractor.
  template <class Lookup>
  auto wanting(const Lookup& lookup) {
    return [&](Part part, std::size_t a, std::size_t b, std::uint64_t key, float value = 1.0f) {
      found_.add(lookup, {key, 0, part, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), value});
    };
  }
  template <class Lookup>
  void resolve(const Lookup& lookup);
  // Calls f(found) for what was gathered and has a row, then forgets it.
  template <class Lookup, class F>
  void take(const Lookup& lookup, F&& f);
  // The features of tokens [first, end) and of lengths.
  template <class Lookup, class F>
  void for_tokens(const Lookup& lookup, std::size_t first, std::size_t end, F&& f);
  template <class Lookup>
  void score_tokens(const Lookup& lookup, std::size_t first, std::size_t end);
  template <class Lookup>
  void score_own(const Lookup& lookup, std::size_t begin, SegmentScores& out, std::size_t& i);
  template <class Lookup>
  void score_begin(const Lookup& lookup, std::size_t begin, SegmentScores& out, std::size_t& i);
  template <class Lookup>
  void score_begins(const Lookup& lookup, std::size_t first, std::size_t end, SegmentScores& out);
  template <class Lookup>
  void score_last(const Lookup& lookup, std::size_t last, SegmentScores& out);
  // How probable each part of a segment is: sums of the probabilities of the segments that have it.
  void add_up(const SegmentScores& p);
  void add_types(const double* from, double* to) const {
    for (std::size_t s = 0; s < shape_.types(); ++s) to[s] += from[s];
  }
  double* vector_of(const ScoredFeature& found);
  const double* sum_of(const ScoredFeature& found, const SegmentScores& p);
  void clear(std::size_t first, std::size_t end);
  void grow(std::size_t begin, std::size_t last);
  void spread(const double* types, std::vector<double>& labels) const;
  std::size_t width() const { return shape_.types() + 1; }  // one more for what has no type

  const SegmentExtractor& extractor_;
  const SegmentShape& shape_;
  SegmentExtractor::Scratch scratch_;
  WantedFeatures<ScoredFeature> found_;
  std::vector<ScoredFeature> kept_;  // what was found in all of the sentence
  bool keeps_ = false;
  std::size_t first_ = 0;                                // token of the following vectors' first
  std::vector<double> node_;                             // [tokens][labels]
  std::vector<double> begin_, end_, arrival_, lengths_;  // [tokens][width], arrival_: [tokens][spans][width]
  std::vector<double> running_;                          // [width]
  SegmentScores as_long_;   // probabilities of segments that begin there and are at least as long
  SegmentScores as_early_;  // ... that end there
};

template <class Lookup>
void SegmentScoring::resolve(const Lookup& lookup) {
  found_.find_rows(lookup);
  if (keeps_) kept_.insert(kept_.end(), found_.begin(), found_.end());
}

template <class Lookup, class F>
void SegmentScoring::take(const Lookup& lookup, F&& f) {
  resolve(lookup);
  found_.for_all(lookup, f);
  found_.clear();
}

template <class Lookup, class F>
void SegmentScoring::for_tokens(const Lookup& lookup, std::size_t first, std::size_t end, F&& f) {
  const auto want = wanting(lookup);
  for (std::size_t t = first; t < end; ++t) {
    extractor_.for_token(x, t, want);
    if (found_.size() > kMany) take(lookup, f);
  }
  extractor_.for_lengths(std::min<std::size_t>(shape_.most, x.length), want);
  take(lookup, f);
}

template <class Lookup>
void SegmentScoring::score_tokens(const Lookup& lookup, std::size_t first, std::size_t end) {
  for_tokens(lookup, first, end, [&](const ScoredFeature& one) {
    if (one.part == Part::token)
      lookup.add_labels(one.row, static_cast<double>(one.value), shape_.labels,
                        &node_[(one.a - first_) * shape_.labels]);
    else
      lookup.add_types(one.row, shape_.type_of.data(), vector_of(one));
  });
}

// What only one of the segments that begin at a token has. `i`: the first of their features, and then of
// those that longer ones have, too.
template <class Lookup>
void SegmentScoring::score_own(const Lookup& lookup, std::size_t begin, SegmentScores& out, std::size_t& i) {
  for (std::size_t tokens = 1; tokens <= out.longest(begin); ++tokens) {
    double* scores = out.at(begin, tokens);
    const double* end = &end_[(begin + tokens - 1 - first_) * width()];
    const double* length = &lengths_[tokens * width()];
    for (std::size_t s = 0; s < shape_.types(); ++s) scores[s] = end[s] + length[s];
    scores[shape_.types()] = 0.0;
  }
  for (; i < found_.size() && found_[i].a == begin && found_[i].part == Part::own; ++i) {
    found_.prefetch_cells(lookup, i);
    lookup.add_types(found_[i].row, shape_.type_of.data(), out.at(begin, found_[i].b - begin + 1));
  }
}

// The segments that begin at a token: what each has is what the one before it has, and a little more. `i`:
// the first of their features, and then of those that follow.
template <class Lookup>
void SegmentScoring::score_begin(const Lookup& lookup, std::size_t begin, SegmentScores& out,
                                 std::size_t& i) {
  const std::size_t types = shape_.types();
  score_own(lookup, begin, out, i);
  std::copy_n(&begin_[(begin - first_) * width()], width(), running_.begin());
  const double* node = &node_[(begin - first_) * shape_.labels];
  for (std::size_t s = 0; s < types; ++s) running_[s] += node[shape_.begin_label[s]];
  for (std::size_t tokens = 1; tokens <= out.longest(begin); ++tokens) {
    const std::size_t last = begin + tokens - 1;
    grow(begin, last);
    for (; i < found_.size() && found_[i].a == begin && found_[i].b == last; ++i) {
      found_.prefetch_cells(lookup, i);
      lookup.add_types(found_[i].row, shape_.type_of.data(), running_.data());
    }
    double* scores = out.at(begin, tokens);
    for (std::size_t s = 0; s < types; ++s) scores[s] += running_[s];
    if (tokens == 1) continue;
    for (std::size_t s = 0; s < types; ++s)
      if (shape_.inside_label[s] == kNoLabel) scores[s] = kIllegal;
  }
}

// Look-ups of some first tokens go side by side.
template <class Lookup>
void SegmentScoring::score_begins(const Lookup& lookup, std::size_t first, std::size_t end,
                                  SegmentScores& out) {
  const auto want = wanting(lookup);
  for (std::size_t from = first, to = first; from < end; from = to) {
    for (; to < end && found_.size() < kMany; ++to) extractor_.for_begin(x, to, shape_.most, scratch_, want);
    resolve(lookup);
    std::size_t i = 0;
    for (std::size_t begin = from; begin < to; ++begin) score_begin(lookup, begin, out, i);
    found_.clear();
  }
}

// Adds what the segments that end at a token have of its features with tokens inside.
template <class Lookup>
void SegmentScoring::score_last(const Lookup& lookup, std::size_t last, SegmentScores& out) {
  const std::size_t from = std::max(out.first, last + 1 - std::min<std::size_t>(shape_.most, last + 1));
  extractor_.for_last(x, last, from, scratch_, wanting(lookup));
  resolve(lookup);
  if (found_.empty()) return;
  std::fill(running_.begin(), running_.end(), 0.0);
  std::size_t i = 0;
  for (std::size_t begin = last + 1; begin-- > from;) {
    for (; i < found_.size() && found_[i].a == begin; ++i)
      lookup.add_types(found_[i].row, shape_.type_of.data(), running_.data());
    if (i == 0 || begin >= out.first + out.count) continue;
    double* scores = out.at(begin, last - begin + 1);
    for (std::size_t s = 0; s < shape_.types(); ++s) scores[s] += running_[s];
  }
  found_.clear();
}

template <class Lookup>
void SegmentScoring::score(const Lookup& lookup, std::size_t first, std::size_t count,
                           const std::vector<double>& costs, SegmentScores& out) {
  out.begin(shape_, x.length, first, count);
  const std::size_t end = std::min(x.length, first + count + shape_.most - 1);
  clear(first, end);
  if (!costs.empty())
    std::copy_n(&costs[first * shape_.labels], (end - first) * shape_.labels, node_.begin());
  score_tokens(lookup, first, end);
  score_begins(lookup, first, first + count, out);
  for (std::size_t last = first; last < end; ++last) score_last(lookup, last, out);
}

template <class Lookup, class F>
void SegmentScoring::for_rows(const Lookup& lookup, F&& f) {
  const auto row = [&](const ScoredFeature& one) { f(one.row); };
  for_tokens(lookup, 0, x.length, row);
  for (std::size_t t = 0; t < x.length; ++t) {
    extractor_.for_begin(x, t, shape_.most, scratch_, wanting(lookup));
    const std::size_t from = t + 1 - std::min<std::size_t>(shape_.most, t + 1);
    extractor_.for_last(x, t, from, scratch_, wanting(lookup));
    take(lookup, row);
  }
}

template <class Means>
void SegmentScoring::expect(const SegmentScores& p, Means&& means) {
  std::vector<double> labels(shape_.labels);
  add_up(p);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const ScoredFeature& one = kept_[i];
    if constexpr (requires { means.prefetch_cells(one.row); })
      if (i + kCellsAhead < kept_.size()) means.prefetch_cells(kept_[i + kCellsAhead].row);
    if (one.part == Part::token)
      std::copy_n(&node_[one.a * shape_.labels], shape_.labels, labels.begin());
    else
      spread(sum_of(one, p), labels);
    if (one.value != 1.0f)
      for (double& mean : labels) mean *= static_cast<double>(one.value);
    means(one.row, 0u, labels.data(), static_cast<std::uint32_t>(labels.size()));
  }
}

}  // namespace marginalia
