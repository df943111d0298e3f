#include "search/forward_backward.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace marginalia {

namespace {

// A forward probability below this could hide a path that later tokens make likely.
constexpr double kNearUnderflow = 1e-280;

void prepare(const Lattice& lattice, bool want_edges, Marginals& out) {
  const std::size_t n = lattice.labels();
  out.log_z = 0.0;
  out.node.assign(lattice.length * n, 0.0);
  out.edge.assign(want_edges ? lattice.length * n * n : 0, 0.0);
  out.transition.assign(n * n, 0.0);
  out.trigram.assign(lattice.constants->trigram.size(), 0.0);
}

double largest_finite(const double* values, std::size_t n) {
  const double most = *std::max_element(values, values + n);
  return most == kIllegal ? 0.0 : most;
}

// exp(score - shift) of the transitions into each token; computed once where they do not change.
class StepFactors {
 public:
  explicit StepFactors(const Lattice& lattice) : lattice_(lattice), at_(0) {}

  const std::vector<double>& at(std::size_t t) {
    if (at_ == t || (at_ != 0 && !lattice_.has_edges())) return factors_;
    const std::size_t size = lattice_.constants->transition.size();
    const double* scores = lattice_.pairs(t);
    factors_.assign(scores, scores + size);
    shift_ = largest_finite(factors_.data(), size);
    for (double& f : factors_) f = std::exp(f - shift_);
    at_ = t;
    return factors_;
  }
  double shift() const { return shift_; }

 private:
  const Lattice& lattice_;
  std::size_t at_;
  std::vector<double> factors_;
  double shift_ = 0.0;
};

// Which labels can stand at t, going by legality alone.
void reach(const Lattice& lattice, std::vector<std::uint8_t>& reachable, bool& settled) {
  if (settled) return;
  const std::size_t n = lattice.labels();
  std::vector<std::uint8_t> next(n, 0);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n && reachable[from] != 0; ++to)
      next[to] |= lattice.constants->transition[from * n + to] != kIllegal;
  settled = next == reachable;
  reachable = std::move(next);
}

double log_sum(const std::vector<double>& terms) {
  const double most = *std::max_element(terms.begin(), terms.end());
  if (most == kIllegal) return kIllegal;
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - most);
  return most + std::log(sum);
}

}  // namespace

bool scaled_forward_backward(const Lattice& lattice, bool want_edges, Marginals& out) {
  if (lattice.shape->order != 1) return false;
  prepare(lattice, want_edges, out);
  const std::size_t length = lattice.length, n = lattice.labels();
  if (length == 0) return true;

  // emission[t][c] = exp(node + start/end - shift); alpha[t] sums to 1; scale[t] is what it summed to before.
  std::vector<double> emission(lattice.node), alpha(length * n), scale(length);
  for (std::size_t c = 0; c < n; ++c) {
    emission[c] += lattice.constants->start[c];
    emission[(length - 1) * n + c] += lattice.constants->end[c];
  }
  std::vector<std::uint8_t> reachable(lattice.shape->start);
  bool settled = false;
  StepFactors factors(lattice);
  for (std::size_t t = 0; t < length; ++t) {
    double* now = &alpha[t * n];
    const double shift = largest_finite(&emission[t * n], n);
    for (std::size_t c = 0; c < n; ++c) emission[t * n + c] = std::exp(emission[t * n + c] - shift);
    out.log_z += shift;
    if (t == 0) {
      std::copy(emission.begin(), emission.begin() + static_cast<std::ptrdiff_t>(n), now);
    } else {
      const double *step = factors.at(t).data(), *before = now - n;
      out.log_z += factors.shift();
      for (std::size_t from = 0; from < n; ++from) {
        const double weight = before[from];
        if (weight == 0.0) continue;
        for (std::size_t to = 0; to < n; ++to) now[to] += weight * step[from * n + to];
      }
      for (std::size_t c = 0; c < n; ++c) now[c] *= emission[t * n + c];
      reach(lattice, reachable, settled);
    }
    scale[t] = 0.0;
    for (std::size_t c = 0; c < n; ++c) {  // before dividing: a small scale must not hide lost digits
      const bool possible = reachable[c] != 0 && (t + 1 < length || lattice.constants->end[c] != kIllegal);
      if (possible && !(now[c] > kNearUnderflow)) return false;
      scale[t] += now[c];
    }
    if (!(scale[t] > 0.0)) return false;
    for (std::size_t c = 0; c < n; ++c) now[c] /= scale[t];
    out.log_z += std::log(scale[t]);
  }

  std::vector<double> beta(n, 1.0), ahead(n);
  StepFactors backward(lattice);
  for (std::size_t t = length; t-- > 0;) {
    for (std::size_t c = 0; c < n; ++c) out.node[t * n + c] = alpha[t * n + c] * beta[c];
    if (t == 0) break;
    const double* step = backward.at(t).data();
    for (std::size_t c = 0; c < n; ++c) ahead[c] = beta[c] * emission[t * n + c] / scale[t];
    for (std::size_t from = 0; from < n; ++from) {
      const double before = alpha[(t - 1) * n + from];
      beta[from] = 0.0;
      if (before == 0.0) continue;  // unreachable: nothing bounds its backward score
      double sum = 0.0;
      for (std::size_t to = 0; to < n; ++to) {
        const double onward = step[from * n + to] * ahead[to];
        sum += onward;
        out.transition[from * n + to] += before * onward;
        if (want_edges) out.edge[(t * n + from) * n + to] = before * onward;
      }
      beta[from] = sum;
    }
  }
  return true;
}

