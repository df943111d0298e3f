// A finished model of segments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "features/segment_extractor.hpp"
#include "search/frozen_model.hpp"
#include "search/hypothesis_list.hpp"
#include "search/output_features.hpp"
#include "search/segments/marginals.hpp"
#include "search/segments/paths.hpp"
#include "search/segments/scoring.hpp"

namespace marginalia {

struct SegmentTypes {
  static constexpr const char* kName = "segments";
  using Shape = SegmentShape;
  using Constants = SegmentConstants;
  using Extractor = SegmentExtractor;
  using Output = Labels;
  struct Space : FrozenSpace<SegmentConstants> {
    Identity owner;  // the model, with this extractor, that `scoring` is for
    const SegmentExtractor* extractor = nullptr;
    std::optional<SegmentScoring> scoring;
    SegmentScores scores;
    SegmentViterbi viterbi;
  };
};

class SegmentModel : public FrozenModel<SegmentModel, SegmentTypes> {
 public:
  using FrozenModel::FrozenModel;

  struct Lookup {
    const FrozenWeights& weights;
    void prefetch_filter(std::uint64_t key) const { weights.prefetch_filter(key); }
    bool may_have(std::uint64_t key) const { return weights.may_have(key); }
    void prefetch_key(std::uint64_t key) const { weights.prefetch_known(key); }
    std::uint32_t find(std::uint64_t key) const { return weights.find(key); }
    void prefetch_row(std::uint32_t row) const { weights.prefetch_row(row); }
    void prefetch_cells(std::uint32_t row) const { weights.prefetch_cells(row); }
    void add_types(std::uint32_t row, const std::uint32_t* type_of, double* scores) const {
      weights.for_cells(row, [&](std::uint32_t output, float weight) {
        scores[type_of[output]] += static_cast<double>(weight);
      });
    }
    void add_labels(std::uint32_t row, double scale, std::size_t labels, double* scores) const {
      weights.add_row(row, scale, labels, scores);
    }
  };

  // A feature of an output: where its weight is, where it comes from, the texts that its name is made of.
  struct LocatedFeature {
    std::uint32_t row, label;
    SegmentExtractor::Origin origin;
    std::vector<std::string> texts;
  };
  // Such a feature with its weight: at the token it is of, or at those of its segment.
  static OutputFeature output_feature(const SegmentExtractor& extractor, LocatedFeature&& f, double weight);
  // Those of an output of sentence s that the model knows; valid until the space is used again.
  std::vector<LocatedFeature> features_of(const SegmentExtractor& extractor, const TokenTable& table,
                                          std::size_t s, const Labels& y, Space& space) const;

  // Those of output y of sentence s that have a weight, but for those of segments that output z has too.
  std::vector<OutputFeature> differing_features(const SegmentExtractor& extractor, const TokenTable& table,
                                                std::size_t s, const Labels& y, const Labels& z,
                                                Space& space) const;

  // As FrozenModel needs them. Scores are those of all segments of the sentence.
  const SegmentScores& scores(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                              Space& space) const;
  void find_best(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 Labels& output) const;
  std::vector<ScoredLabels> k_best(const SegmentScores& scores, std::size_t k, Space& space) const;
  HypothesisList hypotheses(const SegmentScores& scores, std::size_t n) const {
    return hypotheses_of(shape(), constants(), scores, n);
  }
  SegmentPaths paths(const SegmentScores& scores) const { return {shape(), constants(), scores}; }
  auto features(const SegmentExtractor& extractor, const TokenTable&, std::size_t, Space& space) const {
    return [&](const Labels& y, auto&& f) {
      for_features(extractor, space.scoring->x, y,
                   [&](std::uint32_t row, std::uint32_t label, const SegmentExtractor::Origin& origin) {
                     f(row, label, origin.value());
                   });
    };
  }
  template <class F>
  void for_constants_of(const Labels& y, F&& f) const {
    for_constants(shape(), shape().segments(y), f);
  }
  SegmentMarginals marginals(const Spelling& spelling) const { return {shape(), spelling}; }
  static double probability(const SegmentMarginals& answers, const Labels& y, Marginals& marginals,
                            std::span<double>, double factor, const SegmentConstants& scaled, Space& space);

 private:
  SegmentScoring& read(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                       Space& space) const;
  template <class F>
  void for_features(const SegmentExtractor& extractor, const SegmentValues& x, const Labels& y, F&& f) const {
    for (const Segment& segment : shape().segments(y))
      extractor.for_segment(x, segment.begin, segment.last,
                            [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
                              const std::uint32_t row = weights().find(key);
                              if (row == kUnknownRow) return;
                              f(row, label_of(shape(), extractor, origin, segment.type), origin);
                            });
  }
};

}  // namespace marginalia
