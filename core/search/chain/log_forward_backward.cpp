#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/vector.hpp"
#include "search/chain/forward_backward.hpp"

namespace marginalia {

namespace {

using Space = ForwardBackwardSpace;

double log_sum(const std::vector<double>& terms) {
  const double most = *std::max_element(terms.begin(), terms.end());
  if (most == kIllegal) return kIllegal;
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - most);
  return most + std::log(sum);
}

// Shifts the scores to a maximum of 0, so that they keep their digits in long sentences; returns the shift.
double centre(double* scores, std::size_t n) {
  const double largest = *std::max_element(scores, scores + n), most = largest == kIllegal ? 0.0 : largest;
  for (std::size_t s = 0; s < n; ++s) scores[s] -= most;
  return most;
}

double log_forward(const Lattice& lattice, Space& space) {
  const std::size_t length = lattice.length, n = lattice.labels(), width = lattice.states(length);
  std::vector<double> terms;
  space.alpha.assign(length * width, kIllegal);
  for (std::size_t c = 0; c < n; ++c) space.alpha[c] = lattice.constants->start[c] + lattice.node[c];
  double log_z = space.scale[0] = centre(space.alpha.data(), width);
  for (std::size_t t = 1; t < length; ++t) {
    for (std::size_t s = 0; s < lattice.states(t); ++s) {
      terms.clear();
      lattice.for_predecessors(t, s, [&](std::size_t from, double score) {
        terms.push_back(space.alpha[(t - 1) * width + from] + score);
      });
      space.alpha[t * width + s] = log_sum(terms) + lattice.node[t * n + s % n];
    }
    log_z += space.scale[t] = centre(&space.alpha[t * width], width);
  }
  terms.clear();
  for (std::size_t s = 0; s < lattice.states(length - 1); ++s)
    terms.push_back(space.alpha[(length - 1) * width + s] + lattice.constants->end[s % n]);
  return log_z + log_sum(terms);
}

}  // namespace

double log_forward_backward(const Lattice& lattice, bool want_pairs, Space& space, const AtToken& at) {
  const std::size_t length = lattice.length, n = lattice.labels(), width = lattice.states(length);
  space.begin(lattice);
  if (length == 0) return 0.0;
  space.scale.resize(length);
  const double log_z = log_forward(lattice, space);
  if (log_z == kIllegal) throw std::domain_error("no legal output exists for this sentence");

  std::vector<double> terms;
  space.beta.assign(width, kIllegal);
  for (std::size_t s = 0; s < lattice.states(length - 1); ++s) space.beta[s] = lattice.constants->end[s % n];
  std::vector<std::vector<double>> onward;  // by predecessor: terms of its backward score
  for (std::size_t t = length; t-- > 0;) {
    terms.clear();
    for (std::size_t s = 0; s < lattice.states(t); ++s)
      terms.push_back(space.alpha[t * width + s] + space.beta[s]);
    const double total = log_sum(terms);
    space.node.assign(n, 0.0);
    for (std::size_t s = 0; s < lattice.states(t); ++s) space.node[s % n] += std::exp(terms[s] - total);
    if (t == 0) {
      at(t, space.node.data(), nullptr);
      break;
    }
    space.pairs.assign(n * n, 0.0);
    if (space.want_triples) space.triples.assign(t > 1 ? n * n * n : 0, 0.0);
    onward.assign(lattice.states(t - 1), {});
    for (std::size_t s = 0; s < lattice.states(t); ++s) {
      const std::size_t to = s % n;
      const double rest = lattice.node[t * n + to] + space.beta[s];
      lattice.for_predecessors(t, s, [&](std::size_t from, double score) {
        onward[from].push_back(score + rest);
        const double before = space.alpha[(t - 1) * width + from];
        const double p = std::exp(before + score + rest - space.scale[t] - total);
        const std::size_t previous = from % n;
        space.pairs[previous * n + to] += p;
        if (space.trigram.empty()) return;
        const std::size_t older = t == 1 ? n : from / n;
        space.trigram[(older * n + previous) * n + to] += p;
        if (space.want_triples && t > 1) space.triples[from * n + to] = p;
      });
    }
    add_scaled(space.transition.data(), space.pairs.data(), 1.0, n * n);
    at(t, space.node.data(), want_pairs ? space.pairs.data() : nullptr);
    space.beta.assign(width, kIllegal);
    for (std::size_t from = 0; from < onward.size(); ++from)
      space.beta[from] = onward[from].empty() ? kIllegal : log_sum(onward[from]);
    centre(space.beta.data(), width);
  }
  return log_z;
}

}  // namespace marginalia
