// Search with a limited number of candidates: the way of taggers that choose label after label.
#pragma once

#include <vector>

#include "search/chain/lattice.hpp"
#include "search/labels.hpp"

namespace marginalia {

// From left to right, of all continuations of the kept label sequences the `width` best are kept. What is
// kept at the end, best first; nothing if no kept sequence could be finished legally. Ties go to the earlier
// one. With wide scores it goes the way in which they are known.
std::vector<ScoredLabels> beam_search(const Lattice& lattice, std::size_t width);

}  // namespace marginalia
