#include "search/chain/forward_backward.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/simd.hpp"
#include "base/vector.hpp"

namespace marginalia {

namespace {

using Space = ForwardBackwardSpace;
using Factors = ForwardBackwardSpace::Factors;

// A forward probability below this could hide a path that later tokens make likely.
constexpr double kNearUnderflow = 1e-280;

// Rows of labels are padded with zeros to a multiple of this, so that wide registers are always full.
constexpr std::size_t kLanes = 4;

std::size_t padded(std::size_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

double largest_finite(const double* values, std::size_t n) {
  const double most = *std::max_element(values, values + n);
  return most == kIllegal ? 0.0 : most;
}

// out = exp(scores - shift), each row of n padded to `stride`; returns the shift.
double exp_rows(const double* scores, std::size_t rows, std::size_t n, std::size_t stride, double* out) {
  const double shift = largest_finite(scores, rows * n);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(scores + r * n, n, out + r * stride);
    std::fill(out + r * stride + n, out + (r + 1) * stride, kIllegal);
  }
  exp_all(out, rows * stride, shift);
  return shift;
}

// exp(score - shift) of label pairs or triples, computed anew only where the scores are others than before:
// often they are the same for all tokens of all sentences.
double remember_exp(Factors& factors, const double* scores, std::size_t rows, std::size_t n,
                    std::size_t stride) {
  const std::size_t size = rows * n;
  if (factors.scores.size() == size && factors.stride == stride &&
      std::equal(scores, scores + size, factors.scores.begin()))
    return factors.shift;
  factors.scores.assign(scores, scores + size);
  factors.stride = stride;
  factors.values.resize(rows * stride);
  return factors.shift = exp_rows(scores, rows, n, stride, factors.values.data());
}

// Which labels can stand at a token, going by legality alone.
class Reachable {
 public:
  explicit Reachable(const Lattice& lattice) : lattice_(lattice), now_(lattice.shape->start) {
    if (lattice.length > 0) leave_allowed();
  }

  bool operator[](std::size_t label) const { return now_[label] != 0; }

  // False if the next token can have the same labels.
  bool advance() {
    if (converged_ && !lattice_.restricted()) return false;
    const std::size_t n = lattice_.labels();
    std::vector<std::uint8_t> next(n, 0);
    for (std::size_t from = 0; from < n; ++from)
      for (std::size_t to = 0; to < n && now_[from] != 0; ++to)
        next[to] |= lattice_.constants->transition[from * n + to] != kIllegal;
    converged_ = next == now_;
    now_ = std::move(next);
    ++token_;
    leave_allowed();
    return !converged_ || lattice_.restricted();
  }

 private:
  void leave_allowed() {
    for (std::size_t c = 0; c < now_.size() && lattice_.restricted(); ++c)
      if (!lattice_.allows(token_, c)) now_[c] = 0;
  }

