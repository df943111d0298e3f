// The best outputs of a model with global features, for Python: the same methods for every model.
#pragma once

#include <utility>

#include "arrays.hpp"
#include "base/table.hpp"
#include "frozen_model.hpp"
#include "ranked.hpp"
#include "search/rescoring.hpp"

inline void check_documents(const marginalia::TokenTable& table, const marginalia::Rescorer& rescorer,
                            std::size_t labels) {
  if (rescorer.documents() != table.sentences() || rescorer.model().labels().labels() != labels)
    throw std::invalid_argument("global features: the documents or labels do not fit");
}

template <class Bound, class Program, class Space>
nb::tuple rescored(const Bound& bound, const Program& program, const marginalia::TokenTable& table,
                   marginalia::Rescorer& rescorer, std::uint32_t column, std::size_t n, std::size_t k,
                   Space& space) {
  marginalia::RankedLabels found;
  {
    nb::gil_scoped_release unlocked;
    rescorer.read(table, column);
    check_documents(table, rescorer, bound.model.shape().labels);
    found = marginalia::rescored(bound.model, program, table, rescorer, n, k, space);
  }
  return give_ranked(std::move(found));
}

template <class Bound, class Program, class Space>
nb::tuple rescored_confidences(const Bound& bound, const Program& program,
                               const marginalia::TokenTable& table, marginalia::Rescorer& rescorer,
                               std::uint32_t column, std::size_t n, const Input<std::int32_t>& labels,
                               const Input<std::uint32_t>& sentences, const marginalia::Spelling& spelling,
                               double factor, Space& space) {
  marginalia::Confidences found;
  {
    nb::gil_scoped_release unlocked;
    rescorer.read(table, column);
    check_documents(table, rescorer, spelling.labels);
    found = marginalia::rescored_confidences(bound.model, program, table, rescorer, n, view(labels),
                                             view(sentences), spelling, factor, space);
  }
  return nb::make_tuple(give(std::move(found.token)), give(std::move(found.span)),
                        give(std::move(found.span_begin)), give(std::move(found.span_end)),
                        give(std::move(found.output)));
}

template <class Model>
void bind_rescored(nb::class_<BoundModel<Model>>& model) {
  using namespace nb::literals;
  using Bound = BoundModel<Model>;
  using Program = typename Model::Program;
  using Space = typename Model::Space;
  model
      .def("rescored", &rescored<Bound, Program, Space>, "program"_a, "table"_a, "rescorer"_a, "column"_a,
           "n"_a, "k"_a, "space"_a,
           "The k best outputs by all features, of the n best by local ones, as `ranked` gives them.")
      .def("rescored_confidences", &rescored_confidences<Bound, Program, Space>, "program"_a, "table"_a,
           "rescorer"_a, "column"_a, "n"_a, nb::arg("labels").noconvert(), nb::arg("sentences").noconvert(),
           "spelling"_a, "factor"_a, "space"_a,
           "As `confidences`, over the n best outputs by local features, with their total scores.");
}
