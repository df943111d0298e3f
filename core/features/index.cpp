#include "features/index.hpp"

#include <stdexcept>

namespace marginalia {

FeatureIndex::FeatureIndex(bool keep_names)
    : keep_names_(keep_names),
      slots_(1024),
      filter_(slots_.size() / 16),
      keys_{0},
      counts_{0},
      scopes_{Scope::node},
      name_ends_{0} {}

std::string_view FeatureIndex::name(std::uint32_t row) const {
  if (!keep_names_ || row == kConstantRow) return {};
  const std::uint64_t begin = name_ends_[row - 1];
  return std::string_view(names_).substr(begin, name_ends_[row] - begin);
}

std::uint32_t FeatureIndex::find_or_add(std::uint64_t key, Scope scope, bool& added) {
  std::size_t slot = slot_of(key);
  added = slots_[slot].row == 0;
  if (added) {
    if (keys_.size() == UINT32_MAX) throw std::length_error("more than 4 billion features");
    slots_[slot] = {rows(), tag_of(key)};
    filter_[filter_word(key)] |= marks_of(key);
    keys_.push_back(key);
    counts_.push_back(0);
    scopes_.push_back(scope);
    if (keys_.size() * 10 > slots_.size() * 7) {
      rebuild(slots_.size() * 2);
      slot = slot_of(key);
    }
  }
  return slots_[slot].row;
}

void FeatureIndex::add_name(std::string_view name) {
  if (!keep_names_) return;
  names_ += name;
  name_ends_.push_back(names_.size());
}

void FeatureIndex::rebuild(std::size_t slots) {
  slots_.assign(slots, {});
  filter_.assign(slots / 16, 0);
  for (std::uint32_t row = 1; row < rows(); ++row) {
    slots_[slot_of(keys_[row])] = {row, tag_of(keys_[row])};
    filter_[filter_word(keys_[row])] |= marks_of(keys_[row]);
  }
}

void FeatureIndex::forget_counts() {
  for (std::uint32_t& count : counts_)
    if (count != UINT32_MAX) count = 0;
}

std::vector<std::uint32_t> FeatureIndex::cut(std::uint32_t least) {
  std::vector<std::uint32_t> renumbered(rows(), kNoRow);
  FeatureIndex kept(keep_names_);
  for (std::uint32_t row = 1; row < rows(); ++row) {
    if (counts_[row] < least) continue;
    bool added = false;
    renumbered[row] = kept.find_or_add(keys_[row], scopes_[row], added);
    kept.counts_[renumbered[row]] = counts_[row];
    kept.add_name(name(row));
  }
  *this = std::move(kept);
  return renumbered;
}

}  // namespace marginalia
