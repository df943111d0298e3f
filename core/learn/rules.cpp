#include "learn/rules.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/prefetch.hpp"

namespace marginalia {

void RuleSamples::add(const ExampleRows& examples, std::span<const double> sample_weights) {
  if (finished()) throw std::invalid_argument("rules: the samples are finished");
  if (examples.gold.size() != examples.tokens() || examples.sets.size() != 0)
    throw std::invalid_argument("rules: expected one right label for each token");
  if (!sample_weights.empty() && sample_weights.size() != examples.sentences())
    throw std::invalid_argument("sample weights disagree with the examples");
  for (const std::uint32_t label : examples.gold)
    if (label >= neighbours_.labels) throw std::invalid_argument("rules: a label is out of range");
  rows_ = std::max(rows_, examples.most_row() + 1);
  for (std::size_t s = 0; s < examples.sentences(); ++s) {
    const Example x = example(examples, s);
    for (std::size_t t = 0; t < x.length; ++t) {
      add_sample(x, t);
      weights_.push_back(sample_weights.empty() ? 1.0 : sample_weights[s]);
    }
  }
}

void RuleSamples::add_sample(const Example& x, std::size_t t) {
  const std::size_t begin = atoms_.size();
  x.for_node_rows(t, [&](std::uint32_t row, double value) {
    if (value != 0.0) atoms_.push_back(row);
  });
  for (std::size_t distance = 1; distance <= neighbours_.count; ++distance) {
    const bool there = neighbours_.backwards ? t + distance < x.length : t >= distance;
    if (!there) break;
    const std::size_t at = neighbours_.backwards ? t + distance : t - distance;
    atoms_.push_back(neighbours_.code(distance, x.gold()[at]));
  }
  const auto first = atoms_.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, atoms_.end());
  atoms_.erase(std::unique(first, atoms_.end()), atoms_.end());
  end_.push_back(atoms_.size());
  gold_.push_back(x.gold()[t]);
}

// By code (labels of neighbours after all rows): its number, or that of all codes if it is too rare.
std::vector<std::uint32_t> RuleSamples::number_codes() {
  const auto place = [&](std::uint32_t code) {
    return code < kLabelCode ? code : rows_ + (code - kLabelCode);
  };
  std::vector<std::uint32_t> counts(rows_ + std::size_t{neighbours_.count} * neighbours_.labels, 0);
  for (std::uint32_t& code : atoms_) ++counts[code = place(code)];
  std::vector<std::uint32_t> frequent;
  for (std::uint32_t at = 0; at < counts.size(); ++at)
    if (counts[at] != 0 && counts[at] >= least_) frequent.push_back(at);
  std::stable_sort(frequent.begin(), frequent.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] < counts[b]; });
  std::vector<std::uint32_t> number(counts.size(), static_cast<std::uint32_t>(frequent.size()));
  for (const std::uint32_t at : frequent) {
    number[at] = static_cast<std::uint32_t>(codes_.size());
    codes_.push_back(at < rows_ ? at : kLabelCode + (at - rows_));
  }
  return number;
}

void RuleSamples::finish(std::uint32_t least) {
  if (finished()) throw std::invalid_argument("rules: the samples are finished");
  least_ = std::max(least, 1u);
  const std::vector<std::uint32_t> number = number_codes();
  std::uint64_t kept = 0, begin = 0;
  list_end_.assign(codes_.size() + 1, 0);
  for (std::size_t i = 0; i < size(); ++i) {
    const std::uint64_t end = end_[i + 1], first = kept;
    for (std::uint64_t k = begin; k < end; ++k)
      if (number[atoms_[k]] < codes_.size()) atoms_[kept++] = number[atoms_[k]];
    std::sort(atoms_.begin() + static_cast<std::ptrdiff_t>(first),
              atoms_.begin() + static_cast<std::ptrdiff_t>(kept));
    for (std::uint64_t k = first; k < kept; ++k) ++list_end_[atoms_[k] + 1];
    begin = end;
    end_[i + 1] = kept;
  }
  atoms_.resize(kept);
  atoms_.shrink_to_fit();
  std::partial_sum(list_end_.begin(), list_end_.end(), list_end_.begin());
  samples_.resize(kept);
  std::vector<std::uint64_t> next(list_end_.begin(), list_end_.end() - 1);
  for (std::size_t i = 0; i < size(); ++i)
    for (const std::uint32_t atom : atoms_of(i)) samples_[next[atom]++] = static_cast<std::uint32_t>(i);
  set_bits();
}

