#include "search/trees/states.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace marginalia {

namespace {

constexpr unsigned bit(Move move) {
  return 1u << static_cast<unsigned>(move);
}

}  // namespace

bool TreeArcs::complete() const {
  return std::find(head.begin(), head.end(), kAnyHead) == head.end() &&
         std::find(label.begin(), label.end(), kAnyLabel) == label.end();
}

GivenArcs::GivenArcs(TreeArcs given, std::vector<TokenSpan> given_spans)
    : arcs(std::move(given)), spans(std::move(given_spans)) {
  for (auto& side : children) side.assign(arcs.size(), 0);
  for (std::uint32_t d = 0; d < arcs.size(); ++d)
    if (arcs.head[d] != kAnyHead && arcs.head[d] != 0) ++children[d >= arcs.head[d]][arcs.head[d] - 1];
}

void TreeStates::begin(std::size_t length, const GivenArcs* given) {
  length_ = length;
  given_ = given;
  ++sentence_;
  names_.trim();
  attached_.clear();
  items_.assign(length + 1, {});
  items_[0].token = static_cast<std::uint32_t>(length);
  for (std::uint32_t t = 0; t < length; ++t) {
    items_[t + 1].token = t;
    items_[t + 1].side[0] = items_[t + 1].side[1] = t + 1;
  }
  cells_.assign(1, {});
  states_.assign(1, {});
  span_counts_.clear();
  if (given != nullptr)
    for (const TokenSpan& span : given->spans) span_counts_.push_back({span.last - span.first + 1, false});
}

unsigned TreeStates::moves(const TreeState& s) const {
  const unsigned found = shape_.system() == TransitionSystem::eager    ? eager_moves(s)
                         : shape_.system() == TransitionSystem::hybrid ? hybrid_moves(s)
                                                                       : standard_moves(s);
  return given_ == nullptr ? found : keeping(s, found);
}

unsigned TreeStates::standard_moves(const TreeState& s) const {
  const bool empty = queue_empty(s);
  unsigned found = empty ? 0 : bit(Move::shift);
  if (s.size >= 2) {
    found |= bit(Move::left) | bit(Move::right);
    if (shape_.system() == TransitionSystem::swap && token(below(s.stack)) < token(s.stack))
      found |= bit(Move::swap);
  }
  if (empty && (s.size == 1 || (s.size > 1 && !shape_.options().one_root))) found |= bit(Move::root);
  return found;
}

unsigned TreeStates::hybrid_moves(const TreeState& s) const {
  const bool empty = queue_empty(s);
  unsigned found = empty ? 0 : bit(Move::shift);
  if (s.size >= 1 && !empty) found |= bit(Move::left);
  if (s.size >= 2) found |= bit(Move::right);
  if (empty && (s.size == 1 || (s.size > 1 && !shape_.options().one_root))) found |= bit(Move::root);
  return found;
}

// Where the queue ends with more than one token without a head, all but one get the token below as their
// head: there is one root.
unsigned TreeStates::eager_moves(const TreeState& s) const {
  if (!queue_empty(s)) {
    unsigned found = bit(Move::shift);
    if (s.size == 0) return found;
    found |= bit(Move::right);
    return found | (has_head(s.stack) ? bit(Move::reduce) : bit(Move::left));
  }
  if (s.size == 0) return 0;
  if (has_head(s.stack)) return bit(Move::reduce);
  return shape_.options().one_root && s.headless > 1 ? bit(Move::right) : bit(Move::root);
}

NewArc TreeStates::arc(const TreeState& s, Move move) const {
  const bool standard =
      shape_.system() == TransitionSystem::standard || shape_.system() == TransitionSystem::swap;
  switch (move) {
    case Move::left:
      if (standard) return {token(s.stack) + 1, token(below(s.stack))};
      return {front(s) + 1, token(s.stack)};
    case Move::right:
      if (shape_.system() == TransitionSystem::eager && !queue_empty(s))
        return {token(s.stack) + 1, front(s)};
      return {token(below(s.stack)) + 1, token(s.stack)};
    case Move::root:
      return {0, token(s.stack)};
    default:
      return {};
  }
}

bool TreeStates::keeps_arc(const NewArc& arc) const {
  const std::uint32_t wanted = given_->arcs.head[arc.dependent];
  return wanted == kAnyHead || wanted == arc.head;
}

