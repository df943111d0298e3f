#include "search/segments/segments.hpp"

#include <algorithm>
#include <stdexcept>

#include "search/segments/best_wrong.hpp"

namespace marginalia {

Segments::Segments(const SegmentShape& shape, const SegmentData& data, const SparseRows& weights)
    : shape_(shape), data_(data), weights_(weights), constants_(shape), scoring_(data.extractor, shape) {
  for (const Cell* c = weights.begin(kConstantRow); c != weights.end(kConstantRow); ++c)
    constants_.set(shape, c->output, static_cast<double>(c->weight));
}

Labels Segments::gold(std::size_t i) {
  const RightLabels one = right(i);
  if (one.complete()) return {one.ids(), one.ids() + one.size()};
  read(i);
  ScoredLabels best;
  best_with({}, &one, best);
  if (best.score == kIllegal) throw std::domain_error("an example has no right output that is legal");
  return best.output;
}

// Makes the segments of `scores_` illegal that cannot be right.
void Segments::allow(const RightLabels& right) {
  const std::size_t end = std::min(right.size(), scores_.first + scores_.count + shape_.most - 1);
  for (std::size_t t = scores_.first; t < end; ++t)
    scores_.allow(shape_, t, {right.mask(t, shape_.labels, mask_), shape_.labels});
}

void Segments::read(std::size_t i) {
  if (read_ == i) return;
  data_.examples.values(i, scoring_.x);
  read_ = i;
}

void Segments::hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
  hidden_ = Hidden(dropout, step);
  read_ = SIZE_MAX;
  if (!dropout.active()) return;
  data_.examples.hidden_values(i, hidden_, scoring_.x);
  read_ = i;
}

// The best of all outputs, or of the right ones.
void Segments::best_with(const std::vector<double>& costs, const RightLabels* right, ScoredLabels& best) {
  const std::shared_lock reading(data_.index.lock());
  const std::size_t length = scoring_.x.length, block = scoring_.block();
  viterbi_.begin(shape_, constants_, length);
  for (std::size_t first = 0; first < length; first += block) {
    scoring_.score(lookup(), first, std::min(block, length - first), costs, scores_);
    if (right != nullptr) allow(*right);
    viterbi_.go_on(scores_);
  }
  best.score = viterbi_.finish(best.output);
}

const ScoredLabels& Segments::best(std::size_t i) {
  read(i);
  best_with({}, nullptr, best_);
  return best_;
}

const ScoredLabels& Segments::costly_best(std::size_t i) {
  read(i);
  const RightLabels one = right(i);
  std::vector<double> by_label;
  for (std::size_t t = 0; t < one.size(); ++t)
    for (std::uint32_t c = 0; c < shape_.labels; ++c) by_label.push_back(data_.costs->of(one, t, c));
  best_with(by_label, nullptr, best_);
  return best_;
}

std::optional<ScoredLabels> Segments::best_wrong(std::size_t i) {
  read(i);
  {
    const std::shared_lock reading(data_.index.lock());
    scoring_.score_all(lookup(), scores_);
  }
  return marginalia::best_wrong(shape_, constants_, scores_, right(i));
}

void Segments::score_all(std::size_t i) {
  read(i);
  const std::shared_lock reading(data_.index.lock());
  scoring_.score_all(lookup(), scores_);
}

std::vector<ScoredLabels> Segments::k_best(std::size_t i, std::size_t k) {
  score_all(i);
  SegmentKBest search(shape_, constants_, scores_, k);
  std::vector<ScoredLabels> found;
  Labels output;
  while (const std::optional<double> score = search.next(output)) found.push_back({output, *score});
  return found;
}

HypothesisList Segments::hypotheses(std::size_t i, std::size_t n) {
  score_all(i);
  return hypotheses_of(shape_, constants_, scores_, n);
}

HypothesisList Segments::rescored(std::size_t i, std::size_t n, const HypothesisList& given) {
  score_all(i);
  return given.rescored(n, [&](const Labels& y) { return score_of(shape_, constants_, scores_, y); });
}

void Segments::collect(const Segment& segment, double count) {
  data_.extractor.for_segment(scoring_.x, segment.begin, segment.last,
                              [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
                                if (!hidden_.feature(key))
                                  pending_.push_back({key, origin, segment.type, kNoRow, count});
                              });
}

// Segments that a right output can have, and all of whose tokens name their labels.
void Segments::collect_named(const RightLabels& right) {
  for (std::size_t begin = 0; begin < right.size(); ++begin)
    for (std::uint32_t type = 0; type < shape_.types(); ++type) {
      if (!right.names(begin) || !right.allows(begin, shape_.begin_label[type])) continue;
      const std::uint32_t inside = shape_.inside_label[type];
      for (std::size_t last = begin;; ++last) {
        bool ends = last + 1 == right.size();
        for (std::uint32_t next = 0; next < shape_.types() && !ends; ++next)
          ends = right.allows(last + 1, shape_.begin_label[next]);
        if (ends) collect({begin, last, type}, 1.0);
        if (last + 1 == right.size() || last + 1 - begin == shape_.most || inside == kNoLabel ||
            !right.names(last + 1) || !right.allows(last + 1, inside))
          break;
      }
    }
}

void Segments::find_rows(std::size_t i, bool adds) {
  const auto text = [&](std::size_t token, std::uint32_t source) {
    return data_.examples.text(i, token, source);
  };
  marginalia::find_rows(data_.index, pending_, adds, [&](const PendingFeature& one) -> std::string {
    return one.origin.item != nullptr ? std::string(data_.examples.item_name(one.origin.item->name))
                                      : data_.extractor.name(one.origin, scoring_.x.length, text);
  });
}

void Segments::count_features(std::size_t i) {
  read(i);
  if (const RightLabels one = right(i); !one.complete())
    collect_named(one);
  else
    for (const Segment& segment : shape_.segments(gold(i))) collect(segment, 1.0);
  emit(i, true, [&](const Coordinate& at, double) { data_.index.count(at.row); });
}

}  // namespace marginalia
