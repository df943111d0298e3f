#include "learn/rank_boost.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace marginalia {

void Tournament::rebuild() {
  leaves_ = 1;
  while (leaves_ < values_.size()) leaves_ *= 2;
  winners_.resize(2 * leaves_);
  for (std::size_t i = 0; i < leaves_; ++i) winners_[leaves_ + i] = static_cast<std::uint32_t>(i);
  for (std::size_t node = leaves_ - 1; node > 0; --node) winners_[node] = played(node);
  if (leaves_ == 1) winners_[1] = 0;
}

// A node above which nothing changes ends it: another place won before and wins now.
void Tournament::changed(std::uint32_t place) {
  for (std::size_t node = (leaves_ + place) / 2; node > 0; node /= 2) {
    const std::uint32_t before = winners_[node];
    winners_[node] = played(node);
    if (winners_[node] == before && before != place) return;
  }
}

namespace {

// Sums keep the rounding errors of larger ones that they were: when the loss is so much less, they are made
// anew.
constexpr double kMuchLess = 0.01;
constexpr double kLargestPower = 500.0;  // of e, in the line search: doubles end at e^709

// Where the sum of weight * exp(-x * base) is least: it is convex. Where it falls for ever, far out.
double least_point(std::span<const double> weight, std::span<const double> base) {
  double largest = 0.0;
  for (const double b : base) largest = std::max(largest, std::abs(b));
  if (largest == 0.0) return 0.0;
  const auto slope = [&](double x) {
    double sum = 0.0;
    for (std::size_t p = 0; p < base.size(); ++p) sum -= weight[p] * base[p] * std::exp(-x * base[p]);
    return sum;
  };
  const double at_zero = slope(0.0);
  if (at_zero == 0.0) return 0.0;
  const double sign = at_zero < 0.0 ? 1.0 : -1.0;
  const double farthest = kLargestPower / largest;
  double low = 0.0, high = farthest / 1024;
  while (sign * slope(sign * high) < 0.0 && high < farthest) {
    low = high;
    high = std::min(2 * high, farthest);
  }
  if (sign * slope(sign * high) < 0.0) return sign * high;
  while (high - low > 1e-14 * high) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (sign * slope(sign * middle) < 0.0 ? low : high) = middle;
  }
  return sign * low;
}

}  // namespace

RankBoost::RankBoost(const CandidatePairs& pairs, std::uint32_t rows, std::uint32_t base_row,
                     double smoothing)
    : smoothing_(smoothing),
      examples_(pairs.examples),
      base_row_(base_row),
      sample_(pairs.weight),
      base_(pairs.base),
      weights_(rows),
      pair_(pairs.size()),
      sums_(2 * std::size_t{rows}),
      gains_(rows),
      seen_(rows),
      best_(gains_) {
  if (!(smoothing > 0.0)) throw std::invalid_argument("rank-boost: smoothing must be greater than 0");
  if (pairs.size() >= UINT32_MAX / 2 || rows >= UINT32_MAX / 2)
    throw std::length_error("rank-boost: too many pairs or features");
  for (const std::uint32_t row : pairs.rows)
    if (row >= rows) throw std::invalid_argument("rank-boost: a row is out of range");
  scale(pairs);
  index(pairs);
  refresh();
}

// Differences are at most 1 then, as the bound on the loss needs them. Those of features that are there or
// not stay as they are.
void RankBoost::scale(const CandidatePairs& pairs) {
  scale_.assign(weights_.size(), 0.0);
  for (std::size_t k = 0; k < pairs.rows.size(); ++k) {
    double& most = scale_[pairs.rows[k]];
    most = std::max(most, std::abs(static_cast<double>(pairs.values[k])));
  }
}

void RankBoost::index(const CandidatePairs& pairs) {
  const std::size_t all = pairs.rows.size();
  const auto size_of = [&](std::size_t k) {
    return static_cast<float>(std::abs(static_cast<double>(pairs.values[k])) / scale_[pairs.rows[k]]);
  };
  bool real = false;
  std::vector<std::uint64_t> next(weights_.size() + 1, 0);
  for (std::size_t k = 0; k < all; ++k) {
    ++next[pairs.rows[k] + 1];
    real = real || size_of(k) != 1.0f;
  }
  for (std::size_t row = 0; row < weights_.size(); ++row) next[row + 1] += next[row];
  of_row_.end = next;
  of_pair_.end = pairs.end;
  of_pair_.codes.resize(all);
  of_row_.codes.resize(all);
  if (real) of_pair_.sizes.resize(all);
  if (real) of_row_.sizes.resize(all);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    for (std::uint64_t k = pairs.end[p]; k < pairs.end[p + 1]; ++k) {
      const auto less = static_cast<Code>(pairs.values[k] < 0.0f);
      const std::uint64_t place = next[pairs.rows[k]]++;
      of_pair_.codes[k] = 2 * pairs.rows[k] + less;
      of_row_.codes[place] = 2 * static_cast<Code>(p) + less;
      if (real) of_pair_.sizes[k] = of_row_.sizes[place] = size_of(k);
    }
  }
}

