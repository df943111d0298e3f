#include "search/chain/decoding.hpp"

#include "search/chain/beam.hpp"
#include "search/chain/k_best.hpp"

namespace marginalia {

void best_of(const Lattice& lattice, ViterbiSpace& space, ScoredLabels& best) {
  if (lattice.shape->beam != 0) {
    std::vector<ScoredLabels> found = beam_search(lattice, lattice.shape->beam);
    if (!found.empty()) {
      best = std::move(found.front());
      return;
    }
  }
  best.output.resize(lattice.length);
  best.score = viterbi(lattice, space, best.output.data());
  if (lattice.wide() != nullptr) best.score = path_score(lattice, best.output.data());
}

std::vector<ScoredLabels> k_best_of(const Lattice& lattice, std::size_t k, ViterbiSpace& space) {
  if (lattice.shape->beam != 0) {
    std::vector<ScoredLabels> found = beam_search(lattice, lattice.shape->beam);
    if (found.size() > k) found.resize(k);
    return found;
  }
  if (k == 2) return two_best(lattice, space.best);
  std::vector<ScoredLabels> found;
  KBest search(lattice);
  std::vector<std::uint32_t> labels(lattice.length);
  while (found.size() < k) {
    const auto score = search.next(labels.data());
    if (!score) break;
    found.push_back({labels, *score});
  }
  return found;
}

}  // namespace marginalia
