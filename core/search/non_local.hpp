// Non-local features: the n best outputs of a structure, scored again with global features of whole outputs
// (Kazama and Torisawa 2007, algorithms 4.1 and 4.2). Search looks at n hypotheses only, so it may miss an
// output, the right one too, that scores more than all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "search/structure.hpp"
#include "weights/table.hpp"

namespace marginalia {

// An output of the structure below. `global`: do its global features count? An update of the local model
// alone, part (B) of algorithm 4.2, compares outputs without them.
template <class Local>
struct WholeOutput {
  Local local{};
  bool global = true;

  bool operator==(const WholeOutput& other) const { return local == other.local; }
  auto begin() const
    requires requires(const Local& y) { y.begin(); }
  {
    return local.begin();
  }
  auto end() const
    requires requires(const Local& y) { y.end(); }
  {
    return local.end();
  }
};

// add_scores(i, outputs): adds to the score of each output of example i that of its global features;
// difference(i, y, z, sink): the global features of y minus those of z; features_of(i, y, sink): those of y.
template <class Global, class Local>
concept GlobalFeatures = requires(Global& global, std::size_t i, std::vector<Scored<Local>>& outputs,
                                  const Local& y, NoSink sink) {
  global.add_scores(i, outputs);
  global.difference(i, y, y, sink);
  global.features_of(i, y, sink);
};

// How the n best are looked at: n hypotheses when it learns, `in_use` when the best one is asked for, the margins
// of all features and of the local ones, and whether the local model is updated by itself (part (B)).
struct NonLocalOptions {
  std::size_t n = 20, in_use = 100;
  double margin = 0.0, local_margin = 0.0;
  bool local_updates = true;
};

// It has no tier that the hypotheses alone cannot answer: no expectations, no examples with more than one
// right output.
template <Structure S, GlobalFeatures<typename S::Output> Global>
class NonLocal {
 public:
  using Local = typename S::Output;
  using Output = WholeOutput<Local>;
  static constexpr const char* kName = "non-local";

  // The structure scores with the weights of its own features, which are among `weights`; all must outlive
  // this one.
  NonLocal(S& local, const SparseRows& weights, Global& global, const NonLocalOptions& options)
      : local_(local), weights_(weights), global_(global), options_(options) {}

  std::size_t size() const { return local_.size(); }
  std::size_t parts(std::size_t i) const { return local_.parts(i); }
  Output gold(std::size_t i) { return {local_.gold(i)}; }
  std::size_t errors(std::size_t i, const Output& y) const { return local_.errors(i, y.local); }

  const Scored<Output>& best(std::size_t i) {
    const std::vector<Scored<Local>> found = ranked(i, options_.in_use);
    best_ = found.empty() ? Scored<Output>{{local_.best(i).output}} : whole(found.front());
    return best_;
  }

  // At most as many as are looked at.
  std::vector<Scored<Output>> k_best(std::size_t i, std::size_t k) {
    std::vector<Scored<Output>> found;
    for (const Scored<Local>& one : ranked(i, options_.in_use))
      if (found.size() < k) found.push_back(whole(one));
    return found;
  }

  template <class Sink>
  void features_of(std::size_t i, const Output& y, Sink&& sink) {
    local_.features_of(i, y.local, sink);
    if (y.global) global_.features_of(i, y.local, sink);
  }
  template <class Sink>
  void difference(std::size_t i, const Output& y, const Output& z, Sink&& sink) {
    marginalia::difference(local_, i, y.local, z.local, sink);
    if (y.global && z.global) global_.difference(i, y.local, z.local, sink);
  }

  // Gold may be none of the hypotheses and score more than all of them. Against the second best it is decided
  // here whether all features or the local ones are to be updated, and that is then due.
  void violation(std::size_t i, Against which, Violation<Output>& found) {
    if (which == Against::costly) throw std::invalid_argument("the outputs of this structure have no costs");
    found = {};
    std::vector<Scored<Local>> local = local_.k_best(i, options_.n);
    if (local.empty()) return;
    std::vector<Scored<Local>> all = local;
    rank(i, all);
    found.right = gold(i);
    found.errors = local_.errors(i, all[0].output);
    if (which == Against::best) {
      found.found = found.right_may_lead = found.errors != 0;
      if (found.found) found.wrong = whole(all[0]);
      return;
    }
    if (compare(i, all, options_.margin, true, found) || !options_.local_updates) return;
    compare(i, local, options_.local_margin, false, found);
  }

  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step)
    requires Droppable<S>
  {
    local_.hide(i, dropout, step);
  }
  void prefetch(std::size_t i) const
    requires requires(const S& s) { s.prefetch(i); }
  {
    local_.prefetch(i);
  }
  std::uint32_t row_outputs() const
    requires requires(const S& s) { s.row_outputs(); }
  {
    return local_.row_outputs();
  }
  void constant_changed(std::size_t at, double value)
    requires WithConstants<S>
  {
    local_.constant_changed(at, value);
  }

 private:
  static Scored<Output> whole(const Scored<Local>& one) { return {{one.output}, one.score}; }

  // By all features, best first; ties stay in the order of local scores.
  void rank(std::size_t i, std::vector<Scored<Local>>& outputs) {
    global_.add_scores(i, outputs);
    std::stable_sort(outputs.begin(), outputs.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
  }
  std::vector<Scored<Local>> ranked(std::size_t i, std::size_t n) {
    std::vector<Scored<Local>> found = local_.k_best(i, n);
    if (!found.empty()) rank(i, found);
    return found;
  }

  // Takes the first of the two best outputs that is wrong and that gold does not beat by more than a margin. A
  // wrong best output of the local model needs no comparison: gold cannot score more.
  bool compare(std::size_t i, const std::vector<Scored<Local>>& outputs, double margin, bool global,
               Violation<Output>& found) {
    const bool leads = !global && local_.errors(i, outputs[0].output) != 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(outputs.size(), leads ? 1 : 2); ++k) {
      if (outputs[k].output == found.right.local) continue;
      found.right.global = global;
      found.wrong = {{outputs[k].output, global}, outputs[k].score};
      found.found = found.due = leads || lead(i, found) <= margin;
      if (found.found) return true;
    }
    return false;
  }

  // By how much gold's score exceeds that of the other output.
  double lead(std::size_t i, const Violation<Output>& found) {
    double sum = 0.0;
    difference(i, found.right, found.wrong.output, [&](const Coordinate& at, double count) {
      if (const std::size_t cell = weights_.place_of(at); cell != SIZE_MAX)
        sum += count * static_cast<double>(weights_.cells[cell].weight);
    });
    return sum;
  }

  S& local_;
  const SparseRows& weights_;
  Global& global_;
  NonLocalOptions options_;
  Scored<Output> best_;
};

}  // namespace marginalia
