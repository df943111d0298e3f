// What a finished lattice answers, in the way its shape wants: exactly, or by beam.
#pragma once

#include <cstddef>
#include <vector>

#include "search/chain/lattice.hpp"
#include "search/chain/viterbi.hpp"
#include "search/labels.hpp"

namespace marginalia {

void best_of(const Lattice& lattice, ViterbiSpace& space, ScoredLabels& best);

// At most k outputs, best first.
std::vector<ScoredLabels> k_best_of(const Lattice& lattice, std::size_t k, ViterbiSpace& space);

}  // namespace marginalia
