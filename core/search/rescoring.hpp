// A finished model with global features: the n best outputs by local features, scored again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/token_table.hpp"
#include "features/global_evaluator.hpp"
#include "search/hypothesis_list.hpp"
#include "search/marginals.hpp"
#include "search/non_local.hpp"
#include "search/ranked.hpp"
#include "search/vote.hpp"

namespace marginalia {

// All versions of the weights of a re-ranker, which vote: the changes of each global feature's weight, and
// last those of the local score's. `scale` is what local scores are multiplied by beside their weight.
struct GlobalVotes {
  std::span<const std::uint32_t> change_end;  // [features + 1]
  std::span<const std::uint32_t> steps;
  std::span<const float> changes;
  std::uint32_t versions = 0;
  double scale = 1.0;
  std::size_t candidates = 0;  // how many of the best by mean weights they vote on; 0: nobody votes
};

// The weights of global features, and what scores of the local model are multiplied by.
class GlobalModel {
 public:
  // As the constructor, with versions of the weights that vote. Throws std::invalid_argument.
  void set_votes(const GlobalVotes& votes);
  bool votes() const { return votes_.candidates > 0; }
  const GlobalVotes& vote_settings() const { return votes_; }
  VoteLog vote_log() const {
    return {rows_, outputs_, votes_.change_end, votes_.steps, votes_.changes, votes_.versions};
  }
  // The number of a feature among those with weights; their number if there is none.
  std::size_t find(std::uint64_t key) const;
  std::size_t features() const { return keys_.size(); }

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
  GlobalVotes votes_;
  std::vector<std::uint32_t> rows_, outputs_;  // one output a row, for the log
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
  // Which of some outputs (by number) most versions of the weights like best.
  std::size_t winner(std::size_t i, const HypothesisList& outputs, std::span<const std::size_t> among);
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

// Marginals of the parts of an output y over hypotheses with these probabilities;
// `tokens` gets that of each label of y where those are not among the marginals. Returns that of y itself.
double hypothesis_shares(const Spelling& spelling, const HypothesisList& hypotheses,
                         std::span<const double> shares, const Labels& y, Marginals& marginals,
                         std::span<double> tokens);

// A finished model of local features at work in one thread.
template <class Model>
struct LocalModel {
  const Model& model;
  const typename Model::Extractor& extractor;
  typename Model::Space& space;

  const auto& scores(const TokenTable& table, std::size_t s) const {
    return model.scores(extractor, table, s, space);
  }
};

// The n best outputs of a sentence by one model, with the scores of another, if there is one.
template <class Model>
HypothesisList hypotheses_in(const LocalModel<Model>& base, const LocalModel<Model>* scorer,
                             const TokenTable& table, std::size_t s, std::size_t n) {
  HypothesisList found = base.model.hypotheses(base.scores(table, s), n);
  if (scorer == nullptr || found.size() == 0) return found;
  const auto paths = scorer->model.paths(scorer->scores(table, s));
  return found.rescored(n, [&](const Labels& y) { return paths.score(y); });
}

// The k best outputs of each document of a table among the n best by local features; with `vote`, the first
// of them is the one that versions of the weights vote for, if they do.
template <class Model>
RankedLabels rescored(const LocalModel<Model>& base, const LocalModel<Model>* scorer, const TokenTable& table,
                      Rescorer& rescorer, std::size_t n, std::size_t k, bool vote) {
  std::vector<std::vector<ScoredLabels>> found;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const HypothesisList all = hypotheses_in(base, scorer, table, s, n);
    found.emplace_back();
    if (all.size() == 0) {  // there is no legal output: what the search gives then
      found.back().emplace_back();
      base.model.find_best(base.extractor, table, s, base.space, found.back().back().output);
      continue;
    }
    const std::vector<double> totals = rescorer.totals(s, all);
    const std::size_t voters = vote ? rescorer.model().vote_settings().candidates : 0;
    std::vector<std::size_t> order = best_of(totals, std::max(k, voters));
    if (voters > 0) {
      const std::span<const std::size_t> among(order.data(), std::min(voters, order.size()));
      const auto chosen = order.begin() + static_cast<std::ptrdiff_t>(rescorer.winner(s, all, among));
      std::rotate(order.begin(), chosen, chosen + 1);
    }
    order.resize(std::min(k, order.size()));
    for (const std::size_t rank : order) found.back().push_back({all.output(rank), totals[rank]});
  }
  return by_rank(found);
}

// The probabilities of what labels marginal, over the n best outputs of each document.
template <class Model>
Confidences rescored_confidences(const LocalModel<Model>& base, const LocalModel<Model>* scorer,
                                 const TokenTable& table, Rescorer& rescorer, std::size_t n,
                                 std::span<const std::int32_t> labels,
                                 std::span<const std::uint32_t> sentences, const Spelling& spelling,
                                 double factor) {
  return confidences_of(table, labels, sentences, spelling,
                        [&](std::size_t s, const Labels& y, Marginals& marginals, std::span<double> tokens) {
                          const HypothesisList all = hypotheses_in(base, scorer, table, s, n);
                          if (all.size() == 0) return 0.0;
                          const std::vector<double> shares = probabilities(rescorer.totals(s, all), factor);
                          return hypothesis_shares(spelling, all, shares, y, marginals, tokens);
                        });
}

}  // namespace marginalia
