// The structure of words: segments whose features also look at the word before, found by beam search.
// Examples and weights in, answers to a learner's questions out. Updates compare prefixes that end at the
// same place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "search/growing_rows.hpp"
#include "search/segments/scoring.hpp"
#include "search/segments/segments.hpp"
#include "search/words/lattice.hpp"

namespace marginalia {

class Words {
 public:
  using Output = Labels;
  static constexpr const char* kName = "words";

  // All must outlive it.
  Words(const WordShape& shape, const SegmentData& data, const SparseRows& weights);

  std::size_t size() const { return data_.size(); }
  std::size_t parts(std::size_t i) const { return data_.examples.length(i); }
  Labels gold(std::size_t i);
  std::size_t errors(std::size_t i, const Labels& y) const { return errors_of(right(i), y); }
  const ScoredLabels& best(std::size_t i);
  std::vector<ScoredLabels> k_best(std::size_t i, std::size_t k);
  double cost(std::size_t i, const Labels& y) const;  // of an output or a prefix of one
  const ScoredLabels& costly_best(std::size_t i);
  bool complete(std::size_t i) const { return right(i).complete(); }
  std::optional<ScoredLabels> best_wrong(std::size_t i);
  void violation(std::size_t i, Against which, Violation<Labels>& found);

  // Of an output or a prefix of one.
  template <class Sink>
  void features_of(std::size_t i, const Labels& y, Sink&& sink);
  template <class Sink>
  void difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink);
  template <class Sink>
  void named_features(std::size_t i, Sink&& sink) {
    features_of(i, gold(i), sink);
  }
  template <class F>
  void rows_of(std::size_t i, F&& f);

  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step);
  void constant_changed(std::size_t at, double value) { constants_.set(shape_, at, value); }

  // Gives the features of example i's gold output rows, and counts them, if one output is right.
  void count_features(std::size_t i);

 private:
  struct Lookup : GrowingLookup {
    void add_types(std::uint32_t row, const std::uint32_t* type_of, double* scores) const {
      const Cell* end = weights.end(row);
      for (const Cell* c = weights.begin(row); c != end; ++c) scores[type_of[c->output]] += c->weight;
    }
    void add_labels(std::uint32_t row, double scale, std::size_t labels, double* scores) const {
      weights.add_row(row, scale, labels, scores);
    }
  };
  Lookup lookup() const { return {{data_.index, weights_, hidden_}}; }
  struct PendingFeature {
    std::uint64_t key;
    SegmentExtractor::Origin origin;
    std::uint32_t label;
    std::uint32_t row;
    double count;
  };

  RightLabels right(std::size_t i) const {
    return {data_.gold.data() + data_.examples.sentence[i], data_.examples.length(i), data_.sets};
  }
  std::vector<double> costs_of(std::size_t i) const;  // [tokens][labels]
  void read(std::size_t i);
  // `only`: outputs have right labels only.
  bool search(const WordSearch::Options& options, const std::vector<double>& costs = {},
              const RightLabels* only = nullptr);
  void search_all();
  void take_best(ScoredLabels& best);
  void find_violation(std::size_t i, Against which, const Labels& gold, Violation<Labels>& found);
  void collect(const std::vector<Segment>& words, std::size_t k, double count);
  void find_rows(std::size_t i, bool adds);
  template <class Sink>
  void emit(std::size_t i, bool adds, Sink&& sink);
  template <class Sink>
  void constants_of(const std::vector<Segment>& y, std::size_t length, double count, Sink&& sink) const;

  const WordShape& shape_;
  const SegmentData data_;
  const SparseRows& weights_;
  SegmentConstants constants_;
  SegmentScoring scoring_;
  SegmentScores scores_;
  WordSearch search_;
  ScoredLabels best_;
  std::vector<std::uint8_t> mask_;
  std::vector<PendingFeature> pending_;
  std::size_t read_ = SIZE_MAX;  // the example whose values are in scoring_.x
  Hidden hidden_;
};

// Gives the features that were collected to the sink, each with its row, and forgets them.
template <class Sink>
void Words::emit(std::size_t i, bool adds, Sink&& sink) {
  find_rows(i, adds);
  for (const PendingFeature& one : pending_)
    if (one.row != kNoRow && (adds || one.row < weights_.rows.size()))
      sink(Coordinate{one.row, one.label, shape_.row_width()}, one.count * one.origin.value());
  pending_.clear();
}

// A prefix has no end.
template <class Sink>
void Words::constants_of(const std::vector<Segment>& y, std::size_t length, double count, Sink&& sink) const {
  const auto size = static_cast<std::uint32_t>(shape_.constants());
  const bool whole = !y.empty() && y.back().last + 1 == length;
  for_constants(shape_, y, [&](std::size_t at) {
    if (!whole && at >= shape_.end_at() && at < shape_.transition_at()) return;
    sink(Coordinate{kConstantRow, static_cast<std::uint32_t>(at), size}, count);
  });
}

template <class Sink>
void Words::features_of(std::size_t i, const Labels& y, Sink&& sink) {
  read(i);
  const std::vector<Segment> words = shape_.segments(y);
  for (std::size_t k = 0; k < words.size(); ++k) collect(words, k, 1.0);
  emit(i, data_.open, sink);
  constants_of(words, parts(i), 1.0, sink);
}

// Words that both outputs have behind the same word cancel out.
template <class Sink>
void Words::difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink) {
  read(i);
  const std::vector<Segment> ours = shape_.segments(y), theirs = shape_.segments(z);
  const auto only = [&](const std::vector<Segment>& of, const std::vector<Segment>& without, double count) {
    std::size_t k = 0;
    for (std::size_t j = 0; j < of.size(); ++j) {
      while (k < without.size() && without[k].begin < of[j].begin) ++k;
      const bool both = k < without.size() && without[k] == of[j];
      const bool same_before = j == 0 || (k > 0 && without[k - 1] == of[j - 1]);
      if (!both || !same_before) collect(of, j, count);
    }
  };
  only(ours, theirs, 1.0);
  only(theirs, ours, -1.0);
  emit(i, data_.open, sink);
  constants_of(ours, parts(i), 1.0, sink);
  constants_of(theirs, parts(i), -1.0, sink);
}

// Those of all words, and of all that could be neighbours: which of them a beam looks at depends on weights.
template <class F>
void Words::rows_of(std::size_t i, F&& f) {
  read(i);
  const std::shared_lock reading(data_.index.lock());
  scoring_.for_rows(lookup(), f);
  search_.pairs.begin();
  for (std::size_t t = 0; t < scoring_.x.length; ++t) search_.pairs.for_rows(lookup(), scoring_.x, t, f);
}

static_assert(CostSensitive<Words> && !Probabilistic<Words> && !Stepwise<Words> && PartiallyLabelled<Words> &&
              Droppable<Words> && WithConstants<Words> && LazilyPenalised<Words>);

}  // namespace marginalia
