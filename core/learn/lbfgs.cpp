#include "learn/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/vector.hpp"

namespace marginalia {

namespace {

constexpr double kEnough = 1e-4;  // share of the promised decrease that makes a step good enough
constexpr std::size_t kTrials = 30;

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return dot(a.data(), b.data(), a.size());
}

void check(std::size_t memory, double l1) {
  if (memory == 0 || !(l1 >= 0.0)) throw std::invalid_argument("L-BFGS: memory or l1 is out of range");
}

}  // namespace

Lbfgs::Lbfgs(std::vector<double> start, std::size_t memory, double l1)
    : memory_(memory), l1_(l1), x_(std::move(start)), point_(x_) {
  check(memory, l1);
}

Lbfgs::Lbfgs(State state, std::size_t memory, double l1)
    : memory_(memory),
      l1_(l1),
      started_(true),
      point_(std::move(state.point)),
      gradient_(std::move(state.gradient)),
      value_(state.value) {
  check(memory, l1);
  const std::size_t n = point_.size(), remembered = state.steps.size();
  const auto fits = [n](const std::vector<double>& part) { return part.size() == n; };
  if (!fits(gradient_) || state.changes.size() != remembered ||
      !std::all_of(state.steps.begin(), state.steps.end(), fits) ||
      !std::all_of(state.changes.begin(), state.changes.end(), fits))
    throw std::invalid_argument("L-BFGS: the parts of the state disagree");
  for (std::size_t k = remembered - std::min(memory, remembered); k < remembered; ++k) {
    const double product = inner(state.steps[k], state.changes[k]);
    pairs_.push_back({std::move(state.steps[k]), std::move(state.changes[k]), product});
  }
  set_direction();
  length_ = state.length;
  trials_ = state.trials;
  try_step();
}

Lbfgs::State Lbfgs::state() const {
  State state{point_, gradient_, {}, {}, value_, length_, trials_};
  for (const Pair& pair : pairs_) {
    state.steps.push_back(pair.step);
    state.changes.push_back(pair.change);
  }
  return state;
}

double Lbfgs::with_l1(double value, const std::vector<double>& x) const {
  if (l1_ == 0.0) return value;
  double sum = 0.0;
  for (const double v : x) sum += std::abs(v);
  return value + l1_ * sum;
}

double Lbfgs::gradient_norm() const {
  return std::sqrt(inner(pseudo_, pseudo_));
}

// The direction of steepest growth at point_, with the l1 term: 0 where leaving 0 does not pay.
void Lbfgs::set_pseudo_gradient() {
  pseudo_ = gradient_;
  if (l1_ == 0.0) return;
  for (std::size_t i = 0; i < pseudo_.size(); ++i) {
    if (point_[i] != 0.0)
      pseudo_[i] += point_[i] > 0.0 ? l1_ : -l1_;
    else
      pseudo_[i] = gradient_[i] > l1_ ? gradient_[i] - l1_ : gradient_[i] < -l1_ ? gradient_[i] + l1_ : 0.0;
  }
}

// The two-loop recursion.
void Lbfgs::set_direction() {
  set_pseudo_gradient();
  const std::size_t n = pseudo_.size();
  direction_.resize(n);
  for (std::size_t i = 0; i < n; ++i) direction_[i] = -pseudo_[i];
  std::vector<double> alphas(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    alphas[k] = inner(pairs_[k].step, direction_) / pairs_[k].product;
    add_scaled(direction_.data(), pairs_[k].change.data(), -alphas[k], n);
  }
  if (!pairs_.empty()) {
    const Pair& last = pairs_.back();
    const double scale = last.product / inner(last.change, last.change);
    for (double& d : direction_) d *= scale;
  }
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double beta = inner(pairs_[k].change, direction_) / pairs_[k].product;
    add_scaled(direction_.data(), pairs_[k].step.data(), alphas[k] - beta, n);
  }
  if (l1_ > 0.0)  // only where it agrees with the way down
    for (std::size_t i = 0; i < n; ++i)
      if (direction_[i] * pseudo_[i] >= 0.0) direction_[i] = 0.0;
  const double norm = std::sqrt(inner(direction_, direction_));
  length_ = pairs_.empty() && norm > 0.0 ? 1.0 / norm : 1.0;
  trials_ = 0;
}

void Lbfgs::try_step() {
  x_ = point_;
  add_scaled(x_.data(), direction_.data(), length_, x_.size());
  if (l1_ == 0.0) return;
  for (std::size_t i = 0; i < x_.size(); ++i) {  // never across zero
    const double sign = point_[i] != 0.0 ? point_[i] : -pseudo_[i];
    if (x_[i] * sign <= 0.0) x_[i] = 0.0;
  }
}

void Lbfgs::accept(double value, const std::vector<double>& gradient) {
  if (started_) {
    Pair pair{x_, gradient, 0.0};
    add_scaled(pair.step.data(), point_.data(), -1.0, x_.size());
    add_scaled(pair.change.data(), gradient_.data(), -1.0, x_.size());
    pair.product = inner(pair.step, pair.change);
    if (pair.product > 1e-12 * inner(pair.change, pair.change)) pairs_.push_back(std::move(pair));
    if (pairs_.size() > memory_) pairs_.pop_front();
  }
  started_ = true;
  point_ = x_;
  gradient_ = gradient;
  value_ = value;
  set_direction();
}

Lbfgs::Status Lbfgs::update(double plain_value, const std::vector<double>& gradient) {
  if (gradient.size() != x_.size()) throw std::invalid_argument("L-BFGS: the gradient has a wrong size");
  const double value = with_l1(plain_value, x_);
  if (started_) {
    double promised = 0.0;  // by the slope, for the step as it was taken
    for (std::size_t i = 0; i < x_.size(); ++i) promised += pseudo_[i] * (x_[i] - point_[i]);
    if (!(value <= value_ + kEnough * promised)) {
      if (++trials_ == kTrials || promised >= 0.0) {
        if (pairs_.empty()) return Status::stuck;
        pairs_.clear();  // the memory may be what misleads: once more, straight down
        set_direction();
      } else {
        length_ *= 0.5;
      }
      try_step();
      return Status::evaluate;
    }
  }
  accept(value, gradient);
  if (gradient_norm() == 0.0) return Status::stuck;
  try_step();
  return Status::stepped;
}

}  // namespace marginalia
