// What finished models of all structures have in common: text in, outputs out. Models are immutable and
// shared by threads; each thread brings its own space.
//
// A structure's model derives from FrozenModel<itself, its types> and knows how sentences are scored and
// searched. Only what is used of this must be there:
//   scores(extractor, table, s, space)         finished scores of sentence s, until the space is used again
//   find_best(extractor, table, s, space, y)   y becomes the best output
//   k_best(scores, k, space)                   at most k outputs with scores, best first
//   features(extractor, table, s, space)       of the sentence whose scores were asked for last: a function
//                                              of y and f, which calls f(row, output in the row, count)
//   paths(scores)                              outputs as the search under constraints knows them
//   marginals(spelling)                        what their probabilities need, made once for all sentences
//   probability(marginals, ...)                the probabilities of the marginals of an output
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/token_table.hpp"
#include "features/extractor.hpp"
#include "search/constrained.hpp"
#include "search/marginals.hpp"
#include "search/vote.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

// Scratch memory of one thread that every model needs: its own is derived from it.
template <class Constants>
struct FrozenSpace {
  ExtractionSpace extraction;
  Identity scaled_of;  // the model whose constants, times `factor`, are `scaled`
  double factor = 1.0;
  std::optional<Constants> scaled;
};

// `Types` names the types: Shape, Constants (of row 0), Extractor, Space and Output.
template <class Model, class Types>
class FrozenModel {
 public:
  using Shape = typename Types::Shape;
  using Constants = typename Types::Constants;
  using Extractor = typename Types::Extractor;
  using Space = typename Types::Space;
  using Output = typename Types::Output;

  // `constant_at[k]` (a number in row 0) has the weight constants[k]. Throws std::invalid_argument.
  FrozenModel(Shape shape, FrozenWeights weights, std::span<const std::uint32_t> constant_at,
              std::span<const float> constants)
      : shape_(std::move(shape)), weights_(weights), constants_(shape_) {
    if (constant_at.size() != constants.size()) refuse("constants disagree in number");
    for (std::size_t k = 0; k < constants.size(); ++k) {
      if (constant_at[k] >= shape_.constants() || !std::isfinite(constants[k]))
        refuse("a constant is out of range");
      constants_.set(shape_, constant_at[k], static_cast<double>(constants[k]));
    }
  }
  FrozenModel(const FrozenModel&) = delete;  // its parts and spaces point at each other

  const Shape& shape() const { return shape_; }
  const Constants& constants() const { return constants_; }

  // Labels of all sentences, one after another.
  std::vector<std::int32_t> best(const Extractor& extractor, const TokenTable& table, Space& space) const {
    std::vector<std::int32_t> labels;
    labels.reserve(table.tokens());
    Output output{};
    for (std::size_t s = 0; s < table.sentences(); ++s) {
      model().find_best(extractor, table, s, space, output);
      append(output, labels);
    }
    return labels;
  }

  // Labels by vote: of the k best outputs of each sentence the one that most versions of the weights in the
  // log prefer. Rows of the log are those of the weights; one more holds the constants.
  std::vector<std::int32_t> voted(const Extractor& extractor, const TokenTable& table, const VoteLog& log,
                                  std::size_t k, Space& space) const {
    if (log.row_end.size() != weights_.slots() + 1)
      throw std::invalid_argument("votes: the log does not fit the weights");
    std::vector<std::int32_t> labels;
    for (std::size_t s = 0; s < table.sentences(); ++s) {
      const auto candidates = model().k_best(model().scores(extractor, table, s, space), k, space);
      const auto features = model().features(extractor, table, s, space);
      Ballot ballot(candidates.size());
      for (std::size_t j = 1; j < candidates.size(); ++j) {
        add_votes(features, candidates[j].output, j, 1.0, ballot);
        add_votes(features, candidates[0].output, j, -1.0, ballot);
      }
      append(candidates.at(candidates.empty() ? 0 : ballot.winner(log)).output, labels);
    }
    return labels;
  }

  // The best labels of all tokens, changed where they break constraints on chosen sentences. Throws
  // std::invalid_argument.
  ConstrainedLabels constrain(const Extractor& extractor, const TokenTable& table,
                              std::span<const std::int32_t> labels, std::span<const std::uint8_t> chosen,
                              const ConstraintSet& constraint_set,
                              const std::vector<PlacedConstraints>& placed, Space& space) const {
    return constrained_labels(table, labels, shape_.labels, chosen, constraint_set, placed,
                              [&](std::size_t s, const OutputConstraints& constraints, const Output& free) {
                                const auto& scores = model().scores(extractor, table, s, space);
                                return constrained(model().paths(scores), constraints, free);
                              });
  }

  // The probabilities of the marginals of given labels of all tokens, where those of outputs are
  // proportional to exp(factor * score). The sentences of the table are parts of outputs only if `sentences`,
  // first tokens of the ones that users see, are more. Throws std::invalid_argument.
  Confidences confidences(const Extractor& extractor, const TokenTable& table,
                          std::span<const std::int32_t> labels, std::span<const std::uint32_t> sentences,
                          const Spelling& spelling, double factor, Space& space) const {
    if (spelling.labels != shape_.labels)
      throw std::invalid_argument("confidence: the spelling does not fit");
    const auto marginals_here = model().marginals(spelling);
    const Constants& scaled = scaled_constants(factor, space);
    return confidences_of(
        table, labels, sentences, spelling,
        [&](std::size_t s, const Output& y, Marginals& marginals, std::span<double> tokens) {
          model().scores(extractor, table, s, space);
          return model().probability(marginals_here, y, marginals, tokens, factor, scaled, space);
        });
  }

 protected:
  const FrozenWeights& weights() const { return weights_; }
  const Identity& identity() const { return identity_; }

 private:
  const Model& model() const { return static_cast<const Model&>(*this); }

  [[noreturn]] static void refuse(const char* why) {
    throw std::invalid_argument(std::string(Types::kName) + ": " + why);
  }

  static void append(const std::vector<std::uint32_t>& output, std::vector<std::int32_t>& labels) {
    labels.insert(labels.end(), output.begin(), output.end());
  }
  static void append(std::uint32_t output, std::vector<std::int32_t>& labels) {
    labels.push_back(static_cast<std::int32_t>(output));
  }

  template <class Features>
  void add_votes(const Features& features, const Output& y, std::size_t j, double sign,
                 Ballot& ballot) const {
    features(y, [&](std::uint32_t row, std::uint32_t output, double count) {
      ballot.add(j, row, output, sign * count);
    });
    const auto constant_row = static_cast<std::uint32_t>(weights_.slots());
    model().for_constants_of(
        y, [&](std::size_t at) { ballot.add(j, constant_row, static_cast<std::uint32_t>(at), sign); });
  }

  const Constants& scaled_constants(double factor, Space& space) const {
    if (factor == 1.0) return constants_;
    if (space.scaled_of != identity_ || space.factor != factor || !space.scaled) {
      space.scaled.emplace(constants_).scale(factor);
      space.scaled_of = identity_;
      space.factor = factor;
    }
    return *space.scaled;
  }

  Shape shape_;
  FrozenWeights weights_;
  Identity identity_ = new_identity();
  Constants constants_;
};

}  // namespace marginalia
