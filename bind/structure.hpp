// What learning asks of a structure over a batch of examples, for Python: the same methods for every one.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "arrays.hpp"
#include "learn/likelihood.hpp"
#include "learn/margins.hpp"
#include "learn/rules.hpp"
#include "search/vote.hpp"

template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// `S` is made of (shape, examples, weights to score with); `Shape` knows how many constants and labels it
// has; `Data`, the examples, is a reference or holds references.
template <marginalia::Structure S, class Shape, class Data>
class BoundExamples {
 public:
  BoundExamples(const Shape& shape, Data examples)
      : shape_(shape), examples_(examples), tokens_(examples.tokens()), most_(examples.most_row()) {}

  const Shape& shape() const { return shape_; }
  const std::remove_reference_t<Data>& data() const { return examples_; }

  // One rule on some examples: what was counted.
  nb::dict learn(marginalia::WeightTable& weights, const marginalia::Rule& rule,
                 const Input<std::uint32_t>& order, std::uint64_t step, const Input<double>& sample_weights,
                 double dropout_input, double dropout_values, double dropout_features,
                 std::uint64_t dropout_seed, std::uint32_t first) const {
    check(weights.current(), true);
    check_samples(sample_weights);
    for (const std::uint32_t i : view(order)) check_range(i, i + std::size_t{1});
    const marginalia::Dropout dropout{dropout_input, dropout_values, dropout_features, dropout_seed};
    if (dropout.hides() && !examples_.can_hide())
      throw std::invalid_argument("hiding input needs examples that keep their templates");
    marginalia::PassCounts counts;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, examples_, weights.current());  // others may have learned since the last call
      std::visit(
          [&](const auto& chosen) {
            counts = marginalia::online_pass(structure, weights, chosen, view(order), view(sample_weights),
                                             dropout, step, first);
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
    check(weights, local || examples_.sets.size() != 0);
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
    std::vector<std::int32_t> labels;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, closed(examples_), weights);
      for (std::size_t i = first; i < last; ++i) {
        const std::vector<marginalia::Scored> candidates = structure.k_best(i, k);
        marginalia::Ballot ballot(candidates.size());
        for (std::size_t j = 1; j < candidates.size(); ++j)
          marginalia::difference(structure, i, candidates[j].output, candidates[0].output,
                                 [&](const marginalia::Coordinate& at, double count) {
                                   ballot.add(j, at.row, at.output, count);
                                 });
        for (const std::uint32_t label : candidates.at(ballot.winner(votes.view())).output)
          labels.push_back(static_cast<std::int32_t>(label));
      }
    }
    return give(std::move(labels));
  }

  // Best labels of the examples [first, last), one after another.
  nb::ndarray<nb::numpy, std::int32_t> best(const marginalia::SparseRows& weights, std::size_t first,
                                            std::size_t last) const {
    check(weights, false);
    check_range(first, last);
    std::vector<std::int32_t> labels;
    {
      nb::gil_scoped_release unlocked;
      S structure(shape_, closed(examples_), weights);
      for (std::size_t i = first; i < last; ++i)
        for (const std::uint32_t label : structure.best(i).output)
          labels.push_back(static_cast<std::int32_t>(label));
    }
    return give(std::move(labels));
  }

 private:
  // Refuses weights that examples or shape would reach out of.
  void check(const marginalia::SparseRows& weights, bool need_gold) const {
    if (examples_.tokens() != tokens_) throw std::invalid_argument("the examples changed");
    if (most_ >= weights.rows.size() || weights.rows[marginalia::kConstantRow].size != shape_.constants())
      throw std::invalid_argument("the weights do not fit the examples and the shape");
    if (!need_gold) return;
    const marginalia::LabelSets& sets = examples_.sets;
    const std::size_t most = shape_.labels + sets.size();
    bool fits = examples_.gold.size() == examples_.tokens();
    fits = fits && (sets.size() == 0 || sets.labels == shape_.labels);
    for (const std::uint32_t label : examples_.gold) fits = fits && label < most;
    if (!fits) throw std::invalid_argument("gold labels do not fit the examples and the shape");
  }
  void check_range(std::size_t first, std::size_t last) const {
    if (first > last || last > examples_.sentences()) throw std::invalid_argument("examples out of range");
  }
  void check_samples(const Input<double>& sample_weights) const {
    if (sample_weights.size() != 0 && sample_weights.size() != examples_.sentences())
      throw std::invalid_argument("sample weights disagree with the examples");
  }
  static void check_cells(const marginalia::SparseRows& weights, const Writable<double>& array) {
    if (array.size() != weights.cells.size())
      throw std::invalid_argument("the array does not fit the weights");
  }

  const Shape& shape_;
  Data examples_;
  std::size_t tokens_;
  std::uint32_t most_;
};

// All methods but the constructor.
template <class Bound>
nb::class_<Bound> bind_examples(nb::module_& m, const char* name) {
  using namespace nb::literals;
  return nb::class_<Bound>(m, name, "A batch of examples, seen as outputs of a structure.")
      .def("learn", &Bound::learn, "weights"_a, "rule"_a, nb::arg("order").noconvert(), "step"_a,
           nb::arg("sample_weights").noconvert(), "dropout_input"_a = 0.0, "dropout_values"_a = 0.0,
           "dropout_features"_a = 0.0, "dropout_seed"_a = 0, "first"_a = 0,
           "Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in "
           "provenance.")
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
           "Labels by vote of all versions of the weights among the k best.")
      .def("best", &Bound::best, "weights"_a, "first"_a, "last"_a,
           "Best labels of the examples [first, last).");
}
