#include "weights/provenance.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

namespace marginalia {

namespace {

constexpr std::size_t kUnmerged = std::size_t{1} << 20;  // entries that may wait at any time

}  // namespace

void ProvenanceLog::add(std::uint32_t row, std::uint32_t output, std::uint32_t example, double change,
                        double total) {
  entries_.push_back({row, output, example, change, total});
  if (entries_.size() > 2 * merged_ + kUnmerged) merge();
}

// Sorting is stable: what an example did is summed in the order of time.
void ProvenanceLog::merge() {
  const auto key = [](const Entry& e) { return std::tuple(e.row, e.output, e.example); };
  const auto before = [&](const Entry& a, const Entry& b) { return key(a) < key(b); };
  const auto middle = entries_.begin() + static_cast<std::ptrdiff_t>(merged_);
  std::stable_sort(middle, entries_.end(), before);
  std::inplace_merge(entries_.begin(), middle, entries_.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry entry = entries_[i];
    if (kept > 0 && key(entries_[kept - 1]) == key(entry)) {
      entries_[kept - 1].change += entry.change;
      entries_[kept - 1].total += entry.total;
    } else {
      entries_[kept++] = entry;
    }
  }
  entries_.resize(kept);
  merged_ = kept;
}

std::vector<ProvenanceEntry> ProvenanceLog::provenance(double steps) {
  merge();
  std::vector<ProvenanceEntry> found;
  found.reserve(entries_.size());
  for (const Entry& e : entries_)
    found.push_back({e.row, e.output, e.example, steps > 0 ? e.change - e.total / steps : e.change});
  return found;
}

ProvenanceStorage::ProvenanceStorage(const std::vector<ProvenanceEntry>& provenance,
                                     std::span<const std::uint32_t> rows, std::size_t most,
                                     std::uint32_t start) {
  const auto before = [](const ProvenanceEntry& entry, std::uint32_t row) { return entry.row < row; };
  for (const std::uint32_t row : rows) {
    auto at = std::lower_bound(provenance.begin(), provenance.end(), row, before);
    while (at != provenance.end() && at->row == row) {
      const auto first = at;
      while (at != provenance.end() && at->row == row && at->output == first->output) ++at;
      add_weight({first, at}, most, start);
    }
    row_end.push_back(static_cast<std::uint32_t>(outputs.size()));
  }
  if (examples.size() > UINT32_MAX) throw std::length_error("provenance: too many examples of weights");
}

void ProvenanceStorage::add_weight(std::span<const ProvenanceEntry> of_weight, std::size_t most,
                                   std::uint32_t start) {
  std::vector<ProvenanceEntry> sorted;
  for (const ProvenanceEntry& entry : of_weight)
    if (entry.part != 0.0) sorted.push_back(entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProvenanceEntry& a, const ProvenanceEntry& b) {
    return std::abs(a.part) > std::abs(b.part);
  });
  double left = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (most != 0 && i >= most) {
      left += sorted[i].part;
      continue;
    }
    examples.push_back(sorted[i].example == kNoExample ? start : sorted[i].example);
    parts.push_back(static_cast<float>(sorted[i].part));
  }
  outputs.push_back(of_weight.front().output);
  end.push_back(static_cast<std::uint32_t>(examples.size()));
  rest.push_back(static_cast<float>(left));
}

}  // namespace marginalia
