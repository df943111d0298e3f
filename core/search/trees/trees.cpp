#include "search/trees/trees.hpp"

#include <stdexcept>
#include <utility>

namespace marginalia {

Trees::Trees(const TreeShape& shape, const TreeData& data, const SparseRows& weights)
    : shape_(shape), data_(data), weights_(weights), search_(data.extractor, shape), replay_(shape) {
  if (shape.options().merge) merging_.emplace(data.extractor, shape);
}

void Trees::read(std::size_t i) {
  if (read_ == i) return;
  data_.examples.values(data_.extractor, i, search_.scoring.x);
  read_ = i;
}

void Trees::hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
  hidden_ = Hidden(dropout, step);
  read_ = SIZE_MAX;
  if (!dropout.active()) return;
  data_.examples.hidden_values(data_.extractor, i, hidden_, search_.scoring.x);
  read_ = i;
}

// A whole search; weights may have changed since the last one.
void Trees::search(std::size_t i, const TreeSearchOptions& options, std::span<const std::uint32_t> gold) {
  read(i);
  const std::shared_lock reading(data_.index.lock());
  search_.scoring.begin();
  search_.begin(options, gold);
  search_.finish(lookup());
}

void Trees::derive(std::uint32_t state, Derivation& out) {
  search_.states.actions(state, actions_);
  out.steps.clear();
  for (const std::uint32_t action : actions_) out.steps.push_back({action, action});
  search_.states.arcs(state, out.arcs);
}

void Trees::take(std::uint32_t state, ScoredDerivation& out) {
  derive(state, out.output);
  out.score = search_.states[state].score;
}

const ScoredDerivation& Trees::best(std::size_t i) {
  if (merging_) {
    best_merged(i);
    return best_;
  }
  search(i, {});
  take(search_.beam().at(0), best_);
  return best_;
}

const ScoredDerivation& Trees::costly_best(std::size_t i) {
  const TreeArcs gold = data_.examples.gold(i);
  search(i, {nullptr, &gold});
  take(search_.beam().at(0), best_);
  return best_;
}

// Different actions may make the same tree: it comes once.
std::vector<ScoredDerivation> Trees::k_best(std::size_t i, std::size_t k) {
  search(i, {});
  std::vector<ScoredDerivation> found;
  for (const std::uint32_t state : search_.beam()) {
    if (found.size() == k) break;
    ScoredDerivation one;
    take(state, one);
    const auto same = [&](const ScoredDerivation& other) { return other.output.arcs == one.output.arcs; };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(one));
  }
  return found;
}

std::size_t Trees::errors_of(std::size_t i, const std::vector<std::uint32_t>& arcs) const {
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < arcs.size(); ++t) {
    if (arcs[t] == kAnyHead) continue;  // not made yet
    const std::uint32_t head = data_.examples.gold_head(i, t), label = data_.examples.gold_label(i, t);
    wrong += (head != kAnyHead && head != arcs[t] / kMostTreeLabels) ||
             (label != kAnyLabel && label != arcs[t] % kMostTreeLabels);
  }
  return wrong;
}

std::size_t Trees::errors(std::size_t i, const Derivation& y) const {
  return errors_of(i, y.arcs);
}

// All that an update may ask for.
void Trees::search_in_all_ways(std::size_t i) {
  if (parts(i) == 0) return;
  const TreeArcs gold = data_.examples.gold(i);
  if (complete(i)) {
    search(i, {}, data_.examples.actions(i));
    search(i, {nullptr, &gold}, data_.examples.actions(i));
  } else if (const std::optional<Derivation> right = constrained_gold(i)) {
    std::vector<std::uint32_t> actions;
    for (const Derivation::Step& step : right->steps) actions.push_back(step.taken);
    search(i, {}, actions);
    search(i, {nullptr, &gold}, actions);
  }
  if (merging_) best_merged(i);
}

