#include "search/segments/search.hpp"

#include <algorithm>
#include <cmath>

#include "base/vector.hpp"
#include "search/chain/lattice.hpp"

namespace marginalia {

void SegmentScores::begin(const SegmentShape& shape, std::size_t sentence, std::size_t from,
                          std::size_t tokens) {
  length = sentence;
  first = from;
  count = tokens;
  most = std::min<std::size_t>(shape.most, std::max<std::size_t>(length, 1));
  width = shape.types() + 1;
  values.assign(count * most * width, kIllegal);
}

void SegmentScores::allow(const SegmentShape& shape, std::size_t t, std::span<const std::uint8_t> labels) {
  const std::size_t last = std::min(t + 1, first + count);
  for (std::size_t b = std::max(first, t + 1 < most ? 0 : t + 1 - most); b < last; ++b)
    for (std::size_t tokens = t - b + 1; tokens <= longest(b); ++tokens)
      for (std::size_t s = 0; s < shape.types(); ++s) {
        const std::uint32_t label = (b == t ? shape.begin_label : shape.inside_label)[s];
        if (label == kNoLabel || labels[label] == 0) at(b, tokens)[s] = kIllegal;
      }
}

void SegmentViterbi::begin(const SegmentShape& shape, const SegmentConstants& constants, std::size_t length) {
  shape_ = &shape;
  constants_ = &constants;
  length_ = length;
  const std::size_t size = (length + 1) * shape.types();
  leaving_.assign(size, kIllegal);
  entering_.assign(size, kIllegal);
  tokens_.assign(size, 0);
  before_.assign(size, 0);
}

void SegmentViterbi::enter(std::size_t place) {
  const std::size_t n = shape_->types();
  double* in = &entering_[place * n];
  std::uint32_t* before = &before_[place * n];
  if (place == 0) {
    std::copy(constants_->start.begin(), constants_->start.end(), in);
    return;
  }
  const double* out = leaving(place);
  if (!shape_->transitions) {
    const auto best = static_cast<std::uint32_t>(std::max_element(out, out + n) - out);
    std::fill_n(in, n, out[best]);
    std::fill_n(before, n, best);
    return;
  }
  for (std::uint32_t from = 0; from < n; ++from) {
    const double* row = &constants_->transition[from * n];
    for (std::size_t to = 0; to < n; ++to) {
      const double score = out[from] + row[to];
      before[to] = score > in[to] ? from : before[to];
      in[to] = score > in[to] ? score : in[to];
    }
  }
}

void SegmentViterbi::go_on(const SegmentScores& scores) {
  const std::size_t n = shape_->types();
  for (std::size_t b = scores.first; b < scores.first + scores.count; ++b) {
    enter(b);
    const double* in = entering(b);
    for (std::uint32_t tokens = 1; tokens <= scores.longest(b); ++tokens) {
      const double* score = scores.at(b, tokens);
      double* best = &leaving_[(b + tokens) * n];
      std::uint32_t* length = &tokens_[(b + tokens) * n];
      for (std::size_t s = 0; s < n; ++s) {  // later ones are shorter, and win ties
        const double total = in[s] + score[s];
        length[s] = total >= best[s] ? tokens : length[s];
        best[s] = total >= best[s] ? total : best[s];
      }
    }
  }
}

double SegmentViterbi::finish(Labels& best) {
  const std::size_t n = shape_->types();
  best.resize(length_);
  if (length_ == 0) return 0.0;
  std::uint32_t type = 0;
  double most = kIllegal;
  for (std::uint32_t s = 0; s < n; ++s) {
    const double score = leaving(length_)[s] + constants_->end[s];
    if (score > most) {
      most = score;
      type = s;
    }
  }
  entering_[length_ * n] = most;
  for (std::size_t place = length_; place > 0;) {
    const std::size_t tokens = tokens_[place * n + type];
    place -= tokens;
    shape_->write({place, place + tokens - 1, type}, best);
    type = before_[place * n + type];
  }
  return most;
}

SegmentKBest::SegmentKBest(const SegmentShape& shape, const SegmentConstants& constants,
                           const SegmentScores& scores, std::size_t k)
    : shape_(shape), constants_(constants), scores_(scores), k_(k) {
  forward_.begin(shape, constants, scores.length);
  forward_.go_on(scores);
  Labels best;
  push(forward_.finish(best), {scores.length, 0, kEnd, kEnd, 0.0});
}

void SegmentKBest::push(double bound, const Node& node) {
  nodes_.push_back(node);
  queue_.push({bound, pushed_++, static_cast<std::uint32_t>(nodes_.size() - 1)});
}

// Puts one more segment before those of a node.
void SegmentKBest::expand(std::uint32_t number, double most) {
  const Node node = nodes_[number];
  const std::size_t n = shape_.types();
  found_.clear();
  for (std::uint32_t s = 0; s < n; ++s) {
    double after = node.score;
    if (node.type == kEnd)
      after += constants_.end[s];
    else if (shape_.transitions)
      after += constants_.transition[s * n + node.type];
    for (std::size_t tokens = 1; tokens <= std::min(scores_.most, node.begin); ++tokens) {
      const std::size_t begin = node.begin - tokens;
      const double score = after + scores_.at(begin, tokens)[s];
      const double bound = forward_.entering(begin)[s] + score;
      if (bound != kIllegal) found_.push_back({bound, {begin, tokens, s, number, score}});
    }
  }
  // Each of them is the end of at least one output, so no more than the k best can matter. The best one goes
  // last: of equal bounds the newest is taken first, so that ties never keep the search from coming to an
  // end.
  const auto better = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::stable_sort(found_.begin(), found_.end(), better);
  if (found_.size() > k_) found_.resize(k_);
  // The best of them is as good as the node, none is better: rounding must not lead the search astray.
  for (auto& one : found_) one.first = std::min(one.first, most);
  if (!found_.empty()) found_.front().first = most;
  for (std::size_t i = found_.size(); i-- > 0;) push(found_[i].first, found_[i].second);
}

std::optional<double> SegmentKBest::next(Labels& output) {
  while (!queue_.empty() && k_ != 0) {
    const Candidate top = queue_.top();
    queue_.pop();
    if (nodes_[top.node].begin != 0) {
      expand(top.node, top.bound);
      continue;
    }
    output = output_of(top.node);
    if (k_ != SIZE_MAX) --k_;
    return top.bound;
  }
  return std::nullopt;
}

Labels SegmentKBest::output_of(std::uint32_t node) const {
  Labels output(scores_.length);
  for (; nodes_[node].type != kEnd; node = nodes_[node].parent) {
    const Node& one = nodes_[node];
    shape_.write({one.begin, one.begin + one.tokens - 1, one.type}, output);
  }
  return output;
}

namespace {

// log of the sum of the exponentials of n numbers, which are lost.
double log_sum(double* values, std::size_t n) {
  const double most = *std::max_element(values, values + n);
  if (most == kIllegal) return kIllegal;
  exp_all(values, n, most);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += values[i];
  return most + std::log(sum);
}

// out[s] = log of the sum over the rows of the exponentials of terms[row][s], which are lost. Each column has
// a scale of its own: what is hopeless here may be the only way in the end.
void log_sums(double* terms, std::size_t rows, std::size_t n, double* out) {
  std::fill_n(out, n, kIllegal);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t s = 0; s < n; ++s) out[s] = std::max(out[s], terms[row * n + s]);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t s = 0; s < n; ++s) terms[row * n + s] -= out[s] == kIllegal ? 0.0 : out[s];
  exp_all(terms, rows * n, 0.0);
  for (std::size_t row = 1; row < rows; ++row)
    for (std::size_t s = 0; s < n; ++s) terms[s] += terms[row * n + s];
  for (std::size_t s = 0; s < n; ++s)
    if (out[s] != kIllegal) out[s] += std::log(terms[s]);
}

