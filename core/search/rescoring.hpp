// A finished model with global features: the n best outputs by local features, scored again.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/table.hpp"
#include "features/global_evaluator.hpp"
#include "search/claims.hpp"
#include "search/hypotheses.hpp"
#include "search/non_local.hpp"
#include "search/ranked.hpp"

namespace marginalia {

// The weights of global features, and what scores of the local model are multiplied by.
class GlobalModel {
 public:
  // Keys rise; all but the first two must outlive it. Throws std::invalid_argument.
  GlobalModel(std::shared_ptr<const GlobalSet> set, std::shared_ptr<const MentionLabels> labels,
              std::span<const std::uint64_t> keys, std::span<const float> weights, double scale);

  const std::shared_ptr<const GlobalSet>& set() const { return set_; }
  const MentionLabels& labels() const { return *labels_; }
  double scale() const { return scale_; }
  double weight(std::uint64_t key) const;  // 0 if there is none

 private:
  std::shared_ptr<const GlobalSet> set_;
  std::shared_ptr<const MentionLabels> labels_;
  std::span<const std::uint64_t> keys_;
  std::span<const float> weights_;
  double scale_;
};

// A model's global features at work, for one thread.
class Rescorer {
 public:
  struct Term {
    std::string name;
    double count, weight;
  };
  explicit Rescorer(const GlobalModel& model)  // which must outlive it
      : model_(model), evaluator_(*model.set(), model.labels()) {}

  const GlobalModel& model() const { return model_; }
  // The documents of a table, whose words are those of a column; it need not live on.
  void read(const TokenTable& table, std::uint32_t column);
  std::size_t documents() const { return texts_->size(); }
  std::size_t length(std::size_t i) const { return texts_->words(i).size(); }

  // The scores of outputs of document i by all features.
  std::vector<double> totals(std::size_t i, const HypothesisList& outputs);
  // The global features of an output, with their weights.
  std::vector<Term> terms(std::size_t i, std::span<const std::uint32_t> y);
  // The sum of their weights.
  double score(std::size_t i, std::span<const std::uint32_t> y);

 private:
  double weight_of(std::uint32_t number);
  double score_of(const FeatureCounts& counts);

  const GlobalModel& model_;
  std::unique_ptr<GlobalTexts> texts_;
  GlobalEvaluator evaluator_;
  std::vector<double> weights_;  // by number of the feature; not a number: not looked up
  std::size_t generation_ = 0;
};

// exp(factor * total), normalised.
std::vector<double> probabilities(std::span<const double> totals, double factor);

// The share of the hypotheses that make each claim of an output y, which have these probabilities; `tokens` gets
// that of each label of y where those are not among the claims. Returns that of y itself.
double claim_shares(const Spelling& spelling, const HypothesisList& hypotheses, std::span<const double> shares,
                    const Labels& y, Claims& claims, std::span<double> tokens);

// The k best outputs of each document of a table among the n best by local features.
template <class Model, class Program, class Space>
RankedLabels rescored(const Model& model, const Program& program, const TokenTable& table, Rescorer& rescorer,
                      std::size_t n, std::size_t k, Space& space) {
  std::vector<std::vector<ScoredLabels>> found;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const HypothesisList all = model.hypotheses(model.scores(program, table, s, space), n);
    found.emplace_back();
    if (all.size() == 0) {  // there is no legal output: what the search gives then
      found.back().emplace_back();
      model.find_best(program, table, s, space, found.back().back().output);
      continue;
    }
    const std::vector<double> totals = rescorer.totals(s, all);
    for (const std::size_t rank : best_of(totals, k)) found.back().push_back({all.output(rank), totals[rank]});
  }
  return by_rank(found);
}

// The probabilities of what labels claim, over the n best outputs of each document.
template <class Model, class Program, class Space>
Confidences rescored_confidences(const Model& model, const Program& program, const TokenTable& table,
                                 Rescorer& rescorer, std::size_t n, std::span<const std::int32_t> labels,
                                 std::span<const std::uint32_t> sentences, const Spelling& spelling,
                                 double factor, Space& space) {
  return confidences_of(table, labels, sentences, spelling,
                        [&](std::size_t s, const Labels& y, Claims& claims, std::span<double> tokens) {
                          const HypothesisList all =
                              model.hypotheses(model.scores(program, table, s, space), n);
                          if (all.size() == 0) return 0.0;
                          const std::vector<double> shares = probabilities(rescorer.totals(s, all), factor);
                          return claim_shares(spelling, all, shares, y, claims, tokens);
                        });
}

}  // namespace marginalia
