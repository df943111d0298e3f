// A finished chain model: text in, labels out. Immutable and shared by threads; each brings its own space.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "features/program.hpp"
#include "search/chain.hpp"
#include "search/claims.hpp"
#include "search/constrained.hpp"
#include "search/forward_backward.hpp"
#include "search/vote.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

class ChainModel {
 public:
  struct Space {
    ExtractionSpace extraction;
    std::vector<Feature> features;         // of some tokens
    std::vector<std::uint32_t> edge_rows;  // of the sentence
    std::vector<std::uint64_t> edge_end;   // [T + 1]
    Lattice lattice;
    ViterbiSpace viterbi;
    ForwardBackwardSpace probabilities;
    Identity scaled_of;  // whose constants, and times what, `scaled` are
    double factor = 1.0;
    std::optional<ChainConstants> scaled;
  };

  // `constant_at[k]` (a number in row 0) has the weight constants[k]. Throws std::invalid_argument.
  ChainModel(ChainShape shape, FrozenWeights weights, std::span<const std::uint32_t> constant_at,
             std::span<const float> constants);

  ChainModel(const ChainModel&) = delete;  // its parts point at each other

  const ChainShape& shape() const { return shape_; }
  const EdgeWeights& edge_weights() const { return edge_weights_; }

  // Scores of sentence s of the table under the program, yet to be finished; valid until the space is used
  // again.
  Lattice& lattice(const Program& program, const TokenTable& table, std::size_t s, Space& space) const;

  // Labels of all sentences, one after another.
  std::vector<std::int32_t> best(const Program& program, const TokenTable& table, Space& space) const;

  // The same by vote: of the k best outputs of each sentence the one that most versions of the weights in the
  // log prefer. Rows of the log are those of the weights; one more holds the constants.
  std::vector<std::int32_t> voted(const Program& program, const TokenTable& table, const VoteLog& log,
                                  std::size_t k, Space& space) const;

  // The best labels of all tokens, changed where they break demands on chosen sentences. Throws
  // std::invalid_argument.
  ConstrainedLabels constrain(const Program& program, const TokenTable& table,
                              std::span<const std::int32_t> labels, std::span<const std::uint8_t> chosen,
                              const Rules& rules, const std::vector<Places>& places, Space& space) const;

  // The probabilities of what given labels of all tokens claim, where those of outputs are proportional to
  // exp(factor * score). The sentences of the table are parts of outputs only if `sentences`, first tokens of
  // the ones that users see, are more. Throws std::invalid_argument.
  Confidences confidences(const Program& program, const TokenTable& table,
                          std::span<const std::int32_t> labels, std::span<const std::uint32_t> sentences,
                          const Spelling& spelling, double factor, Space& space) const;

  // Calls f(feature) for the features of sentence s that the model knows.
  template <class F>
  void for_features(const Program& program, const TokenTable& table, std::size_t s, Space& space,
                    F&& f) const;

 private:
  void find_features(const Program& program, std::size_t length, std::size_t begin, std::size_t end,
                     Space& space) const;

  ChainShape shape_;
  FrozenWeights weights_;
  EdgeWeightsOf<FrozenWeights> edge_weights_{weights_};
  Identity identity_ = new_identity();
  ChainConstants constants_;
};

// A few tokens at a time, so that what one step asked the memory for is still near when the next one needs
// it.
template <class F>
void ChainModel::for_features(const Program& program, const TokenTable& table, std::size_t s, Space& space,
                              F&& f) const {
  constexpr std::size_t kTokens = 8, kCellsAhead = 8;
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first;
  program.read(table, first, first + length, identity_, space.extraction);
  for (std::size_t begin = 0; begin < length; begin += kTokens) {
    find_features(program, length, begin, std::min(length, begin + kTokens), space);
    const std::vector<Feature>& found = space.features;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i + kCellsAhead < found.size()) weights_.prefetch_cells(found[i + kCellsAhead].row);
      f(found[i]);
    }
  }
}

}  // namespace marginalia
