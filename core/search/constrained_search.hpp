// Outputs that satisfy constraints as well as can be: fewest violations first, then by score. The search is
// Viterbi's on the product of a structure's states and the memories of a `ConstraintAutomaton`, of which only
// those are made that can be reached. With all its arcs kept, best-first search from the end gives output
// after output.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "base/hash.hpp"
#include "search/chain/lattice.hpp"
#include "search/constraints.hpp"
#include "search/labels.hpp"

namespace marginalia {

// Of an output or a part of one.
struct Merit {
  std::uint32_t violations = 0;
  double score = 0.0;

  bool better_than(const Merit& other) const {
    return violations != other.violations ? violations < other.violations : score > other.score;
  }
  Merit operator+(const Merit& more) const { return {violations + more.violations, score + more.score}; }
};

template <class Paths>
class ConstrainedSearch {
 public:
  // All must outlive it. `keep`: for all outputs, else for the best one alone. `width`: go on from no more
  // than so many of the best places at a token, which may lose the best output.
  ConstrainedSearch(const Paths& paths, const OutputConstraints& constraints,
                    const ConstraintAutomaton& automaton, bool keep, std::size_t width = SIZE_MAX)
      : paths_(paths), constraints_(constraints), automaton_(automaton), keep_(keep), width_(width) {}

  // False if that would take too much memory or time.
  bool run();
  // After run(): the best output; nothing if the structure has no legal one.
  std::optional<Labels> best() const;
  // After run(), if all are kept: output after output, best first; nothing when there are no more.
  std::optional<Labels> next();

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Places, of which 12 bytes stay; or places and arcs, if all outputs are kept, of 48 and 32 bytes.
  static constexpr std::size_t kMostMade = std::size_t{1} << 26, kMostKept = std::size_t{1} << 23;
  // Steps from place to place: a second or two, more for very long sentences.
  std::size_t most_steps() const { return (std::size_t{1} << 26) + paths_.length() * 4096; }
  bool too_much() const { return made_ > (keep_ ? kMostKept : kMostMade) || taken_ > most_steps(); }

  struct Place {  // an open or closed state at a token, with a memory
    std::uint64_t memory;
    Merit best;
    std::uint32_t state;
    std::uint32_t from;    // the place before it on the best way
    std::uint32_t tokens;  // closed: of its part
    std::uint32_t arcs;    // all ways to it
  };
  struct Arc {
    Merit merit;  // of the step alone
    std::uint32_t from, tokens, next;
  };
  struct Trace {  // what the best way back needs of a place
    std::uint32_t state, from, tokens;
  };
  struct Layer {  // all places at a token
    std::vector<Place> places;
    std::vector<std::uint32_t> slots;  // places by a hash of state and memory; twice as many, or more
    std::vector<Trace> traces;
  };
  struct Step {    // of an output that is looked for from its end
    Merit behind;  // of all that follows
    std::uint32_t t, place, parent, tokens;
    bool open;
  };
  struct Candidate {
    Merit merit;
    std::uint64_t number;  // ties: first come, first served
    std::uint32_t step;
    bool operator<(const Candidate& other) const {
      if (merit.better_than(other.merit) || other.merit.better_than(merit))
        return other.merit.better_than(merit);
      return number > other.number;
    }
  };

  static std::uint32_t& slot_of(Layer& layer, std::size_t state, std::uint64_t memory);
  static void make_room(Layer& layer);
  void reach(Layer& layer, std::size_t state, std::uint64_t memory, const Merit& merit, const Merit& step,
             std::uint32_t from, std::uint32_t tokens);
  void open(std::size_t t);
  void close(std::size_t t);
  void end();
  void leave(Layer& layer) const;
  Merit least_good(const Layer& layer) const;
  void push(const Merit& so_far, const Step& step);
  void expand(const Step& step, std::uint32_t number);
  Labels output_of(std::uint32_t step) const;

