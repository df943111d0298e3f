// Global features of whole documents for learning: rows of the index, and weights that may grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "features/global_evaluator.hpp"
#include "features/index.hpp"
#include "search/hypothesis_list.hpp"
#include "search/labels.hpp"
#include "search/non_local.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

class DocumentMemory;

// The documents of examples with the set that is declared for them. Rows are for features of right outputs
// and of wrong ones that learning met: if the index is `open`, they are added as they are met.
struct DocumentData {
  std::shared_ptr<const GlobalSet> set;
  std::shared_ptr<const MentionLabels> labels;
  const GlobalTexts& texts;
  FeatureIndex& index;
  bool open;
  std::shared_ptr<DocumentMemory> memory;
};

// What is known of documents that come again in every pass: features of mentions, and rows of features.
struct KnownDocuments {
  KnownDocuments(const GlobalSet& set, const MentionLabels& labels) : evaluator(set, labels, true) {}

  GlobalEvaluator evaluator;
  std::size_t generation = 0;        // of the numbers of features
  std::vector<std::uint32_t> rows;   // of features, by number; kNoRow: to be looked up
  std::vector<std::uint32_t> lacks;  // by number, the state of the index without it
  std::uint32_t state = 1;           // of the index: rises when others have added to it
  std::uint32_t size = 0;            // of the index as it is known
};

// Keeps that between calls, of which each has its own.
class DocumentMemory {
 public:
  std::unique_ptr<KnownDocuments> take(const DocumentData& data);
  void give_back(std::unique_ptr<KnownDocuments> known);

 private:
  std::mutex lock_;
  std::vector<std::unique_ptr<KnownDocuments>> free_;
};

class DocumentFeatures {
 public:
  DocumentFeatures(const DocumentData& data, const SparseRows& weights)
      : data_(data), weights_(weights), known_(data.memory->take(data)), evaluator_(known_->evaluator) {}
  ~DocumentFeatures() { data_.memory->give_back(std::move(known_)); }
  DocumentFeatures(const DocumentFeatures&) = delete;
  DocumentFeatures& operator=(const DocumentFeatures&) = delete;

  std::vector<double> totals(std::size_t i, const HypothesisList& outputs);

  template <class Sink>
  void features_of(std::size_t i, const Labels& y, Sink&& sink) {
    begin(i, y);
    emit(evaluator_.first(), 1.0, sink);
  }
  template <class Sink>
  void difference(std::size_t i, const Labels& y, const Labels& z, Sink&& sink) {
    begin(i, y);
    emit(evaluator_.difference(z, differing(y, z)), -1.0, sink);
  }

 private:
  // An update asks twice for the same difference, and its right output is often the first of the list.
  void begin(std::size_t i, const Labels& y) {
    if (begun_ == i && std::ranges::equal(evaluator_.output(), y)) return;
    evaluator_.begin(data_.texts, i, y);
    begun_ = i;
    look_at_index();
  }
  double score_of(const FeatureCounts& counts);
  void look_at_index();
  std::uint32_t row_of(std::uint32_t number);
  std::uint32_t added_row_of(std::uint32_t number);
  template <class Sink>
  void emit(const FeatureCounts& counts, double sign, Sink& sink) {
    counts.for_each([&](std::uint32_t number, double count) {
      const std::uint32_t row = data_.open ? added_row_of(number) : row_of(number);
      if (row != kNoRow) sink(Coordinate{row, 0, 1}, sign * count);
    });
  }

  DocumentData data_;
  const SparseRows& weights_;
  std::unique_ptr<KnownDocuments> known_;
  GlobalEvaluator& evaluator_;
  std::size_t begun_ = SIZE_MAX;  // the document that the evaluator has begun with
};

// A structure's examples with the documents that they are, and, for re-ranking, the hypotheses of another
// model that are to be chosen among.
template <class Data>
struct WholeData {
  Data local;
  DocumentData documents;
  NonLocalOptions options;
  std::span<const HypothesisList> given;

  std::size_t size() const { return local.size(); }
  std::size_t parts() const { return local.parts(); }
  std::uint32_t most_row() const { return local.most_row(); }
  bool can_hide() const { return local.can_hide(); }
  bool complete() const { return local.complete(); }
  template <class Shape>
  void check_gold(const Shape& shape) const {
    if (!local.complete()) throw std::invalid_argument("global features need complete labels");
    local.check_gold(shape);
  }
};

template <class Data>
WholeData<Data> closed(WholeData<Data> data) {
  DocumentData documents = data.documents;
  documents.open = false;
  return {closed(data.local), documents, data.options, data.given};
}

// NonLocal over a structure of its own, made as other structures are.
template <class S>
struct WholeParts {
  S local;
  DocumentFeatures features;
};

template <class S, class Shape, class Data>
class Whole : private WholeParts<S>, public NonLocal<S, DocumentFeatures> {
 public:
  Whole(const Shape& shape, const WholeData<Data>& data, const SparseRows& weights)
      : WholeParts<S>{S(shape, data.local, weights), DocumentFeatures(data.documents, weights)},
        NonLocal<S, DocumentFeatures>(WholeParts<S>::local, weights, WholeParts<S>::features, data.options,
                                      data.given) {}
  using NonLocal<S, DocumentFeatures>::difference;
  using NonLocal<S, DocumentFeatures>::features_of;
};

}  // namespace marginalia
