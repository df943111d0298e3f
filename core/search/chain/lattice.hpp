// The scores of one sentence for a chain of labels, order 1 or 2, as dense arrays.
//   T tokens, L labels. States: order 1 has L at each token; order 2 has L at the first token and L*L after
//   it (previous label * L + label). An output's score is the sum over tokens of node[t][y_t], start/end at
//   the ends, transition[y_t-1][y_t] (+ edge[t][y_t-1][y_t]) and, for order 2, trigram[y_t-2][y_t-1][y_t].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/structure.hpp"

namespace marginalia {

// What does not change from sentence to sentence: sizes, legal transitions, and where constants sit in row 0.
struct ChainShape {
  std::uint32_t labels = 0;
  int order = 1;
  bool transitions = true;                           // are there learned label n-gram weights?
  std::vector<std::uint8_t> start, transition, end;  // 1 = legal; [L], [L*L], [L]
  bool ends = true;        // are there learned weights of the first and the last label?
  bool local = false;      // is each label a choice given those before it (a maximum entropy model)?
  std::uint32_t beam = 0;  // search with so many candidates instead of exactly; 0: exactly

  std::size_t start_at() const { return 0; }
  std::size_t end_at() const { return labels; }
  std::size_t transition_at() const { return 2 * std::size_t{labels}; }
  std::size_t trigram_at() const { return transition_at() + std::size_t{labels} * labels; }
  std::uint32_t row_width() const { return labels; }  // outputs of a feature's row; of an edge's, squared
  std::size_t constants() const {                     // floats in row 0
    return trigram_at() + (order == 2 ? (std::size_t{labels} + 1) * labels * labels : 0);
  }
};

// Calls f(number in row 0) for each constant that an output has.
template <class F>
void for_constants(const ChainShape& shape, const std::vector<std::uint32_t>& y, F&& f) {
  const std::size_t n = shape.labels;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (shape.ends && t == 0) f(shape.start_at() + y[t]);
    if (shape.ends && t + 1 == y.size()) f(shape.end_at() + y[t]);
    if (t == 0 || !shape.transitions) continue;
    f(shape.transition_at() + y[t - 1] * n + y[t]);
    if (shape.order == 2) f(shape.trigram_at() + ((t == 1 ? n : y[t - 2]) * n + y[t - 1]) * n + y[t]);
  }
}

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
  void scale(double factor);  // for probabilities alone: the bounds, which only Viterbi needs, are not kept

 private:
  std::vector<std::uint8_t> is_narrow_;  // [L]
  void list_narrow(std::size_t labels);
};

// Where edge features get their weights from: scores[pair] += weight for the label pairs of rows.
struct EdgeWeights {
  virtual ~EdgeWeights() = default;
  virtual void add_rows(std::span<const std::uint32_t> rows, std::size_t pairs, double* scores) const = 0;
};

template <class Weights>
struct EdgeWeightsOf final : EdgeWeights {
  explicit EdgeWeightsOf(const Weights& w) : weights(w) {}
  void add_rows(std::span<const std::uint32_t> rows, std::size_t pairs, double* scores) const override {
    constexpr std::size_t kRowAhead = 16, kCellsAhead = 6;  // memory is slow: ask early
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + kRowAhead < rows.size()) weights.prefetch_row(rows[i + kRowAhead]);
      if (i + kCellsAhead < rows.size()) weights.prefetch_cells(rows[i + kCellsAhead]);
      weights.add_row(rows[i], pairs, scores);
    }
  }
  const Weights& weights;
};

class Lattice;

// Scores of label pairs and triples that are made for each token when they are asked for.
struct StepScores {
  virtual ~StepScores() = default;
  // Adds to [L][L] scores of the labels of tokens t - 1 and t, t >= 1.
  virtual void add_pairs(const Lattice& lattice, std::size_t t, double* scores) const = 0;
  // Adds to [L][L][L] scores of the labels of tokens t - 2 to t, t >= 2; order 2 only.
  virtual void add_triples(const Lattice& lattice, std::size_t t, double* scores) const = 0;
};

// Scores that look at the labels of more neighbours than states have: only a search that keeps whole
// sequences can ask for them (beam.hpp). The neighbours are the tokens before, or (backwards) after.
struct WideScores {
  virtual ~WideScores() = default;
  virtual bool backwards() const = 0;
  virtual std::size_t neighbours() const = 0;
  // The scores [L] of token t, given the labels of its neighbours, nearest first; there may be fewer.
  virtual void write(std::size_t t, std::span<const std::uint32_t> near, double* scores) const = 0;
};

// Edge features stay rows until their scores are asked for, and those are kept for as many tokens as fit into
// a few megabytes: all at once would take T * L * L. So a lattice must not be used by two threads at the same
// time.
class Lattice {
 public:
  const ChainShape* shape = nullptr;
  const ChainConstants* constants = nullptr;
  std::size_t length = 0;
  std::vector<double> node;  // [T][L]

