// Finished models, for Python: the same methods for every structure.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "constraints.hpp"
#include "model_arrays.hpp"
#include "search/frozen_model.hpp"

// A model and the arrays it looks into.
template <class Model>
struct BoundModel {
  std::vector<nb::object> arrays;
  Model model;
  marginalia::VoteLog votes;
};

// `outputs` and `pairs`: how many outputs rows have, and those of rows of label pairs.
template <class Model>
BoundModel<Model>* make_bound_model(const typename Model::Shape& shape, const nb::dict& arrays,
                                    std::uint64_t outputs, std::uint64_t pairs) {
  ModelArrays taken = take_arrays(arrays);
  return new BoundModel<Model>{std::move(taken.kept),
                               Model(shape, marginalia::FrozenWeights(taken.weights, outputs, pairs),
                                     taken.constant_at, taken.constants),
                               taken.votes};
}

// What every model can do; a structure adds its own methods.
template <class Model>
nb::class_<BoundModel<Model>> bind_frozen_model(nb::module_& m, const char* name, const char* what) {
  using namespace nb::literals;
  using Bound = BoundModel<Model>;
  using Extractor = typename Model::Extractor;
  using Space = typename Model::Space;
  return nb::class_<Bound>(m, name, what)
      .def(
          "best",
          [](const Bound& b, const Extractor& extractor, const marginalia::TokenTable& table, Space& space) {
            std::vector<std::int32_t> labels;
            {
              nb::gil_scoped_release unlocked;
              labels = b.model.best(extractor, table, space);
            }
            return give(std::move(labels));
          },
          "extractor"_a, "table"_a, "space"_a, "Labels of all tokens of the table.")
      .def(
          "voted",
          [](const Bound& b, const Extractor& extractor, const marginalia::TokenTable& table, std::size_t k,
             Space& space) {
            std::vector<std::int32_t> labels;
            {
              nb::gil_scoped_release unlocked;
              labels = b.model.voted(extractor, table, b.votes, k, space);
            }
            return give(std::move(labels));
          },
          "extractor"_a, "table"_a, "k"_a, "space"_a,
          "Labels by vote of all versions of the weights among the k best outputs.");
}

// For structures whose scores may be those of rules.
template <class Model>
void bind_rule_use(nb::class_<BoundModel<Model>>& bound) {
  using namespace nb::literals;
  using Bound = BoundModel<Model>;
  bound
      .def(
          "use_rules",
          [](Bound& b, const Input<std::uint64_t>& keys, const Input<std::uint32_t>& ends,
             const Input<std::uint64_t>& atoms, const std::vector<std::string>& labels,
             std::uint32_t neighbours, bool backwards) {
            nb::gil_scoped_release unlocked;
            b.model.use({view(keys), view(ends), view(atoms)}, labels, neighbours, backwards);
          },
          nb::arg("keys").noconvert(), nb::arg("ends").noconvert(), nb::arg("atoms").noconvert(), "labels"_a,
          "neighbours"_a, "backwards"_a,
          "From now on scores are those of rules; to be called before all else.")
      .def(
          "rules",
          [](const Bound& b, const typename Model::Extractor& extractor, const marginalia::TokenTable& table,
             std::size_t s, const Input<std::uint32_t>& labels, typename Model::Space& space) {
            require_sentence(table, s);
            if (!b.model.has_rules()) throw std::invalid_argument("the model has no rules");
            if (labels.size() != table.sentence[s + 1] - table.sentence[s])
              throw std::invalid_argument("labels do not fit the sentence");
            nb::list found;
            b.model.for_rules(
                extractor, table, s, view(labels), space,
                [&](std::size_t t, std::uint32_t row) { found.append(nb::make_tuple(t, row)); });
            return found;
          },
          "extractor"_a, "table"_a, "sentence"_a, nb::arg("labels").noconvert(), "space"_a,
          "(token, row of its confidences) of each rule of an output that holds.");
}

template <class Bound, class Extractor, class Space>
nb::tuple confidences(const Bound& bound, const Extractor& extractor, const marginalia::TokenTable& table,
                      const Input<std::int32_t>& labels, const Input<std::uint32_t>& sentences,
                      const marginalia::Spelling& spelling, double factor, Space& space) {
  marginalia::Confidences found;
  {
    nb::gil_scoped_release unlocked;
    found = bound.model.confidences(extractor, table, view(labels), view(sentences), spelling, factor, space);
  }
  return nb::make_tuple(give(std::move(found.token)), give(std::move(found.span)),
                        give(std::move(found.span_begin)), give(std::move(found.span_end)),
                        give(std::move(found.output)));
}

// For structures whose outputs are labels of tokens.
template <class Model>
void bind_label_answers(nb::class_<BoundModel<Model>>& bound) {
  using namespace nb::literals;
  using Bound = BoundModel<Model>;
  using Extractor = typename Model::Extractor;
  using Space = typename Model::Space;
  bound
      .def("constrain", &constrain<Bound, Extractor, Space>, "extractor"_a, "table"_a,
           nb::arg("labels").noconvert(), nb::arg("chosen").noconvert(), "constraint_set"_a,
           nb::arg("tokens").noconvert(), nb::arg("spans").noconvert(), nb::arg("sentences").noconvert(),
           "space"_a,
           "The best labels of all tokens, changed where they break constraints on chosen sentences; by "
           "sentence how often they still do, and whether that is known to be the best.")
      .def("confidences", &confidences<Bound, Extractor, Space>, "extractor"_a, "table"_a,
           nb::arg("labels").noconvert(), nb::arg("sentences").noconvert(), "spelling"_a, "factor"_a,
           "space"_a,
           "P(label) by token, P(span), first and last token of spans, P(output); scores times a factor.");
}
