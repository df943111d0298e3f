#include "search/chain/k_best.hpp"

#include <algorithm>
#include <utility>

#include "search/chain/viterbi.hpp"

namespace marginalia {

KBest::KBest(const Lattice& lattice)
    : lattice_(lattice), width_(lattice.states(lattice.length)), places_(lattice.length + 1) {
  forward_scores(lattice, forward_);
}

KBest::Place& KBest::place(std::size_t t, std::size_t state) {
  if (places_[t].empty()) places_[t].resize(t == lattice_.length ? 1 : lattice_.states(t));
  return places_[t][state];
}

// The place with its best predecessor and the sorted losses of the others.
KBest::Place& KBest::explored(std::size_t t, std::size_t state) {
  Place& here = place(t, state);
  if (here.best != kNone || t == 0) return here;
  const double* earlier = &forward_[(t - 1) * width_];
  const auto offer = [&](std::size_t from, double score) {
    const double total = earlier[from] + score;
    if (total != kIllegal) here.alternatives.push_back({-total, static_cast<std::uint32_t>(from)});
  };
  if (t == lattice_.length) {
    for (std::size_t s = 0; s < lattice_.states(t - 1); ++s)
      offer(s, lattice_.constants->end[s % lattice_.labels()]);
  } else {
    lattice_.for_predecessors(t, state, offer);
  }
  std::stable_sort(here.alternatives.begin(), here.alternatives.end(),
                   [](const Alternative& a, const Alternative& b) { return a.loss < b.loss; });
  if (here.alternatives.empty()) return here;  // unreachable
  here.best = here.alternatives.front().state;
  const double best = here.alternatives.front().loss;
  here.alternatives.erase(here.alternatives.begin());
  for (Alternative& a : here.alternatives) a.loss -= best;
  return here;
}

// Merges two leftist heaps, copying only the nodes on the way, so both stay usable.
std::uint32_t KBest::merged(std::uint32_t a, std::uint32_t b) {
  if (a == kNone) return b;
  if (b == kNone) return a;
  if (sidetracks_[b].loss < sidetracks_[a].loss) std::swap(a, b);
  Sidetrack copy = sidetracks_[a];
  copy.right = merged(copy.right, b);
  const auto depth = [&](std::uint32_t i) { return i == kNone ? 0u : sidetracks_[i].depth; };
  if (depth(copy.left) < depth(copy.right)) std::swap(copy.left, copy.right);
  copy.depth = depth(copy.right) + 1;
  sidetracks_.push_back(copy);
  return static_cast<std::uint32_t>(sidetracks_.size() - 1);
}

std::uint32_t KBest::heap_of(std::size_t t, std::size_t state) {
  std::vector<std::pair<std::size_t, std::size_t>> pending;  // from here back to a place already known
  std::uint32_t heap = kNone;
  for (;;) {
    Place& here = explored(t, state);
    if (here.ready || t == 0) {
      heap = here.heap;
      break;
    }
    pending.emplace_back(t, state);
    state = here.best;
    --t;
  }
  for (; !pending.empty(); pending.pop_back()) {
    const auto [at, which] = pending.back();
    Place& here = place(at, which);
    if (!here.alternatives.empty()) {
      sidetracks_.push_back({here.alternatives[0].loss, static_cast<std::uint32_t>(at),
                             static_cast<std::uint32_t>(which), 0, kNone, kNone, 1});
      heap = merged(heap, static_cast<std::uint32_t>(sidetracks_.size() - 1));
    }
    here.heap = heap;
    here.ready = true;
  }
  return heap;
}

void KBest::push(double loss, std::uint32_t parent, std::uint32_t sidetrack) {
  queue_.push({loss, pushed_++, parent, sidetrack});
}

void KBest::push_successors(const Candidate& popped, std::uint32_t path) {
  const Sidetrack here = sidetracks_[popped.sidetrack];
  const double without = popped.loss - here.loss;  // loss of the parent path
  for (const std::uint32_t child : {here.left, here.right})
    if (child != kNone) push(without + sidetracks_[child].loss, popped.parent, child);
  const auto& alternatives = place(here.t, here.state).alternatives;
  if (here.rank + 1 < alternatives.size()) {
    const double loss = alternatives[here.rank + 1].loss;
    sidetracks_.push_back({loss, here.t, here.state, here.rank + 1, kNone, kNone, 1});
    push(without + loss, popped.parent, static_cast<std::uint32_t>(sidetracks_.size() - 1));
  }
  const std::uint32_t further = heap_of(here.t - 1, alternatives[here.rank].state);
  if (further != kNone) push(popped.loss + sidetracks_[further].loss, path, further);
}

std::optional<double> KBest::next(std::uint32_t* labels) {
  if (lattice_.length == 0) return std::exchange(started_, true) ? std::nullopt : std::optional(0.0);
  if (!started_) {
    started_ = true;
    if (explored(lattice_.length, 0).best == kNone) return std::nullopt;
    const std::uint32_t heap = heap_of(lattice_.length, 0);
    if (heap != kNone) push(sidetracks_[heap].loss, kNone, heap);
    return write(kNone, labels);
  }
  if (queue_.empty()) return std::nullopt;
  const Candidate popped = queue_.top();
  queue_.pop();
  paths_.push_back({popped.parent, popped.sidetrack});
  const auto path = static_cast<std::uint32_t>(paths_.size() - 1);
  push_successors(popped, path);
  return write(path, labels);
}

double KBest::write(std::uint32_t path, std::uint32_t* labels) {
  std::vector<std::uint32_t>
      turns;  // sidetracks of the path; the back of the vector is the nearest to the end
  for (; path != kNone; path = paths_[path].parent) turns.push_back(paths_[path].sidetrack);
  std::size_t state = 0;
  for (std::size_t t = lattice_.length; t > 0; --t) {
    const Place& here = explored(t, state);
    const bool turn =
        !turns.empty() && sidetracks_[turns.back()].t == t && sidetracks_[turns.back()].state == state;
    if (turn) {
      state = here.alternatives[sidetracks_[turns.back()].rank].state;
      turns.pop_back();
    } else {
      state = here.best;
    }
    labels[t - 1] = static_cast<std::uint32_t>(state % lattice_.labels());
  }
  return path_score(lattice_, labels);
}

namespace {

// Two of the ways into a place: the best one, and the best of the others.
struct TwoWays {
  double score = kIllegal, other_score = kIllegal;
  std::size_t state = 0, other = 0;

