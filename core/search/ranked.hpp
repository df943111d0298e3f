// The k best outputs of all sentences of a table, by rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/token_table.hpp"
#include "search/constrained.hpp"
#include "search/token_violations.hpp"

namespace marginalia {

struct RankedLabels {
  std::size_t ranks = 0;
  std::vector<std::int32_t>
      labels;                  // [ranks][tokens]; where a sentence has no more outputs, those of its best
  std::vector<double> scores;  // [ranks][sentences]; not a number where a sentence has no more outputs
  // [sentences] Under constraints: how often its outputs break them, and whether that is known to be the
  // best.
  std::vector<std::uint32_t> violations;
  std::vector<std::uint8_t> exact;
};

inline void append_labels(const std::vector<std::uint32_t>& output, std::vector<std::int32_t>& labels) {
  labels.insert(labels.end(), output.begin(), output.end());
}
inline void append_labels(std::uint32_t output, std::vector<std::int32_t>& labels) {
  labels.push_back(static_cast<std::int32_t>(output));
}

// Of the outputs of each sentence with their scores, best first; each has at least one.
template <class ScoredOutput>
RankedLabels by_rank(const std::vector<std::vector<ScoredOutput>>& sentences) {
  RankedLabels found;
  found.ranks = 1;
  for (const auto& outputs : sentences) found.ranks = std::max(found.ranks, outputs.size());
  for (std::size_t rank = 0; rank < found.ranks; ++rank)
    for (const auto& outputs : sentences) {
      const bool has = rank < outputs.size();
      append_labels(outputs.at(has ? rank : 0).output, found.labels);
      found.scores.push_back(has ? outputs[rank].score : std::numeric_limits<double>::quiet_NaN());
    }
  return found;
}

// Of a model's sentences (see search/frozen_model.hpp).
template <class Model, class Extractor, class Space>
RankedLabels ranked(const Model& model, const Extractor& extractor, const TokenTable& table, std::size_t k,
                    Space& space) {
  using Outputs = std::decay_t<decltype(model.k_best(model.scores(extractor, table, 0, space), k, space))>;
  std::vector<Outputs> found;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    found.push_back(model.k_best(model.scores(extractor, table, s, space), k, space));
    if (!found.back().empty()) continue;
    found.back().emplace_back();  // there is no legal output: what the search gives then
    model.find_best(extractor, table, s, space, found.back().back().output);
  }
  return by_rank(found);
}

// Of a model whose outputs are single labels: all of them are looked at, so that the answer is exact.
template <class Model, class Extractor, class Space>
RankedLabels ranked_single(const Model& model, const Extractor& extractor, const TokenTable& table,
                           std::size_t k, std::span<const std::uint8_t> chosen,
                           const ConstraintSet& constraint_set, const std::vector<PlacedConstraints>& placed,
                           Space& space) {
  TokenViolations violations(constraint_set, chosen, placed);
  std::vector<std::vector<Scored<std::uint32_t>>> all;
  std::vector<std::uint32_t> least;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    all.push_back(model.k_best(model.scores(extractor, table, s, space), constraint_set.labels, space));
    least.push_back(violations.keep_least(s, all.back()));
    all.back().resize(std::min(k, all.back().size()));
  }
  RankedLabels found = by_rank(all);
  found.violations = std::move(least);
  found.exact.assign(table.sentences(), 1);
  return found;
}

// Of others, by a search for the outputs of each sentence.
template <class Model, class Extractor, class Space>
RankedLabels ranked_by_search(const Model& model, const Extractor& extractor, const TokenTable& table,
                              std::size_t k, std::span<const std::int32_t> best,
                              std::span<const std::uint8_t> chosen, const ConstraintSet& constraint_set,
                              const std::vector<PlacedConstraints>& placed, Space& space) {
  using Labels = std::vector<std::uint32_t>;
  struct Scored {
    Labels output;
    double score;
  };
  std::vector<std::vector<Scored>> all;
  std::vector<std::uint32_t> violations(table.sentences());
  std::vector<std::uint8_t> exact(table.sentences(), 1);
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const Labels free(best.begin() + table.sentence[s], best.begin() + table.sentence[s + 1]);
    all.emplace_back();
    if (chosen[s] == 0) {
      all.back().push_back({free, std::numeric_limits<double>::quiet_NaN()});
      continue;
    }
    const auto paths = model.paths(model.scores(extractor, table, s, space));
    const OutputConstraints constraints(constraint_set, placed[s], free.size());
    ConstrainedOutputs outputs(paths, constraints, free);
    violations[s] = outputs.best().violations;
    exact[s] = outputs.best().exact ? 1 : 0;
    while (all.back().size() < k)
      if (std::optional<Labels> next = outputs.next())
        all.back().push_back({*next, paths.score(*next)});
      else
        break;
  }
  RankedLabels found = by_rank(all);
  found.violations = std::move(violations);
  found.exact = std::move(exact);
  return found;
}

// The same of chosen sentences, under constraints; others have no outputs. `best`: labels of all tokens.
template <class Model, class Extractor, class Space>
RankedLabels ranked_constrained(const Model& model, const Extractor& extractor, const TokenTable& table,
                                std::size_t k, std::span<const std::int32_t> best,
                                std::span<const std::uint8_t> chosen, const ConstraintSet& constraint_set,
                                const std::vector<PlacedConstraints>& placed, Space& space) {
  check_labels(table, best, model.shape().labels);
  if (constraint_set.labels != model.shape().labels || chosen.size() != table.sentences())
    throw std::invalid_argument("constraints: the constraint set does not fit");
  if constexpr (std::is_same_v<typename Model::Output, std::uint32_t>)
    return ranked_single(model, extractor, table, k, chosen, constraint_set, placed, space);
  else
    return ranked_by_search(model, extractor, table, k, best, chosen, constraint_set, placed, space);
}

}  // namespace marginalia
