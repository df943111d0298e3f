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
    std::vector<std::uint64_t> keys;     // of the sentence, token by token
    std::vector<std::uint32_t> key_end;  // [T]
    std::vector<std::uint8_t> key_edge;  // parallel to keys
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

  // Calls f(t, edge, row) for every known feature of sentence s.
  template <class F>
  void for_rows(const Program& program, const TokenTable& table, std::size_t s, Space& space, F&& f) const {
    const std::size_t length = read_keys(program, table, s, space);
    for (std::size_t t = 0, k = 0; t < length; ++t) {
      for (; k < space.key_end[t]; ++k) {
        const std::uint32_t row = weights_.find(space.keys[k]);
        if (row != FrozenWeights::kNone) f(t, space.key_edge[k] != 0, row);
      }
    }
  }

 private:
  std::size_t read_keys(const Program& program, const TokenTable& table, std::size_t s, Space& space) const;

  ChainShape shape_;
  FrozenWeights weights_;
  ChainConstants constants_;
};

}  // namespace marginalia