// Atoms are numbered by how many samples they have: the last ones are the frequent ones.
void RuleSamples::set_bits() {
  words_ = (size() + 63) / 64;
  const auto enough = [&](std::uint32_t atom) { return samples_of(atom).size() >= 2 * words_; };
  first_bits_ = atoms();
  while (first_bits_ > 0 && enough(first_bits_ - 1)) --first_bits_;
  bits_.assign((atoms() - first_bits_) * words_, 0);
  for (std::uint32_t atom = first_bits_; atom < atoms(); ++atom)
    for (const std::uint32_t i : samples_of(atom))
      bits_[(atom - first_bits_) * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
}

bool RuleSamples::has(std::uint32_t i, std::uint32_t atom) const {
  if (atom >= first_bits_) return (bits_[(atom - first_bits_) * words_ + i / 64] >> (i % 64) & 1) != 0;
  const std::span<const std::uint32_t> own = atoms_of(i);
  return std::binary_search(own.begin(), own.end(), atom);
}

std::span<const std::uint32_t> RuleSamples::samples_with(std::span<const std::uint32_t> atoms,
                                                         std::vector<std::uint32_t>& space) const {
  std::span<const std::uint32_t> with = samples_of(atoms.front());  // the rarest has the fewest
  for (const std::uint32_t atom : atoms.subspan(1)) {
    space.resize(std::max(space.size(), with.size()));
    std::size_t kept = 0;
    for (const std::uint32_t i : with) {
      space[kept] = i;
      kept += has(i, atom) ? 1 : 0;
    }
    with = std::span(space).first(kept);
  }
  return with;
}

// The best candidates, so many at most (0: all); of equal gains smaller sets, then lower atoms first.
class RuleLearner::Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}

  bool full() const { return most_ != 0 && found_.size() == most_; }
  double least() const { return full() ? found_.front().gain : 0.0; }
  // Of less than this a sum has a root below the least gain, whatever is rounded.
  double least_sum() const { return least() * least() * (1.0 - 1e-9); }

  // A parent with one atom more.
  void offer(double gain, double bound, const Body& parent, std::uint32_t atom) {
    if (full() && gain < least()) return;
    Candidate made{gain, bound, parent};
    made.body.push_back(atom);
    if (full()) {
      if (!better(made, found_.front())) return;
      std::pop_heap(found_.begin(), found_.end(), better);
      found_.pop_back();
    }
    found_.push_back(std::move(made));
    if (most_ != 0) std::push_heap(found_.begin(), found_.end(), better);
  }
  std::vector<Candidate> sorted() && {
    std::sort(found_.begin(), found_.end(), better);
    return std::move(found_);
  }

 private:
  static bool better(const Candidate& a, const Candidate& b) {
    if (a.gain != b.gain) return a.gain > b.gain;
    return a.body.size() != b.body.size() ? a.body.size() < b.body.size() : a.body < b.body;
  }

  std::size_t most_;
  std::vector<Candidate> found_;  // a heap, the worst first, if there is a limit
};

namespace {

constexpr std::size_t kAhead = 8;  // samples whose atoms are fetched early

double gain_of(double plus, double minus) {
  return std::abs(std::sqrt(plus) - std::sqrt(minus));
}

double bound_of(double plus, double minus) {
  return std::max(std::sqrt(plus), std::sqrt(minus));
}

}  // namespace

RuleLearner::RuleLearner(const RuleSamples& samples, std::uint32_t label, const RuleOptions& options)
    : samples_(samples), label_(label), options_(options) {
  if (!samples.finished()) throw std::invalid_argument("rules: the samples are not finished");
  double plus = 0.0, minus = 0.0;
  const auto positive = [&](std::size_t i) { return samples.gold(i) == label; };
  for (std::size_t i = 0; i < samples.size(); ++i) (positive(i) ? plus : minus) += samples.weight(i);
  done_ = plus == 0.0 || minus == 0.0;  // nothing to tell apart
  const double more = done_ ? options.smoothing : 0.0;
  default_ = 0.5 * std::log((plus + more) / (minus + more));
  const double right = std::exp(-default_), wrong = std::exp(default_);
  weights_.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    weights_[i] = samples.weight(i) * (positive(i) ? right : -wrong);
  order_.resize(samples.atoms());
  std::iota(order_.begin(), order_.end(), 0u);
  buckets_ = std::max<std::size_t>(1, std::min<std::size_t>(options.buckets, order_.size()));
  done_ = done_ || order_.empty();
}

// By weight, light atoms first. By frequency they are in order anyway.
void RuleLearner::distribute() {
  std::vector<double> weight(samples_.atoms(), 0.0);
  for (std::uint32_t atom = 0; atom < samples_.atoms(); ++atom)
    for (const std::uint32_t i : samples_.samples_of(atom)) weight[atom] += std::abs(weights_[i]);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return weight[a] != weight[b] ? weight[a] < weight[b] : a < b;
  });
}

