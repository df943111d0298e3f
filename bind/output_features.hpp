// The features and scores of outputs of all sentences of a table, for Python: the same for every model.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "frozen_model.hpp"
#include "search/output_features.hpp"

template <class Bound, class Extractor, class Space>
nb::list differing_features(const Bound& bound, const Extractor& extractor,
                            const marginalia::TokenTable& table, const Input<std::int32_t>& labels,
                            const Input<std::int32_t>& others, Space& space) {
  std::vector<std::vector<marginalia::OutputFeature>> found;
  {
    nb::gil_scoped_release unlocked;
    found = marginalia::differing_features(bound.model, extractor, table, view(labels), view(others), space);
  }
  nb::list all;
  for (const auto& sentence : found) {
    nb::list own;
    for (const marginalia::OutputFeature& f : sentence) {
      const nb::object number = extractor.is_explicit() ? nb::none() : nb::cast(f.template_index);
      own.append(
          nb::make_tuple(f.first, f.last, f.inner, f.row, f.output, f.times, f.weight, number, f.texts));
    }
    all.append(own);
  }
  return all;
}

template <class Model>
void bind_output_features(nb::class_<BoundModel<Model>>& model) {
  using namespace nb::literals;
  using Bound = BoundModel<Model>;
  using Extractor = typename Model::Extractor;
  using Space = typename Model::Space;
  model
      .def("differing_features", &differing_features<Bound, Extractor, Space>, "extractor"_a, "table"_a,
           nb::arg("labels").noconvert(), nb::arg("others").noconvert(), "space"_a,
           "By sentence (first token, last token, token in turn, row, output, how often, weight, template or "
           "None, texts of its pieces) of the features of outputs, without those that the others have too.")
      .def(
          "scores",
          [](const Bound& b, const Extractor& extractor, const marginalia::TokenTable& table,
             const Input<std::int32_t>& labels, Space& space) {
            std::vector<double> found;
            {
              nb::gil_scoped_release unlocked;
              found = marginalia::scores_of(b.model, extractor, table, view(labels), space);
            }
            return give(std::move(found));
          },
          "extractor"_a, "table"_a, nb::arg("labels").noconvert(), "space"_a,
          "The score of the output of each sentence; -inf if it is not legal.");
}
