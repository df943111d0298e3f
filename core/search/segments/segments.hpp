// The structure of labelled segments (a semi-Markov model): examples and weights in, answers to a
// learner's questions out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "features/index.hpp"
#include "features/segment_examples.hpp"
#include "search/growing_rows.hpp"
#include "search/hypothesis_list.hpp"
#include "search/labels.hpp"
#include "search/segments/scoring.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// Examples with all that is needed to make their features, and what wrong labels cost. Rows are for features
// of right outputs and of wrong ones that learning compared: if the index is `open`, they are added as
// they are collected.
struct SegmentData {
  const SegmentExtractor& extractor;
  const SegmentExamples& examples;
  FeatureIndex& index;
  bool open;
  const std::vector<std::uint32_t>& gold;
  const LabelSets& sets;
  std::shared_ptr<const LabelCosts> costs;

  std::size_t size() const { return examples.sentences(); }
  std::size_t parts() const { return examples.tokens(); }
  std::uint32_t most_row() const { return 0; }  // rows without weights are as good as none
  bool can_hide() const { return true; }
  bool complete() const { return sets.size() == 0; }
  void check_gold(const SegmentShape& shape) const {
    marginalia::check_gold(gold, sets, parts(), shape.labels);
  }
};

// Data to look at only, which add no features.
inline SegmentData closed(SegmentData data) {
  data.open = false;
  return data;
}

class Segments {
 public:
  using Output = Labels;
  static constexpr const char* kName = "segments";

  // All must outlive it.
  Segments(const SegmentShape& shape, const SegmentData& data, const SparseRows& weights);

  std::size_t size() const { return data_.size(); }
  std::size_t parts(std::size_t i) const { return data_.examples.length(i); }
  Labels gold(std::size_t i);
  std::size_t errors(std::size_t i, const Labels& y) const { return errors_of(right(i), y); }
  const ScoredLabels& best(std::size_t i);
  std::vector<ScoredLabels> k_best(std::size_t i, std::size_t k);
  HypothesisList hypotheses(std::size_t i, std::size_t n);
  HypothesisList rescored(std::size_t i, std::size_t n, const HypothesisList& given);
  double cost(std::size_t i, const Labels& y) const { return data_.costs->of(right(i), y); }
  const ScoredLabels& costly_best(std::size_t i);
  bool complete(std::size_t i) const { return right(i).complete(); }
  template <class Sink>
  void features_of(std::size_t i, const Labels& y, Sink&& sink);
  template <class Sink>
  void difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink);
  template <class Means>
  double expectations(std::size_t i, Means&& means) {
    return expect(i, nullptr, means);
  }
  std::optional<ScoredLabels> best_wrong(std::size_t i);
  template <class Means>
  double right_expectations(std::size_t i, Means&& means) {
    const RightLabels one = right(i);
    return expect(i, &one, means);
  }
  template <class Sink>
  void named_features(std::size_t i, Sink&& sink);
  template <class F>
  void rows_of(std::size_t i, F&& f);

  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step);
  void constant_changed(std::size_t at, double value) { constants_.set(shape_, at, value); }

  // Gives the features of example i's gold output (of the segments that it names, if more than one is right)
  // rows, and counts them.
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

  RightLabels right(std::size_t i) const {
    return {data_.gold.data() + data_.examples.sentence[i], data_.examples.length(i), data_.sets};
  }
  void read(std::size_t i);
  void score_all(std::size_t i);
  void best_with(const std::vector<double>& costs, const RightLabels* right, ScoredLabels& best);
  void allow(const RightLabels& right);
  void collect_named(const RightLabels& right);
  template <class Means>
  double expect(std::size_t i, const RightLabels* right, Means& means);
  // A feature of one of an example's segments, and its row.
  struct PendingFeature {
    std::uint64_t key;
    SegmentExtractor::Origin origin;
    std::uint32_t type;
    std::uint32_t row;
    double count;
  };
  void collect(const Segment& segment, double count);
  void find_rows(std::size_t i, bool adds);
  template <class Sink>
  void emit(std::size_t i, bool adds, Sink&& sink);
  template <class Sink>
  void constants_of(const std::vector<Segment>& y, double count, Sink&& sink) const;

  const SegmentShape& shape_;
  const SegmentData data_;
  const SparseRows& weights_;
  SegmentConstants constants_;
  SegmentScoring scoring_;
  SegmentScores scores_;
  SegmentViterbi viterbi_;
  ScoredLabels best_;
  std::vector<std::uint8_t> mask_;
  std::vector<PendingFeature> pending_;
  std::size_t read_ = SIZE_MAX;  // the example whose values are in scoring_.x
  Hidden hidden_;
};

