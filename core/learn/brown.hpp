// Brown clustering (Brown et al. 1992, with the window of Liang 2005): words come into a window of k + 1
// clusters one by one, the most frequent first, and each time the two clusters are merged whose merge loses
// the least average mutual information of neighbours. V words, k clusters: O(V k^2) time, O(k^2) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/team.hpp"

namespace marginalia {

struct WordPair {
  std::uint32_t left = 0, right = 0;
  std::uint64_t count = 0;
};

// With c(a,b) for how often a cluster b follows a, n(a) for how often the words of a stand in the text, and
// f(x) = x log x, what is to be kept as large as possible is, up to constants,
//   Q = sum f(c(a,b)) - sum D(a) log n(a),   D(a) = sum_b c(a,b) + c(b,a).
// A merge of u and v changes it by
//   sum_x g(c(u,x), c(v,x)) + g(c(x,u), c(x,v)) + K(u,v) - H(u,v),   g(x,y) = f(x+y) - f(x) - f(y),
// where g is 0 unless both are seen: rare words, most of all, change few of these sums. They are kept for all
// pairs as whole numbers (f and H are rounded to 2^-20), so that nothing is lost by adding and taking away,
// ties are ties, and neither the order of sums nor the number of threads can be seen in the result.
class BrownClustering {
 public:
  // Counts of words, falling, and of each pair of neighbours, once. Throws std::invalid_argument unless.
  BrownClustering(std::vector<std::uint64_t> counts, std::span<const WordPair> pairs, std::size_t clusters,
                  std::size_t threads);

  // Takes so many more words in, or merges so many of the last clusters; false when one is left.
  bool advance(std::size_t steps);
  // No more words are taken in: those that are left get no cluster.
  void take_no_more() { words_ = next_; }

  std::size_t taken() const { return next_; }
  // Which clusters were merged, in that order. A cluster is known by its first word; the lower goes on. The
  // last k - 1 merges are those of the k clusters.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& merges() const { return merges_; }

 private:
  struct Neighbour {
    std::uint32_t word;
    std::uint64_t count;
  };
  struct Slot {
    std::uint32_t word = 0;    // the first of the cluster
    std::uint64_t count = 0;   // n
    double log_count = 0;      // log n
    std::uint64_t degree = 0;  // D
  };
  struct Choice {
    std::int64_t gain = std::numeric_limits<std::int64_t>::min();
    std::size_t high = 0, low = 0;
    std::uint64_t words = ~std::uint64_t{0};  // the lower word, then the higher: ties go to the lowest
  };

  std::int64_t f(std::uint64_t n) const;
  std::int64_t g(std::uint64_t a, std::uint64_t b) const;
  void take();
  void merge_best();
  void merge(std::size_t s, std::size_t t);
  void merge_contexts(std::size_t s, std::size_t t);
  void merge_objects(std::size_t s, std::size_t t);
  void move(std::size_t from, std::size_t to);
  void add_self(std::size_t u, std::int64_t sign);
  std::int64_t self(std::size_t u, std::size_t v) const;
  void set_logs(std::size_t u);
  std::size_t parts() const;
  Choice best_of(std::size_t part, std::size_t parts) const;
  std::uint32_t root(std::uint32_t word);
  template <class Each>
  void for_rows(const Each& each);

  std::uint64_t& seen(std::size_t u, std::size_t x) { return seen_[u * 2 * capacity_ + x]; }
  std::uint64_t seen(std::size_t u, std::size_t x) const { return seen_[u * 2 * capacity_ + x]; }
  std::int64_t& sum(std::size_t u, std::size_t v) {
    return u > v ? sums_[u * capacity_ + v] : sums_[v * capacity_ + u];
  }
  double& log_of(std::size_t u, std::size_t v) {
    return u > v ? logs_[u * capacity_ + v] : logs_[v * capacity_ + u];
  }

  std::vector<std::uint64_t> counts_;
  std::vector<std::size_t> left_begin_, right_begin_;  // by word: where its neighbours begin
  std::vector<Neighbour> left_, right_;
  std::size_t clusters_, capacity_, words_, next_ = 0;

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> parent_, slot_of_;  // by word; the second of roots
  std::vector<std::uint64_t> seen_;  // [slot][context]: clusters that follow it, then those that go before
  std::vector<std::int64_t> sums_;   // [higher slot][lower slot]: sum of g over contexts, and K
  std::vector<double> logs_;         // [higher slot][lower slot]: log of the counts of both
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges_;
  std::vector<std::int64_t> small_;  // f of small numbers
  Team team_;
};

}  // namespace marginalia
