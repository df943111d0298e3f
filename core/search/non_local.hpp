// Non-local features: the n best outputs of a structure, scored again with global features of whole outputs
// (Kazama and Torisawa 2007, whose candidate algorithm, 4.1, is the margin perceptron over this structure).
// Search looks at n candidates only, so it may miss an output, the right one too, that scores more than all
// of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "search/structure.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// global(i, y, sink): the features of the whole output y of example i.
template <class Global, class Output>
concept GlobalFeatures =
    requires(const Global& global, std::size_t i, const Output& y, NoSink sink) { global(i, y, sink); };

// It has no tier that the candidates alone cannot answer: no expectations, no examples with more than one
// right output.
template <Structure S, GlobalFeatures<typename S::Output> Global>
class NonLocal {
 public:
  using Output = typename S::Output;
  static constexpr const char* kName = "non-local";

  // The structure scores with the weights of its own features, which are among `weights`; both must outlive
  // this one.
  NonLocal(S& local, const SparseRows& weights, Global global, std::size_t n)
      : local_(local), weights_(weights), global_(std::move(global)), n_(n) {}

  std::size_t size() const { return local_.size(); }
  std::size_t parts(std::size_t i) const { return local_.parts(i); }
  Output gold(std::size_t i) { return local_.gold(i); }
  std::size_t errors(std::size_t i, const Output& y) const { return local_.errors(i, y); }

  const Scored<Output>& best(std::size_t i) {
    std::vector<Scored<Output>> found = candidates(i);
    best_ = found.empty() ? Scored<Output>{local_.best(i)} : std::move(found.front());
    return best_;
  }

  // At most n of them.
  std::vector<Scored<Output>> k_best(std::size_t i, std::size_t k) {
    std::vector<Scored<Output>> found = candidates(i);
    if (found.size() > k) found.resize(k);
    return found;
  }

  template <class Sink>
  void features_of(std::size_t i, const Output& y, Sink&& sink) {
    local_.features_of(i, y, sink);
    global_(i, y, sink);
  }
  template <class Sink>
  void difference(std::size_t i, const Output& y, const Output& z, Sink&& sink) {
    marginalia::difference(local_, i, y, z, sink);
    global_(i, y, sink);
    global_(i, z, [&](const Coordinate& at, double count) { sink(at, -count); });
  }

  // Gold may be none of the candidates and score more than all of them.
  void violation(std::size_t i, Against which, Violation<Output>& found) {
    find_whole_violation(*this, i, which, found);
    found.right_may_lead = found.errors != 0;
  }

  void constant_changed(std::size_t at, double value)
    requires WithConstants<S>
  {
    local_.constant_changed(at, value);
  }

 private:
  // The n best by local features, by all features, best first; ties stay in the order of local scores.
  std::vector<Scored<Output>> candidates(std::size_t i) {
    std::vector<Scored<Output>> found = local_.k_best(i, n_);
    for (Scored<Output>& one : found)
      global_(i, one.output, [&](const Coordinate& at, double count) {
        if (const std::size_t cell = weights_.place_of(at); cell != SIZE_MAX)
          one.score += count * static_cast<double>(weights_.cells[cell].weight);
      });
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    return found;
  }

  S& local_;
  const SparseRows& weights_;
  Global global_;
  std::size_t n_;
  Scored<Output> best_;
};

}  // namespace marginalia