void RankBoost::find_base_weight() {
  if (base_row_ < weights_.size()) weights_[base_row_] = least_point(sample_, base_);
  refresh();
}

void RankBoost::begin_with(std::span<const double> weights) {
  if (weights.size() != weights_.size()) throw std::invalid_argument("rank-boost: weights do not fit");
  weights_.assign(weights.begin(), weights.end());
  refresh();
}

double RankBoost::gain(std::uint32_t row) const {
  const double more = std::max(sums_[2 * std::size_t{row}], 0.0);
  const double less = std::max(sums_[2 * std::size_t{row} + 1], 0.0);
  return std::abs(std::sqrt(more) - std::sqrt(less));
}

void RankBoost::refresh() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  loss_ = 0.0;
  const double base_weight = base_row_ < weights_.size() ? weights_[base_row_] : 0.0;
  for (std::size_t p = 0; p < pair_.size(); ++p) {
    double margin = base_weight * base_[p];
    for (std::uint64_t k = of_pair_.end[p]; k < of_pair_.end[p + 1]; ++k) {
      const std::uint32_t row = of_pair_.codes[k] / 2;
      const double part = weights_[row] * of_pair_.size(k) * scale_[row];
      margin += of_pair_.codes[k] % 2 == 0 ? part : -part;
    }
    pair_[p] = sample_[p] * std::exp(-margin);
    loss_ += pair_[p];
    for (std::uint64_t k = of_pair_.end[p]; k < of_pair_.end[p + 1]; ++k)
      sums_[of_pair_.codes[k]] += pair_[p] * of_pair_.size(k);
  }
  exact_loss_ = loss_;
  for (std::uint32_t row = 0; row < gains_.size(); ++row) gains_[row] = gain(row);
  best_.rebuild();
}

std::size_t RankBoost::run(std::size_t rounds) {
  for (std::size_t done = 0; done < rounds; ++done) {
    if (gains_.empty()) return done;
    const std::uint32_t row = best_.winner();
    const double smooth = smoothing_ * loss_;
    const double more = std::max(sums_[2 * std::size_t{row}], 0.0);
    const double less = std::max(sums_[2 * std::size_t{row} + 1], 0.0);
    const double delta = 0.5 * std::log((more + smooth) / (less + smooth));
    if (!(gains_[row] > 0.0) || delta == 0.0 || !std::isfinite(delta)) return done;
    move(row, delta);
    chosen_.push_back(row);
    if (loss_ < kMuchLess * exact_loss_) refresh();
  }
  return rounds;
}

void RankBoost::move(std::uint32_t row, double delta) {
  weights_[row] += delta / scale_[row];
  ++round_;
  touched_.clear();
  const double factors[2] = {std::exp(-delta), std::exp(delta)};  // of sides
  for (std::uint64_t at = of_row_.end[row]; at < of_row_.end[row + 1]; ++at) {
    const Code code = of_row_.codes[at];
    const std::size_t p = code / 2;
    const double factor = of_row_.sizes.empty()
                              ? factors[code % 2]
                              : std::exp((code % 2 == 0 ? -delta : delta) * of_row_.size(at));
    const double change = pair_[p] * factor - pair_[p];
    pair_[p] += change;
    loss_ += change;
    for (std::uint64_t k = of_pair_.end[p]; k < of_pair_.end[p + 1]; ++k) {
      const Code other = of_pair_.codes[k];
      sums_[other] += change * of_pair_.size(k);
      if (seen_[other / 2] == round_) continue;
      seen_[other / 2] = round_;
      touched_.push_back(other / 2);
    }
  }
  for (const std::uint32_t one : touched_) gains_[one] = gain(one);
  for (const std::uint32_t one : touched_) best_.changed(one);
}

}  // namespace marginalia
