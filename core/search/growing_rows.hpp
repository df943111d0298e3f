// Rows of features that get them while learning goes on: what structures share whose features are hashed when
// an example is visited.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "features/dropout.hpp"
#include "features/index.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// Rows and weights while both may grow. Rows that other learners added have no weights here.
struct GrowingLookup {
  const FeatureIndex& index;
  const SparseRows& weights;
  const Hidden& hidden;

  bool may_have(std::uint64_t key) const { return index.may_have(key); }
  void prefetch_filter(std::uint64_t key) const { index.prefetch_filter(key); }
  void prefetch_key(std::uint64_t key) const { index.prefetch(key); }
  std::uint32_t find(std::uint64_t key) const {
    const std::uint32_t row = hidden.feature(key) ? kNoRow : index.find(key);
    return row == kNoRow || row >= weights.rows.size() ? kUnknownRow : row;
  }
  void prefetch_row(std::uint32_t row) const { weights.prefetch_row(row); }
  void prefetch_cells(std::uint32_t row) const { weights.prefetch_cells(row); }
};

// The rows of features that were collected (with `key` and `row`). Those without one get one, if `adds`, all
// at once: whoever adds waits for all who read. `name(feature)` is what a new one is called.
template <class Feature, class Name>
void find_rows(FeatureIndex& index, std::vector<Feature>& features, bool adds, Name&& name) {
  bool all_known = true;
  {
    const std::shared_lock reading(index.lock());
    for (const Feature& one : features) index.prefetch(one.key);
    for (Feature& one : features) {
      one.row = index.find(one.key);
      all_known = all_known && one.row != kNoRow;
    }
  }
  if (all_known || !adds) return;
  const std::unique_lock writing(index.lock());
  for (Feature& one : features) {
    if (one.row != kNoRow) continue;
    bool added = false;
    one.row = index.find_or_add(one.key, Scope::node, added);
    if (added && index.keeps_names()) index.add_name(name(one));
  }
}

}  // namespace marginalia
