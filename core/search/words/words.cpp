#include "search/words/words.hpp"

#include <stdexcept>

namespace marginalia {

Words::Words(const WordShape& shape, const SegmentData& data, const SparseRows& weights)
    : shape_(shape),
      data_(data),
      weights_(weights),
      constants_(shape),
      scoring_(data.extractor, shape),
      search_(data.extractor, shape) {
  for (const Cell* c = weights.begin(kConstantRow); c != weights.end(kConstantRow); ++c)
    constants_.set(shape, c->output, static_cast<double>(c->weight));
}

void Words::read(std::size_t i) {
  if (read_ == i) return;
  data_.examples.values(i, scoring_.x);
  read_ = i;
}

void Words::hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
  hidden_ = Hidden(dropout, step);
  read_ = SIZE_MAX;
  if (!dropout.active()) return;
  data_.examples.hidden_values(i, hidden_, scoring_.x);
  read_ = i;
}

bool Words::search(const WordSearch::Options& options, const std::vector<double>& costs,
                   const RightLabels* only) {
  const std::shared_lock reading(data_.index.lock());
  const std::size_t length = scoring_.x.length, block = scoring_.block();
  search_.begin(constants_, scoring_.x, options);
  for (std::size_t first = 0; first < length; first += block) {
    scoring_.score(lookup(), first, std::min(block, length - first), costs, scores_);
    const std::size_t end = std::min(length, first + block + shape_.most - 1);
    for (std::size_t t = first; t < end && only != nullptr; ++t)
      scores_.allow(shape_, t, {only->mask(t, shape_.labels, mask_), shape_.labels});
    if (!search_.go_on(lookup(), scores_)) return false;
  }
  return true;
}

// With the scores of all words at once, for searches from the end.
void Words::search_all() {
  const std::shared_lock reading(data_.index.lock());
  scoring_.score_all(lookup(), scores_);
  search_.begin(constants_, scoring_.x, {});
  search_.go_on(lookup(), scores_);
}

void Words::take_best(ScoredLabels& best) {
  best.score = search_.last().at(0).score;
  best.output = search_.output(scoring_.x.length, 0);
}

// Of several right outputs the best that the beam finds.
Labels Words::gold(std::size_t i) {
  const RightLabels one = right(i);
  if (one.complete()) return {one.ids(), one.ids() + one.size()};
  read(i);
  search({}, {}, &one);
  if (search_.last().empty()) throw std::domain_error("an example has no right output that is legal");
  return search_.output(one.size(), 0);
}

const ScoredLabels& Words::best(std::size_t i) {
  read(i);
  search({});
  take_best(best_);
  return best_;
}

std::vector<double> Words::costs_of(std::size_t i) const {
  const RightLabels one = right(i);
  std::vector<double> by_label;
  for (std::size_t t = 0; t < one.size(); ++t)
    for (std::uint32_t c = 0; c < shape_.labels; ++c) by_label.push_back(data_.costs->of(one, t, c));
  return by_label;
}

double Words::cost(std::size_t i, const Labels& y) const {
  const RightLabels one = right(i);
  double sum = 0.0;
  for (std::size_t t = 0; t < y.size(); ++t) sum += data_.costs->of(one, t, y[t]);
  return sum;
}

const ScoredLabels& Words::costly_best(std::size_t i) {
  read(i);
  search({}, costs_of(i));
  take_best(best_);
  return best_;
}

std::vector<ScoredLabels> Words::k_best(std::size_t i, std::size_t k) {
  read(i);
  search_all();
  const std::shared_lock reading(data_.index.lock());
  return k_best_words(shape_, search_, lookup(), scores_, k);
}

// States with a wrong word come behind all others.
std::optional<ScoredLabels> Words::best_wrong(std::size_t i) {
  read(i);
  const RightLabels one = right(i);
  search({.right = &one});
  const std::vector<WordState>& last = search_.last();
  const auto found =
      std::find_if(last.begin(), last.end(), [](const WordState& state) { return state.wrong; });
  if (found == last.end()) return std::nullopt;
  const auto at = static_cast<std::uint32_t>(found - last.begin());
  return ScoredLabels{search_.output(one.size(), at), found->score};
}

void Words::violation(std::size_t i, Against which, Violation<Labels>& found) {
  found.found = found.right_may_lead = found.due = false;
  found.errors = 0;
  found.cost = 0.0;
  if (parts(i) == 0) return;
  find_violation(i, which, gold(i), found);
}

// The place at which the beam's best prefix beats gold's by most; or, with early updates, the one at which
// the beam loses gold, or the last.
void Words::find_violation(std::size_t i, Against which, const Labels& gold, Violation<Labels>& found) {
  read(i);
  const std::vector<Segment> words = shape_.segments(gold);
  const bool costly = which == Against::costly;
  const bool whole =
      search({.gold = words, .stops = shape_.early}, costly ? costs_of(i) : std::vector<double>());
  if (whole) found.errors = errors(i, search_.output(parts(i), 0));
  if (!whole) found.errors = 1;
  if (found.errors == 0) {
    if (which != Against::second) return;
    find_second(*this, i, found);
    if (found.found) found.right = gold;
    return;
  }
  double most = kIllegal;
  std::size_t place = 0;
  for (const WordSearch::GoldStep& step : search_.gold_steps()) {
    if (search_.agenda(step.place).empty() || search_.agenda(step.place)[0].gold) continue;
    const double lead = search_.agenda(step.place)[0].score - step.score;
    if (lead < most && !shape_.early) continue;
    most = lead;
    place = step.place;
  }
  found.found = place != 0;
  if (!found.found) return;
  found.right.assign(gold.begin(), gold.begin() + static_cast<std::ptrdiff_t>(place));
  found.wrong = {search_.output(place, 0), search_.agenda(place)[0].score};
  if (costly) found.cost = cost(i, found.wrong.output);
}

// The features of a word, and of it with the one before.
void Words::collect(const std::vector<Segment>& words, std::size_t k, double count) {
  const Segment& word = words[k];
  const auto take = [&](std::uint64_t key, const SegmentExtractor::Origin& origin, std::uint32_t label) {
    if (!hidden_.feature(key)) pending_.push_back({key, origin, label, kNoRow, count});
  };
  data_.extractor.for_segment(scoring_.x, word.begin, word.last,
                              [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
                                take(key, origin, label_of(shape_, data_.extractor, origin, word.type));
                              });
  data_.extractor.for_neighbours(scoring_.x, k == 0 ? kNoPrevious : words[k - 1].begin, word.begin, word.last,
                                 [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
                                   const bool before = data_.extractor.is_before(origin);
                                   take(key, origin,
                                        shape_.begin_label[before ? words[k - 1].type : word.type]);
                                 });
}

void Words::find_rows(std::size_t i, bool adds) {
  const auto text = [&](std::size_t token, std::uint32_t source) {
    return data_.examples.text(i, token, source);
  };
  marginalia::find_rows(data_.index, pending_, adds, [&](const PendingFeature& one) -> std::string {
    return one.origin.item != nullptr ? std::string(data_.examples.item_name(one.origin.item->name))
                                      : data_.extractor.name(one.origin, scoring_.x.length, text);
  });
}

void Words::count_features(std::size_t i) {
  if (!complete(i)) return;
  read(i);
  const std::vector<Segment> words = shape_.segments(gold(i));
  for (std::size_t k = 0; k < words.size(); ++k) collect(words, k, 1.0);
  emit(i, true, [&](const Coordinate& at, double) { data_.index.count(at.row); });
}

}  // namespace marginalia
