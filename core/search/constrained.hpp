// The answers of a structure under constraints: the best output, all that are as good in satisfying them, and
// the labels of a table's sentences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/token_table.hpp"
#include "search/constrained_search.hpp"

namespace marginalia {

// An output that satisfies constraints as well as can be.
struct Constrained {
  Labels output;
  std::uint32_t violations = 0;
  bool exact = true;  // is it known that no other one meets them better, or as well with a higher score?
};

inline constexpr std::size_t kMostTried = 2000;  // outputs, one after another
inline constexpr std::size_t kWidth = 2048;      // states at a token, where all would be too many

// `free` is the best of all outputs. Constraints are only tracked once an output breaks them: if the best
// output under some of the constraints breaks no others, it is the best under all of them.
template <class Paths>
Constrained constrained(const Paths& paths, const OutputConstraints& constraints, const Labels& free) {
  std::vector<std::size_t> broken;
  Constrained found{free, constraints.violations(free, broken), true};
  if (found.violations == 0) return found;
  const auto offer = [&](const Labels& output) {
    broken.clear();
    const std::uint32_t violations = constraints.violations(output, broken);
    const Merit merit{violations, paths.score(output)};
    if (merit.better_than({found.violations, paths.score(found.output)})) found = {output, violations, true};
    return violations;
  };
  const auto is_in = [](const ConstraintAutomaton& automaton) {
    return [&](std::size_t constraint) { return automaton.has(constraint); };
  };
  ConstraintAutomaton automaton(constraints);
  for (;;) {
    ConstraintAutomaton more = automaton;
    const bool room = std::all_of(broken.begin(), broken.end(), [&](std::size_t constraint) {
      return more.has(constraint) || more.add(constraint);
    });
    ConstrainedSearch<Paths> search(paths, constraints, more, false);
    if (room && search.run()) {
      const std::optional<Labels> best = search.best();
      if (!best) return found;  // there is no legal output: the free one is as good as any
      automaton = more;
      const std::uint32_t violations = offer(*best);
      if (std::all_of(broken.begin(), broken.end(), is_in(automaton))) return {*best, violations, true};
      continue;
    }
    // Too much to remember. What is left of the product if only the best states count ...
    ConstrainedSearch<Paths> narrow(paths, constraints, more, false, kWidth);
    if (narrow.run())
      if (const std::optional<Labels> best = narrow.best()) offer(*best);
    break;
  }
  // ... and the outputs that meet what can be remembered, one after another: if one of them meets everything,
  // no other that does is better.
  found.exact = false;
  ConstrainedSearch<Paths> search(paths, constraints, automaton, true);
  if (!search.run()) return found;
  for (std::size_t i = 0; i < kMostTried; ++i) {
    const std::optional<Labels> next = search.next();
    if (!next) break;
    if (offer(*next) == 0) return {*next, 0, true};
    found.exact = false;
  }
  return found;
}

// All outputs that satisfy constraints as well as the best of them does, best first.
template <class Paths>
class ConstrainedOutputs {
 public:
  // All must outlive it.
  ConstrainedOutputs(const Paths& paths, const OutputConstraints& constraints, const Labels& free)
      : constraints_(constraints),
        best_(constrained(paths, constraints, free)),
        automaton_(constraints),
        search_(paths, constraints, automaton_, true) {
    for (std::size_t constraint = 0; constraint < constraints.remembering(); ++constraint)
      tracks_all_ = automaton_.add(constraint) && tracks_all_;
  }

  ConstrainedOutputs(const ConstrainedOutputs&) = delete;  // its parts point at each other

  const Constrained& best() const { return best_; }

  std::optional<Labels> next() {
    if (given_++ == 0) return best_.output;
    if (given_ == 2) runs_ = search_.run();
    for (std::size_t tried = 0; runs_ && tried < kMostTried; ++tried) {
      std::optional<Labels> output = search_.next();
      if (!output) break;
      std::vector<std::size_t> broken;
      const std::uint32_t violations = constraints_.violations(*output, broken);
      if (violations == best_.violations && *output != best_.output) return output;
      if (tracks_all_ && violations > best_.violations) break;
    }
    runs_ = false;
    return std::nullopt;
  }

 private:
  const OutputConstraints& constraints_;
  Constrained best_;
  ConstraintAutomaton automaton_;
  ConstrainedSearch<Paths> search_;
  bool tracks_all_ = true, runs_ = false;
  std::size_t given_ = 0;
};

// The best labels of all sentences of a table, changed where they break constraints.
struct ConstrainedLabels {
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> violations;  // by sentence
  std::vector<std::uint8_t> exact;
};

// search(s, constraints, best output) is asked about the sentences whose best output breaks constraints, of
// those that are `chosen`.
template <class Search>
ConstrainedLabels constrained_labels(const TokenTable& table, std::span<const std::int32_t> labels,
                                     std::size_t known_labels, std::span<const std::uint8_t> chosen,
                                     const ConstraintSet& constraint_set,
                                     const std::vector<PlacedConstraints>& placed, Search&& search) {
  check_labels(table, labels, known_labels);
  if (constraint_set.labels != known_labels)
    throw std::invalid_argument("constraints: the constraint set does not fit");
  if (chosen.size() != table.sentences())
    throw std::invalid_argument("constraints: sentences do not fit the table");
  ConstrainedLabels all{{labels.begin(), labels.end()},
                        std::vector<std::uint32_t>(table.sentences()),
                        std::vector<std::uint8_t>(table.sentences(), 1)};
  std::vector<std::size_t> broken;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    if (chosen[s] == 0) continue;
    const auto first = all.labels.begin() + table.sentence[s],
               last = all.labels.begin() + table.sentence[s + 1];
    const Labels free(first, last);
    const OutputConstraints constraints(constraint_set, placed[s], free.size());
    broken.clear();
    if (constraints.violations(free, broken) == 0) continue;
    const Constrained found = search(s, constraints, free);
    std::copy(found.output.begin(), found.output.end(), first);
    all.violations[s] = found.violations;
    all.exact[s] = found.exact ? 1 : 0;
  }
  return all;
}

}  // namespace marginalia
