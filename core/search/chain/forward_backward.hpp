// Probabilities of a lattice: P(y) proportional to exp(score(y)).
#pragma once

#include <functional>
#include <vector>

#include "search/chain/lattice.hpp"

namespace marginalia {

// What is expected of the whole sentence, and memory that is kept from call to call.
struct ForwardBackwardSpace {
  std::vector<double> transition;  // [L][L] expected number of label pairs
  std::vector<double> trigram;     // [L+1][L][L] expected number of label triples; empty for order 1

  // Order 2, for those who ask: P(y_t-2, y_t-1, y_t) at the token t >= 2 that is being told of.
  bool want_triples = false;
  std::vector<double> triples;  // [L][L][L]

  struct Factors {
    std::vector<double> scores;  // what `values` were made of
    std::vector<double> values;
    std::size_t stride = 0;
    double shift = 0.0;
  };
  Factors pair_factors, trigram_factors;
  std::vector<double> emission, alpha, scale, floors, beta, ahead, node, pairs, counts;

  void begin(const Lattice& lattice);  // nothing is expected yet
};

// Gets the probabilities at a token: node[c] = P(y_t = c), pairs[b][c] = P(y_t-1 = b, y_t = c). `pairs` is
// null at the first token, and may be where nobody asked for them.
using AtToken = std::function<void(std::size_t t, const double* node, const double* pairs)>;

// Calls `at` for the tokens from the last to the first and returns log Z. It runs on scaled probabilities;
// where a reachable state comes near underflow, on logarithms. Neither overflows, whatever the length. Throws
// std::domain_error if no output is legal.
double forward_backward(const Lattice& lattice, bool want_pairs, ForwardBackwardSpace& space,
                        const AtToken& at);

// The two ways, for tests to compare. The first returns false, without a call of `at`, when it gives up.
bool scaled_forward_backward(const Lattice& lattice, bool want_pairs, ForwardBackwardSpace& space,
                             const AtToken& at, double& log_z);
double log_forward_backward(const Lattice& lattice, bool want_pairs, ForwardBackwardSpace& space,
                            const AtToken& at);

}  // namespace marginalia