  // Begins a sentence with no edge features and all node scores 0, or, without `clear`, yet to be set.
  void begin(std::size_t tokens, bool clear = true);
  // Its edge features: token t has rows[ends[t] .. ends[t + 1]). The lattice only looks at all three.
  void set_edges(const EdgeWeights& weights, std::span<const std::uint32_t> rows,
                 std::span<const std::uint64_t> ends);
  // Scores of pairs and triples besides; the lattice only looks at them.
  void set_steps(const StepScores& steps);
  // Scores that count instead of those of nodes, which are left for when a search finds nothing with them.
  void set_wide(const WideScores& wide) { wide_ = &wide; }
  const WideScores* wide() const { return wide_; }
  // To be called when all scores are set. For a shape that is local they become log-probabilities of each
  // label given those before it, so that an output's score is its log-probability.
  void finish();
  // All scores times a factor, to be called once after finish(); `scaled` are the constants times the factor.
  void scale(double factor, const ChainConstants& scaled);

  std::size_t labels() const { return shape->labels; }
  std::size_t states(std::size_t t) const {
    return shape->order == 2 && t > 0 ? labels() * labels() : labels();
  }
  // The local log-normaliser of the choice of the label after token t, given the labels of tokens
  // t - 1 (or none, L, before the sentence) and t; it is already part of the scores of those. 0 if the shape
  // is not local.
  double normaliser_ahead(std::size_t t, std::size_t before, std::size_t label) const;
  // The local log-normaliser of the choice of the first label.
  double first_normaliser() const { return first_normaliser_; }

  // Makes all labels of token t illegal but those with a 1, once scores are finished: scores and
  // probabilities of the outputs that remain do not change.
  void allow(std::size_t t, std::span<const std::uint8_t> labels);
  bool restricted() const { return restricted_; }
  bool allows(std::size_t t, std::size_t label) const {
    return !restricted_ || node[t * labels() + label] != kIllegal;
  }

  // Do the scores of label pairs differ from token to token?
  bool varies() const { return edges_ != nullptr || local_pairs_ || steps_ != nullptr; }
  // The same of label triples.
  bool triples_vary() const { return steps_ != nullptr && shape->order == 2; }

  // [L][L] scores of the label pairs at tokens t - 1 and t, t >= 1; valid until the next call.
  const double* pairs(std::size_t t) const { return varies() ? pairs_at(t) : constants->transition.data(); }

  // Order 2: [L + 1][L][L] scores of the label triples at tokens t - 2 to t, t >= 1, as in ChainConstants;
  // valid until the next call.
  const double* trigrams(std::size_t t) const {
    return triples_vary() ? trigrams_at(t) : constants->trigram.data();
  }

  // Calls f(predecessor state, score of the step without the node score) for a state at t >= 1.
  template <class F>
  void for_predecessors(std::size_t t, std::size_t state, F&& f) const {
    const std::size_t n = labels();
    const double* pair = pairs(t);
    if (shape->order == 1) {
      for (std::size_t from = 0; from < n; ++from) f(from, pair[from * n + state]);
      return;
    }
    const std::size_t from = state / n, to = state % n;
    const double* trigram = trigrams(t);
    if (t == 1) {
      f(from, trigram[(n * n + from) * n + to] + pair[state]);
      return;
    }
    for (std::size_t older = 0; older < n; ++older)
      f(older * n + from, trigram[(older * n + from) * n + to] + pair[state]);
  }

 private:
  // Scores of steps that end at a token, kept for some of them: token t at t % kept.
  struct Kept {
    std::vector<double> scores;   // [kept][scores of a token]
    std::vector<std::size_t> of;  // [kept] which token; 0: none, because the first has no step
    void clear(std::size_t size, std::size_t length);
  };

  const double* pairs_at(std::size_t t) const;
  const double* trigrams_at(std::size_t t) const;
  void write_pairs(std::size_t t, double* scores) const;
  void keep_pairs();
  void keep_plain_node();
  double log_sum_of_choices(std::size_t t, std::size_t older, std::size_t before, const double* pairs) const;
  void make_local_by_label();
  const ChainConstants& plain_constants() const { return plain_ == nullptr ? *constants : *plain_; }

  const EdgeWeights* edges_ = nullptr;
  const StepScores* steps_ = nullptr;
  const WideScores* wide_ = nullptr;
  std::vector<double> normalisers_;  // [T][L] what was taken from node scores, where it depends on them alone
  double first_normaliser_ = 0.0;
  bool restricted_ = false;   // was there a call of `allow`?
  bool local_pairs_ = false;  // order 2: what makes label t + 1 a choice goes into the pairs at t
  std::span<const std::uint32_t> edge_rows_;
  std::span<const std::uint64_t> edge_end_;  // [T + 1]
  double factor_ = 1.0;
  const ChainConstants* plain_ = nullptr;  // as they were before scaling; pairs are scaled when made
  std::vector<double> plain_node_;  // node scores before `scale` and `allow`; empty if they are the same
  mutable Kept pairs_, trigrams_;
};

// The local log-normaliser of the choice of each label of an output; 0 if the shape is not local.
std::vector<double> local_normalisers(const Lattice& lattice, const std::uint32_t* labels);

// Throws std::invalid_argument if what needs scores of states is asked of wide ones.
void refuse_wide(const Lattice& lattice);

// The score of a given output, kIllegal if it is not legal.
double path_score(const Lattice& lattice, const std::uint32_t* labels);

}  // namespace marginalia