// Whether each given span can still have exactly one token with its head outside. All others are below that
// one by arcs within the span: they must have their heads when nothing can be attached to it any more.
bool TreeStates::keeps_spans(const TreeState& s, Move move) const {
  const bool eager = shape_.system() == TransitionSystem::eager;
  const bool stays = eager && move == Move::right && !queue_empty(s);  // it may get children later
  const NewArc made = move == Move::reduce ? NewArc{token(below(s.stack)) + 1, token(s.stack)}
                                           // which was made before
                                           : arc(s, move);
  for (std::size_t k = 0; k < given_->spans.size(); ++k) {
    const TokenSpan& span = given_->spans[k];
    if (!span.has(made.dependent + 1) || span.has(made.head)) continue;
    const SpanCount& count = span_counts_[s.spans + k];
    if (move == Move::reduce ? count.headless != 0 : count.has_outside || (!stays && count.headless != 1))
      return false;
  }
  return true;
}

// The counts of a state after an arc.
void TreeStates::count_spans(TreeState& s, const NewArc& arc) {
  if (arc.head == kAnyHead) return;
  const std::uint32_t from = s.spans;
  s.spans = static_cast<std::uint32_t>(span_counts_.size());
  for (std::size_t k = 0; k < given_->spans.size(); ++k) {
    SpanCount count = span_counts_[from + k];
    if (given_->spans[k].has(arc.dependent + 1)) {
      --count.headless;
      count.has_outside = count.has_outside || !given_->spans[k].has(arc.head);
    }
    span_counts_.push_back(count);
  }
}

// Whether an item has all children that were given.
bool TreeStates::has_given(std::uint32_t item, bool left_only) const {
  const TreeItem& one = items_[item];
  return one.given[0] == given_->children[0][one.token] &&
         (left_only || one.given[1] == given_->children[1][one.token]);
}

// Those of the moves after which given arcs can still be made, as far as one step shows it: an item that
// leaves the stack must have its children, and where only the front of the queue gets left children, a token
// must have those before it is shifted.
unsigned TreeStates::keeping(const TreeState& s, unsigned moves) const {
  const bool eager = shape_.system() == TransitionSystem::eager;
  const bool standard = !eager && shape_.system() != TransitionSystem::hybrid;
  const auto drop = [&](Move move) { moves &= ~bit(move); };
  for (const Move move : {Move::left, Move::right, Move::root})
    if ((moves & bit(move)) != 0 && !keeps_arc(arc(s, move))) drop(move);
  if (!given_->spans.empty())
    for (const Move move : {Move::left, Move::right, Move::root, Move::reduce})
      if ((moves & bit(move)) != 0 && !keeps_spans(s, move)) drop(move);
  const std::uint32_t top = cells_[s.stack].item;
  const bool ends = queue_empty(s);
  if (s.size >= 1) {
    const std::uint32_t popped_left = standard ? cells_[below(s.stack)].item : top;
    if ((moves & bit(Move::left)) != 0 && !has_given(popped_left, false)) drop(Move::left);
    if (!has_given(top, false)) {
      drop(Move::reduce);
      drop(Move::root);
      if (!eager || ends) drop(Move::right);
    }
  }
  if (!standard && !ends) {
    const std::uint32_t first = queue_item(s, 0), head = given_->arcs.head[items_[first].token];
    if (!has_given(first, true)) {
      drop(Move::shift);
      if (eager) drop(Move::right);
    }
    if (eager && head != kAnyHead && head != 0 && head - 1 < items_[first].token) drop(Move::shift);
    // Nothing under the root could get a head any more.
    if (head == 0 && (eager ? s.headless : s.size) != 0) drop(Move::shift);
  }
  return moves;
}

std::uint32_t TreeStates::queue_item(const TreeState& s, std::uint32_t depth) const {
  std::uint32_t cell = s.back;
  while (cell != 0 && depth > 0) {
    cell = cells_[cell].below;
    --depth;
  }
  if (cell != 0) return cells_[cell].item;
  return s.next + depth < length_ ? s.next + depth + 1 : 0;
}

std::uint32_t TreeStates::push(std::uint32_t item, std::uint32_t below, std::uint32_t label) {
  cells_.push_back({item, below, label});
  return static_cast<std::uint32_t>(cells_.size() - 1);
}

// Takes the first item out of the queue.
std::uint32_t TreeStates::take_front(TreeState& s) const {
  if (s.back == 0) return ++s.next;  // the item of token t is t + 1
  const std::uint32_t item = cells_[s.back].item;
  s.back = cells_[s.back].below;
  return item;
}

