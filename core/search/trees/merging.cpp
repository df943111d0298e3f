#include "search/trees/merging.hpp"

#include <algorithm>

namespace marginalia {

TreeSignature::TreeSignature(const TreeExtractor& extractor) : sources_(extractor.sources()) {
  const auto& addresses = extractor.addresses();
  const auto place = [&](std::uint32_t address, Part& part) {
    for (; addresses[address].from != TreeAddress::kNone; address = addresses[address].from)
      part.path.insert(part.path.begin(), addresses[address].step);
    part.depth = addresses[address].depth;
    return !addresses[address].queue;
  };
  extractor.for_values([&](const TreeField& field, std::uint32_t source) {
    Part part{0, {}, field.kind, {}, field.right};
    if (field.kind == TreeFieldKind::token) part.sources.push_back(source);
    if (place(field.address, part)) add(part);
    if (field.kind != TreeFieldKind::distance) return;
    Part other{0, {}, field.kind, {}, false};
    if (place(field.other, other)) add(other);
  });
  close();
}

void TreeSignature::add(const Part& part) {
  // No token of the arc-standard system's stack has a head.
  if (std::find(part.path.begin(), part.path.end(), TreeStep::head) != part.path.end()) return;
  const auto same = [&](const Part& other) { return other.is_same_place(part); };
  const auto found = std::find_if(parts_.begin(), parts_.end(), same);
  if (found == parts_.end()) {
    parts_.push_back(part);
    return;
  }
  for (const std::uint32_t source : part.sources)
    if (std::find(found->sources.begin(), found->sources.end(), source) == found->sources.end())
      found->sources.push_back(source);
}

// What a part may come from: a shift moves the stack down, a reduce makes one of the two tops a child of the
// other, the outermost one of its side.
void TreeSignature::close() {
  for (std::size_t before = 0; before != parts_.size();) {
    before = parts_.size();
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Part part = parts_[k];
      if (part.depth > 0) {
        --part.depth;
        add(part);
        continue;
      }
      part.depth = 1;
      add(part);  // the head may have been below
      if (part.path.empty()) continue;
      const TreeStep step = part.path.front();
      Part from = parts_[k];
      from.path.erase(from.path.begin());
      if (!from.path.empty() || from.kind != TreeFieldKind::label) {  // labels come with actions
        from.depth = step == TreeStep::left ? 1 : 0;
        if (step == TreeStep::left || step == TreeStep::right) add(from);
      }
      if (step != TreeStep::left2 && step != TreeStep::right2) continue;
      from = parts_[k];  // the outermost child becomes the second one
      from.path.front() = step == TreeStep::left2 ? TreeStep::left : TreeStep::right;
      for (from.depth = 0; from.depth < 2; ++from.depth) add(from);
    }
  }
}

std::uint64_t TreeSignature::of(const TreeState& s, std::uint32_t first, TreeStates& states,
                                const TreeValues& x) {
  std::uint64_t hash = scrambled((std::uint64_t{s.next} << 32 | first) + 0x9e3779b97f4a7c15ULL);
  const auto take = [&](std::uint64_t value) { hash = scrambled(hash ^ (value + 0x9e3779b97f4a7c15ULL)); };
  take(s.size);
  for (const Part& part : parts_) {
    const TreeStates::PlacedToken found = states.at_place(s, part.depth, part.path);
    if (part.kind == TreeFieldKind::token) {
      for (const std::uint32_t source : part.sources) {
        const Hashed& value = x.grid[found.token * sources_ + source];
        take(value.absent() ? UINT64_MAX : value.hash);
      }
    } else if (part.kind == TreeFieldKind::label) {
      take(found.label);
    } else if (part.kind == TreeFieldKind::distance) {
      take(found.token);
    } else if (part.kind == TreeFieldKind::valency) {
      take(std::min<std::uint32_t>(found.valency[part.right], TreeNames::kMostChildren));
    } else {
      take(found.labels[part.right]);
    }
  }
  return hash;
}

void MergingSearch::begin(TreeScoring& scoring, TreeStates& states) {
  scoring_ = &scoring;
  states_ = &states;
  states.begin(scoring.x.length, nullptr);
  beam_.assign(1, 0);
  nodes_.assign(1, {});
}

