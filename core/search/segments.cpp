#include "search/segments.hpp"

#include <stdexcept>

namespace marginalia {

Segments::Segments(const SegmentShape& shape, const SegmentData& data, const SparseRows& weights)
    : shape_(shape), data_(data), weights_(weights), constants_(shape), scoring_(data.program, shape) {
  for (const Cell* c = weights.begin(kConstantRow); c != weights.end(kConstantRow); ++c)
    constants_.set(shape, c->output, static_cast<double>(c->weight));
}

Output Segments::gold(std::size_t i) const {
  const std::uint32_t* labels = data_.gold.data() + data_.examples.sentence[i];
  return {labels, labels + data_.examples.length(i)};
}

void Segments::read(std::size_t i) {
  if (read_ == i) return;
  data_.examples.values(i, scoring_.x);
  read_ = i;
}

void Segments::hide(std::size_t i, const Dropout& dropout, std::uint64_t step) {
  dropout_ = dropout;
  step_ = step;
  read_ = SIZE_MAX;
  if (!dropout.active()) return;
  data_.examples.hidden_values(i, dropout, step, scoring_.x);
  read_ = i;
}

const Scored& Segments::best_with(const std::vector<double>& costs) {
  const std::shared_lock reading(data_.index.lock());
  const std::size_t length = scoring_.x.length, block = scoring_.block();
  viterbi_.begin(shape_, constants_, length);
  for (std::size_t first = 0; first < length; first += block) {
    scoring_.score(Lookup{*this}, first, std::min(block, length - first), costs, scores_);
    viterbi_.go_on(scores_);
  }
  best_.score = viterbi_.finish(best_.output);
  return best_;
}

const Scored& Segments::best(std::size_t i) {
  read(i);
  return best_with({});
}

const Scored& Segments::best(std::size_t i, const Costs& costs) {
  if (costs.labels != shape_.labels) throw std::invalid_argument("the costs are those of other labels");
  read(i);
  const Output right = gold(i);
  std::vector<double> by_label;
  for (const std::uint32_t label : right)
    by_label.insert(by_label.end(), &costs.cost[std::size_t{label} * costs.labels],
                    &costs.cost[std::size_t{label} * costs.labels] + costs.labels);
  return best_with(by_label);
}

std::vector<Scored> Segments::k_best(std::size_t i, std::size_t k) {
  read(i);
  {
    const std::shared_lock reading(data_.index.lock());
    scoring_.score_all(Lookup{*this}, scores_);
  }
  SegmentKBest search(shape_, constants_, scores_, k);
  std::vector<Scored> found;
  Output output;
  while (const std::optional<double> score = search.next(output)) found.push_back({output, *score});
  return found;
}

void Segments::meet(const Segment& segment, double count) {
  data_.program.for_segment(scoring_.x, segment.begin, segment.last,
                            [&](std::uint64_t key, const SegmentProgram::Origin& origin) {
                              if (!leaves_out_key(key))
                                met_.push_back({key, origin, segment.type, kNoRow, count});
                            });
}

// The rows of the features of example i that were met. Those without one get one, if `adds`, all at once:
// whoever adds waits for all who read.
void Segments::find_rows(std::size_t i, bool adds) {
  FeatureIndex& index = data_.index;
  bool all_known = true;
  {
    const std::shared_lock reading(index.lock());
    for (const Met& one : met_) index.prefetch(one.key);
    for (Met& one : met_) {
      one.row = index.find(one.key);
      all_known = all_known && one.row != kNoRow;
    }
  }
  if (all_known || !adds) return;
  const auto text = [&](std::size_t token, std::uint32_t source) {
    return data_.examples.text(i, token, source);
  };
  const std::unique_lock writing(index.lock());
  for (Met& one : met_) {
    if (one.row != kNoRow) continue;
    bool added = false;
    one.row = index.find_or_add(one.key, Scope::node, added);
    if (added && index.keeps_names()) index.add_name(data_.program.name(one.origin, scoring_.x.length, text));
  }
}

void Segments::count_features(std::size_t i) {
  read(i);
  for (const Segment& segment : shape_.segments(gold(i))) meet(segment, 1.0);
  tell_met(i, true, [&](const Coordinate& at, double) { data_.index.count(at.row); });
}

}  // namespace marginalia