// The head's item with one more child: the same one wherever it is made.
std::uint32_t TreeStates::attach(std::uint32_t head, std::uint32_t dependent, std::uint32_t label) {
  bool added = false;
  const std::uint64_t key = scrambled((std::uint64_t{head} << 38 | std::uint64_t{dependent} << 12) + label);
  const std::uint32_t number = attached_.find_or_add(key, added);
  const auto first = static_cast<std::uint32_t>(length_ + 1);
  if (!added) return first + number;
  TreeItem made = items_[head];
  const std::uint32_t token = items_[dependent].token;
  const bool right = token > made.token;
  const TreeItem::Child child{dependent, label};
  const auto outer = [&](std::uint32_t other) {
    return other == 0 || (right ? token > items_[other].token : token < items_[other].token);
  };
  auto& children = made.child[right];
  if (outer(children[0].item)) {
    children[1] = children[0];
    children[0] = child;
  } else if (outer(children[1].item)) {
    children[1] = child;
  }
  made.valency[right] = static_cast<std::uint16_t>(std::min<std::uint32_t>(made.valency[right] + 1u, 60000));
  made.labels[right] = names_.with(made.labels[right], label);
  if (given_ != nullptr && given_->arcs.head[token] == made.token + 1) ++made.given[right];
  made.side[right] = first + number;
  items_.push_back(made);
  return first + number;
}

void TreeStates::apply_standard(TreeState& s, Move move, std::uint32_t label) {
  if (move == Move::shift) {
    s.stack = push(take_front(s), s.stack);
    ++s.size;
    return;
  }
  const std::uint32_t top = s.stack, second = below(top);
  --s.size;
  if (move == Move::root) {
    s.stack = second;
  } else if (move == Move::swap) {
    s.back = push(cells_[second].item, s.back);
    s.stack = push(cells_[top].item, below(second));
  } else {
    const bool left = move == Move::left;
    const std::uint32_t head = cells_[left ? top : second].item, child = cells_[left ? second : top].item;
    s.stack = push(attach(head, child, label), below(second));
  }
}

void TreeStates::apply_hybrid(TreeState& s, Move move, std::uint32_t label) {
  if (move != Move::left) return apply_standard(s, move, label);
  const std::uint32_t child = cells_[s.stack].item;
  s.stack = below(s.stack);
  --s.size;
  const std::uint32_t head = take_front(s);
  s.back = push(attach(head, child, label), s.back);
}

void TreeStates::apply_eager(TreeState& s, Move move, std::uint32_t label) {
  if (move == Move::right && !queue_empty(s)) {
    const std::uint32_t child = take_front(s), top = s.stack;
    const std::uint32_t head = push(attach(cells_[top].item, child, label), below(top), cells_[top].label);
    s.stack = push(child, head, label);
    ++s.size;
    return;
  }
  if (move == Move::reduce) {
    s.stack = below(s.stack);
    --s.size;
    return;
  }
  if (move == Move::shift) {
    ++s.headless;
    return apply_standard(s, move, label);
  }
  --s.headless;
  if (move == Move::right) {  // the end of the queue
    const std::uint32_t second = below(s.stack);
    const std::uint32_t item = attach(cells_[second].item, cells_[s.stack].item, label);
    s.stack = push(item, below(second), cells_[second].label);
    --s.size;
    return;
  }
  apply_hybrid(s, move, label);
}

std::uint32_t TreeStates::apply(std::uint32_t from, std::uint32_t action) {
  TreeState s = states_[from];
  s.before = from;
  s.action = action;
  ++s.steps;
  const Move move = TreeShape::move_of(action);
  const std::uint32_t label = TreeShape::label_of(action);
  if (given_ != nullptr && !given_->spans.empty()) count_spans(s, arc(s, move));
  if (shape_.system() == TransitionSystem::eager)
    apply_eager(s, move, label);
  else if (shape_.system() == TransitionSystem::hybrid)
    apply_hybrid(s, move, label);
  else
    apply_standard(s, move, label);
  states_.push_back(s);
  return static_cast<std::uint32_t>(states_.size() - 1);
}