class Probabilities {
 public:
  Probabilities(const SegmentShape& shape, const SegmentConstants& constants, SegmentScores& scores)
      : shape_(shape),
        constants_(constants),
        scores_(scores),
        n_(shape.types()),
        length_(scores.length),
        leaving_((length_ + 1) * n_),
        entering_((length_ + 1) * n_),
        after_((length_ + 1) * n_),
        terms_(std::max({scores.most, n_, std::size_t{2}}) * n_) {}

  SegmentExpectations run() {
    SegmentExpectations out{std::vector<double>(n_), std::vector<double>(n_), std::vector<double>(n_ * n_),
                            std::vector<double>(length_ * n_), 0.0};
    if (length_ == 0) return out;
    for (std::size_t p = 0; p < length_; ++p) {
      if (p > 0) leave(p);
      enter(p);
    }
    leave(length_);
    for (std::size_t s = 0; s < n_; ++s) terms_[s] = leaving_[length_ * n_ + s] + constants_.end[s];
    out.log_z = log_sum(terms_.data(), n_);
    std::copy(constants_.end.begin(), constants_.end.end(), &after_[length_ * n_]);
    std::vector<double> starting(n_);
    for (std::size_t p = length_; p-- > 0;) {
      segments_at(p, out, starting);
      if (p > 0) pass(p, out, starting);
    }
    return out;
  }

