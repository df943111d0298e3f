#include "search/chain/viterbi.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/simd.hpp"

namespace marginalia {

namespace {

// out[c] = max(out[c], shift + row[c])
MARGINALIA_INLINE void max_add(double* out, const double* row, double shift, std::size_t n) {
  std::size_t c = 0;
  for (Doubles score, best; c + kLanes <= n; c += kLanes) {
    load(row + c, score);
    load(out + c, best);
    score += shift;
    store(score > best ? score : best, out + c);
  }
  for (; c < n; ++c) out[c] = std::max(out[c], row[c] + shift);
}

// max over k of a[k] + b[k]
MARGINALIA_INLINE double most_of_sums(const double* a, const double* b, std::size_t n) {
  Doubles most = {kIllegal, kIllegal, kIllegal, kIllegal}, x, y;
  std::size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    load(a + k, x);
    load(b + k, y);
    x += y;
    most = x > most ? x : most;
  }
  double found = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  for (; k < n; ++k) found = std::max(found, a[k] + b[k]);
  return found;
}

// Calls f(k) for rising k < n with a[k] + b[k] >= least and a[k] > kIllegal.
template <class F>
MARGINALIA_INLINE void for_reaching(const double* a, const double* b, double least, std::size_t n, F&& f) {
  using Bits = std::int64_t __attribute__((vector_size(kLanes * sizeof(std::int64_t))));
  for (std::size_t first = 0; first < n; first += 64) {
    const std::size_t last = std::min(n, first + 64);
    Bits found = {0, 0, 0, 0}, bit = {1, 2, 4, 8};  // each lane has bits of its own
    std::size_t k = first;
    for (Doubles x, y; k + kLanes <= last; k += kLanes, bit <<= kLanes) {
      load(a + k, x);
      load(b + k, y);
      found |= (x + y >= least) & (x > kIllegal) & bit;
    }
    auto bits = static_cast<std::uint64_t>((found[0] | found[1]) | (found[2] | found[3]));
    for (; k < last; ++k) bits |= std::uint64_t{a[k] + b[k] >= least && a[k] > kIllegal} << (k - first);
    for (; bits != 0; bits &= bits - 1) f(first + static_cast<std::size_t>(std::countr_zero(bits)));
  }
}

// out[c] += node[c]
MARGINALIA_INLINE void add_nodes(double* out, const double* node, std::size_t n) {
  std::size_t c = 0;
  for (Doubles score, more; c + kLanes <= n; c += kLanes) {
    load(out + c, score);
    load(node + c, more);
    store(score + more, out + c);
  }
  for (; c < n; ++c) out[c] += node[c];
}

void first_step(const Lattice& lattice, double* out) {
  for (std::size_t c = 0; c < lattice.labels(); ++c) out[c] = lattice.constants->start[c] + lattice.node[c];
}

// out[c] for narrow labels, from their listed predecessors.
MARGINALIA_INLINE void fill_narrow(const ChainConstants& constants, const double* in, std::size_t n,
                                   double* out) {
  std::uint32_t i = 0;
  for (std::size_t k = 0; k < constants.narrow.size(); ++k) {
    const std::uint32_t to = constants.narrow[k];
    const auto score = [&](std::uint32_t at) {
      const std::size_t from = constants.predecessor[at];
      return constants.transition[from * n + to] + in[from];
    };
    if (constants.narrow_end[k] == i + 2) {  // as most have: no loop, whose end would be hard to foresee
      out[to] = std::max(score(i), score(i + 1));
      i += 2;
      continue;
    }
    double best = kIllegal;
    for (; i < constants.narrow_end[k]; ++i) best = std::max(best, score(i));
    out[to] = best;
  }
}

// out[c] = the maximum over the listed rows p of in[p] + transition[p][c], for the columns of `Vectors`
// vectors: from `first` on one after another, the last of them at `last`, where it may overlap the one before
// it. The maxima stay in registers meanwhile.
template <std::size_t Vectors>
MARGINALIA_INLINE void max_columns(const double* transition, const double* in, const std::uint8_t* rows,
                                   std::size_t count, std::size_t n, std::size_t first, std::size_t last,
                                   double* out) {
  Doubles best[Vectors], score;
#pragma GCC unroll 8
  for (std::size_t v = 0; v < Vectors; ++v) best[v] = Doubles{kIllegal, kIllegal, kIllegal, kIllegal};
  for (std::size_t k = 0; k < count; ++k) {
    const double* row = transition + rows[k] * n;
    const double shift = in[rows[k]];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Vectors; ++v) {
      load(row + (v + 1 < Vectors ? first + v * kLanes : last), score);
      score += shift;
      best[v] = score > best[v] ? score : best[v];
    }
  }
  // The last first: what is loaded next is then the whole of one store, which the processor hands on quickly.
  store(best[Vectors - 1], out + last);
#pragma GCC unroll 8
  for (std::size_t v = 0; v + 1 < Vectors; ++v) store(best[v], out + first + v * kLanes);
}

