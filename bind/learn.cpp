#include "arrays.hpp"
#include "base/random.hpp"
#include "bind.hpp"
#include "learn/perceptron.hpp"
#include "search/chain.hpp"

using namespace marginalia;

namespace {

// A chain over one batch of examples, learning.
class ChainLearner {
 public:
  ChainLearner(const ChainShape& shape, const Examples& examples, WeightTable& weights)
      : weights_(weights), chain_(shape, examples, weights.current()) {}

  // Perceptron steps on some examples; returns the new step count and what was counted.
  nb::tuple perceptron(const Input<std::uint32_t>& order, std::uint64_t step) {
    if (!order.size()) return nb::make_tuple(step, 0, 0, 0, 0);
    for (const std::uint32_t i : view(order))
      if (i >= chain_.size()) throw std::invalid_argument("an example is out of range");
    PassCounts counts;
    {
      nb::gil_scoped_release unlocked;
      counts = perceptron_pass(chain_, weights_, view(order), step);
    }
    return nb::make_tuple(step, counts.examples, counts.mistakes, counts.parts, counts.wrong_parts);
  }

 private:
  WeightTable& weights_;
  Chain chain_;
};

// Best labels of the examples [first, last), one after another.
nb::ndarray<nb::numpy, std::int32_t> decode(const ChainShape& shape, const Examples& examples,
                                            const SparseRows& weights, std::size_t first, std::size_t last) {
  if (first > last || last > examples.sentences()) throw std::invalid_argument("examples out of range");
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