// All that may follow: a reduce with each state that the stack may go on with.
void MergingSearch::collect() {
  candidates_.clear();
  for (std::uint32_t at = 0; at < beam_.size(); ++at) {
    const std::uint32_t state = beam_[at];
    const TreeState& s = (*states_)[state];
    const float* scores = scoring_->scores(at);
    nodes_.resize(std::max<std::size_t>(nodes_.size(), state + 1));
    Node& node = nodes_[state];
    node.shift = static_cast<double>(scores[shape_.begin(static_cast<std::size_t>(Move::shift))]);
    const unsigned moves = states_->moves(s);
    for (std::size_t m = 0; m < kMoves; ++m) {
      if ((moves >> m & 1) == 0) continue;
      for (std::uint32_t c = shape_.begin(m); c < shape_.end(m); ++c) {
        const double score = static_cast<double>(scores[c]);
        const std::uint32_t action = shape_.action_at(c);
        if (m != static_cast<std::size_t>(Move::left) && m != static_cast<std::size_t>(Move::right)) {
          candidates_.push_back({s.score + score, at, kNothing, action, c});
          continue;
        }
        for (const std::uint32_t left : node.before) {
          const double sum = (*states_)[left].score + nodes_[left].shift + node.inside + score;
          candidates_.push_back({sum, at, left, action, c});
        }
      }
    }
  }
}

std::uint32_t MergingSearch::make(const Candidate& one) {
  const std::uint32_t state = last_[one.at];
  std::uint32_t made;
  Node node;
  node.action = one.action;
  if (one.left == kNothing) {
    made = states_->apply(state, one.action);
    node.right = state;
    const bool shifts = TreeShape::move_of(one.action) == Move::shift;
    if (shifts) node.before.push_back(state);
    node.first = shifts ? (*states_)[state].next : 0;
  } else {
    made = states_->reduce(one.left, state, one.action);
    const Node& left = nodes_[one.left];
    node.left = one.left;
    node.right = state;
    node.before = left.before;
    node.first = left.first;
    node.inside = one.score - (*states_)[one.left].score + left.inside;
  }
  states_->at(made).score = one.score;
  nodes_.resize(std::max<std::size_t>(nodes_.size(), made + 1));
  nodes_[made] = std::move(node);
  return made;
}

// Whether the state is one with a better one of the beam, which then may go on as it would have.
bool MergingSearch::merges(std::uint32_t state) {
  const std::uint64_t signature =
      signature_.of((*states_)[state], nodes_[state].first, *states_, scoring_->x);
  const auto found = std::find(signatures_.begin(), signatures_.end(), signature);
  ++made_;
  if (found == signatures_.end()) {
    signatures_.push_back(signature);
    return false;
  }
  ++merged_;
  auto& before = nodes_[beam_[static_cast<std::size_t>(found - signatures_.begin())]].before;
  for (const std::uint32_t other : nodes_[state].before)
    if (std::find(before.begin(), before.end(), other) == before.end()) before.push_back(other);
  return true;
}

void MergingSearch::take() {
  last_.swap(beam_);
  beam_.clear();
  signatures_.clear();
  std::make_heap(candidates_.begin(), candidates_.end(), worse);
  while (!candidates_.empty() && beam_.size() < shape_.options().beam) {
    std::pop_heap(candidates_.begin(), candidates_.end(), worse);
    const std::uint32_t made = make(candidates_.back());
    if (!merges(made)) beam_.push_back(made);
    candidates_.pop_back();
  }
}

bool MergingSearch::has(std::uint32_t state) {
  const TreeState& s = (*states_)[state];
  const std::uint64_t signature =
      signature_.of(s, s.size == 0 ? 0 : states_->first_under(s), *states_, scoring_->x);
  return std::find(signatures_.begin(), signatures_.end(), signature) != signatures_.end();
}

// A derivation is that of the state below, its shift, what made the top, and the last action. What made a top
// is the same without what was there before its own first shift.
std::vector<std::uint32_t> MergingSearch::actions(std::uint32_t state) const {
  struct Task {
    std::uint32_t state;
    bool inside;     // only since the top's first shift
    bool is_action;  // `state` is an action
  };
  std::vector<std::uint32_t> found;
  std::vector<Task> tasks = {{state, false, false}};
  const std::uint32_t shift = TreeShape::action_of(Move::shift);
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    if (task.is_action) {
      found.push_back(task.state);
      continue;
    }
    const Node& node = nodes_[task.state];
    if (task.state == 0) continue;
    if (node.left == kNothing) {  // a shift or a root
      if (task.inside) continue;
      tasks.push_back({node.action, false, true});
      tasks.push_back({node.right, false, false});
      continue;
    }
    tasks.push_back({node.action, false, true});
    tasks.push_back({node.right, true, false});
    tasks.push_back({shift, false, true});
    tasks.push_back({node.left, task.inside, false});
  }
  return found;
}

}  // namespace marginalia
