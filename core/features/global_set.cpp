#include "features/global_set.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/hash.hpp"

namespace marginalia {

MentionLabels::MentionLabels(std::vector<std::string> names, std::vector<std::uint32_t> of,
                             std::vector<std::uint8_t> in_one)
    : types(std::move(names)), type(std::move(of)), joined(std::move(in_one)) {
  bool fits = joined.size() == type.size() * type.size();
  for (const std::uint32_t one : type) fits = fits && (one == kOutside || one < types.size());
  for (std::size_t k = 0; fits && k < joined.size(); ++k)
    fits = joined[k] == 0 ||
           (type[k / type.size()] != kOutside && type[k / type.size()] == type[k % type.size()]);
  if (!fits) throw std::invalid_argument("mentions: the labels do not fit");
}

void MentionLabels::mentions(std::span<const std::uint32_t> y, std::size_t begin, std::size_t end,
                             std::vector<Mention>& out) const {
  for (std::size_t t = begin; t < end;) {
    const std::size_t first = t++;
    if (type[y[first]] == kOutside) continue;
    while (t < end && crosses(y, t)) ++t;
    out.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(t), type[y[first]]});
  }
}

namespace {

GlobalSet::Line line_of(const std::string& text) {
  const bool length = text.ends_with("/length");
  const std::string name = length ? text.substr(0, text.size() - 7) : text;
  for (std::size_t k = 0; k < kFamilies.size(); ++k) {
    if (name != kFamilies[k]) continue;
    if (length && k >= kGroupFamilies)
      throw std::invalid_argument("the family " + name + " has no variant with lengths");
    return {static_cast<Family>(k), length};
  }
  throw std::invalid_argument("there is no family " + name);
}

}  // namespace

GlobalSet::GlobalSet(const std::vector<std::string>& lines, const std::vector<std::string>& lowercase,
                     std::vector<UserFeatures> functions)
    : lowercase_(lowercase.begin(), lowercase.end()), functions_(std::move(functions)) {
  for (const std::string& text : lines) {
    const Line line = line_of(text);
    const auto family = static_cast<std::size_t>(line.family);
    for (const std::uint32_t other : by_family_[family])
      if (lines_[other].length == line.length) throw std::invalid_argument(text + " is there twice");
    by_family_[family].push_back(static_cast<std::uint32_t>(lines_.size()));
    has_[family] = true;
    has_groups_ = has_groups_ || family < kGroupFamilies;
    lines_.push_back(line);
  }
}

std::uint64_t global_key(std::string_view name) {
  const std::uint64_t key = scrambled(hash_of(name).hash ^ 0x5bf0'3635'd1e4'79a3ULL);
  return key == 0 ? 1 : key;
}

std::uint32_t FeaturePool::number_of(std::string_view name) {
  const std::uint64_t key = global_key(name);
  const auto [at, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (fresh) {
    keys_.push_back(key);
    names_ += name;
    ends_.push_back(names_.size());
  }
  return at->second;
}

}  // namespace marginalia
