// The structure of dependency trees, made action by action: examples and weights in, answers to a learner's
// questions out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <unordered_set>
#include <vector>

#include "features/index.hpp"
#include "search/growing_rows.hpp"
#include "search/structure.hpp"
#include "search/trees/examples.hpp"
#include "search/trees/merging.hpp"
#include "search/trees/search.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// The actions that make a tree, or a part of one. At each step an action is counted, and one is taken: they
// differ only where learning compares another action with the one that leads on. As a sequence it is that of
// the arcs of a whole tree, by token.
struct Derivation {
  struct Step {
    std::uint32_t counted, taken;
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> arcs;

  auto begin() const { return arcs.begin(); }
  auto end() const { return arcs.end(); }
  bool operator==(const Derivation&) const = default;
};
using ScoredDerivation = Scored<Derivation>;

// Examples with all that is needed to make their features. Rows are for features of right outputs and of
// wrong ones that learning compared: if the index is `open`, they are added as they are collected.
struct TreeData {
  const TreeExtractor& extractor;
  const TreeExamples& examples;
  FeatureIndex& index;
  bool open;

  std::size_t size() const { return examples.sentences(); }
  std::size_t parts() const { return examples.tokens(); }
  std::uint32_t most_row() const { return 0; }  // rows without weights are as good as none
  bool can_hide() const { return true; }
  bool complete() const { return examples.complete(); }
  void check_gold(const TreeShape&) const {
    if (!examples.has_gold()) throw std::invalid_argument("trees: the examples have no arcs");
  }
};

// Data to look at only, which add no features.
inline TreeData closed(TreeData data) {
  data.open = false;
  return data;
}

class Trees {
 public:
  using Output = Derivation;
  static constexpr const char* kName = "trees";

  // All must outlive it.
  Trees(const TreeShape& shape, const TreeData& data, const SparseRows& weights);

  std::size_t size() const { return data_.size(); }
  std::size_t parts(std::size_t i) const { return data_.examples.length(i); }
  Derivation gold(std::size_t i);
  std::size_t errors(std::size_t i, const Derivation& y) const;
  const ScoredDerivation& best(std::size_t i);
  std::vector<ScoredDerivation> k_best(std::size_t i, std::size_t k);
  double cost(std::size_t i, const Derivation& y) const { return static_cast<double>(errors(i, y)); }
  const ScoredDerivation& costly_best(std::size_t i);
  bool complete(std::size_t i) const { return data_.examples.complete(i); }
  std::optional<ScoredDerivation> best_wrong(std::size_t i);
  void violation(std::size_t i, Against which, Violation<Derivation>& found);

  template <class Sink>
  void features_of(std::size_t i, const Derivation& y, Sink&& sink);
  template <class Sink>
  void difference(std::size_t i, const Derivation& y, const Derivation& z, Sink&& sink);
  template <class Sink>
  void named_features(std::size_t i, Sink&& sink) {
    features_of(i, gold(i), sink);
  }
  template <class F>
  void rows_of(std::size_t i, F&& f);
  void hide(std::size_t i, const Dropout& dropout, std::uint64_t step);

  // Gives the features of example i's gold output rows, and counts them.
  void count_features(std::size_t i);

 private:
  struct Lookup : GrowingLookup {
    void add(std::uint32_t row, const std::uint16_t* column_of, float* scores) const {
      const Cell* end = weights.end(row);
      for (const Cell* c = weights.begin(row); c != end; ++c) scores[column_of[c->output]] += c->weight;
    }
  };
  Lookup lookup() const { return {{data_.index, weights_, hidden_}}; }
  struct PendingFeature {
    std::uint64_t key;
    std::uint32_t template_index, state, action, row;
    double count;
  };

