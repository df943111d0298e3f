// The scores of one sentence for a chain of labels, order 1 or 2, as dense arrays.
//   T tokens, L labels. States: order 1 has L at each token; order 2 has L at the first token and L*L after
//   it (previous label * L + label). An output's score is the sum over tokens of node[t][y_t], start/end at
//   the ends, transition[y_t-1][y_t] (+ edge[t][y_t-1][y_t]) and, for order 2, trigram[y_t-2][y_t-1][y_t].
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace marginalia {

inline constexpr double kIllegal = -std::numeric_limits<double>::infinity();

// What does not change from sentence to sentence: sizes, legal transitions, and where constants sit in row 0.
struct ChainShape {
  std::uint32_t labels = 0;
  int order = 1;
  bool transitions = true;                           // are there learned start, end and label n-gram weights?
  std::vector<std::uint8_t> start, transition, end;  // 1 = legal; [L], [L*L], [L]

  std::size_t start_at() const { return 0; }
  std::size_t end_at() const { return labels; }
  std::size_t transition_at() const { return 2 * std::size_t{labels}; }
  std::size_t trigram_at() const { return transition_at() + std::size_t{labels} * labels; }
  std::size_t constants() const {  // floats in row 0
    return trigram_at() + (order == 2 ? (std::size_t{labels} + 1) * labels * labels : 0);
  }
};

// Throws std::invalid_argument unless sizes agree and the order is 1 or 2.
void check(const ChainShape& shape);

// Between which scores a row of transitions lies: what lets Viterbi skip most rows. Never too narrow; may get
// too wide while weights move.
struct RowBounds {
  std::vector<double> least, most;

  void include(std::size_t row, double value) {
    least[row] = value < least[row] ? value : least[row];
    most[row] = value > most[row] ? value : most[row];
  }
};

// Row 0 as dense scores, with kIllegal where the shape forbids.
struct ChainConstants {
  std::vector<double> start, end, transition;
  std::vector<double> trigram;  // [L+1][L][L], first index L = before the sentence; empty for order 1

  // Labels that few others may precede (I-X after B-X and I-X only) have their predecessors listed, and do
  // not count in the bounds: else nearly every row would have an illegal member and be unbounded.
  std::vector<std::uint32_t> narrow;       // such labels
  std::vector<std::uint32_t> narrow_end;   // [narrow] where the predecessors of each end ...
  std::vector<std::uint32_t> predecessor;  // ... in this list
  RowBounds transition_bounds;             // [L] over labels that are not narrow
  RowBounds trigram_bounds;                // [(L+1)*L]

  explicit ChainConstants(const ChainShape& shape);
  void set(const ChainShape& shape, std::size_t at, double value);  // constant number `at` of row 0

 private:
  std::vector<std::uint8_t> is_narrow_;  // [L]
  void list_narrow(std::size_t labels);
};

struct Lattice {
  const ChainShape* shape = nullptr;
  const ChainConstants* constants = nullptr;
  std::size_t length = 0;
  std::vector<double> node;  // [T][L]
  std::vector<double> edge;  // [T][L][L] (unused at t = 0), or empty

  std::size_t labels() const { return shape->labels; }
  std::size_t states(std::size_t t) const {
    return shape->order == 2 && t > 0 ? labels() * labels() : labels();
  }
  double transition(std::size_t t, std::size_t from, std::size_t to) const {
    const std::size_t i = from * labels() + to;
    return constants->transition[i] + (edge.empty() ? 0.0 : edge[t * labels() * labels() + i]);
  }

  // Calls f(predecessor state, score of the step without the node score) for a state at t >= 1.
  template <class F>
  void for_predecessors(std::size_t t, std::size_t state, F&& f) const {
    const std::size_t n = labels();
    if (shape->order == 1) {
      for (std::size_t from = 0; from < n; ++from) f(from, transition(t, from, state));
      return;
    }
    const std::size_t from = state / n, to = state % n;
    const double pair = transition(t, from, to);
    if (t == 1) {
      f(from, constants->trigram[(n * n + from) * n + to] + pair);
      return;
    }
    for (std::size_t older = 0; older < n; ++older)
      f(older * n + from, constants->trigram[(older * n + from) * n + to] + pair);
  }
};

// The score of a given output, kIllegal if it is not legal.
double path_score(const Lattice& lattice, const std::uint32_t* labels);

}  // namespace marginalia
