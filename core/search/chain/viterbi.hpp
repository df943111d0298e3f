// The best output of a lattice: O(T * L^2) for order 1, O(T * L^3) for order 2.
#pragma once

#include <cstdint>
#include <vector>

#include "search/chain/lattice.hpp"

namespace marginalia {

// Best scores of the states at one token after another; the memory is kept from call to call.
class ViterbiSpace {
 public:
  std::vector<double> best;  // [stored tokens][states]
  std::vector<double> checkpoints;
};

// Writes the best labels and returns their score. Ties go to the lowest state, from the last token backwards.
// Where no output is legal the score is kIllegal and the labels, though in range, mean nothing.
double viterbi(const Lattice& lattice, ViterbiSpace& space, std::uint32_t* labels);

// best[t][state] for all tokens: what k-best search reads. [T][S], S = the states of the last token.
void forward_scores(const Lattice& lattice, std::vector<double>& best);

// The predecessor that gives a state at t >= 1 its best score; `earlier` = best scores at t - 1.
std::size_t best_predecessor(const Lattice& lattice, std::size_t t, std::size_t state, const double* earlier);

}  // namespace marginalia
