#include "search/lattice.hpp"

#include <stdexcept>

namespace marginalia {

void check(const ChainShape& shape) {
  const std::size_t n = shape.labels;
  if (n == 0) throw std::invalid_argument("chain: there are no labels");
  if (shape.order != 1 && shape.order != 2) throw std::invalid_argument("chain: the order must be 1 or 2");
  if (shape.start.size() != n || shape.end.size() != n || shape.transition.size() != n * n)
    throw std::invalid_argument("chain: the legal-transition masks do not fit the labels");
}

ChainConstants::ChainConstants(const ChainShape& shape) {
  check(shape);
  const auto masked = [](const std::vector<std::uint8_t>& legal) {
    std::vector<double> scores;
    for (const std::uint8_t ok : legal) scores.push_back(ok != 0 ? 0.0 : kIllegal);
    return scores;
  };
  start = masked(shape.start);
  end = masked(shape.end);
  transition = masked(shape.transition);
  trigram.assign(shape.constants() - shape.trigram_at(), 0.0);
}

void ChainConstants::set(const ChainShape& shape, std::size_t at, double value) {
  const auto assign = [value](double& score) {
    if (score != kIllegal) score = value;
  };
  if (at >= shape.trigram_at())
    assign(trigram[at - shape.trigram_at()]);
  else if (at >= shape.transition_at())
    assign(transition[at - shape.transition_at()]);
  else if (at >= shape.end_at())
    assign(end[at - shape.end_at()]);
  else
    assign(start[at]);
}

double path_score(const Lattice& lattice, const std::uint32_t* labels) {
  if (lattice.length == 0) return 0.0;
  const std::size_t n = lattice.labels();
  double score = lattice.constants->start[labels[0]] + lattice.node[labels[0]];
  for (std::size_t t = 1; t < lattice.length; ++t) {
    score += lattice.transition(t, labels[t - 1], labels[t]) + lattice.node[t * n + labels[t]];
    if (lattice.shape->order == 1) continue;
    const std::size_t older = t == 1 ? n : labels[t - 2];
    score += lattice.constants->trigram[(older * n + labels[t - 1]) * n + labels[t]];
  }
  return score + lattice.constants->end[labels[lattice.length - 1]];
}

}  // namespace marginalia
