#include "search/trees/oracle.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers child_counts(const TreeArcs& tree) {
  Numbers counts(tree.size() + 1, 0);
  for (const std::uint32_t head : tree.head) ++counts[head];
  return counts;
}

// Tokens in the order of a walk that visits left children, a token, right children.
Numbers projective_order(const TreeArcs& tree) {
  const auto n = static_cast<std::uint32_t>(tree.size());
  std::vector<Numbers> children(n + 1);
  for (std::uint32_t d = 0; d < n; ++d) children[tree.head[d]].push_back(d + 1);
  Numbers order(n, 0);
  std::uint32_t number = 0;
  std::vector<std::pair<std::uint32_t, bool>> open = {{0, false}};  // node, and whether it is its turn
  while (!open.empty()) {
    const auto [node, is_turn] = open.back();
    open.pop_back();
    if (is_turn) {
      if (node != 0) order[node - 1] = number++;
      continue;
    }
    const Numbers& all = children[node];
    for (std::size_t k = all.size(); k-- > 0 && all[k] > node;) open.emplace_back(all[k], false);
    open.emplace_back(node, true);
    for (std::size_t k = all.size(); k-- > 0;)
      if (all[k] < node) open.emplace_back(all[k], false);
  }
  return order;
}

// By token: the token that its part of the tree hangs on, where parts are what can be built without swaps.
Numbers projective_parts(const TreeArcs& tree) {
  Numbers left = child_counts(tree), stack, head(tree.size());
  for (std::uint32_t t = 0; t < tree.size(); ++t) head[t] = t;
  const auto reduce = [&](std::uint32_t child, std::uint32_t parent) {
    head[child] = parent;
    --left[parent + 1];
  };
  for (std::uint32_t t = 0; t < tree.size(); ++t) {
    stack.push_back(t);
    while (stack.size() >= 2) {
      const std::uint32_t top = stack.back(), second = stack[stack.size() - 2];
      if (tree.head[second] == top + 1 && left[second + 1] == 0) {
        reduce(second, top);
        stack.erase(stack.end() - 2);
      } else if (tree.head[top] == second + 1 && left[top + 1] == 0) {
        reduce(top, second);
        stack.pop_back();
      } else {
        break;
      }
    }
  }
  for (std::uint32_t t = 0; t < tree.size(); ++t)
    while (head[head[t]] != head[t]) head[t] = head[head[t]];
  return head;
}

class Oracle {
 public:
  Oracle(const TreeShape& shape, const TreeArcs& tree, TreeStates& states)
      : shape_(shape), tree_(tree), states_(states), left_(child_counts(tree)) {
    if (shape.system() != TransitionSystem::swap) return;
    order_ = projective_order(tree);
    parts_ = projective_parts(tree);
  }

  Move next(const TreeState& s) {
    if (states_.queue_empty(s) && s.size == 0) throw std::logic_error("oracle: nothing is left to do");
    switch (shape_.system()) {
      case TransitionSystem::eager:
        return eager(s);
      case TransitionSystem::hybrid:
        return hybrid(s);
      default:
        return standard(s);
    }
  }
  void made(const NewArc& arc) { --left_[arc.head]; }

 private:
  std::uint32_t head(std::uint32_t token) const { return tree_.head[token]; }
  bool finished(std::uint32_t token) const { return left_[token + 1] == 0; }

  Move end_or_shift(const TreeState& s) const { return states_.queue_empty(s) ? Move::root : Move::shift; }

  Move standard(const TreeState& s) const {
    if (s.size < 2) return end_or_shift(s);
    const std::uint32_t top = states_.token(s.stack), second = states_.token(states_.below(s.stack));
    if (head(second) == top + 1 && finished(second)) return Move::left;
    if (head(top) == second + 1 && finished(top)) return Move::right;
    if (swaps(s, top, second)) return Move::swap;
    return end_or_shift(s);
  }

  // Swaps wait until the top's part of the tree is there (Nivre, Kuhlmann and Hall 2009).
  bool swaps(const TreeState& s, std::uint32_t top, std::uint32_t second) const {
    if (shape_.system() != TransitionSystem::swap || order_[top] >= order_[second]) return false;
    return states_.queue_empty(s) || parts_[top] != parts_[states_.front(s)];
  }