  void read(std::size_t i);
  void search(std::size_t i, const TreeSearchOptions& options, std::span<const std::uint32_t> gold = {});
  void take(std::uint32_t state, ScoredDerivation& out);
  void derive(std::uint32_t state, Derivation& out);
  std::size_t errors_of(std::size_t i, const std::vector<std::uint32_t>& arcs) const;
  void search_in_all_ways(std::size_t i);
  std::optional<Derivation> constrained_gold(std::size_t i);
  void find_violation(std::size_t i, Against which, std::span<const std::uint32_t> gold,
                      Violation<Derivation>& found);
  void find_merged(std::size_t i, std::span<const std::uint32_t> gold, Violation<Derivation>& found);
  void best_merged(std::size_t i);
  void take_actions(const std::vector<std::uint32_t>& actions, Derivation& out);
  void find_second(std::size_t i, Violation<Derivation>& found);
  void collect(std::uint32_t state, std::uint32_t action, double count);
  void find_rows(std::size_t i, bool adds);
  template <class Sink>
  void emit(std::size_t i, bool adds, Sink&& sink);

  const TreeShape& shape_;
  const TreeData data_;
  const SparseRows& weights_;
  TreeSearch search_;
  std::optional<MergingSearch> merging_;
  TreeStates replay_;  // of outputs whose features are wanted
  ScoredDerivation best_;
  std::vector<std::uint32_t> actions_, fields_, arcs_;
  std::vector<PendingFeature> pending_;
  std::size_t read_ = SIZE_MAX;  // the example whose values were read
  Hidden hidden_;
};

// Gives the features that were collected to the sink, each with its row, and forgets them.
template <class Sink>
void Trees::emit(std::size_t i, bool adds, Sink&& sink) {
  find_rows(i, adds);
  for (const PendingFeature& one : pending_)
    if (one.row != kNoRow && (adds || one.row < weights_.rows.size()))
      sink(Coordinate{one.row, one.action, shape_.row_width()}, one.count);
  pending_.clear();
}

template <class Sink>
void Trees::features_of(std::size_t i, const Derivation& y, Sink&& sink) {
  read(i);
  replay_.begin(search_.scoring.x.length, nullptr);
  std::uint32_t state = 0;
  for (const Derivation::Step& step : y.steps) {
    collect(state, step.counted, 1.0);
    state = replay_.apply(state, step.taken);
  }
  emit(i, data_.open, sink);
}

// Up to where they part, only what they count differs.
template <class Sink>
void Trees::difference(std::size_t i, const Derivation& y, const Derivation& z, Sink&& sink) {
  read(i);
  replay_.begin(search_.scoring.x.length, nullptr);
  std::uint32_t state = 0;
  std::size_t t = 0;
  for (; t < y.steps.size() && t < z.steps.size() && y.steps[t].taken == z.steps[t].taken; ++t) {
    if (y.steps[t].counted != z.steps[t].counted) {
      collect(state, y.steps[t].counted, 1.0);
      collect(state, z.steps[t].counted, -1.0);
    }
    state = replay_.apply(state, y.steps[t].taken);
  }
  const auto rest = [&](const Derivation& one, std::uint32_t from, double count) {
    for (std::size_t k = t; k < one.steps.size(); ++k) {
      collect(from, one.steps[k].counted, count);
      from = replay_.apply(from, one.steps[k].taken);
    }
  };
  rest(y, state, 1.0);
  rest(z, state, -1.0);
  emit(i, data_.open, sink);
}

// Which rows scores come from depends on scores: searches of all kinds are made again until they meet no new
// ones.
template <class F>
void Trees::rows_of(std::size_t i, F&& f) {
  std::unordered_set<std::uint32_t> seen;
  std::vector<std::uint32_t> touched;
  for (bool more = true; more;) {
    more = false;
    touched.clear();
    search_.scoring.touched = &touched;
    search_in_all_ways(i);
    search_.scoring.touched = nullptr;
    for (const std::uint32_t row : touched)
      if (seen.insert(row).second) {
        f(row);
        more = true;
      }
  }
}

static_assert(CostSensitive<Trees> && !Probabilistic<Trees> && !Stepwise<Trees> && PartiallyLabelled<Trees> &&
              Droppable<Trees> && !WithConstants<Trees> && LazilyPenalised<Trees>);

}  // namespace marginalia