constexpr std::size_t kListed = 64;  // most labels whose rows are listed

// The same for all columns, of kLanes to kListed labels.
MARGINALIA_INLINE void max_rows(const double* transition, const double* in, const std::uint8_t* rows,
                                std::size_t count, std::size_t n, double* out) {
  constexpr std::size_t kBlock = 4 * kLanes;
  std::size_t first = 0;
  for (; first + 2 * kBlock < n; first += kBlock)
    max_columns<4>(transition, in, rows, count, n, first, first + kBlock - kLanes, out);
  const auto columns = [&]<std::size_t Vectors>() {
    max_columns<Vectors>(transition, in, rows, count, n, first, n - kLanes, out);
  };
  switch ((n - first + kLanes - 1) / kLanes) {
    case 8:
      return columns.template operator()<8>();
    case 7:
      return columns.template operator()<7>();
    case 6:
      return columns.template operator()<6>();
    case 5:
      return columns.template operator()<5>();
    case 4:
      return columns.template operator()<4>();
    case 3:
      return columns.template operator()<3>();
    case 2:
      return columns.template operator()<2>();
    default:
      return columns.template operator()<1>();
  }
}

// Rows of transitions that by their bounds cannot reach what the best row gives to every label are skipped;
// usually few remain.
MARGINALIA_INLINE void max_reaching(const ChainConstants& constants, const double* in, std::size_t n,
                                    double* out) {
  const RowBounds& bounds = constants.transition_bounds;
  const double* transition = constants.transition.data();
  const double least = most_of_sums(in, bounds.least.data(), n);
  if (n < kLanes || n > kListed) {
    std::fill(out, out + n, kIllegal);
    for_reaching(in, bounds.most.data(), least, n,
                 [&](std::size_t p) { max_add(out, transition + p * n, in[p], n); });
    return;
  }
  std::uint8_t rows[kListed];
  std::size_t count = 0;
  for_reaching(in, bounds.most.data(), least, n,
               [&](std::size_t p) { rows[count++] = static_cast<std::uint8_t>(p); });
  max_rows(transition, in, rows, count, n, out);
}

MARGINALIA_INLINE void step_order_1(const Lattice& lattice, std::size_t t, const double* in, double* out) {
  const std::size_t n = lattice.labels();
  const ChainConstants& constants = *lattice.constants;
  if (!lattice.varies()) {
    max_reaching(constants, in, n, out);
    fill_narrow(constants, in, n, out);
  } else {
    const double* pairs = lattice.pairs(t);
    std::fill(out, out + n, kIllegal);
    for (std::size_t p = 0; p < n; ++p)
      if (in[p] != kIllegal) max_add(out, pairs + p * n, in[p], n);
  }
  add_nodes(out, &lattice.node[t * n], n);
}

// Raises `out` to the best scores by way of the states with label b at t - 1, whose scores and bounds are n
// apart.
MARGINALIA_INLINE void max_trigrams(const ChainConstants& constants, std::size_t b, const double* in,
                                    std::size_t n, double* out) {
  const RowBounds& bounds = constants.trigram_bounds;
  double least = kIllegal;
  for (std::size_t s = b; s < n * n; s += n) least = std::max(least, in[s] + bounds.least[s]);
  for (std::size_t s = b; s < n * n; s += n)
    if (in[s] != kIllegal && in[s] + bounds.most[s] >= least)
      max_add(out, constants.trigram.data() + s * n, in[s], n);
}

// The same without bounds, of triples that differ from token to token.
MARGINALIA_INLINE void max_triples(const double* triples, std::size_t b, const double* in, std::size_t n,
                                   double* out) {
  for (std::size_t s = b; s < n * n; s += n)
    if (in[s] != kIllegal) max_add(out, triples + s * n, in[s], n);
}

MARGINALIA_INLINE void step_order_2(const Lattice& lattice, std::size_t t, const double* in, double* out) {
  const std::size_t n = lattice.labels();
  const double* pairs = lattice.pairs(t);
  const double* trigrams = lattice.trigrams(t);
  for (std::size_t b = 0; b < n; ++b) {
    double* row = out + b * n;
    std::fill(row, row + n, kIllegal);
    if (t == 1)
      max_add(row, trigrams + (n * n + b) * n, in[b], n);
    else if (lattice.triples_vary())
      max_triples(trigrams, b, in, n, row);
    else
      max_trigrams(*lattice.constants, b, in, n, row);
    for (std::size_t c = 0; c < n; ++c) row[c] += pairs[b * n + c] + lattice.node[t * n + c];
  }
}

