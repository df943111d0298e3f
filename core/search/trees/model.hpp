// A finished model of dependency trees. It is immutable and shared by threads; each brings its own space.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "search/structure.hpp"
#include "search/trees/action_rows.hpp"
#include "search/trees/merging.hpp"
#include "search/trees/search.hpp"
#include "search/vote.hpp"
#include "weights/frozen.hpp"

namespace marginalia {

// An output of a sentence: arcs by token, the actions that made it, its score.
struct ScoredTree {
  std::vector<std::uint32_t> arcs, actions;
  double score = 0.0;
};

class TreeModel {
 public:
  using Shape = TreeShape;
  using Extractor = TreeExtractor;
  struct Space {
    ExtractionSpace extraction;
    Identity owner;  // the model, with this extractor, that `search` is for
    const TreeExtractor* extractor = nullptr;
    std::optional<TreeSearch> search;
    std::optional<MergingSearch> merging;  // if states are merged
  };

  TreeModel(const TreeShape& shape, FrozenWeights weights, std::span<const std::uint32_t> constant_at,
            std::span<const float>)
      : shape_(shape), weights_(weights), rows_(weights_, shape_) {
    if (!constant_at.empty()) throw std::invalid_argument("trees: there are no constants");
  }
  TreeModel(const TreeModel&) = delete;  // spaces point at its parts

  const TreeShape& shape() const { return shape_; }
  double weight(std::uint32_t row, std::uint32_t action) const {
    double found = 0.0;
    weights_.for_cells(row, [&](std::uint32_t one, float weight) {
      if (one == action) found = static_cast<double>(weight);
    });
    return found;
  }

  // The arcs of all tokens of the table.
  std::vector<std::int32_t> best(const TreeExtractor& extractor, const TokenTable& table, Space& space) const;
  std::vector<std::int32_t> voted(const TreeExtractor& extractor, const TokenTable& table, const VoteLog& log,
                                  std::size_t k, Space& space) const;
  // The trees of the final beam, best first, each once; none if no tree has the given arcs.
  std::vector<ScoredTree> k_best(const TreeExtractor& extractor, const TokenTable& table, std::size_t s,
                                 std::size_t k, const GivenArcs* given, Space& space) const;

  // Makes a sentence that of the space.
  TreeSearch& read(const TreeExtractor& extractor, const TokenTable& table, std::size_t s,
                   Space& space) const;
  // Calls f(row, action, template, fields) for each known feature of the actions, of the sentence that was
  // read last; the state that each action is taken at is the last one of the space's search.
  template <class F>
  void features(const std::vector<std::uint32_t>& actions, Space& space, F&& f) const;

 private:
  struct Lookup {
    const ActionRows& rows;
    bool may_have(std::uint64_t) const { return true; }
    void prefetch_filter(std::uint64_t) const {}
    void prefetch_key(std::uint64_t key) const { rows.prefetch_slot(key); }
    std::uint32_t find(std::uint64_t key) const { return rows.find(key); }
    void prefetch_row(std::uint32_t) const {}
    void prefetch_cells(std::uint32_t row) const { rows.prefetch_scores(row); }
    void add(std::uint32_t row, const std::uint16_t*, float* scores) const { rows.add(row, scores); }
  };
  void best_merged(Space& space, std::vector<std::uint32_t>& arcs) const;

  TreeShape shape_;
  FrozenWeights weights_;
  ActionRows rows_;
  Identity identity_ = new_identity();
};

template <class F>
void TreeModel::features(const std::vector<std::uint32_t>& actions, Space& space, F&& f) const {
  TreeSearch& search = *space.search;
  const TreeExtractor& extractor = *space.extractor;
  search.states.begin(search.scoring.x.length, nullptr);
  std::vector<std::uint32_t> fields;
  std::uint32_t state = 0;
  for (const std::uint32_t action : actions) {
    search.states.fields(extractor, search.states[state], fields);
    for (std::uint32_t t = 0; t < extractor.templates(); ++t) {
      const std::uint64_t key = extractor.key(t, fields.data(), search.scoring.x, search.states.names());
      const std::uint32_t row = key == 0 ? kUnknownRow : weights_.find(key);
      if (row != kUnknownRow)
        f(row, action, t, fields, std::size_t{search.states[state].steps},
          search.states.arc(search.states[state], TreeShape::move_of(action)));
    }
    state = search.states.apply(state, action);
  }
}

}  // namespace marginalia
