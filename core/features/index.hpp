// From feature keys to dense row ids, in training. Row 0 is not a feature: it holds the structure's
// constants. Whoever reads while others may add holds the lock, shared; whoever adds then holds it alone.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_vector.hpp"
#include "base/prefetch.hpp"
#include "features/extractor.hpp"

namespace marginalia {

inline constexpr std::uint32_t kConstantRow = 0;
inline constexpr std::uint32_t kNoRow =
    0;  // what `find` says of an unknown key: constants are never looked up

class FeatureIndex {
 public:
  explicit FeatureIndex(bool keep_names);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(keys_.size()); }
  bool keeps_names() const { return keep_names_; }
  std::shared_mutex& lock() const { return *lock_; }
  std::uint64_t key(std::uint32_t row) const { return keys_[row]; }
  Scope scope(std::uint32_t row) const { return scopes_[row]; }
  std::string_view name(std::uint32_t row) const;

  // Whether the key may be there: false for most of those that are not, at the price of one look at a table
  // that stays near.
  bool may_have(std::uint64_t key) const {
    const std::uint64_t marks = marks_of(key);
    return (filter_[filter_word(key)] & marks) == marks;
  }
  // For `may_have`, well ahead.
  void prefetch_filter(std::uint64_t key) const { marginalia::prefetch(&filter_[filter_word(key)]); }
  void prefetch(std::uint64_t key) const { marginalia::prefetch(&slots_[key & (slots_.size() - 1)]); }
  // To be called a while later: what else the key's row needs, by a first look at where the key should be.
  void prefetch_row(std::uint64_t key) const { prefetch_of(slots_[key & (slots_.size() - 1)].row); }
  void prefetch_of(std::uint32_t row) const {
    marginalia::prefetch(&keys_[row]);
    marginalia::prefetch(&counts_[row]);
  }
  std::uint32_t find(std::uint64_t key) const { return slots_[slot_of(key)].row; }
  // Finds or adds the key; `added` says whether `add_name` is due.
  std::uint32_t find_or_add(std::uint64_t key, Scope scope, bool& added);
  void count(std::uint32_t row) {
    if (counts_[row] != UINT32_MAX) ++counts_[row];
  }
  void forget_counts();                                        // of all rows that are not to be kept anyway
  void keep(std::uint32_t row) { counts_[row] = UINT32_MAX; }  // `cut` will not drop it
  void add_name(std::string_view name);                        // of the newest row

  // Drops rows counted fewer than `least` times. Returns the new id of each old row (kNoRow: dropped).
  std::vector<std::uint32_t> cut(std::uint32_t least);

 private:
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = key & mask;
    while (slots_[i].row != 0 && (slots_[i].tag != tag_of(key) || keys_[slots_[i].row] != key))
      i = (i + 1) & mask;
    return i;
  }
  void rebuild(std::size_t slots);

  // The upper half of a key tells most others from it without a look at `keys_`.
  struct Slot {
    std::uint32_t row = 0;  // 0 = empty
    std::uint32_t tag = 0;
  };
  static std::uint32_t tag_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }
  static std::uint64_t marks_of(std::uint64_t key) {
    return std::uint64_t{1} << (key >> 58) | std::uint64_t{1} << (key >> 52 & 63);
  }
  std::size_t filter_word(std::uint64_t key) const { return key >> 20 & (filter_.size() - 1); }

  bool keep_names_;
  std::unique_ptr<std::shared_mutex> lock_ = std::make_unique<std::shared_mutex>();
  LargeVector<Slot> slots_;            // open addressing
  std::vector<std::uint64_t> filter_;  // [slots / 16] two bits in one word for each key
  LargeVector<std::uint64_t> keys_;
  LargeVector<std::uint32_t> counts_;
  std::vector<Scope> scopes_;
  std::string names_;
  std::vector<std::uint64_t> name_ends_;  // [rows]
};

}  // namespace marginalia
