// A finished model of segments: text in, labels out. Immutable and shared by threads; each brings its own
// space.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "features/segment_program.hpp"
#include "search/claims.hpp"
#include "search/constrained.hpp"
#include "search/segment_scoring.hpp"
#include "search/vote.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

class SegmentModel {
 public:
  // Scratch memory of one thread, for one model and one program at a time.
  class Space {
    friend class SegmentModel;
    Identity owner;
    const SegmentProgram* program = nullptr;
    ExtractionSpace extraction;
    std::optional<SegmentScoring> scoring;
    SegmentScores scores;
    SegmentViterbi viterbi;
    double factor = 1.0;  // times what `scaled` are the constants
    std::optional<SegmentConstants> scaled;
  };

  // `constant_at[k]` (a number in row 0) has the weight constants[k]. Throws std::invalid_argument.
  SegmentModel(SegmentShape shape, FrozenWeights weights, std::span<const std::uint32_t> constant_at,
               std::span<const float> constants);
  SegmentModel(const SegmentModel&) = delete;  // spaces point at its parts

  const SegmentShape& shape() const { return shape_; }
  const SegmentConstants& constants() const { return constants_; }

  // Labels of all sentences, one after another.
  std::vector<std::int32_t> best(const SegmentProgram& program, const TokenTable& table, Space& space) const;

  // The same by vote of all versions of the weights in the log, among the k best outputs.
  std::vector<std::int32_t> voted(const SegmentProgram& program, const TokenTable& table, const VoteLog& log,
                                  std::size_t k, Space& space) const;

  // The best labels of all tokens, changed where they break demands on chosen sentences. Throws
  // std::invalid_argument.
  ConstrainedLabels constrain(const SegmentProgram& program, const TokenTable& table,
                              std::span<const std::int32_t> labels, std::span<const std::uint8_t> chosen,
                              const Rules& rules, const std::vector<Places>& places, Space& space) const;

  // The probabilities of what given labels of all tokens claim, as those of ChainModel::confidences.
  Confidences confidences(const SegmentProgram& program, const TokenTable& table,
                          std::span<const std::int32_t> labels, std::span<const std::uint32_t> sentences,
                          const Spelling& spelling, double factor, Space& space) const;

  // The scores of all segments of sentence s; valid until the space is used again.
  const SegmentScores& scores(const SegmentProgram& program, const TokenTable& table, std::size_t s,
                              Space& space) const;

  // A feature of an output: where its weight is, where it comes from, the texts that its name is made of.
  struct Found {
    std::uint32_t row, label;
    SegmentProgram::Origin origin;
    std::vector<std::string> texts;
  };
  // Those of an output of sentence s that the model knows; valid until the space is used again.
  std::vector<Found> features_of(const SegmentProgram& program, const TokenTable& table, std::size_t s,
                                 const Labels& y, Space& space) const;

 private:
  struct Lookup {
    const FrozenWeights& weights;
    bool may_have(std::uint64_t) const { return true; }
    void prefetch_key(std::uint64_t key) const { weights.prefetch_key(key); }
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

  SegmentScoring& read(const SegmentProgram& program, const TokenTable& table, std::size_t s,
                       Space& space) const;
  template <class F>
  void for_features(const SegmentProgram& program, const SegmentValues& x, const Labels& y, F&& f) const;

  SegmentShape shape_;
  FrozenWeights weights_;
  Identity identity_ = new_identity();
  SegmentConstants constants_;
};

}  // namespace marginalia
