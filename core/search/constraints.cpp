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

void Rules::check() const {
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

std::vector<Places> places_of(const TokenTable& table, std::span<const std::uint32_t> tokens,
                              std::span<const std::uint32_t> spans, std::span<const std::uint32_t> starts) {
  std::vector<Places> found(table.sentences());
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

Demands::Demands(const Rules& rules, const Places& places, std::size_t length)
    : rules_(rules), places_(places), length_(length), set_end_(length + 1), begins_(length + 1) {
  std::vector<Places::OfToken> ordered = places.tokens;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.token < b.token; });
  for (const auto& [token, set] : ordered) {
    require(token < length && set < rules.sets.size());
    token_sets_.push_back(set);
    set_end_[token + 1] = static_cast<std::uint32_t>(token_sets_.size());
  }
  for (std::size_t t = 0; t < length; ++t) set_end_[t + 1] = std::max(set_end_[t], set_end_[t + 1]);
  begins_[length] = 1;
  for (const std::size_t first : places.sentences) {
    require(first < length);
    begins_[first] = 1;
  }
  for (const auto& count : rules.counts) {
    const std::size_t most = count.most == kNoLimit ? count.least : count.most;
    most_.push_back(static_cast<std::uint32_t>(std::min(most, length)));  // there are no more tokens
  }
  for (const auto& span : places.spans)
    require(span.first <= span.last && span.last < length && span.set < rules.sets.size());
  most_.resize(most_.size() + rules.orders.size() + rules.neighbours.size() + places.spans.size(), 1);
}

std::uint32_t Demands::violations(const Labels& y, std::vector<std::size_t>& broken) const {
  const std::uint32_t of_tokens = Watch(*this).violations(y);
  std::uint32_t all = of_tokens;
  for (std::size_t demand = 0; demand < remembering(); ++demand) {
    Watch watch(*this);
    watch.add(demand);
    const std::uint32_t more = watch.violations(y) - of_tokens;
    if (more != 0) broken.push_back(demand);
    all += more;
  }
  return all;
}

Watch::Watch(const Demands& demands) : demands_(&demands), field_(demands.remembering()) {
  for (const std::uint32_t set : demands.rules_.everywhere) use(set);
  for (const std::uint32_t set : demands.token_sets_) use(set);
}

void Watch::use(std::uint32_t set) {
  before_matters_ = before_matters_ || looks_back(demands_->rules_.sets[set]);
}

bool Watch::add(std::size_t demand) {
  const auto width = std::max(1u, static_cast<std::uint32_t>(std::bit_width(demands_->most_[demand])));
  if (used_ + width > 64) return false;
  field_[demand] = {used_, width};
  used_ += width;
  watched_.push_back(demand);
  const Rules& rules = demands_->rules_;
  std::size_t i = demand;
  if (i < rules.counts.size()) {
    use(rules.counts[i].set);
    return true;
  }
  i -= rules.counts.size();
  if (i < rules.orders.size() + rules.neighbours.size()) {
    const Rules::Pair& pair =
        i < rules.orders.size() ? rules.orders[i] : rules.neighbours[i - rules.orders.size()];
    use(pair.first);
    use(pair.second);
    return true;
  }
  use(demands_->places_.spans[i - rules.orders.size() - rules.neighbours.size()].set);
  return true;
}

// How often a demand is broken by a token in a context, which is remembered.
std::uint32_t Watch::met(std::size_t demand, std::size_t t, std::size_t context, std::uint8_t after,
                         std::uint64_t& memory) const {
  const Rules& rules = demands_->rules_;
  const Field field = field_[demand];
  const std::uint32_t value = field.of(memory);
  const auto in = [&](std::uint32_t set) { return contains(rules.sets[set], context); };
  std::size_t i = demand;
  if (i < rules.counts.size()) {
    if (!in(rules.counts[i].set)) return 0;
    if (value == demands_->most_[demand]) return rules.counts[i].most == kNoLimit ? 0 : 1;
    memory = field.with(memory, value + 1);
    return 0;
  }
  i -= rules.counts.size();
  if (i < rules.orders.size()) {
    if (in(rules.orders[i].second)) memory = field.with(memory, 1);
    return value != 0 && in(rules.orders[i].first) ? 1 : 0;
  }
  i -= rules.orders.size();
  if (i < rules.neighbours.size()) {
    memory = field.with(memory, in(rules.neighbours[i].first) ? 1 : 0);
    return value != 0 && in(rules.neighbours[i].second) ? 1 : 0;
  }
  const Places::OfSpan& span = demands_->places_.spans[i - rules.neighbours.size()];
  const bool open = t == span.first ? in(span.set) : value != 0;
  memory = field.with(memory, open && t < span.last && after == kJoined ? 1 : 0);
  return open && t == span.last && after != kJoined ? 1 : 0;
}

// By how much counts are too low at the end of a sentence.
std::uint32_t Watch::missing(std::uint64_t memory) const {
  std::uint32_t found = 0;
  for (const std::size_t demand : watched_) {
    if (demand >= demands_->rules_.counts.size()) continue;
    const std::uint32_t least = demands_->rules_.counts[demand].least;
    found += least - std::min(least, field_[demand].of(memory));
  }
  return found;
}

Watch::Left Watch::leave(std::size_t t, std::uint32_t label, std::uint8_t after, std::uint64_t memory) const {
  const Rules& rules = demands_->rules_;
  const std::size_t context = (std::size_t{label} * 3 + (before_matters_ ? memory & 3 : 0)) * 3 + after;
  Left left{memory, 0};
  for (const std::uint32_t set : rules.everywhere) left.violations += !contains(rules.sets[set], context);
  for (std::uint32_t i = demands_->set_end_[t]; i < demands_->set_end_[t + 1]; ++i)
    left.violations += !contains(rules.sets[demands_->token_sets_[i]], context);
  for (const std::size_t demand : watched_) left.violations += met(demand, t, context, after, left.memory);
  if (demands_->begins_[t + 1]) {
    left.violations += missing(left.memory);
    left.memory = kStart;
  } else if (before_matters_) {
    left.memory = (left.memory & ~std::uint64_t{3}) | after;
  }
  return left;
}

std::uint32_t Watch::violations(const Labels& y) const {
  std::uint64_t memory = kStart;
  std::uint32_t found = 0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const bool last = t + 1 == y.size();
    const Left left =
        leave(t, y[t], last ? std::uint8_t{kApart} : demands_->relation(t + 1, y[t], y[t + 1]), memory);
    found += left.violations;
    memory = left.memory;
  }
  return found;
}

}  // namespace marginalia
