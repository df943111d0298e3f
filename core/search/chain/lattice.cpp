#include "search/chain/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace marginalia {

namespace {

constexpr std::size_t kKeptScores = std::size_t{1} << 20;  // 8 MiB of doubles

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
    std::vector<double> scores(legal.size());
    for (std::size_t i = 0; i < legal.size(); ++i) scores[i] = legal[i] != 0 ? 0.0 : kIllegal;
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
  for (std::size_t from = 0; from < labels; ++from)
    for (std::size_t to = 0; to < labels; ++to) legal[to] += transition[from * labels + to] != kIllegal;
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

void ChainConstants::scale(double factor) {
  for (std::vector<double>* scores : {&start, &end, &transition, &trigram})
    for (double& score : *scores) score *= factor;
}

void Lattice::begin(std::size_t tokens, bool clear) {
  length = tokens;
  node.resize(tokens * labels());
  if (clear) std::fill(node.begin(), node.end(), 0.0);
  edges_ = nullptr;
  steps_ = nullptr;
  wide_ = nullptr;
  restricted_ = local_pairs_ = false;
  factor_ = 1.0;
  plain_ = nullptr;
  plain_node_.clear();
  first_normaliser_ = 0.0;
}

void Lattice::scale(double factor, const ChainConstants& scaled) {
  factor_ = factor;
  plain_ = constants;
  constants = &scaled;
  keep_plain_node();
  for (double& score : node) score *= factor;
  if (varies()) keep_pairs();
}

void Lattice::set_edges(const EdgeWeights& weights, std::span<const std::uint32_t> rows,
                        std::span<const std::uint64_t> ends) {
  edges_ = &weights;
  edge_rows_ = rows;
  edge_end_ = ends;
  keep_pairs();
}

void Lattice::set_steps(const StepScores& steps) {
  steps_ = &steps;
  keep_pairs();
}

void Lattice::Kept::clear(std::size_t size, std::size_t length) {
  const std::size_t kept = std::clamp<std::size_t>(kKeptScores / size, 1, std::max<std::size_t>(length, 1));
  of.assign(kept, 0);
  scores.resize(kept * size);
}

void Lattice::keep_pairs() {
  pairs_.clear(labels() * labels(), length);
  if (triples_vary()) trigrams_.clear(constants->trigram.size(), length);
}

// What makes later labels choices is asked for again, of all labels and of scores as they were.
void Lattice::keep_plain_node() {
  if (local_pairs_ && plain_node_.empty()) plain_node_ = node;
}

void Lattice::write_pairs(std::size_t t, double* scores) const {
  const std::vector<double>& transition = plain_constants().transition;
  std::copy(transition.begin(), transition.end(), scores);
  if (edges_ != nullptr)
    edges_->add_rows(edge_rows_.subspan(edge_end_[t], edge_end_[t + 1] - edge_end_[t]), transition.size(),
                     scores);
  if (steps_ != nullptr) steps_->add_pairs(*this, t, scores);
}

const double* Lattice::pairs_at(std::size_t t) const {
  const std::size_t n = labels(), size = n * n, kept = t % pairs_.of.size();
  double* scores = pairs_.scores.data() + kept * size;
  if (pairs_.of[kept] == t) return scores;
  write_pairs(t, scores);
  pairs_.of[kept] = t;
  if (local_pairs_ && t + 1 < length) {
    std::vector<double> next(size);
    write_pairs(t + 1, next.data());
    for (std::size_t s = 0; s < size; ++s) scores[s] -= log_sum_of_choices(t + 1, s / n, s % n, next.data());
  }
  if (factor_ != 1.0)
    for (std::size_t s = 0; s < size; ++s) scores[s] *= factor_;
  return scores;
}

const double* Lattice::trigrams_at(std::size_t t) const {
  const std::vector<double>& plain = plain_constants().trigram;
  const std::size_t kept = t % trigrams_.of.size();
  double* scores = trigrams_.scores.data() + kept * plain.size();
  if (trigrams_.of[kept] == t) return scores;
  std::copy(plain.begin(), plain.end(), scores);
  if (t > 1) steps_->add_triples(*this, t, scores);
  trigrams_.of[kept] = t;
  if (factor_ != 1.0)
    for (std::size_t s = 0; s < plain.size(); ++s) scores[s] *= factor_;
  return scores;
}

// log of the sum, over the labels that token t may have after labels `older` and `before`, of exp(score);
// infinite, so that nobody comes here, if it may have none. `pairs`: the plain scores of its label pairs.
double Lattice::log_sum_of_choices(std::size_t t, std::size_t older, std::size_t before,
                                   const double* pairs) const {
  const std::size_t n = labels();
  const ChainConstants& plain = plain_constants();
  const double* now = (plain_node_.empty() ? node : plain_node_).data() + t * n;
  std::vector<double> scores(now, now + n);
  for (std::size_t c = 0; c < n; ++c) {
    scores[c] += pairs[before * n + c];
    if (shape->order == 2) scores[c] += plain.trigram[(older * n + before) * n + c];
    if (t + 1 == length) scores[c] += plain.end[c];
  }
  const double most = *std::max_element(scores.begin(), scores.end());
  if (most == kIllegal) return -kIllegal;
  double sum = 0.0;
  for (const double score : scores) sum += std::exp(score - most);
  return most + std::log(sum);
}

// What makes the label of token t a choice depends on the label before it alone (order 1, and the second
// token of order 2): it is taken from the score of that label.
void Lattice::make_local_by_label() {
  const std::size_t n = labels(), last = shape->order == 1 ? length : std::min<std::size_t>(length, 2);
  std::vector<double> pairs(n * n);
  std::vector<double> first(n);  // as if all labels of the first token followed one and the same label
  for (std::size_t c = 0; c < n; ++c)
    first[c] = node[c] + constants->start[c] + (length == 1 ? constants->end[c] : 0.0);
  const double most = *std::max_element(first.begin(), first.end());
  double sum = 0.0;
  for (const double score : first) sum += std::exp(score - most);
  for (std::size_t t = 1; t < last; ++t) {
    write_pairs(t, pairs.data());
    for (std::size_t b = 0; b < n; ++b) {
      normalisers_[(t - 1) * n + b] = log_sum_of_choices(t, n, b, pairs.data());
      node[(t - 1) * n + b] -= normalisers_[(t - 1) * n + b];
    }
  }
  if (most == kIllegal) return;
  first_normaliser_ = most + std::log(sum);
  for (std::size_t c = 0; c < n; ++c) node[c] -= first_normaliser_;
}

double Lattice::normaliser_ahead(std::size_t t, std::size_t before, std::size_t label) const {
  if (!shape->local || t + 1 == length) return 0.0;
  if (shape->order == 1 || t == 0) return normalisers_[t * labels() + label];
  std::vector<double> next(labels() * labels());
  write_pairs(t + 1, next.data());
  return log_sum_of_choices(t + 1, before, label, next.data());
}

void Lattice::finish() {
  if (!shape->local || length == 0) return;
  local_pairs_ = shape->order == 2 && length > 2;
  normalisers_.assign(length * labels(), 0.0);
  make_local_by_label();
  if (local_pairs_) keep_pairs();
}

void Lattice::allow(std::size_t t, std::span<const std::uint8_t> labels) {
  keep_plain_node();
  restricted_ = true;
  for (std::size_t c = 0; c < labels.size(); ++c)
    if (labels[c] == 0) node[t * labels.size() + c] = kIllegal;
}

std::vector<double> local_normalisers(const Lattice& lattice, const std::uint32_t* labels) {
  std::vector<double> found(lattice.length, lattice.first_normaliser());
  for (std::size_t t = 1; t < lattice.length; ++t)
    found[t] = lattice.normaliser_ahead(t - 1, t == 1 ? lattice.labels() : labels[t - 2], labels[t - 1]);
  return found;
}

void refuse_wide(const Lattice& lattice) {
  if (lattice.wide() != nullptr)
    throw std::invalid_argument("chain: scores look at more labels than the order has");
}

namespace {

// What wide scores add to an output's start, end and transitions.
double wide_sum(const Lattice& lattice, const std::uint32_t* labels) {
  const WideScores& wide = *lattice.wide();
  std::vector<double> scores(lattice.labels());
  std::vector<std::uint32_t> near;
  double sum = 0.0;
  for (std::size_t t = 0; t < lattice.length; ++t) {
    near.clear();
    for (std::size_t k = 1; k <= wide.neighbours(); ++k)
      if (const std::size_t at = wide.backwards() ? t + k : t - k; at < lattice.length)  // or wraps around
        near.push_back(labels[at]);
    wide.write(t, near, scores.data());
    sum += lattice.allows(t, labels[t]) ? scores[labels[t]] : kIllegal;
  }
  return sum;
}

}  // namespace

double path_score(const Lattice& lattice, const std::uint32_t* labels) {
  if (lattice.length == 0) return 0.0;
  const std::size_t n = lattice.labels();
  if (lattice.wide() != nullptr) {
    double score = lattice.constants->start[labels[0]] + lattice.constants->end[labels[lattice.length - 1]];
    for (std::size_t t = 1; t < lattice.length; ++t)
      score += lattice.constants->transition[labels[t - 1] * n + labels[t]];
    return score + wide_sum(lattice, labels);
  }
  double score = lattice.constants->start[labels[0]] + lattice.node[labels[0]];
  for (std::size_t t = 1; t < lattice.length; ++t) {
    score += lattice.pairs(t)[labels[t - 1] * n + labels[t]] + lattice.node[t * n + labels[t]];
    if (lattice.shape->order == 1) continue;
    const std::size_t older = t == 1 ? n : labels[t - 2];
    score += lattice.trigrams(t)[(older * n + labels[t - 1]) * n + labels[t]];
  }
  return score + lattice.constants->end[labels[lattice.length - 1]];
}

}  // namespace marginalia