 private:
  // All ways to a place, by the type that ends there.
  void leave(std::size_t place) {
    const std::size_t rows = std::min(scores_.most, place);
    for (std::size_t tokens = 1; tokens <= rows; ++tokens) {
      const double* in = &entering_[(place - tokens) * n_];
      const double* score = scores_.at(place - tokens, tokens);
      double* term = &terms_[(tokens - 1) * n_];
      for (std::size_t s = 0; s < n_; ++s) term[s] = in[s] + score[s];
    }
    log_sums(terms_.data(), rows, n_, &leaving_[place * n_]);
  }

  // ... and by the type that begins there.
  void enter(std::size_t place) {
    double* in = &entering_[place * n_];
    const double* out = &leaving_[place * n_];
    if (place == 0) {
      std::copy(constants_.start.begin(), constants_.start.end(), in);
    } else if (!shape_.transitions) {
      std::copy_n(out, n_, terms_.data());
      std::fill_n(in, n_, log_sum(terms_.data(), n_));
    } else {
      for (std::size_t from = 0; from < n_; ++from)
        for (std::size_t to = 0; to < n_; ++to)
          terms_[from * n_ + to] = out[from] + constants_.transition[from * n_ + to];
      log_sums(terms_.data(), n_, n_, in);
    }
  }

  // The probabilities of the segments that begin at a place; starting[s]: all that may follow it, by type.
  void segments_at(std::size_t place, SegmentExpectations& out, std::vector<double>& starting) {
    const std::size_t rows = scores_.longest(place);
    const double* in = &entering_[place * n_];
    for (std::size_t tokens = 1; tokens <= rows; ++tokens) {
      double* score = scores_.at(place, tokens);
      const double* after = &after_[(place + tokens) * n_];
      double* term = &terms_[(tokens - 1) * n_];
      for (std::size_t s = 0; s < n_; ++s) term[s] = score[s] + after[s];
      for (std::size_t s = 0; s < n_; ++s) score[s] = term[s] + in[s];
      exp_all(score, n_, out.log_z);
      for (std::size_t s = 0; s < n_; ++s) {
        if (place == 0) out.start[s] += score[s];
        if (place + tokens == length_) out.end[s] += score[s];
      }
    }
    log_sums(terms_.data(), rows, n_, starting.data());
  }

  // All that may follow a place, by the type before it; and the expected pairs of types there.
  void pass(std::size_t place, SegmentExpectations& out, const std::vector<double>& starting) {
    double* after = &after_[place * n_];
    const double* before = &leaving_[place * n_];
    double* twins = &out.twins[place * n_];
    if (!shape_.transitions) {
      for (std::size_t s = 0; s < n_; ++s) twins[s] = std::exp(before[s] + starting[s] - out.log_z);
      std::copy(starting.begin(), starting.end(), terms_.begin());
      std::fill_n(after, n_, log_sum(terms_.data(), n_));
      return;
    }
    for (std::size_t from = 0; from < n_; ++from) {
      double* term = terms_.data();
      for (std::size_t to = 0; to < n_; ++to) term[to] = constants_.transition[from * n_ + to] + starting[to];
      for (std::size_t to = 0; to < n_; ++to) term[n_ + to] = term[to] + before[from];
      exp_all(term + n_, n_, out.log_z);
      for (std::size_t to = 0; to < n_; ++to) out.transition[from * n_ + to] += term[n_ + to];
      twins[from] = term[n_ + from];
      after[from] = log_sum(term, n_);
    }
  }

  const SegmentShape& shape_;
  const SegmentConstants& constants_;
  SegmentScores& scores_;
  std::size_t n_, length_;
  std::vector<double> leaving_, entering_, after_;  // [T + 1][S]
  std::vector<double> terms_;
};

}  // namespace

SegmentExpectations segment_probabilities(const SegmentShape& shape, const SegmentConstants& constants,
                                          SegmentScores& scores) {
  return Probabilities(shape, constants, scores).run();
}

double score_of(const SegmentShape& shape, const SegmentConstants& constants, const SegmentScores& scores,
                const Labels& y) {
  const std::vector<Segment> segments = shape.segments(y);
  if (segments.empty() && !y.empty()) return kIllegal;
  double score = 0.0;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const auto& [begin, last, type] = segments[k];
    score += scores.at(begin, last - begin + 1)[type];
    if (k == 0) score += constants.start[type];
    if (k + 1 == segments.size()) score += constants.end[type];
    if (k > 0 && shape.transitions)
      score += constants.transition[segments[k - 1].type * shape.types() + type];
  }
  return score;
}

}  // namespace marginalia