Derivation Trees::gold(std::size_t i) {
  if (!complete(i)) {
    if (std::optional<Derivation> right = constrained_gold(i)) return *std::move(right);
    throw std::domain_error("an example has no tree with the arcs that are known");
  }
  Derivation found;
  for (const std::uint32_t action : data_.examples.actions(i)) found.steps.push_back({action, action});
  const TreeArcs gold = data_.examples.gold(i);
  for (std::size_t t = 0; t < gold.size(); ++t)
    found.arcs.push_back(gold.head[t] * kMostTreeLabels + gold.label[t]);
  return found;
}

// The best of the outputs with all arcs that are known, if the beam finds one: arcs that cross may leave
// none.
std::optional<Derivation> Trees::constrained_gold(std::size_t i) {
  const GivenArcs given(data_.examples.gold(i));
  search(i, {&given, nullptr});
  if (search_.beam().empty()) return std::nullopt;
  Derivation found;
  derive(search_.beam()[0], found);
  return found;
}

std::optional<ScoredDerivation> Trees::best_wrong(std::size_t i) {
  search(i, {});
  for (const std::uint32_t state : search_.beam()) {
    ScoredDerivation one;
    take(state, one);
    if (errors_of(i, one.output.arcs) != 0) return one;
  }
  return std::nullopt;
}

void Trees::violation(std::size_t i, Against which, Violation<Derivation>& found) {
  found.found = found.right_may_lead = found.due = false;
  found.errors = 0;
  found.cost = 0.0;
  if (parts(i) == 0) return;
  if (complete(i) && merging_ && which != Against::costly) {
    find_merged(i, data_.examples.actions(i), found);
    if (found.errors == 0 && which == Against::second)
      find_violation(i, which, data_.examples.actions(i), found);
  } else if (complete(i)) {
    find_violation(i, which, data_.examples.actions(i), found);
  } else if (const std::optional<Derivation> gold = constrained_gold(i)) {  // else nothing is learned of it
    std::vector<std::uint32_t> actions;
    for (const Derivation::Step& step : gold->steps) actions.push_back(step.taken);
    find_violation(i, which, actions, found);
  }
}

// The step at which the beam's best state beats gold's by most; or, with early updates, the one at which the
// beam loses gold, or the last.
void Trees::find_violation(std::size_t i, Against which, std::span<const std::uint32_t> gold,
                           Violation<Derivation>& found) {
  read(i);
  TreeArcs costs;
  if (which == Against::costly) costs = data_.examples.gold(i);
  const bool early = shape_.options().update == TreeShape::Update::early;
  const TreeStates& states = search_.states;
  double most = kIllegal;
  std::uint32_t right = 0, wrong = 0;
  {
    const std::shared_lock reading(data_.index.lock());
    search_.scoring.begin();
    search_.begin({nullptr, which == Against::costly ? &costs : nullptr}, gold);
    while (search_.advance(lookup())) {
      const std::uint32_t best = search_.beam().at(0);
      const double lead = states[best].score - states[search_.gold()].score;
      if (best != search_.gold() && (early || lead >= most)) {
        most = lead;
        right = search_.gold();
        wrong = best;
      }
      if (early && !search_.gold_in_beam()) break;
    }
  }
  const std::uint32_t last = search_.beam().at(0);
  search_.states.arcs(last, arcs_);
  found.errors = errors_of(i, arcs_);
  if (early && !search_.gold_in_beam()) found.errors = std::max<std::size_t>(found.errors, 1);
  if (found.errors == 0) {
    if (which == Against::second) find_second(i, found);
    if (found.found) derive(search_.gold(), found.right);
    return;
  }
  found.found = wrong != 0;
  if (!found.found) return;
  derive(right, found.right);
  take(wrong, found.wrong);
  if (which == Against::costly) found.cost = cost(i, found.wrong.output);
}

void Trees::take_actions(const std::vector<std::uint32_t>& actions, Derivation& out) {
  replay_.begin(search_.scoring.x.length, nullptr);
  std::uint32_t state = 0;
  out.steps.clear();
  for (const std::uint32_t action : actions) {
    out.steps.push_back({action, action});
    state = replay_.apply(state, action);
  }
  replay_.arcs(state, out.arcs);
}

