#include "learn/brown.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace marginalia {

namespace {

constexpr double kUnit = 1 << 20;      // of whole numbers that stand for x log x
constexpr std::size_t kFewRows = 192;  // for which other threads are not worth waiting for
constexpr std::uint64_t kTabled = 1 << 16;

std::int64_t x_log_x(std::uint64_t n) {
  const double x = static_cast<double>(n);
  return n < 2 ? 0 : std::llround(x * std::log(x) * kUnit);
}

}  // namespace

BrownClustering::BrownClustering(std::vector<std::uint64_t> counts, std::span<const WordPair> pairs,
                                 std::size_t clusters, std::size_t threads)
    : counts_(std::move(counts)),
      left_begin_(counts_.size() + 1),
      right_begin_(counts_.size() + 1),
      left_(pairs.size()),
      right_(pairs.size()),
      clusters_(std::min(std::max<std::size_t>(clusters, 1), std::max<std::size_t>(counts_.size(), 1))),
      capacity_(clusters_ + 1),
      words_(counts_.size()),
      parent_(counts_.size()),
      slot_of_(counts_.size()),
      seen_(capacity_ * capacity_ * 2),
      sums_(capacity_ * capacity_),
      logs_(capacity_ * capacity_),
      small_(kTabled),
      team_(threads) {
  if (clusters == 0) throw std::invalid_argument("clusters: expected at least one");
  if (!std::is_sorted(counts_.rbegin(), counts_.rend()) || (!counts_.empty() && counts_.back() == 0))
    throw std::invalid_argument("counts of words must fall, and be above 0");
  for (std::uint64_t n = 0; n < kTabled; ++n) small_[n] = x_log_x(n);
  for (const WordPair& pair : pairs) {
    if (pair.left >= words_ || pair.right >= words_) throw std::invalid_argument("a pair of unknown words");
    ++right_begin_[pair.left + 1];
    ++left_begin_[pair.right + 1];
  }
  for (std::size_t w = 0; w < words_; ++w) {
    right_begin_[w + 1] += right_begin_[w];
    left_begin_[w + 1] += left_begin_[w];
    parent_[w] = static_cast<std::uint32_t>(w);
  }
  std::vector<std::size_t> right_at(right_begin_), left_at(left_begin_);
  for (const WordPair& pair : pairs) {
    right_[right_at[pair.left]++] = {pair.right, pair.count};
    left_[left_at[pair.right]++] = {pair.left, pair.count};
  }
}

std::int64_t BrownClustering::f(std::uint64_t n) const {
  return n < kTabled ? small_[n] : x_log_x(n);
}

std::int64_t BrownClustering::g(std::uint64_t a, std::uint64_t b) const {
  return a == 0 || b == 0 ? 0 : f(a + b) - f(a) - f(b);
}

bool BrownClustering::advance(std::size_t steps) {
  for (; steps > 0; --steps) {
    if (next_ < words_) {
      take();
      if (slots_.size() > clusters_) merge_best();
    } else if (slots_.size() > 1) {
      merge_best();
    } else {
      return false;
    }
  }
  return next_ < words_ || slots_.size() > 1;
}

// Into how many parts rows are cut: several for each thread, as others may be slow.
std::size_t BrownClustering::parts() const {
  return slots_.size() < kFewRows || team_.size() == 1 ? 1 : 4 * team_.size();
}

// Each(u) for each slot, shared out among threads: rows are triangles, so that neighbours go round.
template <class Each>
void BrownClustering::for_rows(const Each& each) {
  const std::size_t parts = this->parts();
  team_.run(parts, [&](std::size_t part) {
    for (std::size_t u = part; u < slots_.size(); u += parts) each(u);
  });
}

std::uint32_t BrownClustering::root(std::uint32_t word) {
  while (parent_[word] != word) {
    parent_[word] = parent_[parent_[word]];
    word = parent_[word];
  }
  return word;
}

