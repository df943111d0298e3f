#include "search/change_scores.hpp"

#include <algorithm>

namespace marginalia {

std::vector<double> ChangeScores::differences() {
  std::vector<double> found(list_.size(), 0.0);
  if (!evaluator_.separable()) {
    HypothesisCursor cursor(list_);
    for (std::size_t k = 1; k < list_.size(); ++k) {
      cursor.move_to(k);
      found[k] = score_of_(evaluator_.difference(cursor.labels(), cursor.changed()));
    }
    return found;
  }
  read();
  for (std::uint32_t k = 0; k < changes_.size(); ++k)  // so that most groups are known from now on
    with({k}, [&](const Labels& y, const std::vector<Stretch>& where) { evaluator_.enter(y, where); });
  for (std::size_t k = 1; k < list_.size(); ++k) found[k] = score(outputs_[k]);
  return found;
}

// Each output as the changes that it makes.
void ChangeScores::read() {
  HypothesisCursor cursor(list_);
  outputs_.resize(list_.size());
  for (std::size_t k = 1; k < list_.size(); ++k) {
    cursor.move_to(k);
    for (const Stretch& stretch : cursor.changed()) read_stretch(cursor.labels(), stretch, outputs_[k]);
    std::sort(outputs_[k].begin(), outputs_[k].end());
  }
}

// A change is a run of labels that all differ.
void ChangeScores::read_stretch(const Labels& y, const Stretch& stretch, Numbers& numbers) {
  const Labels& first = list_.first();
  for (std::size_t t = stretch.begin; t < stretch.end;) {
    if (y[t] == first[t]) {
      ++t;
      continue;
    }
    const std::size_t begin = t;
    while (t < stretch.end && y[t] != first[t]) ++t;
    numbers.push_back(number_of(y, {begin, t}));
  }
}

std::uint32_t ChangeScores::number_of(const Labels& y, const Stretch& stretch) {
  std::u32string key(1, static_cast<char32_t>(stretch.begin));
  key.append(y.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
             y.begin() + static_cast<std::ptrdiff_t>(stretch.end));
  const auto [at, fresh] = numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(changes_.size()));
  if (fresh)
    changes_.push_back({stretch,
                        {y.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
                         y.begin() + static_cast<std::ptrdiff_t>(stretch.end)},
                        {},
                        0});
  return at->second;
}

const std::vector<std::uint64_t>& ChangeScores::touched(std::uint32_t number) {
  Change& change = changes_[number];
  if (change.known != evaluator_.known_groups()) {
    change.known = evaluator_.known_groups();
    with({number}, [&](const Labels& y, const std::vector<Stretch>& where) {
      evaluator_.touch(y, where, change.touched);
    });
  }
  return change.touched;
}

bool ChangeScores::interact(std::uint32_t a, std::uint32_t b) {
  Interaction& known = interactions_[std::uint64_t{std::min(a, b)} << 32 | std::max(a, b)];
  if (known.known == evaluator_.known_groups()) return known.is;
  known = {false, evaluator_.known_groups()};
  const std::vector<std::uint64_t>&x = touched(a), &y = touched(b);
  for (auto i = x.begin(), j = y.begin(); i != x.end() && j != y.end() && !known.is;) {
    known.is = *i == *j;
    *i < *j ? ++i : ++j;
  }
  return known.is;
}

// Takes a change with all that it has to do with, and what those have to do with, and so on.
ChangeScores::Numbers ChangeScores::next_part(Numbers& left) {
  Numbers part = {left.front()};
  left.erase(left.begin());
  for (std::size_t k = 0; k < part.size(); ++k)  // grows while it is looked at
    std::erase_if(left, [&](std::uint32_t other) {
      const bool joins = interact(part[k], other);
      if (joins) part.push_back(other);
      return joins;
    });
  std::sort(part.begin(), part.end());
  return part;
}

double ChangeScores::score(const Numbers& changes) {
  double sum = 0.0;
  for (Numbers left = changes; !left.empty();) {
    if (const std::optional<double> part = score_of_part(next_part(left))) {
      sum += *part;
    } else {
      sum = 0.0;
      left = changes;
    }
  }
  return sum;
}

// Together changes can make mentions that none of them makes alone.
std::optional<double> ChangeScores::score_of_part(const Numbers& part) {
  const auto [at, fresh] = scores_.try_emplace(std::u32string(part.begin(), part.end()), 0.0);
  if (!fresh) return at->second;
  const std::size_t known = evaluator_.known_groups();
  with(part, [&](const Labels& y, const std::vector<Stretch>& where) {
    at->second = score_of_(evaluator_.difference(y, where));
  });
  return evaluator_.known_groups() == known ? std::optional(at->second) : std::nullopt;
}

template <class F>
void ChangeScores::with(const Numbers& changes, F&& f) {
  std::vector<Stretch> where;
  for (const std::uint32_t k : changes) {
    const Change& change = changes_[k];
    std::copy(change.labels.begin(), change.labels.end(),
              labels_.begin() + static_cast<std::ptrdiff_t>(change.stretch.begin));
    where.push_back(change.stretch);
  }
  std::sort(where.begin(), where.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  f(labels_, where);
  for (const Stretch& stretch : where)
    std::copy(list_.first().begin() + static_cast<std::ptrdiff_t>(stretch.begin),
              list_.first().begin() + static_cast<std::ptrdiff_t>(stretch.end),
              labels_.begin() + static_cast<std::ptrdiff_t>(stretch.begin));
}

std::vector<double> totals_of(GlobalEvaluator& evaluator, const HypothesisList& list,
                              const ChangeScores::ScoreOf& score_of, double scale) {
  const double first = score_of(evaluator.first());
  std::vector<double> totals = ChangeScores(evaluator, list, score_of).differences();
  for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += scale * list.score(k) + first;
  return totals;
}

}  // namespace marginalia
