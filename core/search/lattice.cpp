#include "search/lattice.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

namespace {

constexpr std::size_t kKeptPairs = std::size_t{1} << 20;  // 8 MiB of doubles

}  // namespace

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
  list_narrow(shape.labels);
  trigram_bounds.least.assign(trigram.size() / shape.labels, 0.0);
  trigram_bounds.most = trigram_bounds.least;
}

void ChainConstants::list_narrow(std::size_t labels) {
  std::vector<std::size_t> legal(labels, 0);  // how many may precede each label
  for (std::size_t i = 0; i < transition.size(); ++i) legal[i % labels] += transition[i] != kIllegal;
  is_narrow_.assign(labels, 0);
  for (std::size_t to = 0; to < labels; ++to) {
    if (legal[to] * 4 >= labels) continue;
    is_narrow_[to] = 1;
    narrow.push_back(static_cast<std::uint32_t>(to));
    for (std::size_t from = 0; from < labels; ++from)
      if (transition[from * labels + to] != kIllegal) predecessor.push_back(static_cast<std::uint32_t>(from));
    narrow_end.push_back(static_cast<std::uint32_t>(predecessor.size()));
  }
  transition_bounds.least.assign(labels, 0.0);
  transition_bounds.most.assign(labels, kIllegal);
  for (std::size_t from = 0; from < labels; ++from)
    for (std::size_t to = 0; to < labels; ++to)
      if (is_narrow_[to] == 0) transition_bounds.include(from, transition[from * labels + to]);
}

void ChainConstants::set(const ChainShape& shape, std::size_t at, double value) {
  const auto assign = [value](double& score) {
    if (score == kIllegal) return false;
    score = value;
    return true;
  };
  const std::size_t n = shape.labels;
  if (at >= shape.trigram_at()) {
    const std::size_t i = at - shape.trigram_at();
    if (assign(trigram[i])) trigram_bounds.include(i / n, value);
  } else if (at >= shape.transition_at()) {
    const std::size_t i = at - shape.transition_at();
    if (assign(transition[i]) && is_narrow_[i % n] == 0) transition_bounds.include(i / n, value);
  } else if (at >= shape.end_at()) {
    assign(end[at - shape.end_at()]);
  } else {
    assign(start[at]);
  }
}

void Lattice::begin(std::size_t tokens) {
  length = tokens;
  node.assign(tokens * labels(), 0.0);
  edges_ = nullptr;
}

void Lattice::set_edges(const EdgeWeights& weights, std::span<const std::uint32_t> rows,
                        std::span<const std::uint64_t> ends) {
  edges_ = &weights;
  edge_rows_ = rows;
  edge_end_ = ends;
  const std::size_t size = labels() * labels();
  const std::size_t kept = std::clamp<std::size_t>(kKeptPairs / size, 1, std::max<std::size_t>(length, 1));
  pairs_of_.assign(kept, 0);
  pairs_.resize(kept * size);
}

const double* Lattice::pairs_with_edges(std::size_t t) const {
  const std::size_t size = constants->transition.size(), kept = t % pairs_of_.size();
  double* scores = pairs_.data() + kept * size;
  if (pairs_of_[kept] == t) return scores;
  std::copy(constants->transition.begin(), constants->transition.end(), scores);
  edges_->add_rows(edge_rows_.subspan(edge_end_[t], edge_end_[t + 1] - edge_end_[t]), size, scores);
  pairs_of_[kept] = t;
  return scores;
}

double path_score(const Lattice& lattice, const std::uint32_t* labels) {
  if (lattice.length == 0) return 0.0;
  const std::size_t n = lattice.labels();
  double score = lattice.constants->start[labels[0]] + lattice.node[labels[0]];
  for (std::size_t t = 1; t < lattice.length; ++t) {
    score += lattice.pairs(t)[labels[t - 1] * n + labels[t]] + lattice.node[t * n + labels[t]];
    if (lattice.shape->order == 1) continue;
    const std::size_t older = t == 1 ? n : labels[t - 2];
    score += lattice.constants->trigram[(older * n + labels[t - 1]) * n + labels[t]];
  }
  return score + lattice.constants->end[labels[lattice.length - 1]];
}

}  // namespace marginalia
