#include "search/constraints.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace marginalia {

namespace {

void require(bool fits) {
  if (!fits) throw std::invalid_argument("constraints: the parts do not fit each other");
}

bool contains(const Contexts& set, std::size_t context) {
  return set[context] != 0;
}

// Does membership depend on the relation to the token before?
bool looks_back(const Contexts& set) {
  for (std::size_t at = 0; at < set.size(); at += 9)
    for (std::size_t after = 0; after < 3; ++after)
      if (set[at + after] != set[at + 3 + after] || set[at + after] != set[at + 6 + after]) return true;
  return false;
}

}  // namespace

void ConstraintSet::check() const {
  const auto known = [&](std::uint32_t set) { return set < sets.size(); };
  const auto known_pair = [&](const Pair& pair) { return known(pair.first) && known(pair.second); };
  require(relation.size() == labels * labels);
  require(std::all_of(relation.begin(), relation.end(), [](std::uint8_t r) { return r <= kJoined; }));
  require(std::all_of(sets.begin(), sets.end(), [&](const Contexts& s) { return s.size() == labels * 9; }));
  require(std::all_of(everywhere.begin(), everywhere.end(), known));
  require(std::all_of(counts.begin(), counts.end(),
                      [&](const Count& count) { return known(count.set) && count.least <= count.most; }));
  require(std::all_of(orders.begin(), orders.end(), known_pair));
  require(std::all_of(neighbours.begin(), neighbours.end(), known_pair));
}

std::vector<PlacedConstraints> placed_constraints_of(const TokenTable& table,
                                                     std::span<const std::uint32_t> tokens,
                                                     std::span<const std::uint32_t> spans,
                                                     std::span<const std::uint32_t> starts) {
  std::vector<PlacedConstraints> found(table.sentences());
  require(tokens.size() % 3 == 0 && spans.size() % 4 == 0);
  for (std::size_t i = 0; i < tokens.size(); i += 3) {
    require(tokens[i] < found.size());
    found[tokens[i]].tokens.push_back({tokens[i + 1], tokens[i + 2]});
  }
  for (std::size_t i = 0; i < spans.size(); i += 4) {
    require(spans[i] < found.size());
    found[spans[i]].spans.push_back({spans[i + 1], spans[i + 2], spans[i + 3]});
  }
  std::size_t s = 0;
  for (const std::uint32_t start : starts) {
    while (s < found.size() && table.sentence[s + 1] <= start) ++s;
    if (s < found.size() && start > table.sentence[s])
      found[s].sentences.push_back(start - table.sentence[s]);
  }
  return found;
}

OutputConstraints::OutputConstraints(const ConstraintSet& constraint_set, const PlacedConstraints& placed,
                                     std::size_t length)
    : constraint_set_(constraint_set),
      placed_(placed),
      length_(length),
      set_end_(length + 1),
      begins_(length + 1) {
  std::vector<PlacedConstraints::OfToken> ordered = placed.tokens;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.token < b.token; });
  for (const auto& [token, set] : ordered) {
    require(token < length && set < constraint_set.sets.size());
    token_sets_.push_back(set);
    set_end_[token + 1] = static_cast<std::uint32_t>(token_sets_.size());
  }
  for (std::size_t t = 0; t < length; ++t) set_end_[t + 1] = std::max(set_end_[t], set_end_[t + 1]);
  begins_[length] = 1;
  for (const std::size_t first : placed.sentences) {
    require(first < length);
    begins_[first] = 1;
  }
  for (const auto& count : constraint_set.counts) {
    const std::size_t most = count.most == kNoLimit ? count.least : count.most;
    most_.push_back(static_cast<std::uint32_t>(std::min(most, length)));  // there are no more tokens
  }
  for (const auto& span : placed.spans)
    require(span.first <= span.last && span.last < length && span.set < constraint_set.sets.size());
  most_.resize(
      most_.size() + constraint_set.orders.size() + constraint_set.neighbours.size() + placed.spans.size(),
      1);
}

std::uint32_t OutputConstraints::violations(const Labels& y, std::vector<std::size_t>& broken) const {
  const std::uint32_t of_tokens = ConstraintAutomaton(*this).violations(y);
  std::uint32_t all = of_tokens;
  for (std::size_t constraint = 0; constraint < remembering(); ++constraint) {
    ConstraintAutomaton automaton(*this);
    automaton.add(constraint);
    const std::uint32_t more = automaton.violations(y) - of_tokens;
    if (more != 0) broken.push_back(constraint);
    all += more;
  }
  return all;
}

ConstraintAutomaton::ConstraintAutomaton(const OutputConstraints& constraints)
    : constraints_(&constraints), field_(constraints.remembering()) {
  for (const std::uint32_t set : constraints.constraint_set_.everywhere) use(set);
  for (const std::uint32_t set : constraints.token_sets_) use(set);
}