// Gives the features that were collected to the sink, each with its row, and forgets them.
template <class Sink>
void Segments::emit(std::size_t i, bool adds, Sink&& sink) {
  find_rows(i, adds);
  for (const PendingFeature& one : pending_) {
    if (one.row == kNoRow || (!adds && one.row >= weights_.rows.size())) continue;
    const std::uint32_t label = label_of(shape_, data_.extractor, one.origin, one.type);
    sink(Coordinate{one.row, label, shape_.row_width()}, one.count * one.origin.value());
  }
  pending_.clear();
}

template <class Sink>
void Segments::constants_of(const std::vector<Segment>& y, double count, Sink&& sink) const {
  const auto size = static_cast<std::uint32_t>(shape_.constants());
  for_constants(shape_, y, [&](std::size_t at) {
    sink(Coordinate{kConstantRow, static_cast<std::uint32_t>(at), size}, count);
  });
}

template <class Sink>
void Segments::features_of(std::size_t i, const Labels& y, Sink&& sink) {
  read(i);
  const std::vector<Segment> segments = shape_.segments(y);
  for (const Segment& segment : segments) collect(segment, 1.0);
  emit(i, data_.open, sink);
  constants_of(segments, 1.0, sink);
}

// Segments that both outputs have cancel out.
template <class Sink>
void Segments::difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink) {
  read(i);
  const std::vector<Segment> ours = shape_.segments(y), theirs = shape_.segments(z);
  const auto only = [&](const std::vector<Segment>& of, const std::vector<Segment>& without, double count) {
    std::size_t k = 0;
    for (const Segment& segment : of) {
      while (k < without.size() && without[k].begin < segment.begin) ++k;
      if (k == without.size() || without[k] != segment) collect(segment, count);
    }
  };
  only(ours, theirs, 1.0);
  only(theirs, ours, -1.0);
  emit(i, data_.open, sink);
  constants_of(ours, 1.0, sink);
  constants_of(theirs, -1.0, sink);
}

template <class Sink>
void Segments::named_features(std::size_t i, Sink&& sink) {
  read(i);
  collect_named(right(i));
  emit(i, data_.open, sink);
}

// Of all outputs, or of the right ones.
template <class Means>
double Segments::expect(std::size_t i, const RightLabels* right, Means& means) {
  read(i);
  const std::shared_lock reading(data_.index.lock());
  scoring_.score_and_keep(lookup(), scores_);
  if (right != nullptr) allow(*right);
  const SegmentExpectations expected = segment_probabilities(shape_, constants_, scores_);
  scoring_.expect(scores_, means);
  const auto constant = [&](std::size_t at, const double& mean) {
    means(kConstantRow, static_cast<std::uint32_t>(at), &mean, 1u);
  };
  const std::size_t n = shape_.types();
  for (std::size_t s = 0; s < n && shape_.ends; ++s) {
    constant(shape_.start_at() + shape_.begin_label[s], expected.start[s]);
    constant(shape_.end_at() + shape_.begin_label[s], expected.end[s]);
  }
  for (std::size_t from = 0; from < n && shape_.transitions; ++from)
    for (std::size_t to = 0; to < n; ++to)
      constant(shape_.transition_at() + std::size_t{shape_.begin_label[from]} * shape_.labels +
                   shape_.begin_label[to],
               expected.transition[from * n + to]);
  return expected.log_z;
}

template <class F>
void Segments::rows_of(std::size_t i, F&& f) {
  read(i);
  const std::shared_lock reading(data_.index.lock());
  scoring_.for_rows(lookup(), f);
}

static_assert(CostSensitive<Segments> && Probabilistic<Segments> && !Stepwise<Segments> &&
              PartiallyLabelled<Segments> && Droppable<Segments> && WithConstants<Segments> &&
              LazilyPenalised<Segments>);

}  // namespace marginalia
