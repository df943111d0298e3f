// From feature keys to dense row ids, in training. Row 0 is not a feature: it holds the structure's
// constants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features/program.hpp"

namespace marginalia {

inline constexpr std::uint32_t kConstantRow = 0;
inline constexpr std::uint32_t kNoRow =
    0;  // what `find` says of an unknown key: constants are never looked up

class FeatureIndex {
 public:
  explicit FeatureIndex(bool keep_names);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(keys_.size()); }
  bool keeps_names() const { return keep_names_; }
  std::uint64_t key(std::uint32_t row) const { return keys_[row]; }
  Scope scope(std::uint32_t row) const { return scopes_[row]; }
  std::string_view name(std::uint32_t row) const;

  void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[key & (slots_.size() - 1)]); }
  std::uint32_t find(std::uint64_t key) const;
  // Finds or adds the key; `added` tells whether `add_name` is due.
  std::uint32_t find_or_add(std::uint64_t key, Scope scope, bool& added);
  void count(std::uint32_t row) {
    if (counts_[row] != UINT32_MAX) ++counts_[row];
  }
  void keep(std::uint32_t row) { counts_[row] = UINT32_MAX; }  // `cut` will not drop it
  void add_name(std::string_view name);                        // of the newest row

  // Drops rows counted fewer than `least` times. Returns the new id of each old row (kNoRow: dropped).
  std::vector<std::uint32_t> cut(std::uint32_t least);

 private:
  std::size_t slot_of(std::uint64_t key) const;
  void rebuild(std::size_t slots);

  bool keep_names_;
  std::vector<std::uint32_t> slots_;  // open addressing: row id, 0 = empty
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> counts_;
  std::vector<Scope> scopes_;
  std::string names_;
  std::vector<std::uint64_t> name_ends_;  // [rows]
};

}  // namespace marginalia
