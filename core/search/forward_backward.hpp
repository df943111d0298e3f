// Probabilities of a lattice: P(y) proportional to exp(score(y)).
#pragma once

#include <vector>

#include "search/lattice.hpp"

namespace marginalia {

struct Marginals {
  double log_z = 0.0;
  std::vector<double> node;        // [T][L] P(y_t)
  std::vector<double> edge;        // [T][L][L] P(y_t-1, y_t), t >= 1; empty unless asked for
  std::vector<double> transition;  // [L][L] expected number of label pairs
  std::vector<double> trigram;     // [L+1][L][L] expected number of label triples; empty for order 1
};

// Order 1 runs on scaled probabilities; where a reachable state comes near underflow, and for order 2, on
// logarithms. Neither overflows, whatever the length. Throws std::domain_error if no output is legal.
Marginals forward_backward(const Lattice& lattice, bool want_edges);

// The two ways, for tests to compare. The first returns false when it gives up.
bool scaled_forward_backward(const Lattice& lattice, bool want_edges, Marginals& out);
void log_forward_backward(const Lattice& lattice, bool want_edges, Marginals& out);

}  // namespace marginalia