std::size_t RuleLearner::run(std::size_t rounds, std::size_t most) {
  if (done_ || size() >= most) return size();
  Space space;
  space.sums.resize(samples_.atoms());
  for (std::size_t k = 0; k < rounds && !done_ && size() < most; ++k) round(most, space);
  return size();
}

void RuleLearner::round(std::size_t most, Space& space) {
  if (bucket_ == 0 && options_.by_weight) distribute();
  for (const Body& body : find_rules(std::min(options_.rules_per_round, most - size()), space))
    add_rule(body, space);
  if (++bucket_ < buckets_) return;
  bucket_ = 0;
  done_ = !moved_;
  moved_ = false;
}

RuleLearner::Sums RuleLearner::sums_of(std::span<const std::uint32_t> with) const {
  Sums sums;
  for (const std::uint32_t i : with) {  // without a branch, which would be guessed wrong too often
    sums.plus += std::max(weights_[i], 0.0);
    sums.minus += std::max(-weights_[i], 0.0);
  }
  sums.count = static_cast<std::uint32_t>(with.size());
  return sums;
}

std::vector<RuleLearner::Body> RuleLearner::find_rules(std::size_t count, Space& space) const {
  Best rules(count), next(options_.width);
  for (std::size_t k = bucket_; k < order_.size(); k += buckets_) {
    const Sums sums = sums_of(samples_.samples_of(order_[k]));
    const double gain = gain_of(sums.plus, sums.minus), bound = bound_of(sums.plus, sums.minus);
    if (gain > 0.0) rules.offer(gain, bound, {}, order_[k]);
    if (options_.size > 1) next.offer(gain, bound, {}, order_[k]);
  }
  for (std::size_t size = 1; size < options_.size; ++size) {
    const std::vector<Candidate> parents = std::move(next).sorted();
    next = Best(options_.width);
    const double least = rules.least();  // what grows from less cannot come among the best
    for (const Candidate& parent : parents)
      if (parent.bound >= least) grow(parent, space, rules, size + 1 < options_.size ? &next : nullptr);
  }
  std::vector<Body> bodies;
  for (Candidate& rule : std::move(rules).sorted()) bodies.push_back(std::move(rule.body));
  return bodies;
}

// All sets with one atom more, of a higher number, by one look at the samples of the parent.
void RuleLearner::grow(const Candidate& parent, Space& space, Best& rules, Best* next) const {
  if (next == nullptr && parent.bound < rules.least()) return;
  const std::uint32_t last = parent.body.back();
  const std::span<const std::uint32_t> with = samples_.samples_with(parent.body, space.with);
  for (std::size_t n = 0; n < with.size(); ++n) {
    if (n + kAhead < with.size()) prefetch(&samples_.atoms_of(with[n + kAhead]).back());
    const std::span<const std::uint32_t> atoms = samples_.atoms_of(with[n]);
    const double weight = weights_[with[n]], plus = std::max(weight, 0.0), minus = std::max(-weight, 0.0);
    for (std::size_t k = atoms.size(); k-- > 0 && atoms[k] > last;) {
      Sums& sums = space.sums[atoms[k]];
      if (sums.count++ == 0) space.touched.push_back(atoms[k]);
      sums.plus += plus;
      sums.minus += minus;
    }
  }
  for (const std::uint32_t atom : space.touched) {
    const Sums sums = std::exchange(space.sums[atom], {});
    if (sums.count < samples_.least()) continue;
    if (next == nullptr && std::max(sums.plus, sums.minus) < rules.least_sum()) continue;
    const double gain = gain_of(sums.plus, sums.minus), bound = bound_of(sums.plus, sums.minus);
    if (gain > 0.0) rules.offer(gain, bound, parent.body, atom);
    if (next != nullptr) next->offer(gain, bound, parent.body, atom);
  }
  space.touched.clear();
}

void RuleLearner::add_rule(const Body& body, Space& space) {
  const std::span<const std::uint32_t> with = samples_.samples_with(body, space.with);
  const Sums sums = sums_of(with);
  const double more = options_.smoothing;
  const double confidence = 0.5 * std::log((sums.plus + more) / (sums.minus + more));
  const double right = std::exp(-confidence), wrong = std::exp(confidence);
  for (const std::uint32_t i : with) weights_[i] *= weights_[i] < 0.0 ? wrong : right;
  moved_ = moved_ || std::abs(confidence) > options_.tolerance;
  confidences_.push_back(confidence);
  gains_.push_back(sums.plus * (1.0 - right) + sums.minus * (1.0 - wrong));
  atoms_.insert(atoms_.end(), body.begin(), body.end());
  end_.push_back(atoms_.size());
}

double RuleLearner::loss() const {
  return std::accumulate(weights_.begin(), weights_.end(), 0.0,
                         [](double sum, double weight) { return sum + std::abs(weight); });
}

}  // namespace marginalia
