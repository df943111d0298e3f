// What learning asks of a structure over a batch of examples, for Python: the same methods for every one.
// What a structure has no tier for is refused with the reason.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <concepts>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "learn/likelihood.hpp"
#include "learn/margins.hpp"
#include "learn/update_rules.hpp"
#include "search/vote.hpp"

template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Outputs as numbers, one after another: of a sequence its elements, of a number itself.
template <class Output>
void append(const Output& output, std::vector<std::int32_t>& out) {
  if constexpr (std::integral<Output>)
    out.push_back(static_cast<std::int32_t>(output));
  else
    for (const auto part : output) out.push_back(static_cast<std::int32_t>(part));
}

// `S` is made of (shape, data, weights to score with). The shape knows its number of constants. The data hold
// references to examples and know their number (`size`), that of all their parts (`parts`), the highest row
// of a feature (`most_row`), whether one output of each is right (`complete`), whether input can be hidden
// (`can_hide`), and whether gold fits a shape (`check_gold`, which throws); `closed(data)` are the same for
// looking only.
template <marginalia::Structure S, class Shape, class Data>
class BoundBatch {
 public:
  static marginalia::Tiers tiers() { return marginalia::tiers_of<S>(); }

  BoundBatch(const Shape& shape, Data data)
      : shape_(shape), examples_(std::move(data)), parts_(examples_.parts()), most_(examples_.most_row()) {}

  const Shape& shape() const { return shape_; }
  const Data& data() const { return examples_; }

  // One rule on some examples: what was counted.
  nb::dict learn(marginalia::WeightTable& weights, const marginalia::UpdateRule& rule,
                 const Input<std::uint32_t>& order, std::uint64_t step, const Input<double>& sample_weights,
                 double dropout_input, double dropout_values, double dropout_features,
                 std::uint64_t dropout_seed, std::uint32_t first, double loss) const {
    check(weights.current(), true);
    check_samples(sample_weights);
    for (const std::uint32_t i : view(order)) check_range(i, i + std::size_t{1});
    const marginalia::Dropout dropout{dropout_input, dropout_values, dropout_features, dropout_seed};
    if (dropout.hides() && !examples_.can_hide())
      throw std::invalid_argument("hiding input needs examples that keep their templates");
    marginalia::PassCounts counts;
    counts.loss = loss;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, examples_, weights.current());  // others may have learned since the last call
      std::visit(
          [&]<class Chosen>(const Chosen& chosen) {
            if constexpr (std::invocable<const Chosen&, marginalia::Visit<S>&>)
              marginalia::online_pass(structure, weights, chosen, view(order), view(sample_weights), dropout,
                                      step, counts, first);
            else
              marginalia::check_fit<S>(Chosen::kName, chosen.needs());
          },
          rule);
    }
    nb::dict out;
    out["sentences"] = counts.examples;
    out["mistakes"] = counts.mistakes;
    out["tokens"] = counts.parts;
    out["wrong_tokens"] = counts.wrong_parts;
    out["updates"] = counts.updates;
    out["largest"] = counts.largest;
    out["loss"] = counts.loss;
    return out;
  }

  void make_room(marginalia::WeightTable& weights, bool whole_rows) const {
    check(weights.current(), true);
    nb::gil_scoped_release unlocked;
    S structure(shape_, examples_, weights.current());
    marginalia::make_room_for_gold(structure, weights, whole_rows);
  }

  void count_gold(const marginalia::SparseRows& weights, const Input<double>& sample_weights,
                  const Writable<double>& counts, bool expected) const {
    check(weights, true);
    check_samples(sample_weights);
    check_cells(weights, counts);
    nb::gil_scoped_release unlocked;
    S structure(shape_, examples_, weights);
    marginalia::count_gold(structure, weights, view(sample_weights), counts.data(), expected);
  }

  double expectations(const marginalia::SparseRows& weights, std::size_t first, std::size_t last,
                      const Input<double>& sample_weights, bool local,
                      const Writable<double>& gradient) const {
    check(weights, local || !examples_.complete());
    check_range(first, last);
    check_samples(sample_weights);
    check_cells(weights, gradient);
    nb::gil_scoped_release unlocked;
    S structure(shape_, closed(examples_), weights);
    return marginalia::add_expectations(structure, weights, first, last, view(sample_weights), local,
                                        gradient.data());
  }

  // (margin, norm of the difference) of each example; (infinity, 0) where there is no other output.
  std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, double>> margins(
      const marginalia::SparseRows& weights, std::size_t first, std::size_t last) const {
    check(weights, true);
    check_range(first, last);
    std::vector<double> margins, norms;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, examples_, weights);
      for (const marginalia::Margin& m : marginalia::margins_of(structure, weights, first, last)) {
        margins.push_back(m.margin);
        norms.push_back(m.norm);
      }
    }
    return {give(std::move(margins)), give(std::move(norms))};
  }

  // The same by vote of all versions of the weights, among the k best outputs under `weights`.
  nb::ndarray<nb::numpy, std::int32_t> voted(const marginalia::SparseRows& weights,
                                             const marginalia::VoteStorage& votes, std::size_t k,
                                             std::size_t first, std::size_t last) const {
    check(weights, false);
    check_range(first, last);
    if (votes.row_end.size() != weights.rows.size())
      throw std::invalid_argument("votes do not fit the weights");
    std::vector<std::int32_t> outputs;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, closed(examples_), weights);
      for (std::size_t i = first; i < last; ++i) {
        const auto candidates = structure.k_best(i, k);
        marginalia::Ballot ballot(candidates.size());
        for (std::size_t j = 1; j < candidates.size(); ++j)
          marginalia::difference(structure, i, candidates[j].output, candidates[0].output,
                                 [&](const marginalia::Coordinate& at, double count) {
                                   ballot.add(j, at.row, at.output, count);
                                 });
        append(candidates.at(ballot.winner(votes.view())).output, outputs);
      }
    }
    return give(std::move(outputs));
  }

  // Best outputs of the examples [first, last), one after another.
  nb::ndarray<nb::numpy, std::int32_t> best(const marginalia::SparseRows& weights, std::size_t first,
                                            std::size_t last) const {
    check(weights, false);
    check_range(first, last);
    std::vector<std::int32_t> outputs;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, closed(examples_), weights);
      for (std::size_t i = first; i < last; ++i) append(structure.best(i).output, outputs);
    }
    return give(std::move(outputs));
  }

 private:
  // Refuses weights that examples or shape would reach out of.
  void check(const marginalia::SparseRows& weights, bool need_gold) const {
    if (examples_.parts() != parts_) throw std::invalid_argument("the examples changed");
    if (most_ >= weights.rows.size() || weights.rows[marginalia::kConstantRow].size != shape_.constants())
      throw std::invalid_argument("the weights do not fit the examples and the shape");
    if (need_gold) examples_.check_gold(shape_);
  }
  void check_range(std::size_t first, std::size_t last) const {
    if (first > last || last > examples_.size()) throw std::invalid_argument("examples out of range");
  }
  void check_samples(const Input<double>& sample_weights) const {
    if (sample_weights.size() != 0 && sample_weights.size() != examples_.size())
      throw std::invalid_argument("sample weights disagree with the examples");
  }
  static void check_cells(const marginalia::SparseRows& weights, const Writable<double>& array) {
    if (array.size() != weights.cells.size())
      throw std::invalid_argument("the array does not fit the weights");
  }

  const Shape& shape_;
  Data examples_;
  std::size_t parts_;
  std::uint32_t most_;
};