  const Paths& paths_;
  const OutputConstraints& constraints_;
  const ConstraintAutomaton& automaton_;
  bool keep_;
  std::size_t width_;
  std::size_t made_ = 0, taken_ = 0;  // places and arcs; steps
  std::vector<Layer> open_, closed_;
  Layer end_;
  std::vector<Arc> arcs_;
  std::vector<Step> steps_;
  std::priority_queue<Candidate> queue_;
  bool started_ = false;
  std::uint64_t pushed_ = 0;
};

// Where the number of a place is kept, or kNone.
template <class Paths>
std::uint32_t& ConstrainedSearch<Paths>::slot_of(Layer& layer, std::size_t state, std::uint64_t memory) {
  const std::size_t mask = layer.slots.size() - 1;
  std::size_t at = scrambled(memory * 0x9e3779b97f4a7c15ULL + state) & mask;
  const auto is_other = [&](std::uint32_t number) {
    return number != kNone && (layer.places[number].state != state || layer.places[number].memory != memory);
  };
  while (is_other(layer.slots[at])) at = (at + 1) & mask;
  return layer.slots[at];
}

template <class Paths>
void ConstrainedSearch<Paths>::make_room(Layer& layer) {
  if (layer.places.size() * 2 < layer.slots.size()) return;
  layer.slots.assign(std::max<std::size_t>(64, layer.slots.size() * 2), kNone);
  for (std::uint32_t i = 0; i < layer.places.size(); ++i)
    slot_of(layer, layer.places[i].state, layer.places[i].memory) = i;
}

template <class Paths>
void ConstrainedSearch<Paths>::reach(Layer& layer, std::size_t state, std::uint64_t memory,
                                     const Merit& merit, const Merit& step, std::uint32_t from,
                                     std::uint32_t tokens) {
  ++taken_;
  if (merit.score == kIllegal) return;
  make_room(layer);
  std::uint32_t& slot = slot_of(layer, state, memory);
  const std::uint32_t found = slot == kNone ? static_cast<std::uint32_t>(layer.places.size()) : slot;
  if (slot == kNone) {
    slot = found;
    layer.places.push_back({memory, merit, static_cast<std::uint32_t>(state), from, tokens, kNone});
    ++made_;
  } else if (merit.better_than(layer.places[found].best)) {
    Place& place = layer.places[found];
    place.best = merit;
    place.from = from;
    place.tokens = tokens;
  }
  if (!keep_) return;
  arcs_.push_back({step, from, tokens, layer.places[found].arcs});
  layer.places[found].arcs = static_cast<std::uint32_t>(arcs_.size() - 1);
  ++made_;
}

// The parts that begin at token t, after those that were closed before it.
template <class Paths>
void ConstrainedSearch<Paths>::open(std::size_t t) {
  if (t == 0) {
    paths_.for_starts([&](std::size_t state, double score) {
      reach(open_[0], state, ConstraintAutomaton::kStart, {0, score}, {0, score}, kNone, 0);
    });
    return;
  }
  const std::vector<Place>& before = closed_[t - 1].places;
  const Merit least = least_good(closed_[t - 1]);
  for (std::uint32_t from = 0; from < before.size() && !too_much(); ++from) {
    const Place place = before[from];
    if (least.better_than(place.best)) continue;
    const std::uint32_t left = paths_.label_of_closed(place.state);
    std::array<std::optional<ConstraintAutomaton::Left>, 3> leaving;  // by the relation to what follows
    paths_.for_next(t, place.state, [&](std::size_t state, double score) {
      const std::uint8_t after = constraints_.relation(t, left, paths_.label(state, 0));
      if (!leaving[after]) leaving[after] = automaton_.leave(t - 1, left, after, place.memory);
      const Merit step{leaving[after]->violations, score};
      reach(open_[t], state, leaving[after]->memory, place.best + step, step, from, 0);
    });
  }
}

// What the parts that begin at token t may become.
template <class Paths>
void ConstrainedSearch<Paths>::close(std::size_t t) {
  const std::vector<Place>& places = open_[t].places;
  const Merit least = least_good(open_[t]);
  for (std::uint32_t from = 0; from < places.size() && !too_much(); ++from) {
    const Place& place = places[from];
    if (least.better_than(place.best)) continue;
    ConstraintAutomaton::Left inside{place.memory, 0};
    for (std::size_t tokens = 1; tokens <= paths_.longest(t); ++tokens) {
      const std::size_t last = t + tokens - 1;
      if (tokens > 1) {  // one more token inside, if the type has such labels
        const std::uint32_t label = paths_.label(place.state, tokens - 1);
        if (label >= constraints_.labels()) break;
        const std::uint32_t before = paths_.label(place.state, tokens - 2);
        const ConstraintAutomaton::Left left =
            automaton_.leave(last - 1, before, constraints_.relation(last, before, label), inside.memory);
        inside = {left.memory, inside.violations + left.violations};
      }
      const Merit step{inside.violations, paths_.part(t, place.state, tokens)};
      reach(closed_[last], paths_.closed(place.state, tokens), inside.memory, place.best + step, step, from,
            static_cast<std::uint32_t>(tokens));
    }
  }
}

template <class Paths>
void ConstrainedSearch<Paths>::end() {
  const std::size_t last = paths_.length() - 1;
  const std::vector<Place>& places = closed_[last].places;
  for (std::uint32_t from = 0; from < places.size(); ++from) {
    const Place& place = places[from];
    const ConstraintAutomaton::Left left =
        automaton_.leave(last, paths_.label_of_closed(place.state), kApart, place.memory);
    const Merit step{left.violations, paths_.end(place.state)};
    reach(end_, 0, ConstraintAutomaton::kStart, place.best + step, step, from, 0);
  }
}

// The last of the best places at a token, of which there may be no more than the width.
template <class Paths>
Merit ConstrainedSearch<Paths>::least_good(const Layer& layer) const {
  if (layer.places.size() <= width_) return {UINT32_MAX, kIllegal};
  std::vector<Merit> merits;
  merits.reserve(layer.places.size());
  for (const Place& place : layer.places) merits.push_back(place.best);
  const auto last = merits.begin() + static_cast<std::ptrdiff_t>(width_ - 1);
  std::nth_element(merits.begin(), last, merits.end(),
                   [](const Merit& a, const Merit& b) { return a.better_than(b); });
  return *last;
}

// All ways from a layer have been taken: only what is needed to come back stays.
template <class Paths>
void ConstrainedSearch<Paths>::leave(Layer& layer) const {
  layer.slots = std::vector<std::uint32_t>();  // not {}, which would keep the memory
  if (keep_) return;
  layer.traces.reserve(layer.places.size());
  for (const Place& place : layer.places) layer.traces.push_back({place.state, place.from, place.tokens});
  layer.places = std::vector<Place>();
}

template <class Paths>
bool ConstrainedSearch<Paths>::run() {
  open_.resize(paths_.length());
  closed_.resize(paths_.length());
  for (std::size_t t = 0; t < paths_.length(); ++t) {
    open(t);
    if (t > 0) leave(closed_[t - 1]);
    close(t);
    leave(open_[t]);
    if (too_much()) return false;
  }
  if (paths_.length() == 0) return true;
  end();
  leave(closed_.back());
  return true;
}

template <class Paths>
std::optional<Labels> ConstrainedSearch<Paths>::best() const {
  Labels output(paths_.length());
  if (paths_.length() == 0) return output;
  if (end_.places.empty()) return std::nullopt;
  std::size_t end = paths_.length();
  for (std::uint32_t at = end_.places[0].from; end != 0;) {
    const Trace& closed = closed_[end - 1].traces[at];
    const std::size_t begin = end - closed.tokens;
    const Trace& open = open_[begin].traces[closed.from];
    for (std::size_t i = 0; i < closed.tokens; ++i) output[begin + i] = paths_.label(open.state, i);
    at = open.from;
    end = begin;
  }
  return output;
}

template <class Paths>
void ConstrainedSearch<Paths>::push(const Merit& so_far, const Step& step) {
  steps_.push_back(step);
  queue_.push({so_far + step.behind, pushed_++, static_cast<std::uint32_t>(steps_.size() - 1)});
}

// All places from which a place may be reached.
template <class Paths>
void ConstrainedSearch<Paths>::expand(const Step& step, std::uint32_t number) {
  const Place& place = (step.open ? open_ : closed_)[step.t].places[step.place];
  for (std::uint32_t i = place.arcs; i != kNone; i = arcs_[i].next) {
    const Arc& arc = arcs_[i];
    const std::uint32_t t = step.open ? step.t - 1 : step.t - (arc.tokens - 1);
    const Place& before = (step.open ? closed_ : open_)[t].places[arc.from];
    push(before.best, {step.behind + arc.merit, t, arc.from, number, arc.tokens, !step.open});
  }
}

template <class Paths>
std::optional<Labels> ConstrainedSearch<Paths>::next() {
  if (paths_.length() == 0) {
    if (started_) return std::nullopt;
    started_ = true;
    return Labels{};
  }
  if (!started_ && !end_.places.empty()) {
    const auto last = static_cast<std::uint32_t>(paths_.length() - 1);
    for (std::uint32_t i = end_.places[0].arcs; i != kNone; i = arcs_[i].next)
      push(closed_[last].places[arcs_[i].from].best, {arcs_[i].merit, last, arcs_[i].from, kNone, 0, false});
  }
  started_ = true;
  while (!queue_.empty()) {
    const std::uint32_t top = queue_.top().step;
    queue_.pop();
    const Step step = steps_[top];
    if (step.open && step.t == 0) return output_of(top);
    expand(step, top);
  }
  return std::nullopt;
}

// An open step knows how many tokens its part has: those of the arc by which it was left.
template <class Paths>
Labels ConstrainedSearch<Paths>::output_of(std::uint32_t number) const {
  Labels output(paths_.length());
  for (; number != kNone; number = steps_[number].parent) {
    const Step& step = steps_[number];
    if (!step.open) continue;
    const std::uint32_t type = open_[step.t].places[step.place].state;
    for (std::size_t i = 0; i < step.tokens; ++i) output[step.t + i] = paths_.label(type, i);
  }
  return output;
}

}  // namespace marginalia
