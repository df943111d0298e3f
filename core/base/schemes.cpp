#include "base/schemes.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

SchemeLabels::SchemeLabels(std::vector<std::uint32_t> type, std::vector<std::uint8_t> prefix,
                           std::vector<std::uint8_t> joined, std::vector<std::uint8_t> legal)
    : type_(std::move(type)),
      prefix_(std::move(prefix)),
      joined_(std::move(joined)),
      legal_(std::move(legal)) {
  while (prefixes_ * prefixes_ < joined_.size()) ++prefixes_;
  const auto fits = [&](std::uint8_t prefix) { return prefix < prefixes_; };
  if (prefix_.size() != type_.size() || prefixes_ * prefixes_ != joined_.size() ||
      legal_.size() != (prefixes_ + 1) * (prefixes_ + 1) * 2 ||
      !std::all_of(prefix_.begin(), prefix_.end(), fits))
    throw std::invalid_argument("schemes: the parts do not fit each other");
}

void SchemeLabels::check(std::span<const std::int32_t> ids, std::span<const std::uint32_t> starts) const {
  if (starts.empty() || starts.front() != 0 || starts.back() != ids.size() ||
      !std::is_sorted(starts.begin(), starts.end()))
    throw std::invalid_argument("schemes: the sentences do not fit the labels");
  const auto known = [&](std::int32_t id) { return static_cast<std::uint32_t>(id) < labels(); };
  if (!std::all_of(ids.begin(), ids.end(), known))
    throw std::invalid_argument("schemes: a label is out of range");
}

std::vector<std::uint32_t> SchemeLabels::illegal(std::span<const std::int32_t> ids,
                                                 std::span<const std::uint32_t> starts) const {
  check(ids, starts);
  const std::size_t edge = prefixes_;
  const auto allowed = [&](std::size_t left, std::size_t right, bool same) {
    return legal_[(left * (prefixes_ + 1) + right) * 2 + (same ? 1 : 0)] != 0;
  };
  std::vector<std::uint32_t> found;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s)
    for (std::uint32_t t = starts[s]; t < starts[s + 1]; ++t) {
      const std::int32_t id = ids[t];
      const bool follows = t == starts[s]
                               ? allowed(edge, prefix_[id], false)
                               : allowed(prefix_[ids[t - 1]], prefix_[id], type_[ids[t - 1]] == type_[id]);
      const bool ends = t + 1 < starts[s + 1] || allowed(prefix_[id], edge, false);
      if (!follows || !ends) found.push_back(t);
    }
  return found;
}

std::vector<std::int32_t> SchemeLabels::translated(std::span<const std::int32_t> ids,
                                                   std::span<const std::uint32_t> starts,
                                                   std::span<const std::int32_t> targets) const {
  check(ids, starts);
  if (targets.size() != labels() * 9)
    throw std::invalid_argument("schemes: the table does not fit the labels");
  std::vector<std::int32_t> out(ids.size());
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    std::size_t before = kApart;
    for (std::size_t t = starts[s]; t < starts[s + 1]; ++t) {
      const std::size_t after = t + 1 < starts[s + 1] ? relation(ids[t], ids[t + 1]) : kApart;
      out[t] = targets[static_cast<std::size_t>(ids[t]) * 9 + before * 3 + after];
      before = after;
    }
  }
  return out;
}

}  // namespace marginalia
