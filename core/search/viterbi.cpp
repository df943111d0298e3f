#include "search/viterbi.hpp"

#include <algorithm>
#include <cmath>

#include "base/simd.hpp"

namespace marginalia {

namespace {

// out[c] = max(out[c], shift + row[c])
MARGINALIA_KERNEL
void max_add(double* __restrict out, const double* __restrict row, double shift, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) {
    const double score = row[c] + shift;
    out[c] = score > out[c] ? score : out[c];
  }
}

// out[c] = max over k < n of in[k * in_step] + matrix[row(k)][c], row(k) = first_row + k * row_step. Rows
// that by their bounds cannot reach what the best row gives to every c are skipped; usually few remain.
template <class Row>
void max_product(double* out, const double* in, std::size_t in_step, const double* matrix,
                 const RowBounds& bounds, std::size_t n, Row&& row) {
  double floor = kIllegal;
  for (std::size_t k = 0; k < n; ++k) floor = std::max(floor, in[k * in_step] + bounds.least[row(k)]);
  std::fill(out, out + n, kIllegal);
  for (std::size_t k = 0; k < n; ++k) {
    const double shift = in[k * in_step];
    if (shift != kIllegal && shift + bounds.most[row(k)] >= floor)
      max_add(out, matrix + row(k) * n, shift, n);
  }
}

void first_step(const Lattice& lattice, double* out) {
  for (std::size_t c = 0; c < lattice.labels(); ++c) out[c] = lattice.constants->start[c] + lattice.node[c];
}

// out[c] for narrow labels, from their listed predecessors.
void fill_narrow(const ChainConstants& constants, const double* in, std::size_t n, double* out) {
  std::uint32_t i = 0;
  for (std::size_t k = 0; k < constants.narrow.size(); ++k) {
    const std::uint32_t to = constants.narrow[k];
    out[to] = kIllegal;
    for (; i < constants.narrow_end[k]; ++i) {
      const std::uint32_t from = constants.predecessor[i];
      out[to] = std::max(out[to], constants.transition[from * n + to] + in[from]);
    }
  }
}

void step_order_1(const Lattice& lattice, std::size_t t, const double* in, double* out) {
  const std::size_t n = lattice.labels();
  const ChainConstants& constants = *lattice.constants;
  if (!lattice.varies()) {
    max_product(out, in, 1, constants.transition.data(), constants.transition_bounds, n,
                [](std::size_t k) { return k; });
    fill_narrow(constants, in, n, out);
  } else {
    const double* pairs = lattice.pairs(t);
    std::fill(out, out + n, kIllegal);
    for (std::size_t p = 0; p < n; ++p)
      if (in[p] != kIllegal) max_add(out, pairs + p * n, in[p], n);
  }
  for (std::size_t c = 0; c < n; ++c) out[c] += lattice.node[t * n + c];
}

void step_order_2(const Lattice& lattice, std::size_t t, const double* in, double* out) {
  const std::size_t n = lattice.labels();
  const double* pairs = lattice.pairs(t);
  const double* trigram = lattice.constants->trigram.data();
  for (std::size_t b = 0; b < n; ++b) {
    double* row = out + b * n;
    if (t == 1) {
      std::fill(row, row + n, kIllegal);
      max_add(row, trigram + (n * n + b) * n, in[b], n);
    } else {
      max_product(row, in + b, n, trigram, lattice.constants->trigram_bounds, n,
                  [n, b](std::size_t a) { return a * n + b; });
    }
    for (std::size_t c = 0; c < n; ++c) row[c] += pairs[b * n + c] + lattice.node[t * n + c];
  }
}

// Scores of the states at t >= 1 from those at t - 1.
void step(const Lattice& lattice, std::size_t t, const double* in, double* out) {
  if (lattice.shape->order == 1)
    step_order_1(lattice, t, in, out);
  else
    step_order_2(lattice, t, in, out);
}

std::size_t best_last(const Lattice& lattice, const double* scores, double& score) {
  const std::size_t last = lattice.length - 1;
  std::size_t best = 0;
  score = kIllegal;
  for (std::size_t s = 0; s < lattice.states(last); ++s) {
    const double candidate = scores[s] + lattice.constants->end[s % lattice.labels()];
    if (candidate > score) {
      score = candidate;
      best = s;
    }
  }
  return best;
}

constexpr std::size_t kStoredScores = std::size_t{1} << 23;  // 64 MiB of doubles

}  // namespace

std::size_t best_predecessor(const Lattice& lattice, std::size_t t, std::size_t state,
                             const double* earlier) {
  std::size_t best = 0;
  double best_score = kIllegal;
  bool found = false;
  lattice.for_predecessors(t, state, [&](std::size_t from, double score) {
    const double candidate = earlier[from] + score;
    if (found && !(candidate > best_score)) return;
    found = true;
    best = from;
    best_score = candidate;
  });
  return best;
}

void forward_scores(const Lattice& lattice, std::vector<double>& best) {
  const std::size_t width = lattice.states(lattice.length);
  best.resize(lattice.length * width);
  if (lattice.length == 0) return;
  first_step(lattice, best.data());
  for (std::size_t t = 1; t < lattice.length; ++t) step(lattice, t, &best[(t - 1) * width], &best[t * width]);
}

// Short sentences keep all scores. Long ones keep every k-th (k ~ sqrt T) and compute the stretch between two
// of them again while walking backwards, so memory grows with sqrt(T) * states for twice the time.
double viterbi(const Lattice& lattice, ViterbiSpace& space, std::uint32_t* labels) {
  const std::size_t length = lattice.length, width = lattice.states(length);
  if (length == 0) return 0.0;
  const bool all = length * width <= kStoredScores;
  const std::size_t stretch =
      all ? length : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(length))));
  const std::size_t stretches = (length + stretch - 1) / stretch;
  space.best.resize(stretch * width);
  space.checkpoints.resize(stretches * width);
  double* const row0 = space.best.data();

  const auto compute = [&](std::size_t first, std::size_t last) {  // rows of [first, last) from a checkpoint
    const double* checkpoint = &space.checkpoints[(first / stretch) * width];
    std::copy(checkpoint, checkpoint + width, row0);
    for (std::size_t t = first + 1; t < last; ++t)
      step(lattice, t, row0 + (t - 1 - first) * width, row0 + (t - first) * width);
  };

  first_step(lattice, space.checkpoints.data());
  for (std::size_t k = 0; k < stretches; ++k) {
    const std::size_t first = k * stretch, last = std::min(length, first + stretch);
    compute(first, last);
    if (last < length)
      step(lattice, last, row0 + (last - 1 - first) * width, &space.checkpoints[(k + 1) * width]);
  }

  double score = 0.0;
  std::size_t state = 0;
  for (std::size_t k = stretches; k-- > 0;) {
    const std::size_t first = k * stretch, last = std::min(length, first + stretch);
    if (k + 1 < stretches) {
      compute(first, last);
      state = best_predecessor(lattice, last, state, row0 + (last - 1 - first) * width);
    } else {
      state = best_last(lattice, row0 + (last - 1 - first) * width, score);
    }
    for (std::size_t t = last - 1;; --t) {
      labels[t] = static_cast<std::uint32_t>(state % lattice.labels());
      if (t == first) break;
      state = best_predecessor(lattice, t, state, row0 + (t - 1 - first) * width);
    }
  }
  return score;
}

}  // namespace marginalia
