#include "search/chain/marginals.hpp"

#include <algorithm>
#include <numeric>

namespace marginalia {

namespace {

class OpenMarginals {
 public:
  OpenMarginals(const Lattice& lattice, const Spelling& spelling, Marginals& marginals)
      : spelling_(spelling), n_(lattice.labels()), second_order_(lattice.shape->order == 2) {
    for (std::vector<Marginal>* list : {&marginals.spans, &marginals.tokens})
      for (Marginal& marginal : *list) waiting_.push_back(&marginal);
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Marginal* a, const Marginal* b) { return a->end < b->end; });
    while (!waiting_.empty() && waiting_.back()->end == lattice.length) {
      Marginal* marginal = waiting_.back();
      waiting_.pop_back();
      open_.push_back(
          {marginal, std::vector<double>((second_order_ ? n_ : 1) * members(*marginal).size(), 1.0)});
    }
  }

  // Pairs (and, in order 2 from the third token on, triples) of labels that end at token t.
  void at(std::size_t t, const double* node, const double* pairs, const double* triples) {
    std::erase_if(open_, [&](Open& one) {
      if (one.marginal->begin == t) {
        one.marginal->probability = t == 0 ? at_first(one, node) : entered(one, pairs);
        return true;
      }
      step(*one.marginal, pairs, triples, &one.rest);
      return false;
    });
    while (t > 0 && !waiting_.empty() && waiting_.back()->end == t) {
      open_.push_back({waiting_.back(), {}});
      waiting_.pop_back();
      step(*open_.back().marginal, pairs, triples, &open_.back().rest);
    }
  }

 private:
  struct Open {
    Marginal* marginal;
    std::vector<double> rest;  // [label before, in order 2][label of the type]; empty: nothing is claimed yet
  };

  const std::vector<std::uint32_t>& members(const Marginal& marginal) const {
    return spelling_.members[marginal.type];
  }
  std::uint8_t relation(std::size_t left, std::size_t right) const {
    return spelling_.relation[left * n_ + right];
  }

  // From a token to the one before.
  void step(const Marginal& marginal, const double* pairs, const double* triples, std::vector<double>* rest) {
    const std::vector<std::uint32_t>& own = members(marginal);
    const std::size_t contexts = triples == nullptr ? 1 : n_;
    const double* p = triples == nullptr ? pairs : triples;
    next_.assign(contexts * own.size(), 0.0);
    for (std::size_t context = 0; context < contexts; ++context)
      for (std::size_t j = 0; j < own.size(); ++j) {
        const double* row = p + (context * n_ + own[j]) * n_;
        const double all = std::accumulate(row, row + n_, 0.0);
        const double covered = rest->empty() ? left(marginal, own[j], row) : joined(own, own[j], row, *rest);
        if (all > 0.0) next_[context * own.size() + j] = covered / all;
      }
    std::swap(*rest, next_);
  }

  double left(const Marginal& marginal, std::uint32_t label, const double* row) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < n_; ++c)
      if (has(marginal.after, relation(label, c))) sum += row[c];
    return sum;
  }

  double joined(const std::vector<std::uint32_t>& own, std::uint32_t label, const double* row,
                const std::vector<double>& rest) const {
    const double* later = rest.data() + (second_order_ ? label * own.size() : 0);
    double sum = 0.0;
    for (std::size_t k = 0; k < own.size(); ++k)
      if (relation(label, own[k]) == kJoined) sum += row[own[k]] * later[k];
    return sum;
  }

  double entered(const Open& one, const double* pairs) const {
    const std::vector<std::uint32_t>& own = members(*one.marginal);
    double sum = 0.0;
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t k = 0; k < own.size(); ++k)
        if (has(one.marginal->before, relation(a, own[k])))
          sum += pairs[a * n_ + own[k]] * one.rest[(second_order_ ? a * own.size() : 0) + k];
    return sum;
  }

  double at_first(const Open& one, const double* node) const {
    const std::vector<std::uint32_t>& own = members(*one.marginal);
    double sum = 0.0;
    for (std::size_t k = 0; k < own.size(); ++k) sum += node[own[k]] * one.rest[k];
    return sum;
  }

  const Spelling& spelling_;
  std::size_t n_;
  bool second_order_;
  std::vector<Marginal*> waiting_;  // by their end
  std::vector<Open> open_;
  std::vector<double> next_;
};

}  // namespace

double marginal_probabilities(const Lattice& lattice, const Spelling& spelling, Marginals& marginals,
                              std::span<const std::uint32_t> output, std::span<double> labels,
                              ForwardBackwardSpace& space) {
  OpenMarginals open(lattice, spelling, marginals);
  const bool want_pairs = !marginals.spans.empty() || !marginals.tokens.empty();
  space.want_triples = want_pairs && lattice.shape->order == 2;
  return forward_backward(lattice, want_pairs, space,
                          [&](std::size_t t, const double* node, const double* pairs) {
                            if (!labels.empty()) labels[t] = node[output[t]];
                            if (!want_pairs) return;
                            const bool third = space.want_triples && t > 1;
                            open.at(t, node, pairs, third ? space.triples.data() : nullptr);
                          });
}

}  // namespace marginalia
