// The answers of a structure under demands: the best output, all that are as good in meeting them, and the
// labels of a table's sentences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/table.hpp"
#include "search/constrained_search.hpp"

namespace marginalia {

// An output that meets demands as well as can be.
struct Constrained {
  Labels output;
  std::uint32_t violations = 0;
  bool exact = true;  // is it known that no other one meets them better, or as well with a higher score?
};

inline constexpr std::size_t kMostTried = 2000;  // outputs, one after another
inline constexpr std::size_t kWidth = 2048;      // places at a token, where all would be too many

// `free` is the best of all outputs. Demands are only watched once an output breaks them: if the best output
// under some of the demands breaks no others, it is the best under all of them.
template <class Walks>
Constrained constrained(const Walks& walks, const Demands& demands, const Labels& free) {
  std::vector<std::size_t> broken;
  Constrained found{free, demands.violations(free, broken), true};
  if (found.violations == 0) return found;
  const auto offer = [&](const Labels& output) {
    broken.clear();
    const std::uint32_t violations = demands.violations(output, broken);
    const Merit merit{violations, walks.score(output)};
    if (merit.better_than({found.violations, walks.score(found.output)})) found = {output, violations, true};
    return violations;
  };
  const auto is_in = [](const Watch& watch) { return [&](std::size_t demand) { return watch.has(demand); }; };
  Watch watch(demands);
  for (;;) {
    Watch more = watch;
    const bool room = std::all_of(broken.begin(), broken.end(),
                                  [&](std::size_t demand) { return more.has(demand) || more.add(demand); });
    ConstrainedSearch<Walks> search(walks, demands, more, false);
    if (room && search.run()) {
      const std::optional<Labels> best = search.best();
      if (!best) return found;  // there is no legal output: the free one is as good as any
      watch = more;
      const std::uint32_t violations = offer(*best);
      if (std::all_of(broken.begin(), broken.end(), is_in(watch))) return {*best, violations, true};
      continue;
    }
    // Too much to remember. What is left of the product if only the best places count ...
    ConstrainedSearch<Walks> narrow(walks, demands, more, false, kWidth);
    if (narrow.run())
      if (const std::optional<Labels> best = narrow.best()) offer(*best);
    break;
  }
  // ... and the outputs that meet what can be remembered, one after another: if one of them meets everything,
  // no other that does is better.
  found.exact = false;
  ConstrainedSearch<Walks> search(walks, demands, watch, true);
  if (!search.run()) return found;
  for (std::size_t i = 0; i < kMostTried; ++i) {
    const std::optional<Labels> next = search.next();
    if (!next) break;
    if (offer(*next) == 0) return {*next, 0, true};
    found.exact = false;
  }
  return found;
}

// All outputs that meet demands as well as the best of them does, best first.
template <class Walks>
class ConstrainedOutputs {
 public:
  // All must outlive it.
  ConstrainedOutputs(const Walks& walks, const Demands& demands, const Labels& free)
      : demands_(demands),
        best_(constrained(walks, demands, free)),
        watch_(demands),
        search_(walks, demands, watch_, true) {
    for (std::size_t demand = 0; demand < demands.remembering(); ++demand)
      watches_all_ = watch_.add(demand) && watches_all_;
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
      const std::uint32_t violations = demands_.violations(*output, broken);
      if (violations == best_.violations && *output != best_.output) return output;
      if (watches_all_ && violations > best_.violations) break;
    }
    runs_ = false;
    return std::nullopt;
  }

 private:
  const Demands& demands_;
  Constrained best_;
  Watch watch_;
  ConstrainedSearch<Walks> search_;
  bool watches_all_ = true, runs_ = false;
  std::size_t given_ = 0;
};

// The best labels of all sentences of a table, changed where they break demands.
struct ConstrainedLabels {
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> violations;  // by sentence
  std::vector<std::uint8_t> exact;
};

// search(s, demands, best output) is asked about the sentences whose best output breaks demands, of those
// that are `chosen`.
template <class Search>
ConstrainedLabels constrained_labels(const TokenTable& table, std::span<const std::int32_t> labels,
                                     std::size_t known_labels, std::span<const std::uint8_t> chosen,
                                     const Rules& rules, const std::vector<Places>& places, Search&& search) {
  check_labels(table, labels, known_labels);
  if (rules.labels != known_labels) throw std::invalid_argument("constraints: the rules do not fit");
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
    const Demands demands(rules, places[s], free.size());
    broken.clear();
    if (demands.violations(free, broken) == 0) continue;
    const Constrained found = search(s, demands, free);
    std::copy(found.output.begin(), found.output.end(), first);
    all.violations[s] = found.violations;
    all.exact[s] = found.exact ? 1 : 0;
  }
  return all;
}

}  // namespace marginalia