// The next word becomes a cluster of its own.
void BrownClustering::take() {
  const auto word = static_cast<std::uint32_t>(next_++);
  const std::size_t n = slots_.size();
  slots_.push_back({word, counts_[word], std::log(static_cast<double>(counts_[word])), 0});
  slot_of_[word] = static_cast<std::uint32_t>(n);
  for (std::size_t u = 0; u <= n; ++u)
    seen(n, u) = seen(n, capacity_ + u) = seen(u, n) = seen(u, capacity_ + n) = 0;
  const auto see = [this](std::size_t left, std::size_t right, std::uint64_t count) {
    seen(left, right) += count;
    seen(right, capacity_ + left) += count;
    slots_[left].degree += count;
    slots_[right].degree += count;
  };
  for (std::size_t i = right_begin_[word]; i < right_begin_[word + 1]; ++i)
    if (right_[i].word < next_) see(n, slot_of_[root(right_[i].word)], right_[i].count);
  for (std::size_t i = left_begin_[word]; i < left_begin_[word + 1]; ++i)
    if (left_[i].word < word) see(slot_of_[root(left_[i].word)], n, left_[i].count);
  std::vector<std::size_t> contexts, followed;  // of the new one; by which others have it as a context
  for (std::size_t x = 0; x < 2 * capacity_; ++x)
    if (seen(n, x) != 0) contexts.push_back(x);
  for (const std::size_t x : {n, capacity_ + n}) {
    followed.clear();
    for (std::size_t u = 0; u < n; ++u)
      if (seen(u, x) != 0) followed.push_back(u);
    for (std::size_t i = 0; i < followed.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        sum(followed[i], followed[j]) += g(seen(followed[i], x), seen(followed[j], x));
  }
  for_rows([&](std::size_t u) {
    if (u == n) return;
    std::int64_t total = 0;
    for (const std::size_t x : contexts) total += g(seen(n, x), seen(u, x));
    sum(n, u) = total;
  });
  add_self(n, 1);
  set_logs(n);
}

// K of a pair: contexts that are one of the two are counted as if they were others, and are not.
std::int64_t BrownClustering::self(std::size_t u, std::size_t v) const {
  const std::uint64_t uu = seen(u, u), uv = seen(u, v), vu = seen(v, u), vv = seen(v, v);
  if ((uu | uv | vu | vv) == 0) return 0;
  return f(uu + uv + vu + vv) + f(uu) + f(uv) + f(vu) + f(vv) - f(uu + vu) - f(uv + vv) - f(uu + uv) -
         f(vu + vv);
}

void BrownClustering::add_self(std::size_t u, std::int64_t sign) {
  for (std::size_t v = 0; v < slots_.size(); ++v)
    if (v != u) sum(u, v) += sign * self(u, v);
}

void BrownClustering::set_logs(std::size_t u) {
  for (std::size_t v = 0; v < slots_.size(); ++v)
    if (v != u) log_of(u, v) = std::log(static_cast<double>(slots_[u].count + slots_[v].count));
}

BrownClustering::Choice BrownClustering::best_of(std::size_t part, std::size_t parts) const {
  Choice best;
  for (std::size_t u = part; u < slots_.size(); u += parts) {
    const std::int64_t* sums = &sums_[u * capacity_];
    const double* logs = &logs_[u * capacity_];
    const double degree = static_cast<double>(slots_[u].degree), own = degree * slots_[u].log_count;
    for (std::size_t v = 0; v < u; ++v) {
      const double other = static_cast<double>(slots_[v].degree);
      const double lost = (degree + other) * logs[v] - (own + other * slots_[v].log_count);
      const std::int64_t gain = sums[v] - std::llrint(lost * kUnit);
      if (gain < best.gain) continue;
      const auto [low, high] = std::minmax(slots_[u].word, slots_[v].word);
      const std::uint64_t words = std::uint64_t{low} << 32 | high;
      if (gain > best.gain || words < best.words) best = {gain, u, v, words};
    }
  }
  return best;
}

void BrownClustering::merge_best() {
  std::vector<Choice> found(parts());
  team_.run(found.size(), [&](std::size_t part) { found[part] = best_of(part, found.size()); });
  Choice best = found[0];
  for (const Choice& other : found)
    if (other.gain > best.gain || (other.gain == best.gain && other.words < best.words)) best = other;
  merge(best.high, best.low);
}

void BrownClustering::merge(std::size_t u, std::size_t v) {
  const auto [s, t] = slots_[u].word < slots_[v].word ? std::pair(u, v) : std::pair(v, u);
  add_self(s, -1);
  add_self(t, -1);  // what the two have in common is taken away twice, and needed no more
  merge_contexts(s, t);
  merge_contexts(capacity_ + s, capacity_ + t);
  merge_objects(s, t);
  parent_[slots_[t].word] = slots_[s].word;
  merges_.emplace_back(slots_[s].word, slots_[t].word);
  slots_[s].count += slots_[t].count;
  slots_[s].log_count = std::log(static_cast<double>(slots_[s].count));
  slots_[s].degree += slots_[t].degree;
  const std::size_t last = slots_.size() - 1;
  if (t != last) move(last, t);
  slots_.pop_back();
  const std::size_t merged = s == last ? t : s;
  add_self(merged, 1);
  set_logs(merged);
}

// Two contexts become one, of all pairs: g(A + A', B + B') - g(A, B) - g(A', B'), which is 0 if neither of
// the two clusters has the one context, or neither has the other.
void BrownClustering::merge_contexts(std::size_t s, std::size_t t) {
  std::vector<std::size_t> with_s, with_t;
  for (std::size_t u = 0; u < slots_.size(); ++u) {
    if (seen(u, s) != 0) with_s.push_back(u);
    if (seen(u, t) != 0) with_t.push_back(u);
  }
  const std::vector<std::size_t>& few = with_t.size() < with_s.size() ? with_t : with_s;
  std::vector<std::uint8_t> among(slots_.size());
  for (const std::size_t u : few) among[u] = 1;
  const auto change = [&](std::size_t u, std::size_t v) {
    const std::uint64_t a = seen(u, s), b = seen(v, s), c = seen(u, t), d = seen(v, t);
    if ((a | b) == 0 || (c | d) == 0) return std::int64_t{0};
    return g(a + c, b + d) - g(a, b) - g(c, d);
  };
  for_rows([&](std::size_t u) {  // of each pair the row of the higher: no two threads write to one place
    if (among[u])
      for (std::size_t v = 0; v < u; ++v) sum(u, v) += change(u, v);
    else
      for (const std::size_t v : few)
        if (v < u) sum(u, v) += change(u, v);
  });
  for (const std::size_t u : with_t) {
    seen(u, s) += seen(u, t);
    seen(u, t) = 0;
  }
}

// Two clusters become one: sums over contexts add up, but for those contexts that both have.
void BrownClustering::merge_objects(std::size_t s, std::size_t t) {
  std::vector<std::size_t> shared;
  for (std::size_t x = 0; x < 2 * capacity_; ++x)
    if (seen(s, x) != 0 && seen(t, x) != 0) shared.push_back(x);
  for_rows([&](std::size_t u) {
    if (u == s || u == t) return;
    std::int64_t total = sum(t, u);
    for (const std::size_t x : shared) {
      const std::uint64_t a = seen(s, x), b = seen(t, x), c = seen(u, x);
      if (c != 0) total += g(a + b, c) - g(a, c) - g(b, c);
    }
    sum(s, u) += total;
  });
  for (std::size_t x = 0; x < 2 * capacity_; ++x) {
    seen(s, x) += seen(t, x);
    seen(t, x) = 0;
  }
}

// The last slot takes the place of one that is free.
void BrownClustering::move(std::size_t from, std::size_t to) {
  slots_[to] = slots_[from];
  slot_of_[slots_[to].word] = static_cast<std::uint32_t>(to);
  for (std::size_t u = 0; u < slots_.size(); ++u) {
    if (u == from || u == to) continue;
    sum(to, u) = sum(from, u);
    log_of(to, u) = log_of(from, u);
  }
  std::copy_n(&seen_[from * 2 * capacity_], 2 * capacity_, &seen_[to * 2 * capacity_]);
  for (std::size_t u = 0; u < slots_.size(); ++u)
    for (const std::size_t half : {std::size_t{0}, capacity_}) {
      seen(u, half + to) = seen(u, half + from);
      seen(u, half + from) = 0;
    }
}

}  // namespace marginalia