  Move hybrid(const TreeState& s) const {
    if (s.size == 0) return Move::shift;
    const std::uint32_t top = states_.token(s.stack);
    if (!states_.queue_empty(s) && head(top) == states_.front(s) + 1 && finished(top)) return Move::left;
    if (s.size >= 2 && head(top) == states_.token(states_.below(s.stack)) + 1 && finished(top))
      return Move::right;
    return end_or_shift(s);
  }

  Move eager(const TreeState& s) const {
    if (s.size == 0) return Move::shift;
    const std::uint32_t top = states_.token(s.stack);
    if (states_.queue_empty(s)) return states_.has_head(s.stack) ? Move::reduce : Move::root;
    const std::uint32_t front = states_.front(s);
    if (head(top) == front + 1) return Move::left;
    if (head(front) == top + 1) return Move::right;
    if (states_.has_head(s.stack) && linked_below(s, front)) return Move::reduce;
    return Move::shift;
  }

  // Whether the front has its head or a child below the top of the stack.
  bool linked_below(const TreeState& s, std::uint32_t front) const {
    for (std::uint32_t cell = states_.below(s.stack); cell != 0; cell = states_.below(cell)) {
      const std::uint32_t token = states_.token(cell);
      if (head(token) == front + 1 || head(front) == token + 1) return true;
    }
    return false;
  }

  const TreeShape& shape_;
  const TreeArcs& tree_;
  TreeStates& states_;
  Numbers left_, order_, parts_;
};

}  // namespace

void check_tree(const TreeArcs& tree, bool one_root) {
  const auto n = static_cast<std::uint32_t>(tree.size());
  std::uint32_t roots = 0;
  std::vector<std::uint32_t> seen(n, 0);  // by which walk
  for (std::uint32_t t = 0; t < n; ++t) {
    if (tree.head[t] > n) throw std::invalid_argument("trees: a head is not in the sentence");
    roots += tree.head[t] == 0;
    std::uint32_t at = t + 1;
    while (at != 0 && seen[at - 1] == 0) {
      seen[at - 1] = t + 1;
      at = tree.head[at - 1];
    }
    if (at != 0 && seen[at - 1] == t + 1) throw std::invalid_argument("trees: heads go round in a circle");
  }
  if (n != 0 && one_root && roots != 1) throw std::invalid_argument("trees: there is not exactly one root");
}

namespace {

// Whether all tokens between head and dependent hang on the head.
bool crosses(const TreeArcs& tree, std::uint32_t dependent) {
  const std::uint32_t head = tree.head[dependent], own = dependent + 1;
  for (std::uint32_t k = std::min(head, own) + 1; k < std::max(head, own); ++k) {
    std::uint32_t at = k;
    while (at != head && at != 0) at = tree.head[at - 1];
    if (at != head) return true;
  }
  return false;
}

}  // namespace

bool is_projective(const TreeArcs& tree) {
  for (std::uint32_t d = 0; d < tree.size(); ++d)
    if (crosses(tree, d)) return false;
  return true;
}

TreeArcs projectivised(TreeArcs tree) {
  for (;;) {
    std::uint32_t shortest = UINT32_MAX, which = 0;
    for (std::uint32_t d = 0; d < tree.size(); ++d) {
      const std::uint32_t head = tree.head[d], own = d + 1;
      const std::uint32_t span = head < own ? own - head : head - own;
      if (span < shortest && crosses(tree, d)) {
        shortest = span;
        which = d;
      }
    }
    if (shortest == UINT32_MAX) return tree;
    tree.head[which] = tree.head[tree.head[which] - 1];
  }
}

std::vector<std::uint32_t> oracle(const TreeShape& shape, const TreeArcs& tree, TreeStates& states) {
  states.begin(tree.size(), nullptr);
  Oracle choice(shape, tree, states);
  std::vector<std::uint32_t> actions;
  std::uint32_t state = 0;
  while (!states.done(states[state])) {
    const Move move = choice.next(states[state]);
    const NewArc arc = states.arc(states[state], move);
    std::uint32_t label = 0;
    if (arc.head != kAnyHead) {
      label = tree.label[arc.dependent];
      choice.made(arc);
    }
    actions.push_back(TreeShape::action_of(move, label));
    state = states.apply(state, actions.back());
  }
  return actions;
}

}  // namespace marginalia
