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

// out[c] = max over p of in[p] + matrix[p][c], for an n by n matrix.
MARGINALIA_KERNEL
void max_product(double* __restrict out, const double* __restrict in, const double* __restrict matrix,
                 std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) out[c] = kIllegal;
  for (std::size_t p = 0; p < n; ++p) {
    const double shift = in[p];
    if (shift == kIllegal) continue;
    const double* __restrict row = matrix + p * n;
    for (std::size_t c = 0; c < n; ++c) {
      const double score = row[c] + shift;
      out[c] = score > out[c] ? score : out[c];
    }
  }
}

// The transition scores into token t; `scratch` holds them where they differ from token to token.
const double* transitions_at(const Lattice& lattice, std::size_t t, std::vector<double>& scratch) {
  if (lattice.edge.empty()) return lattice.constants->transition.data();
  const std::size_t size = lattice.constants->transition.size();
  scratch.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    scratch[i] = lattice.constants->transition[i] + lattice.edge[t * size + i];
  return scratch.data();
}

void first_step(const Lattice& lattice, double* out) {
  for (std::size_t c = 0; c < lattice.labels(); ++c) out[c] = lattice.constants->start[c] + lattice.node[c];
}

// Scores of the states at t >= 1 from those at t - 1.
void step(const Lattice& lattice, std::size_t t, const double* in, double* out,
          std::vector<double>& scratch) {
  const std::size_t n = lattice.labels();
  const double* pairs = transitions_at(lattice, t, scratch);
  const double* node = lattice.node.data() + t * n;
  if (lattice.shape->order == 1) {
    max_product(out, in, pairs, n);
    for (std::size_t c = 0; c < n; ++c) out[c] += node[c];
    return;
  }
  const double* trigram = lattice.constants->trigram.data();
  for (std::size_t b = 0; b < n; ++b) {
    double* row = out + b * n;
    std::fill(row, row + n, kIllegal);
    if (t == 1) {
      max_add(row, trigram + (n * n + b) * n, in[b], n);
    } else {
      for (std::size_t a = 0; a < n; ++a)
        if (in[a * n + b] != kIllegal) max_add(row, trigram + (a * n + b) * n, in[a * n + b], n);
    }
    for (std::size_t c = 0; c < n; ++c) row[c] += pairs[b * n + c] + node[c];
  }
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
  std::vector<double> scratch;
  first_step(lattice, best.data());
  for (std::size_t t = 1; t < lattice.length; ++t)
    step(lattice, t, &best[(t - 1) * width], &best[t * width], scratch);
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
      step(lattice, t, row0 + (t - 1 - first) * width, row0 + (t - first) * width, space.scratch);
  };

  first_step(lattice, space.checkpoints.data());
  for (std::size_t k = 0; k < stretches; ++k) {
    const std::size_t first = k * stretch, last = std::min(length, first + stretch);
    compute(first, last);
    if (last < length)
      step(lattice, last, row0 + (last - 1 - first) * width, &space.checkpoints[(k + 1) * width],
           space.scratch);
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
