#include "search/hypothesis_list.hpp"

#include <algorithm>
#include <utility>

#include "search/chain/beam.hpp"
#include "search/chain/k_best.hpp"

namespace marginalia {

namespace {

// An output of a list that is not made by differences: as what it changes in the first.
void add_whole(HypothesisList& list, const Labels& output, double score) {
  const std::vector<Stretch> changed = differing(output, list.first());
  const std::size_t begin = changed.empty() ? 0 : changed.front().begin;
  const std::size_t end = changed.empty() ? 0 : changed.back().end;
  list.add(0, begin, std::span(output).subspan(begin, end - begin), score);
}

}  // namespace

void HypothesisList::add(std::uint32_t parent, std::size_t begin, std::span<const std::uint32_t> labels,
                         double score) {
  steps_.push_back({parent, begin, labels_.size(), labels.size(), score});
  labels_.insert(labels_.end(), labels.begin(), labels.end());
}

Labels HypothesisList::output(std::size_t k) const {
  HypothesisCursor cursor(*this);
  cursor.move_to(k);
  return cursor.labels();
}

void HypothesisCursor::move_to(std::size_t k) {
  for (const Stretch& stretch : changed_)
    std::copy(list_.first_.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
              list_.first_.begin() + static_cast<std::ptrdiff_t>(stretch.end),
              labels_.begin() + static_cast<std::ptrdiff_t>(stretch.begin));
  changed_.clear();
  way_.clear();
  for (auto at = static_cast<std::uint32_t>(k); at != 0; at = list_.steps_[at].parent) way_.push_back(at);
  for (auto at = way_.rbegin(); at != way_.rend(); ++at) {  // later changes stand over earlier ones
    const HypothesisList::Step& step = list_.steps_[*at];
    if (step.count == 0) continue;
    std::copy_n(list_.labels_.begin() + static_cast<std::ptrdiff_t>(step.offset), step.count,
                labels_.begin() + static_cast<std::ptrdiff_t>(step.begin));
    changed_.push_back({step.begin, step.begin + step.count});
  }
  std::sort(changed_.begin(), changed_.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Stretch& stretch : changed_) {
    if (kept > 0 && stretch.begin <= changed_[kept - 1].end)
      changed_[kept - 1].end = std::max(changed_[kept - 1].end, stretch.end);
    else
      changed_[kept++] = stretch;
  }
  changed_.resize(kept);
}

HypothesisList hypotheses_of(const Lattice& lattice, std::size_t n) {
  if (lattice.shape->beam != 0)
    return listed(beam_search(lattice, std::min<std::size_t>(lattice.shape->beam, n)));
  KBest search(lattice);
  Labels first(lattice.length);
  const auto score = search.next(first.data());
  if (!score) return {};
  HypothesisList found(std::move(first), *score);
  KBest::Change change;
  while (found.size() < n && search.next_change(change))
    found.add(change.parent, change.begin, change.labels, *score - change.loss);
  return found;
}

HypothesisList hypotheses_of(const SegmentShape& shape, const SegmentConstants& constants,
                             const SegmentScores& scores, std::size_t n) {
  SegmentKBest search(shape, constants, scores, n);
  Labels output;
  std::optional<double> score = search.next(output);
  if (!score) return {};
  HypothesisList found(output, *score);
  while (found.size() < n && (score = search.next(output))) add_whole(found, output, *score);
  return found;
}

HypothesisList listed(std::span<const ScoredLabels> outputs) {
  if (outputs.empty()) return {};
  HypothesisList found(outputs[0].output, outputs[0].score);
  for (const ScoredLabels& one : outputs.subspan(1)) add_whole(found, one.output, one.score);
  return found;
}

}  // namespace marginalia
