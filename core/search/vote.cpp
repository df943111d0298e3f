#include "search/vote.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace marginalia {

namespace {

struct Event {
  std::uint32_t step;
  std::uint32_t candidate;
  double change;  // of the candidate's score against that of the first
};

std::size_t best_of(const std::vector<double>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

void require(bool fits) {
  if (!fits) throw std::invalid_argument("votes: the parts of the log do not fit each other");
}

}  // namespace

void VoteLog::check() const {
  require(std::is_sorted(row_end.begin(), row_end.end()) &&
          std::is_sorted(change_end.begin(), change_end.end()));
  require((row_end.empty() ? 0 : row_end.back()) == outputs.size() && change_end.size() == outputs.size());
  require((change_end.empty() ? 0 : change_end.back()) == steps.size() && changes.size() == steps.size());
  for (const std::uint32_t step : steps) require(step < versions);
}

VoteStorage::VoteStorage(std::vector<WeightTable::Change> log, std::span<const std::uint32_t> rows,
                         std::uint32_t all)
    : versions(all) {
  using Change = WeightTable::Change;
  const auto key = [](const Change& c) { return std::tuple(c.row, c.output, c.step); };
  std::stable_sort(log.begin(), log.end(), [&](const Change& a, const Change& b) { return key(a) < key(b); });
  const auto before = [](const Change& c, std::uint32_t row) { return c.row < row; };
  for (const std::uint32_t row : rows) {
    auto at = std::lower_bound(log.begin(), log.end(), row, before);
    while (at != log.end() && at->row == row) {
      outputs.push_back(at->output);
      for (const std::uint32_t output = at->output; at != log.end() && at->row == row && at->output == output;
           ++at) {
        steps.push_back(at->step);
        changes.push_back(at->change);
      }
      change_end.push_back(static_cast<std::uint32_t>(steps.size()));
    }
    row_end.push_back(static_cast<std::uint32_t>(outputs.size()));
  }
}

void Ballot::add(std::size_t j, std::uint32_t row, std::uint32_t output, double count) {
  terms_.push_back({row, output, static_cast<std::uint32_t>(j), count});
}

std::size_t Ballot::winner(const VoteLog& log) const {
  const auto key = [](const Term& t) { return std::tuple(t.row, t.output, t.candidate); };
  std::sort(terms_.begin(), terms_.end(), [&](const Term& a, const Term& b) { return key(a) < key(b); });
  std::vector<Event> events;
  for (std::size_t i = 0; i < terms_.size();) {
    double count = 0.0;  // what a candidate has of the feature, in all
    const Term& first = terms_[i];
    for (; i < terms_.size() && key(terms_[i]) == key(first); ++i) count += terms_[i].count;
    if (count == 0.0) continue;
    log.for_changes(first.row, first.output, [&](std::uint32_t step, float change) {
      events.push_back({step, first.candidate, count * static_cast<double>(change)});
    });
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.step < b.step; });
  std::vector<double> scores(candidates_, 0.0);
  std::vector<std::uint64_t> votes(candidates_, 0);
  std::uint32_t counted = 0;  // versions that have voted
  for (std::size_t i = 0; i < events.size();) {
    const std::uint32_t step = events[i].step;
    votes[best_of(scores)] += step - counted;
    counted = step;
    for (; i < events.size() && events[i].step == step; ++i) scores[events[i].candidate] += events[i].change;
  }
  votes[best_of(scores)] += log.versions - counted;
  return static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

}  // namespace marginalia