  const Lattice& lattice_;
  std::vector<std::uint8_t> now_;
  std::size_t token_ = 0;
  bool converged_ = false;
};

// emission[t][c] = exp(node + start/end - shift), rows padded; returns the sum of the shifts.
double fill_emission(const Lattice& lattice, Space& space, std::size_t stride) {
  const std::size_t n = lattice.labels(), length = lattice.length;
  space.emission.resize(length * stride);
  double shifts = 0.0;
  for (std::size_t t = 0; t < length; ++t) {
    double* now = &space.emission[t * stride];
    std::copy_n(&lattice.node[t * n], n, now);
    std::fill(now + n, now + stride, kIllegal);
    if (t == 0) add_scaled(now, lattice.constants->start.data(), 1.0, n);
    if (t + 1 == length) add_scaled(now, lattice.constants->end.data(), 1.0, n);
    const double shift = largest_finite(now, n);
    shifts += shift;
    exp_all(now, stride, shift);
  }
  return shifts;
}

// Divides the forward probabilities of a token by their sum. False if one came below its floor: looked at
// before dividing, because a small sum must not hide lost digits.
MARGINALIA_KERNEL
bool rescale(double* __restrict now, const double* __restrict floors, std::size_t stride, double& scale) {
  double sums[kLanes] = {}, low[kLanes] = {};
  for (std::size_t c = 0; c < stride; c += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) {
      sums[k] += now[c + k];
      low[k] += now[c + k] < floors[c + k] ? 1.0 : 0.0;
    }
  scale = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (low[0] + low[1] + low[2] + low[3] != 0.0 || !(scale > 0.0)) return false;
  const double factor = 1.0 / scale;
  for (std::size_t c = 0; c < stride; ++c) now[c] *= factor;
  return true;
}

// How small a forward probability may get: not near 0 where the state is possible, anything elsewhere.
template <class Possible>
void set_floors(std::vector<double>& floors, std::size_t states, std::size_t stride, Possible&& possible) {
  floors.assign(stride, -1.0);
  for (std::size_t s = 0; s < states; ++s)
    if (possible(s)) floors[s] = kNearUnderflow;
}

// out[c] = emission[c] * sum over b of in[b] * steps[b][c]
MARGINALIA_KERNEL
void advance(const double* __restrict in, const double* __restrict steps, const double* __restrict emission,
             std::size_t n, std::size_t stride, double* __restrict out) {
  std::fill(out, out + stride, 0.0);
  for (std::size_t b = 0; b < n; ++b) {
    const double factor = in[b];
    const double* row = steps + b * stride;
    for (std::size_t c = 0; c < stride; ++c) out[c] += factor * row[c];
  }
  for (std::size_t c = 0; c < stride; ++c) out[c] *= emission[c];
}

bool forward_order_1(const Lattice& lattice, Space& space, std::size_t stride, double& log_z) {
  const std::size_t length = lattice.length, n = lattice.labels();
  Reachable reachable(lattice);
  double shift = 0.0;
  for (std::size_t t = 0; t < length; ++t) {
    double* now = &space.alpha[t * stride];
    bool others = t == 0;
    if (t == 0) {
      std::copy_n(space.emission.begin(), stride, now);
    } else {
      if (t == 1 || lattice.varies())
        shift = remember_exp(space.pair_factors, lattice.pairs(t), n, n, stride);
      log_z += shift;
      advance(now - stride, space.pair_factors.values.data(), &space.emission[t * stride], n, stride, now);
      others = reachable.advance();
    }
    const bool last = t + 1 == length;
    if (others || last)
      set_floors(space.floors, n, stride, [&](std::size_t c) {
        return reachable[c] && (!last || lattice.constants->end[c] != kIllegal);
      });
    if (!rescale(now, space.floors.data(), stride, space.scale[t])) return false;
    log_z += std::log(space.scale[t]);
  }
  return true;
}

// ahead[c] = beta[c] * emission[c] / scale; node[c] = alpha[c] * beta[c]
MARGINALIA_KERNEL
void look_ahead(const double* __restrict alpha, const double* __restrict beta,
                const double* __restrict emission, double scale, std::size_t stride, double* __restrict node,
                double* __restrict ahead) {
  const double factor = 1.0 / scale;
  for (std::size_t c = 0; c < stride; ++c) {
    node[c] = alpha[c] * beta[c];
    ahead[c] = beta[c] * emission[c] * factor;
  }
}

// beta[b] = sum over c of steps[b][c] * ahead[c], and counts[b][c] += before[b] * ahead[c]. Unreachable
// states get 0: nothing bounds their backward score.
MARGINALIA_KERNEL
void retreat(const double* __restrict before, const double* __restrict steps, const double* __restrict ahead,
             std::size_t n, std::size_t stride, double* __restrict counts, double* __restrict beta) {
  for (std::size_t b = 0; b < n; ++b) {
    const double factor = before[b];
    const double* row = steps + b * stride;
    double* count = counts + b * stride;
    double sums[kLanes] = {};
    for (std::size_t c = 0; c < stride; c += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) {
        sums[k] += row[c + k] * ahead[c + k];
        count[c + k] += factor * ahead[c + k];
      }
    beta[b] = factor == 0.0 ? 0.0 : (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

void backward_order_1(const Lattice& lattice, bool want_pairs, Space& space, std::size_t stride,
                      const AtToken& at) {
  const std::size_t n = lattice.labels();
  const bool varies = lattice.varies();
  space.beta.assign(stride, 0.0);
  std::fill_n(space.beta.begin(), n, 1.0);
  space.ahead.resize(stride);
  space.node.resize(stride);
  space.counts.assign(n * stride, 0.0);
  space.pairs.resize(n * n);
  const std::vector<double>& steps = space.pair_factors.values;
  // The pairs of one token are the counts of one step times its factors.
  const auto take_counts = [&](double* pairs) {
    for (std::size_t b = 0; b < n; ++b)
      for (std::size_t c = 0; c < n; ++c)
        pairs[b * n + c] += space.counts[b * stride + c] * steps[b * stride + c];
  };
  const bool by_token = varies || want_pairs;
  for (std::size_t t = lattice.length; t-- > 0;) {
    const double* now = &space.alpha[t * stride];
    look_ahead(now, space.beta.data(), &space.emission[t * stride], space.scale[t], stride, space.node.data(),
               space.ahead.data());
    if (t == 0) {
      at(t, space.node.data(), nullptr);
      break;
    }
    if (varies) remember_exp(space.pair_factors, lattice.pairs(t), n, n, stride);
    retreat(now - stride, steps.data(), space.ahead.data(), n, stride, space.counts.data(),
            space.beta.data());
    if (by_token) {
      std::fill(space.pairs.begin(), space.pairs.end(), 0.0);
      take_counts(space.pairs.data());
      add_scaled(space.transition.data(), space.pairs.data(), 1.0, n * n);
      std::fill(space.counts.begin(), space.counts.end(), 0.0);
    }
    at(t, space.node.data(), want_pairs ? space.pairs.data() : nullptr);
  }
  if (!by_token && lattice.length > 1) take_counts(space.transition.data());
}

// out[b][c] = sum over a of in[a][b] * trigram[a][b][c]
MARGINALIA_KERNEL
void advance_pairs(const double* __restrict in, const double* __restrict trigram, std::size_t n,
                   double* __restrict out) {
  std::fill(out, out + n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const double factor = in[a * n + b];
      if (factor == 0.0) continue;
      const double* row = trigram + (a * n + b) * n;
      for (std::size_t c = 0; c < n; ++c) out[b * n + c] += factor * row[c];
    }
}

// counts[a][b][c] += in[a][b] * ahead[b][c]; beta[a][b] = sum over c of trigram[a][b][c] * ahead[b][c], 0
// where in[a][b] is: such a state is unreachable.
MARGINALIA_KERNEL
void retreat_pairs(const double* __restrict in, const double* __restrict trigram,
                   const double* __restrict ahead, std::size_t n, double* __restrict counts,
                   double* __restrict beta) {
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const double factor = in[a * n + b];
      double sum = 0.0;
      if (factor != 0.0) {
        const double *row = trigram + (a * n + b) * n, *next = ahead + b * n;
        double* count = counts + (a * n + b) * n;
        for (std::size_t c = 0; c < n; ++c) {
          count[c] += factor * next[c];
          sum += row[c] * next[c];
        }
      }
      beta[a * n + b] = sum;
    }
}

// Multiplies the states (b, c) of token t by what their label pair and their label bring.
void weigh_pairs(double* states, const double* steps, const double* emission, std::size_t n) {
  multiply(states, steps, n * n);
  for (std::size_t b = 0; b < n; ++b) multiply(states + b * n, emission, n);
}

bool forward_order_2(const Lattice& lattice, Space& space, double trigram_shift, double& log_z) {
  const std::size_t length = lattice.length, n = lattice.labels(), width = n * n, stride = padded(width);
  Reachable reachable(lattice);
  const std::vector<double>& trigrams = space.trigram_factors.values;
  double shift = 0.0;
  for (std::size_t t = 0; t < length; ++t) {
    double* now = &space.alpha[t * stride];
    const bool last = t + 1 == length;
    const auto may_end = [&](std::size_t c) { return !last || lattice.constants->end[c] != kIllegal; };
    std::fill(now, now + stride, 0.0);
    if (t == 0) {
      std::copy_n(space.emission.begin(), n, now);
      set_floors(space.floors, n, stride, [&](std::size_t c) { return reachable[c] && may_end(c); });
    } else {
      if (t == 1 || lattice.varies()) shift = remember_exp(space.pair_factors, lattice.pairs(t), n, n, n);
      log_z += shift + trigram_shift;
      if (t == 1) {  // before the first label stands the sentence's beginning
        const double* start = &trigrams[n * width];
        for (std::size_t s = 0; s < width; ++s) now[s] = (now - stride)[s / n] * start[s];
      } else {
        advance_pairs(now - stride, trigrams.data(), n, now);
      }
      weigh_pairs(now, space.pair_factors.values.data(), &space.emission[t * n], n);
      set_floors(space.floors, width, stride, [&](std::size_t s) {
        return reachable[s / n] && lattice.constants->transition[s] != kIllegal && may_end(s % n) &&
               lattice.allows(t, s % n);
      });
      reachable.advance();
    }
    if (!rescale(now, space.floors.data(), stride, space.scale[t])) return false;
    log_z += std::log(space.scale[t]);
  }
  return true;
}

void backward_order_2(const Lattice& lattice, Space& space, const AtToken& at) {
  const std::size_t n = lattice.labels(), width = n * n, stride = padded(width);
  const std::vector<double>&trigrams = space.trigram_factors.values, &steps = space.pair_factors.values;
  space.beta.assign(width, 1.0);
  space.ahead.resize(width);
  space.pairs.resize(width);
  for (std::size_t t = lattice.length; t-- > 0;) {
    const double *now = &space.alpha[t * stride], *before = now - (t > 0 ? stride : 0);
    space.node.assign(n, 0.0);
    if (t == 0) {
      for (std::size_t c = 0; c < n; ++c) space.node[c] = now[c] * space.beta[c];
      at(t, space.node.data(), nullptr);
      break;
    }
    for (std::size_t s = 0; s < width; ++s) {
      space.pairs[s] = now[s] * space.beta[s];
      space.node[s % n] += space.pairs[s];
    }
    add_scaled(space.transition.data(), space.pairs.data(), 1.0, width);
    if (lattice.varies()) remember_exp(space.pair_factors, lattice.pairs(t), n, n, n);
    for (std::size_t s = 0; s < width; ++s) space.ahead[s] = space.beta[s] / space.scale[t];
    weigh_pairs(space.ahead.data(), steps.data(), &space.emission[t * n], n);
    if (space.want_triples && t > 1) {
      space.triples.assign(trigrams.begin(), trigrams.begin() + static_cast<std::ptrdiff_t>(n * width));
      for (std::size_t s = 0; s < n * width; ++s) space.triples[s] *= before[s / n] * space.ahead[s % width];
    }
    at(t, space.node.data(), space.pairs.data());
    if (t > 1) {
      retreat_pairs(before, trigrams.data(), space.ahead.data(), n, space.trigram.data(), space.beta.data());
      continue;
    }
    const double* start = &trigrams[n * width];
    std::fill_n(space.beta.begin(), n, 0.0);
    for (std::size_t s = 0; s < width; ++s) {
      space.trigram[n * width + s] = before[s / n] * space.ahead[s];
      space.beta[s / n] += start[s] * space.ahead[s];
    }
  }
  multiply(space.trigram.data(), trigrams.data(), space.trigram.size());
}

}  // namespace

void ForwardBackwardSpace::begin(const Lattice& lattice) {
  transition.assign(lattice.constants->transition.size(), 0.0);
  trigram.assign(lattice.constants->trigram.size(), 0.0);
}

bool scaled_forward_backward(const Lattice& lattice, bool want_pairs, Space& space, const AtToken& at,
                             double& log_z) {
  log_z = 0.0;
  space.begin(lattice);
  if (lattice.length == 0) return true;
  if (lattice.triples_vary()) return false;  // too many factors to make for each token twice
  const std::size_t n = lattice.labels();
  space.scale.resize(lattice.length);
  if (lattice.shape->order == 1) {
    const std::size_t stride = padded(n);
    log_z = fill_emission(lattice, space, stride);
    space.alpha.resize(lattice.length * stride);
    if (!forward_order_1(lattice, space, stride, log_z)) return false;
    backward_order_1(lattice, want_pairs, space, stride, at);
    return true;
  }
  log_z = fill_emission(lattice, space, n);
  space.alpha.resize(lattice.length * padded(n * n));
  const double shift =
      remember_exp(space.trigram_factors, lattice.constants->trigram.data(), n + 1, n * n, n * n);
  if (!forward_order_2(lattice, space, shift, log_z)) return false;
  backward_order_2(lattice, space, at);
  return true;
}

double forward_backward(const Lattice& lattice, bool want_pairs, Space& space, const AtToken& at) {
  double log_z = 0.0;
  if (scaled_forward_backward(lattice, want_pairs, space, at, log_z)) return log_z;
  return log_forward_backward(lattice, want_pairs, space, at);
}

}  // namespace marginalia