void Trees::best_merged(std::size_t i) {
  read(i);
  {
    const std::shared_lock reading(data_.index.lock());
    search_.scoring.begin();
    merging_->begin(search_.scoring, search_.states);
    while (merging_->advance(lookup())) {
    }
  }
  take_actions(merging_->actions(merging_->beam()[0]), best_.output);
  best_.score = search_.states[merging_->beam()[0]].score;
}

// The same with merged states: gold goes on apart from the beam, which has lost it if no state agrees with
// gold's.
void Trees::find_merged(std::size_t i, std::span<const std::uint32_t> gold, Violation<Derivation>& found) {
  read(i);
  const bool early = shape_.options().update == TreeShape::Update::early;
  TreeStates& states = search_.states;
  const std::shared_lock reading(data_.index.lock());
  search_.scoring.begin();
  merging_->begin(search_.scoring, states);
  std::uint32_t right = 0;
  double most = kIllegal;
  std::vector<std::uint32_t> wrong;
  std::size_t length = 0;
  bool lost = false;
  for (std::size_t t = 0; t < gold.size() && !lost; ++t) {
    search_.scoring.score(lookup(), states, std::span(&right, 1));
    const double score =
        states[right].score + static_cast<double>(search_.scoring.scores(0)[shape_.column_of()[gold[t]]]);
    merging_->advance(lookup());
    right = states.apply(right, gold[t]);
    states.at(right).score = score;
    const std::uint32_t best = merging_->beam()[0];
    const double lead = states[best].score - score;
    lost = early && !merging_->has(right);
    const bool last = t + 1 == gold.size();
    if (early ? !lost && !last : lead < most && !last) continue;
    std::vector<std::uint32_t> actions = merging_->actions(best);
    if (last) {
      take_actions(actions, found.wrong.output);
      found.errors = errors_of(i, found.wrong.output.arcs);
    }
    if (std::equal(actions.begin(), actions.end(), gold.begin()) || (!early && lead < most)) continue;
    most = lead;
    length = t + 1;
    wrong = std::move(actions);
  }
  if (lost) found.errors = 1;
  found.found = found.errors != 0 && length != 0;
  if (!found.found) return;
  take_actions(wrong, found.wrong.output);
  take_actions({gold.begin(), gold.begin() + static_cast<std::ptrdiff_t>(length)}, found.right);
}

// The best output of the beam that is wrong, where the best one is right.
void Trees::find_second(std::size_t i, Violation<Derivation>& found) {
  for (const std::uint32_t state : search_.beam()) {
    take(state, found.wrong);
    found.found = errors_of(i, found.wrong.output.arcs) != 0;
    if (found.found) return;
  }
}

void Trees::collect(std::uint32_t state, std::uint32_t action, double count) {
  replay_.fields(data_.extractor, replay_[state], fields_);
  for (std::uint32_t t = 0; t < data_.extractor.templates(); ++t) {
    const std::uint64_t key = data_.extractor.key(t, fields_.data(), search_.scoring.x, replay_.names());
    if (key != 0 && !hidden_.feature(key)) pending_.push_back({key, t, state, action, kNoRow, count});
  }
}

void Trees::find_rows(std::size_t i, bool adds) {
  const auto text = [&](std::size_t token, std::uint32_t source) {
    return data_.examples.text(i, token, source);
  };
  marginalia::find_rows(data_.index, pending_, adds, [&](const PendingFeature& one) {
    replay_.fields(data_.extractor, replay_[one.state], fields_);
    return concatenated(data_.extractor.piece_texts(one.template_index, fields_.data(),
                                                    search_.scoring.x.length, replay_.names(), text));
  });
}

void Trees::count_features(std::size_t i) {
  if (!complete(i)) return;
  const Derivation y = gold(i);
  read(i);
  replay_.begin(search_.scoring.x.length, nullptr);
  std::uint32_t state = 0;
  for (const Derivation::Step& step : y.steps) {
    collect(state, step.counted, 1.0);
    state = replay_.apply(state, step.taken);
  }
  emit(i, true, [&](const Coordinate& at, double) { data_.index.count(at.row); });
}

}  // namespace marginalia
