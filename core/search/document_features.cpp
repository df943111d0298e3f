#include "search/document_features.hpp"

#include "search/chain/chain.hpp"
#include "search/change_scores.hpp"
#include "search/segments/segments.hpp"

namespace marginalia {

static_assert(Structure<Whole<Chain, ChainShape, ChainData>> &&
              WithConstants<Whole<Chain, ChainShape, ChainData>>);
static_assert(Droppable<Whole<Segments, SegmentShape, SegmentData>> &&
              !PartiallyLabelled<Whole<Segments, SegmentShape, SegmentData>>);

std::unique_ptr<KnownDocuments> DocumentMemory::take(const DocumentData& data) {
  const std::scoped_lock alone(lock_);
  if (free_.empty()) return std::make_unique<KnownDocuments>(*data.set, *data.labels);
  std::unique_ptr<KnownDocuments> known = std::move(free_.back());
  free_.pop_back();
  return known;
}

void DocumentMemory::give_back(std::unique_ptr<KnownDocuments> known) {
  const std::scoped_lock alone(lock_);
  free_.push_back(std::move(known));
}

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

// Features that had no row may have one now, unless all new rows are ours.
void DocumentFeatures::look_at_index() {
  KnownDocuments& known = *known_;
  if (known.generation != evaluator_.generation()) {
    known.rows.clear();
    known.lacks.clear();
    known.generation = evaluator_.generation();
  }
  const std::shared_lock reading(data_.index.lock());
  if (known.size != data_.index.rows()) ++known.state;
  known.size = data_.index.rows();
}

std::uint32_t DocumentFeatures::row_of(std::uint32_t number) {
  KnownDocuments& known = *known_;
  if (number >= known.rows.size()) known.rows.resize(number + 1, kNoRow), known.lacks.resize(number + 1, 0);
  if (known.rows[number] == kNoRow && known.lacks[number] != known.state) {
    known.lacks[number] = known.state;
    const std::shared_lock reading(data_.index.lock());
    known.rows[number] = data_.index.find(evaluator_.features().key(number));
  }
  return known.rows[number];
}

std::uint32_t DocumentFeatures::added_row_of(std::uint32_t number) {
  if (const std::uint32_t row = row_of(number); row != kNoRow) return row;
  const std::unique_lock alone(data_.index.lock());
  bool added = false;
  const std::uint32_t row = data_.index.find_or_add(evaluator_.features().key(number), Scope::global, added);
  if (added) data_.index.add_name(evaluator_.features().name(number)), ++known_->size;
  return known_->rows[number] = row;
}

}  // namespace marginalia