void ConstraintAutomaton::use(std::uint32_t set) {
  before_matters_ = before_matters_ || looks_back(constraints_->constraint_set_.sets[set]);
}

bool ConstraintAutomaton::add(std::size_t constraint) {
  const auto width =
      std::max(1u, static_cast<std::uint32_t>(std::bit_width(constraints_->most_[constraint])));
  if (used_ + width > 64) return false;
  field_[constraint] = {used_, width};
  used_ += width;
  tracked_.push_back(constraint);
  const ConstraintSet& constraint_set = constraints_->constraint_set_;
  std::size_t i = constraint;
  if (i < constraint_set.counts.size()) {
    use(constraint_set.counts[i].set);
    return true;
  }
  i -= constraint_set.counts.size();
  if (i < constraint_set.orders.size() + constraint_set.neighbours.size()) {
    const ConstraintSet::Pair& pair = i < constraint_set.orders.size()
                                          ? constraint_set.orders[i]
                                          : constraint_set.neighbours[i - constraint_set.orders.size()];
    use(pair.first);
    use(pair.second);
    return true;
  }
  use(constraints_->placed_.spans[i - constraint_set.orders.size() - constraint_set.neighbours.size()].set);
  return true;
}

// How often a constraint is broken by a token in a context, which is remembered.
std::uint32_t ConstraintAutomaton::advance(std::size_t constraint, std::size_t t, std::size_t context,
                                           std::uint8_t after, std::uint64_t& memory) const {
  const ConstraintSet& constraint_set = constraints_->constraint_set_;
  const Field field = field_[constraint];
  const std::uint32_t value = field.of(memory);
  const auto in = [&](std::uint32_t set) { return contains(constraint_set.sets[set], context); };
  std::size_t i = constraint;
  if (i < constraint_set.counts.size()) {
    if (!in(constraint_set.counts[i].set)) return 0;
    if (value == constraints_->most_[constraint]) return constraint_set.counts[i].most == kNoLimit ? 0 : 1;
    memory = field.with(memory, value + 1);
    return 0;
  }
  i -= constraint_set.counts.size();
  if (i < constraint_set.orders.size()) {
    if (in(constraint_set.orders[i].second)) memory = field.with(memory, 1);
    return value != 0 && in(constraint_set.orders[i].first) ? 1 : 0;
  }
  i -= constraint_set.orders.size();
  if (i < constraint_set.neighbours.size()) {
    memory = field.with(memory, in(constraint_set.neighbours[i].first) ? 1 : 0);
    return value != 0 && in(constraint_set.neighbours[i].second) ? 1 : 0;
  }
  const PlacedConstraints::OfSpan& span = constraints_->placed_.spans[i - constraint_set.neighbours.size()];
  const bool open = t == span.first ? in(span.set) : value != 0;
  memory = field.with(memory, open && t < span.last && after == kJoined ? 1 : 0);
  return open && t == span.last && after != kJoined ? 1 : 0;
}

// By how much counts are too low at the end of a sentence.
std::uint32_t ConstraintAutomaton::missing(std::uint64_t memory) const {
  std::uint32_t found = 0;
  for (const std::size_t constraint : tracked_) {
    if (constraint >= constraints_->constraint_set_.counts.size()) continue;
    const std::uint32_t least = constraints_->constraint_set_.counts[constraint].least;
    found += least - std::min(least, field_[constraint].of(memory));
  }
  return found;
}

ConstraintAutomaton::Left ConstraintAutomaton::leave(std::size_t t, std::uint32_t label, std::uint8_t after,
                                                     std::uint64_t memory) const {
  const ConstraintSet& constraint_set = constraints_->constraint_set_;
  const std::size_t context = (std::size_t{label} * 3 + (before_matters_ ? memory & 3 : 0)) * 3 + after;
  Left left{memory, 0};
  for (const std::uint32_t set : constraint_set.everywhere)
    left.violations += !contains(constraint_set.sets[set], context);
  for (std::uint32_t i = constraints_->set_end_[t]; i < constraints_->set_end_[t + 1]; ++i)
    left.violations += !contains(constraint_set.sets[constraints_->token_sets_[i]], context);
  for (const std::size_t constraint : tracked_)
    left.violations += advance(constraint, t, context, after, left.memory);
  if (constraints_->begins_[t + 1]) {
    left.violations += missing(left.memory);
    left.memory = kStart;
  } else if (before_matters_) {
    left.memory = (left.memory & ~std::uint64_t{3}) | after;
  }
  return left;
}

std::uint32_t ConstraintAutomaton::violations(const Labels& y) const {
  std::uint64_t memory = kStart;
  std::uint32_t found = 0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const bool last = t + 1 == y.size();
    const Left left =
        leave(t, y[t], last ? std::uint8_t{kApart} : constraints_->relation(t + 1, y[t], y[t + 1]), memory);
    found += left.violations;
    memory = left.memory;
  }
  return found;
}

}  // namespace marginalia