// Scores of the states at tokens [first, last), 1 <= first, one row of `width` after another; those of token
// first - 1 stand before them.
MARGINALIA_KERNEL
void steps(const Lattice& lattice, std::size_t first, std::size_t last, std::size_t width, double* scores) {
  for (std::size_t t = first; t < last; ++t, scores += width) {
    if (lattice.shape->order == 1)
      step_order_1(lattice, t, scores - width, scores);
    else
      step_order_2(lattice, t, scores - width, scores);
  }
}

// The first k < n with the highest score_of(k); four are looked at side by side.
template <class ScoreOf>
MARGINALIA_INLINE std::size_t first_best(std::size_t n, ScoreOf&& score_of) {
  const auto score = [&](std::size_t k) { return k < n ? score_of(k) : kIllegal; };
  constexpr double kMany = std::numeric_limits<double>::max();
  Doubles best = {score(0), score(1), score(2), score(3)}, at = {0, 1, 2, 3}, here = at;
  const auto look = [&](const Doubles& scores) {
    here += static_cast<double>(kLanes);
    at = scores > best ? here : at;
    best = scores > best ? scores : best;
  };
  std::size_t k = kLanes;
  for (; k + kLanes <= n; k += kLanes)
    look(Doubles{score_of(k), score_of(k + 1), score_of(k + 2), score_of(k + 3)});
  if (k < n) look(Doubles{score(k), score(k + 1), score(k + 2), score(k + 3)});
  const double most = std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
  const Doubles no_place = {kMany, kMany, kMany, kMany};
  at = best == most ? at : no_place;
  return static_cast<std::size_t>(std::min(std::min(at[0], at[1]), std::min(at[2], at[3])));
}

MARGINALIA_INLINE std::size_t predecessor(const Lattice& lattice, std::size_t t, std::size_t state,
                                          const double* earlier) {
  const std::size_t n = lattice.labels();
  const double* pairs = lattice.pairs(t) + state;
  if (lattice.shape->order == 1)
    return first_best(n, [&](std::size_t from) { return earlier[from] + pairs[from * n]; });
  const std::size_t from = state / n, to = state % n;
  if (t == 1) return from;
  const double* trigrams = lattice.trigrams(t) + to;
  const auto score_of = [&](std::size_t older) {
    return earlier[older * n + from] + (trigrams[(older * n + from) * n] + *pairs);
  };
  return first_best(n, score_of) * n + from;
}

// Labels of tokens (first, last] back from the state at `last`, given the scores of the states at tokens from
// `first` on; returns the state at `first`.
MARGINALIA_KERNEL
std::size_t trace_back(const Lattice& lattice, std::size_t first, std::size_t last, std::size_t state,
                       const double* scores, std::uint32_t* labels) {
  const std::size_t n = lattice.labels(), width = lattice.states(lattice.length);
  const bool pairs = lattice.shape->order == 2;
  for (std::size_t t = last; t > first; --t) {
    labels[t] = static_cast<std::uint32_t>(pairs ? state % n : state);
    state = predecessor(lattice, t, state, scores + (t - 1 - first) * width);
  }
  return state;
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
  return predecessor(lattice, t, state, earlier);
}

void forward_scores(const Lattice& lattice, std::vector<double>& best) {
  const std::size_t width = lattice.states(lattice.length);
  best.resize(lattice.length * width);
  if (lattice.length == 0) return;
  first_step(lattice, best.data());
  steps(lattice, 1, lattice.length, width, best.data() + width);
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
  space.best.resize((stretch + 1) * width);
  space.checkpoints.resize(stretches * width);
  double* const scores = space.best.data();

  // Of a stretch from its checkpoint on, with the first token of the next.
  const auto compute = [&](std::size_t k) {
    const std::size_t first = k * stretch, last = std::min(length, first + stretch + 1);
    std::copy_n(&space.checkpoints[k * width], width, scores);
    steps(lattice, first + 1, last, width, scores + width);
    return last - 1;
  };

  first_step(lattice, space.checkpoints.data());
  std::size_t last = compute(0);
  for (std::size_t k = 1; k < stretches; ++k) {
    std::copy_n(scores + stretch * width, width, &space.checkpoints[k * width]);
    last = compute(k);
  }
  double score = 0.0;
  std::size_t state = best_last(lattice, scores + (last - (stretches - 1) * stretch) * width, score);
  for (std::size_t k = stretches; k-- > 0;) {
    if (k + 1 < stretches) last = compute(k);
    state = trace_back(lattice, k * stretch, last, state, scores, labels);
  }
  labels[0] = static_cast<std::uint32_t>(state % lattice.labels());
  return score;
}

}  // namespace marginalia
