// Features that were gathered, on their way to rows and weights. Each look-up waits for memory: many at once
// wait together. `Lookup` is as in search/segments/scoring.hpp; features have a `key` and a `row`.
#pragma once

#include <cstddef>
#include <vector>

#include "search/structure.hpp"

namespace marginalia {

// Sets the rows of features whose filters were asked for, and forgets those that have none.
template <class Lookup, class Feature>
void find_rows_of(const Lookup& lookup, std::vector<Feature>& found) {
  std::size_t possible = 0, known = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {  // no branch: what it would depend on cannot be foreseen
    const bool may_be = lookup.may_have(found[i].key);
    found[possible] = found[i];
    possible += may_be ? 1 : 0;
  }
  for (std::size_t i = 0; i < possible; ++i) lookup.prefetch_key(found[i].key);
  for (std::size_t i = 0; i < possible; ++i) {
    Feature one = found[i];
    one.row = lookup.find(one.key);
    if (one.row == kUnknownRow) continue;
    lookup.prefetch_row(one.row);
    found[known++] = one;
  }
  found.resize(known);
}

// Calls f(feature) for each of them, with its weights at hand.
template <class Lookup, class Feature, class F>
void for_known_features(const Lookup& lookup, const std::vector<Feature>& found, F&& f) {
  constexpr std::size_t kCellsAhead = 8;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i + kCellsAhead < found.size()) lookup.prefetch_cells(found[i + kCellsAhead].row);
    f(found[i]);
  }
}

}  // namespace marginalia