void log_forward_backward(const Lattice& lattice, bool want_edges, Marginals& out) {
  prepare(lattice, want_edges, out);
  const std::size_t length = lattice.length, n = lattice.labels(), width = lattice.states(length);
  if (length == 0) return;

  // The scores at each token are shifted to a maximum of 0, so that they keep their digits in long sentences.
  std::vector<double> alpha(length * width, kIllegal), beta(length * width, kIllegal), shift(length), terms;
  const auto centre = [width](double* scores) {
    const double most = largest_finite(scores, width);
    for (std::size_t s = 0; s < width; ++s) scores[s] -= most;
    return most;
  };
  for (std::size_t c = 0; c < n; ++c) alpha[c] = lattice.constants->start[c] + lattice.node[c];
  out.log_z = shift[0] = centre(alpha.data());
  for (std::size_t t = 1; t < length; ++t) {
    for (std::size_t s = 0; s < lattice.states(t); ++s) {
      terms.clear();
      lattice.for_predecessors(t, s, [&](std::size_t from, double score) {
        terms.push_back(alpha[(t - 1) * width + from] + score);
      });
      alpha[t * width + s] = log_sum(terms) + lattice.node[t * n + s % n];
    }
    out.log_z += shift[t] = centre(&alpha[t * width]);
  }

  terms.clear();
  for (std::size_t s = 0; s < lattice.states(length - 1); ++s) {
    beta[(length - 1) * width + s] = lattice.constants->end[s % n];
    terms.push_back(alpha[(length - 1) * width + s] + lattice.constants->end[s % n]);
  }
  out.log_z += log_sum(terms);
  if (out.log_z == kIllegal) throw std::domain_error("no legal output exists for this sentence");

  std::vector<std::vector<double>> onward;  // by predecessor: terms of its backward score
  for (std::size_t t = length; t-- > 0;) {
    const double* here = &beta[t * width];
    terms.clear();
    for (std::size_t s = 0; s < lattice.states(t); ++s) terms.push_back(alpha[t * width + s] + here[s]);
    const double total = log_sum(terms);
    for (std::size_t s = 0; s < lattice.states(t); ++s) out.node[t * n + s % n] += std::exp(terms[s] - total);
    if (t == 0) break;
    onward.assign(lattice.states(t - 1), {});
    for (std::size_t s = 0; s < lattice.states(t); ++s) {
      const std::size_t to = s % n;
      const double rest = lattice.node[t * n + to] + here[s];
      lattice.for_predecessors(t, s, [&](std::size_t from, double score) {
        onward[from].push_back(score + rest);
        const double p = std::exp(alpha[(t - 1) * width + from] + score + rest - shift[t] - total);
        const std::size_t previous = from % n;
        out.transition[previous * n + to] += p;
        if (want_edges) out.edge[(t * n + previous) * n + to] += p;
        if (out.trigram.empty()) return;
        const std::size_t older = t == 1 ? n : from / n;
        out.trigram[(older * n + previous) * n + to] += p;
      });
    }
    for (std::size_t from = 0; from < onward.size(); ++from)
      beta[(t - 1) * width + from] = onward[from].empty() ? kIllegal : log_sum(onward[from]);
    centre(&beta[(t - 1) * width]);
  }
}

Marginals forward_backward(const Lattice& lattice, bool want_edges) {
  Marginals out;
  if (!scaled_forward_backward(lattice, want_edges, out)) log_forward_backward(lattice, want_edges, out);
  return out;
}

}  // namespace marginalia
