// A finished chain model: text in, labels out. Immutable and shared by threads; each brings its own space.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "features/program.hpp"
#include "search/chain.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

class ChainModel {
 public:
  struct Space {
    ExtractionSpace extraction;
    std::vector<Feature> features;  // of the sentence, token by token
    Lattice lattice;
    ViterbiSpace viterbi;
  };

  // `constant_at[k]` (a number in row 0) has the weight constants[k]. Throws std::invalid_argument.
  ChainModel(ChainShape shape, FrozenWeights weights, std::span<const std::uint32_t> constant_at,
             std::span<const float> constants);

  const ChainShape& shape() const { return shape_; }

  // Scores of sentence s of the table under the program; valid until the space is used again.
  const Lattice& lattice(const Program& program, const TokenTable& table, std::size_t s, Space& space) const;

  // Labels of all sentences, one after another.
  std::vector<std::int32_t> best(const Program& program, const TokenTable& table, Space& space) const;

  // The features of sentence s with their rows, kUnknownRow for those that the model does not know.
  const std::vector<Feature>& features(const Program& program, const TokenTable& table, std::size_t s,
                                       Space& space) const;

 private:
  ChainShape shape_;
  FrozenWeights weights_;
  Identity identity_ = new_identity();
  ChainConstants constants_;
};

}  // namespace marginalia
