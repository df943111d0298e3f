#include "search/document_features.hpp"

#include "search/chain/chain.hpp"
#include "search/change_scores.hpp"
#include "search/segments/segments.hpp"

namespace marginalia {

static_assert(Structure<Whole<Chain, ChainShape, ChainData>> &&
              WithConstants<Whole<Chain, ChainShape, ChainData>>);
static_assert(Droppable<Whole<Segments, SegmentShape, SegmentData>> &&
              !PartiallyLabelled<Whole<Segments, SegmentShape, SegmentData>>);

std::vector<double> DocumentFeatures::totals(std::size_t i, const HypothesisList& outputs) {
  begin(i, outputs.first());
  return totals_of(evaluator_, outputs, [&](const FeatureCounts& counts) { return score_of(counts); }, 1.0);
}

double DocumentFeatures::score_of(const FeatureCounts& counts) {
  double score = 0.0;
  counts.for_each([&](std::uint32_t number, double count) {
    const std::uint32_t row = row_of(number);
    if (row == kNoRow) return;
    if (const std::size_t cell = weights_.place_of({row, 0, 1}); cell != SIZE_MAX)
      score += count * static_cast<double>(weights_.cells[cell].weight);
  });
  return score;
}

std::uint32_t DocumentFeatures::row_of(std::uint32_t number) {
  if (generation_ != evaluator_.generation()) {
    rows_.clear();
    generation_ = evaluator_.generation();
  }
  if (number >= rows_.size()) rows_.resize(number + 1, kNoRow);
  if (rows_[number] == kNoRow) {  // others may have added it
    const std::shared_lock reading(data_.index.lock());
    rows_[number] = data_.index.find(evaluator_.features().key(number));
  }
  return rows_[number];
}

std::uint32_t DocumentFeatures::added_row_of(std::uint32_t number) {
  if (const std::uint32_t row = row_of(number); row != kNoRow) return row;
  const std::unique_lock alone(data_.index.lock());
  bool added = false;
  const std::uint32_t row = data_.index.find_or_add(evaluator_.features().key(number), Scope::global, added);
  if (added) data_.index.add_name(evaluator_.features().name(number));
  return rows_[number] = row;
}

}  // namespace marginalia