TreeStates::Place TreeStates::place(const TreeAddress& address, const TreeState& s) const {
  if (address.from == TreeAddress::kNone) {
    if (address.queue) return {queue_item(s, address.depth), 0, kAnyLabel};
    std::uint32_t cell = s.stack;
    for (std::uint32_t k = 0; k < address.depth && cell != 0; ++k) cell = cells_[cell].below;
    return {cells_[cell].item, cell, cells_[cell].label};
  }
  const Place& from = places_[address.from];
  if (address.step == TreeStep::head) {
    const std::uint32_t cell = from.cell != 0 && has_head(from.cell) ? below(from.cell) : 0;
    return {cells_[cell].item, cell, cells_[cell].label};
  }
  const auto step = static_cast<std::uint32_t>(address.step);
  const TreeItem::Child& child = items_[from.item].child[step / 2][step % 2];
  return {child.item, 0, child.item == 0 ? kAnyLabel : child.label};
}

std::uint32_t TreeStates::field(const TreeField& field) {
  const Place& place = places_[field.address];
  const TreeItem& item = items_[place.item];
  switch (field.kind) {
    case TreeFieldKind::token:
      return item.token;
    case TreeFieldKind::label:
      return std::min(place.label, names_.labels());
    case TreeFieldKind::distance: {
      const Place& other = places_[field.other];
      return place.item == 0 || other.item == 0 ? 0
                                                : TreeNames::distance(item.token, items_[other.item].token);
    }
    case TreeFieldKind::valency:
      return std::min<std::uint32_t>(item.valency[field.right], TreeNames::kMostChildren);
    default:
      return item.labels[field.right];
  }
}

void TreeStates::fields(const TreeExtractor& extractor, const TreeState& s, std::vector<std::uint32_t>& out) {
  out.clear();
  add_fields(extractor, s, out);
}

void TreeStates::add_fields(const TreeExtractor& extractor, const TreeState& s,
                            std::vector<std::uint32_t>& out) {
  places_.clear();
  for (const TreeAddress& address : extractor.addresses()) places_.push_back(place(address, s));
  for (const TreeField& one : extractor.fields()) out.push_back(field(one));
}

std::uint32_t TreeStates::reduce(std::uint32_t left, std::uint32_t right, std::uint32_t action) {
  TreeState s = states_[right];
  s.before = right;
  s.action = action;
  ++s.steps;
  --s.size;
  const std::uint32_t top = cells_[s.stack].item, second = cells_[states_[left].stack].item;
  const bool is_left = TreeShape::move_of(action) == Move::left;
  const std::uint32_t made =
      attach(is_left ? top : second, is_left ? second : top, TreeShape::label_of(action));
  s.stack = push(made, below(states_[left].stack));
  states_.push_back(s);
  return static_cast<std::uint32_t>(states_.size() - 1);
}

TreeStates::PlacedToken TreeStates::at_place(const TreeState& s, std::uint32_t depth,
                                             const std::vector<TreeStep>& path) const {
  std::uint32_t cell = s.stack, label = kAnyLabel;
  for (std::uint32_t k = 0; k < depth && cell != 0; ++k) cell = cells_[cell].below;
  std::uint32_t item = cells_[cell].item;
  for (const TreeStep step : path) {
    const auto number = static_cast<std::uint32_t>(step);
    const TreeItem::Child& child = items_[item].child[number / 2][number % 2];
    item = child.item;
    label = item == 0 ? kAnyLabel : child.label;
  }
  const TreeItem& found = items_[item];
  return {found.token, label, {found.valency[0], found.valency[1]}, {found.labels[0], found.labels[1]}};
}

std::uint32_t TreeStates::first_under(const TreeState& s) const {
  std::uint32_t item = cells_[s.stack].item;
  while (items_[item].child[0][0].item != 0) item = items_[item].child[0][0].item;
  return items_[item].token;
}

void TreeStates::actions(std::uint32_t state, std::vector<std::uint32_t>& out) const {
  out.resize(states_[state].steps);
  for (std::size_t k = out.size(); k-- > 0; state = states_[state].before) out[k] = states_[state].action;
}

void TreeStates::arcs(std::uint32_t state, std::vector<std::uint32_t>& out) const {
  out.assign(length_, kAnyHead);
  for (; states_[state].steps != 0; state = states_[state].before) {
    const std::uint32_t action = states_[state].action;
    const NewArc made = arc(states_[states_[state].before], TreeShape::move_of(action));
    if (made.head != kAnyHead)
      out[made.dependent] = made.head * kMostTreeLabels + TreeShape::label_of(action);
  }
}

}  // namespace marginalia
