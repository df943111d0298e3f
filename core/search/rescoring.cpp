#include "search/rescoring.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "search/change_scores.hpp"

namespace marginalia {

GlobalModel::GlobalModel(std::shared_ptr<const GlobalSet> set, std::shared_ptr<const MentionLabels> labels,
                         std::span<const std::uint64_t> keys, std::span<const float> weights, double scale)
    : set_(std::move(set)), labels_(std::move(labels)), keys_(keys), weights_(weights), scale_(scale) {
  bool fits = keys.size() == weights.size() && std::isfinite(scale);
  for (std::size_t k = 0; fits && k < keys.size(); ++k)
    fits = std::isfinite(weights[k]) && (k == 0 || keys[k - 1] < keys[k]);
  if (!fits) throw std::invalid_argument("global features: keys and weights do not fit");
}

std::size_t GlobalModel::find(std::uint64_t key) const {
  const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
  return at == keys_.end() || *at != key ? keys_.size() : static_cast<std::size_t>(at - keys_.begin());
}

double GlobalModel::weight(std::uint64_t key) const {
  const std::size_t at = find(key);
  return at == keys_.size() ? 0.0 : static_cast<double>(weights_[at]);
}

void GlobalModel::set_votes(const GlobalVotes& votes) {
  if (votes.change_end.size() != keys_.size() + 1 || !std::isfinite(votes.scale) || votes.candidates == 0)
    throw std::invalid_argument("global features: the votes do not fit the weights");
  votes_ = votes;
  rows_.resize(votes.change_end.size());
  std::iota(rows_.begin(), rows_.end(), 1u);
  outputs_.assign(rows_.size(), 0);
  vote_log().check();
}

void Rescorer::read(const TokenTable& table, std::uint32_t column) {
  texts_ = std::make_unique<GlobalTexts>(model_.set());
  texts_->add(table, column);
}

double Rescorer::weight_of(std::uint32_t number) {
  if (generation_ != evaluator_.generation()) {
    weights_.clear();
    generation_ = evaluator_.generation();
  }
  if (number >= weights_.size()) weights_.resize(number + 1, std::numeric_limits<double>::quiet_NaN());
  double& weight = weights_[number];
  if (std::isnan(weight)) weight = model_.weight(evaluator_.features().key(number));
  return weight;
}

double Rescorer::score_of(const FeatureCounts& counts) {
  double score = 0.0;
  counts.for_each([&](std::uint32_t number, double count) { score += count * weight_of(number); });
  return score;
}

std::vector<double> Rescorer::totals(std::size_t i, const HypothesisList& outputs) {
  evaluator_.begin(*texts_, i, outputs.first());
  const auto score = [&](const FeatureCounts& counts) { return score_of(counts); };
  return totals_of(evaluator_, outputs, score, model_.scale());
}

std::size_t Rescorer::winner(std::size_t i, const HypothesisList& outputs,
                             std::span<const std::size_t> among) {
  const std::uint32_t local = static_cast<std::uint32_t>(model_.features());
  const double scale = model_.vote_settings().scale;
  evaluator_.begin(*texts_, i, outputs.first());
  HypothesisCursor cursor(outputs);
  Ballot ballot(among.size());
  // What a hypothesis has more than the first of the list, which is not the first that is voted on.
  const auto add = [&](std::size_t hypothesis, std::size_t first, std::size_t last, double sign) {
    const auto emit = [&](std::uint32_t row, double count) {
      for (std::size_t j = first; j < last; ++j) ballot.add(j, row, 0, sign * count);
    };
    emit(local, scale * (outputs.score(hypothesis) - outputs.score(0)));
    if (hypothesis == 0) return;
    cursor.move_to(hypothesis);
    evaluator_.difference(cursor.labels(), cursor.changed())
        .for_each([&](std::uint32_t number, double count) {
          const std::size_t row = model_.find(evaluator_.features().key(number));
          if (row != model_.features()) emit(static_cast<std::uint32_t>(row), count);
        });
  };
  for (std::size_t j = 1; j < among.size(); ++j) add(among[j], j, j + 1, 1.0);
  add(among[0], 1, among.size(), -1.0);
  return ballot.winner(model_.vote_log());
}

std::vector<Rescorer::Term> Rescorer::terms(std::size_t i, std::span<const std::uint32_t> y) {
  evaluator_.begin(*texts_, i, y);
  std::vector<Term> found;
  evaluator_.first().for_each([&](std::uint32_t number, double count) {
    if (const double weight = weight_of(number); weight != 0.0)
      found.push_back({std::string(evaluator_.features().name(number)), count, weight});
  });
  return found;
}

double Rescorer::score(std::size_t i, std::span<const std::uint32_t> y) {
  evaluator_.begin(*texts_, i, y);
  return score_of(evaluator_.first());
}

std::vector<double> probabilities(std::span<const double> totals, double factor) {
  const double most = *std::max_element(totals.begin(), totals.end());
  std::vector<double> shares;
  for (const double total : totals) shares.push_back(std::exp(factor * (total - most)));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

namespace {

bool makes(const Spelling& spelling, const Labels& y, const Marginal& marginal) {
  const auto relation = [&](std::size_t t) { return spelling.relation[y[t - 1] * spelling.labels + y[t]]; };
  if (spelling.type[y[marginal.begin]] != marginal.type) return false;
  for (std::size_t t = marginal.begin + 1; t < marginal.end; ++t)
    if (spelling.type[y[t]] != marginal.type || relation(t) != kJoined) return false;
  if (marginal.begin > 0 && !has(marginal.before, relation(marginal.begin))) return false;
  return marginal.end >= y.size() || has(marginal.after, relation(marginal.end));
}

}  // namespace

double hypothesis_shares(const Spelling& spelling, const HypothesisList& hypotheses,
                         std::span<const double> shares, const Labels& y, Marginals& marginals,
                         std::span<double> tokens) {
  HypothesisCursor cursor(hypotheses);
  double own = 0.0;
  for (std::size_t k = 0; k < hypotheses.size(); ++k) {
    cursor.move_to(k);
    const Labels& other = cursor.labels();
    for (std::vector<Marginal>* some : {&marginals.spans, &marginals.tokens})
      for (Marginal& marginal : *some)
        if (makes(spelling, other, marginal)) marginal.probability += shares[k];
    for (std::size_t t = 0; t < tokens.size(); ++t)
      if (other[t] == y[t]) tokens[t] += shares[k];
    if (other == y) own += shares[k];
  }
  return own;
}

}  // namespace marginalia