// The names of tiers.
inline nb::typed<nb::frozenset, nb::str> names_of(marginalia::Tiers tiers) {
  nb::set names;
  for (std::size_t k = 0; k < marginalia::kTiers.size(); ++k)
    if (tiers.has(static_cast<marginalia::Tier>(k))) names.add(marginalia::kTiers[k].name);
  return nb::frozenset(names);
}

// All methods but the constructor.
template <class Bound>
nb::class_<Bound> bind_batch(nb::module_& m, const char* name) {
  using namespace nb::literals;
  return nb::class_<Bound>(m, name, "A batch of examples, seen as outputs of a structure.")
      .def_static(
          "tiers", [] { return names_of(Bound::tiers()); },
          "The tiers of the contract that the structure has.")
      .def("learn", &Bound::learn, "weights"_a, "rule"_a, nb::arg("order").noconvert(), "step"_a,
           nb::arg("sample_weights").noconvert(), "dropout_input"_a = 0.0, "dropout_values"_a = 0.0,
           "dropout_features"_a = 0.0, "dropout_seed"_a = 0, "first"_a = 0, "loss"_a = 0.0,
           "Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in "
           "provenance; `loss`: that of the pass so far, to which losses are added one by one.")
      .def("make_room", &Bound::make_room, "weights"_a, "whole_rows"_a,
           "Makes room for the weights of the gold outputs' features.")
      .def("count_gold", &Bound::count_gold, "weights"_a, nb::arg("sample_weights").noconvert(),
           nb::arg("counts").noconvert(), "expected"_a = false,
           "Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as "
           "the weights expect them.")
      .def("expectations", &Bound::expectations, "weights"_a, "first"_a, "last"_a,
           nb::arg("sample_weights").noconvert(), "local"_a, nb::arg("gradient").noconvert(),
           "Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.")
      .def("margins", &Bound::margins, "weights"_a, "first"_a, "last"_a,
           "Margins of gold over the best other output (infinity if there is none), norms of differences.")
      .def("voted", &Bound::voted, "weights"_a, "votes"_a, "k"_a, "first"_a, "last"_a,
           "Outputs by vote of all versions of the weights among the k best.")
      .def("best", &Bound::best, "weights"_a, "first"_a, "last"_a,
           "Best outputs of the examples [first, last), as numbers one after another.");
}
