#include <algorithm>
#include <stdexcept>

#include "arrays.hpp"
#include "base/random.hpp"
#include "bind.hpp"
#include "learn/perceptron.hpp"
#include "search/chain.hpp"

using namespace marginalia;

namespace {

// Refuses weights that examples or shape would reach out of.
void check_fits(const ChainShape& shape, const Examples& examples, const SparseRows& weights) {
  std::uint32_t most = 0;
  for (const std::uint32_t row : examples.node_rows) most = std::max(most, row);
  for (const std::uint32_t row : examples.edge_rows) most = std::max(most, row);
  if (most >= weights.rows.size() || weights.rows[kConstantRow].size != shape.constants())
    throw std::invalid_argument("the weights do not fit the examples and the shape");
}

// A chain over one batch of examples, learning.
class ChainLearner {
 public:
  ChainLearner(const ChainShape& shape, const Examples& examples, WeightTable& weights)
      : shape_(shape), examples_(examples), weights_(weights), tokens_(examples.tokens()) {
    check_fits(shape, examples, weights.current());
    check_gold();
  }

  // Perceptron steps on some examples; returns the new step count and what was counted.
  nb::tuple perceptron(const Input<std::uint32_t>& order, std::uint64_t step) {
    if (!order.size()) return nb::make_tuple(step, 0, 0, 0, 0);
    for (const std::uint32_t i : view(order))
      if (i >= examples_.sentences()) throw std::invalid_argument("an example is out of range");
    if (examples_.tokens() != tokens_) throw std::invalid_argument("the examples changed");
    PassCounts counts;
    {
      nb::gil_scoped_release unlocked;
      Chain chain(shape_, examples_, weights_.current());  // others may have learned since the last call
      counts = perceptron_pass(chain, weights_, view(order), step);
    }
    return nb::make_tuple(step, counts.examples, counts.mistakes, counts.parts, counts.wrong_parts);
  }

 private:
  void check_gold() const {
    bool fits = examples_.gold.size() == examples_.tokens();
    for (const std::uint32_t label : examples_.gold) fits = fits && label < shape_.labels;
    if (!fits) throw std::invalid_argument("gold labels do not fit the examples and the shape");
  }

  const ChainShape& shape_;
  const Examples& examples_;
  WeightTable& weights_;
  std::size_t tokens_;
};

// Best labels of the examples [first, last), one after another.
nb::ndarray<nb::numpy, std::int32_t> decode(const ChainShape& shape, const Examples& examples,
                                            const SparseRows& weights, std::size_t first, std::size_t last) {
  if (first > last || last > examples.sentences()) throw std::invalid_argument("examples out of range");
  check_fits(shape, examples, weights);
  std::vector<std::int32_t> labels;
  {
    nb::gil_scoped_release unlocked;
    Chain chain(shape, examples, weights);
    for (std::size_t i = first; i < last; ++i)
      for (const std::uint32_t label : chain.best(i).output)
        labels.push_back(static_cast<std::int32_t>(label));
  }
  return give(std::move(labels));
}

}  // namespace

void bind_learn(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "permutation", [](std::uint32_t n, std::uint64_t seed) { return give(permutation(n, seed)); }, "n"_a,
      "seed"_a, "A shuffled range, the same everywhere for the same seed.");
  m.def("decode_chain", &decode, "shape"_a, "examples"_a, "weights"_a, "first"_a, "last"_a,
        "Best labels of the examples [first, last).");
  nb::class_<ChainLearner>(m, "ChainLearner", "A chain over a batch of examples, learning.")
      .def(nb::init<const ChainShape&, const Examples&, WeightTable&>(), "shape"_a, "examples"_a, "weights"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def("perceptron", &ChainLearner::perceptron, nb::arg("order").noconvert(), "step"_a,
           "Learns from the examples in order: (step, examples, mistakes, tokens, wrong tokens).");
}
