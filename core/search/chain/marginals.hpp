// The probabilities of marginals about the labels of a chain, on the way of forward-backward from the last
// token to the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/chain/forward_backward.hpp"
#include "search/marginals.hpp"

namespace marginalia {

// Gives each marginal its probability and returns log Z. A marginal that is open at a token has, for each
// label of its type there (and, in order 2, each label before it), the probability that its later tokens are
// as claimed; one step turns those of a token into those of the token before. Needs O(T * L * m), m the
// labels of a type, and L times that in order 2, beside forward-backward itself.
//   labels[t]: P(y_t = output[t]), if there is room for it.
double marginal_probabilities(const Lattice& lattice, const Spelling& spelling, Marginals& marginals,
                              std::span<const std::uint32_t> output, std::span<double> labels,
                              ForwardBackwardSpace& space);

}  // namespace marginalia
