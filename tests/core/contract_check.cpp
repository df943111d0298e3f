// A structure that has nothing but what every structure has, with outputs of one number, and NonLocal over
// it, against their pseudo-codes. Prints what is wrong; test_core_contract.py compiles and runs it.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "learn/margins.hpp"
#include "learn/update_rules.hpp"
#include "search/non_local.hpp"
#include "search/tiers.hpp"

using namespace marginalia;
using Place = std::pair<std::uint32_t, std::uint32_t>;
using Vector = std::map<Place, double>;

namespace {

constexpr std::uint32_t kTokens = 4, kValues = 5, kRows = 40;

// What is to be labelled: the values of tokens; an output is a bit for each of them.
struct Data {
  std::vector<std::vector<std::uint32_t>> values;
  std::vector<std::uint32_t> gold;
};

template <class Sink>
void local_features(const Data& data, std::size_t i, std::uint32_t y, Sink&& sink) {
  for (std::uint32_t t = 0; t < kTokens; ++t) sink(Coordinate{1 + data.values[i][t], y >> t & 1, 2}, 1.0);
}

// The number of bits that are set, and whether the first is as the last.
struct Global {
  template <class Sink>
  void operator()(std::size_t, std::uint32_t y, Sink&& sink) const {
    sink(Coordinate{20 + static_cast<std::uint32_t>(__builtin_popcount(y)), 0, 1}, 1.0);
    sink(Coordinate{30, (y & 1) == (y >> (kTokens - 1)) ? 1u : 0u, 2}, 2.0);
  }
};

class Bits {
 public:
  using Output = std::uint32_t;
  static constexpr const char* kName = "bits";
  Bits(const Data& data, const SparseRows& weights) : data_(data), weights_(weights) {}

  std::size_t size() const { return data_.values.size(); }
  std::size_t parts(std::size_t) const { return kTokens; }
  Output gold(std::size_t i) const { return data_.gold[i]; }
  std::size_t errors(std::size_t i, Output y) const {
    return static_cast<std::size_t>(__builtin_popcount(y ^ data_.gold[i]));
  }
  const Scored<Output>& best(std::size_t i) { return best_ = k_best(i, 1)[0]; }
  std::vector<Scored<Output>> k_best(std::size_t i, std::size_t k) {
    std::vector<Scored<Output>> all;
    for (Output y = 0; y < 1u << kTokens; ++y) {
      double score = 0.0;
      features_of(i, y, [&](const Coordinate& at, double count) {
        if (const std::size_t cell = weights_.place_of(at); cell != SIZE_MAX)
          score += count * static_cast<double>(weights_.cells[cell].weight);
      });
      all.push_back({y, score});
    }
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.score > b.score; });
    if (all.size() > k) all.resize(k);
    return all;
  }
  template <class Sink>
  void features_of(std::size_t i, Output y, Sink&& sink) const {
    local_features(data_, i, y, sink);
  }

 private:
  const Data& data_;
  const SparseRows& weights_;
  Scored<Output> best_;
};

using Reranked = NonLocal<Bits, Global>;
static_assert(Structure<Bits> && Structure<Reranked>);
static_assert(!CostSensitive<Bits> && !Probabilistic<Bits> && !PartiallyLabelled<Reranked>);
static_assert(!WithConstants<Reranked> && !Droppable<Reranked> && !LazilyPenalised<Reranked>);
template <class Rule, class S>
concept Fits = std::invocable<const Rule&, Visit<S>&>;
static_assert(Fits<PerceptronRule, Bits> && Fits<MarginRule, Reranked> && Fits<CorrectionRule, Bits>);
static_assert(!Fits<PassiveAggressiveRule, Bits> && !Fits<ArowRule, Reranked> && !Fits<GradientRule, Bits>);

void expect(bool right, const std::string& what) {
  if (right) return;
  std::printf("wrong: %s\n", what.c_str());
  std::exit(1);
}

Vector features(const Data& data, std::size_t i, std::uint32_t y, bool all) {
  Vector found;
  const auto add = [&](const Coordinate& at, double count) { found[{at.row, at.output}] += count; };
  local_features(data, i, y, add);
  if (all) Global{}(i, y, add);
  return found;
}

double product(const Vector& w, const Vector& phi) {
  double sum = 0.0;
  for (const auto& [at, count] : phi)
    if (const auto found = w.find(at); found != w.end()) sum += found->second * count;
  return sum;
}