  void offer(std::size_t from, double total) {
    if (total > score) {
      other_score = score;
      other = state;
      score = total;
      state = from;
    } else if (total > other_score) {
      other_score = total;
      other = from;
    }
  }
};

TwoWays ways_into(const Lattice& lattice, std::size_t t, std::size_t state, const double* earlier) {
  TwoWays ways;
  if (t == lattice.length) {
    for (std::size_t s = 0; s < lattice.states(t - 1); ++s)
      ways.offer(s, earlier[s] + lattice.constants->end[s % lattice.labels()]);
  } else {
    lattice.for_predecessors(
        t, state, [&](std::size_t from, double score) { ways.offer(from, earlier[from] + score); });
  }
  return ways;
}

}  // namespace

std::vector<ScoredLabels> two_best(const Lattice& lattice, std::vector<double>& forward) {
  const std::size_t length = lattice.length, n = lattice.labels(), width = lattice.states(length);
  if (length == 0) return {{{}, 0.0}};
  forward_scores(lattice, forward);
  std::vector<std::uint32_t> labels(length);
  double least_loss = -kIllegal;
  std::size_t turn = 0, turn_state = 0;  // the second best path comes to token `turn` in another state
  std::size_t state = 0;
  for (std::size_t t = length; t > 0; --t) {
    const TwoWays ways = ways_into(lattice, t, state, &forward[(t - 1) * width]);
    if (ways.score == kIllegal) return {};
    if (ways.other_score != kIllegal && ways.score - ways.other_score < least_loss) {
      least_loss = ways.score - ways.other_score;
      turn = t - 1;
      turn_state = ways.other;
    }
    state = ways.state;
    labels[t - 1] = static_cast<std::uint32_t>(state % n);
  }
  std::vector<ScoredLabels> found = {{labels, path_score(lattice, labels.data())}};
  if (least_loss == -kIllegal) return found;
  state = turn_state;
  for (std::size_t t = turn;; --t) {
    labels[t] = static_cast<std::uint32_t>(state % n);
    if (t == 0) break;
    state = best_predecessor(lattice, t, state, &forward[(t - 1) * width]);
  }
  found.push_back({labels, path_score(lattice, labels.data())});
  return found;
}

}  // namespace marginalia