// Kazama and Torisawa's algorithm 4.1 at one example; `second`: with margin c, else the plain perceptron.
// n = 0: without global features, over all outputs.
void learn_naively(Vector& w, const Data& data, std::size_t i, std::size_t n, bool second, double c) {
  std::vector<std::uint32_t> ys(1u << kTokens);
  for (std::uint32_t y = 0; y < ys.size(); ++y) ys[y] = y;
  const auto by = [&](bool all) {
    std::stable_sort(ys.begin(), ys.end(), [&](std::uint32_t a, std::uint32_t b) {
      return product(w, features(data, i, a, all)) > product(w, features(data, i, b, all));
    });
  };
  by(false);
  if (n != 0) {
    ys.resize(n);
    by(true);
  }
  const std::uint32_t gold = data.gold[i];
  const bool wrong = ys[0] != gold;
  if (!wrong && !second) return;
  Vector change = features(data, i, gold, n != 0);
  for (const auto& [at, count] : features(data, i, ys[wrong ? 0 : 1], n != 0)) change[at] -= count;
  if (product(w, change) > (second ? c : 0.0)) return;
  for (const auto& [at, count] : change) w[at] += count;
}

Data random_data(std::uint32_t seed) {
  Data data;
  std::srand(seed);
  for (int i = 0; i < 6; ++i) {
    data.values.emplace_back();
    for (std::uint32_t t = 0; t < kTokens; ++t)
      data.values.back().push_back(static_cast<std::uint32_t>(std::rand()) % kValues);
    data.gold.push_back(static_cast<std::uint32_t>(std::rand()) % (1u << kTokens));
  }
  return data;
}

template <class S, class Rule>
void compare(const Data& data, WeightTable& table, S& structure, const Rule& rule, std::size_t n, bool second,
             double c, const std::string& what) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t k = 0; k < 5 * data.gold.size(); ++k)
    order.push_back(k % static_cast<std::uint32_t>(data.gold.size()));
  PassCounts counts;
  std::uint64_t step = 0;
  online_pass(structure, table, rule, order, {}, Dropout{}, step, counts);
  Vector w;
  for (const std::uint32_t i : order) learn_naively(w, data, i, n, second, c);
  expect(counts.updates > 0 && counts.parts == order.size() * kTokens, what + ": counts");
  for (std::uint32_t row = 1; row < kRows; ++row)
    for (std::uint32_t output = 0; output < 2; ++output) {
      const std::uint32_t width = row >= 20 && row < 30 ? 1 : 2;
      if (output < width)
        expect(table.weight({row, output, width}) == w[{row, output}],
               what + ": weight " + std::to_string(row) + " " + std::to_string(output));
    }
}

void learners() {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Data data = random_data(seed);
    const std::size_t n = 1 + seed % 5;
    for (const double c : {0.0, 3.0}) {
      for (const bool second : {false, true}) {
        WeightTable plain(kRows, 0, {}, false, false, false), full(kRows, 0, {}, false, false, false);
        Bits bits(data, plain.current()), local(data, full.current());
        Reranked reranked(local, full.current(), Global{}, n + second);
        const std::string what = "seed " + std::to_string(seed) + (second ? " margin" : " perceptron");
        if (second) {
          compare(data, plain, bits, MarginRule{c}, 0, true, c, what);
          compare(data, full, reranked, MarginRule{c}, n + 1, true, c, what + " non-local");
        } else {
          compare(data, plain, bits, PerceptronRule{}, 0, false, 0.0, what);
          compare(data, full, reranked, PerceptronRule{}, n, false, 0.0, what + " non-local");
        }
        const Scored<std::uint32_t> best = reranked.best(0), first = reranked.k_best(0, 100).front();
        expect(best.output == first.output && best.score == first.score, what + ": best");
        expect(reranked.k_best(0, 100).size() == n + second, what + ": k best");
        const std::vector<Margin> margins = margins_of(bits, plain.current(), 0, data.gold.size());
        for (std::size_t i = 0; i < margins.size(); ++i)
          expect((margins[i].margin > 0.0) == (bits.errors(i, bits.best(i).output) == 0) ||
                     margins[i].margin == 0.0,
                 what + ": margins");
      }
    }
  }
}

void refusals() {
  expect(tiers_of<Bits>().has(Tier::costs) == false, "tiers");
  try {
    check_fit<Bits>(ArowRule::kName, ArowRule{}.needs());
    expect(false, "AROW is not refused");
  } catch (const std::invalid_argument& error) {
    expect(std::string(error.what()) ==
               "arow needs costs of wrong outputs, which the structure bits does not have",
           error.what());
  }
  const Data data = random_data(1);
  WeightTable table(kRows, 0, {Penalty::Kind::l2, 0.1}, false, false, false);
  Bits bits(data, table.current());
  PassCounts counts;
  std::uint64_t step = 0;
  const std::vector<std::uint32_t> order = {0};
  try {
    online_pass(bits, table, PerceptronRule{}, order, {}, Dropout{}, step, counts);
    expect(false, "a penalty is not refused");
  } catch (const std::invalid_argument& error) {
    expect(std::string(error.what()).find("a penalty needs") == 0, error.what());
  }
}

}  // namespace

int main() {
  learners();
  refusals();
  std::printf("right\n");
}
