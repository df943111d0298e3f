// The k best outputs of all sentences of a table, for Python: the same methods for every model.
#pragma once

#include <utility>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "frozen_model.hpp"
#include "search/ranked.hpp"

inline nb::tuple give_ranked(marginalia::RankedLabels found) {
  const std::size_t labels = found.labels.size() / found.ranks, scores = found.scores.size() / found.ranks;
  return nb::make_tuple(give(std::move(found.labels), found.ranks, labels),
                        give(std::move(found.scores), found.ranks, scores), give(std::move(found.violations)),
                        give(std::move(found.exact)));
}

template <class Bound, class Extractor, class Space>
nb::tuple ranked(const Bound& bound, const Extractor& extractor, const marginalia::TokenTable& table,
                 std::size_t k, Space& space) {
  marginalia::RankedLabels found;
  {
    nb::gil_scoped_release unlocked;
    found = marginalia::ranked(bound.model, extractor, table, k, space);
  }
  return give_ranked(std::move(found));
}

template <class Bound, class Extractor, class Space>
nb::tuple ranked_constrained(const Bound& bound, const Extractor& extractor,
                             const marginalia::TokenTable& table, std::size_t k,
                             const Input<std::int32_t>& labels, const Input<std::uint8_t>& chosen,
                             const marginalia::ConstraintSet& constraint_set,
                             const Input<std::uint32_t>& tokens, const Input<std::uint32_t>& spans,
                             const Input<std::uint32_t>& sentences, Space& space) {
  marginalia::RankedLabels found;
  {
    nb::gil_scoped_release unlocked;
    const auto placed = marginalia::placed_constraints_of(table, view(tokens), view(spans), view(sentences));
    found = marginalia::ranked_constrained(bound.model, extractor, table, k, view(labels), view(chosen),
                                           constraint_set, placed, space);
  }
  return give_ranked(std::move(found));
}

template <class Model>
void bind_ranked(nb::class_<BoundModel<Model>>& model) {
  using namespace nb::literals;
  using Bound = BoundModel<Model>;
  using Extractor = typename Model::Extractor;
  using Space = typename Model::Space;
  model
      .def("ranked", &ranked<Bound, Extractor, Space>, "extractor"_a, "table"_a, "k"_a, "space"_a,
           "The k best outputs of all sentences: labels [ranks, tokens] (the best ones where a sentence has "
           "no more), scores [ranks, sentences] (NaN there), and two empty arrays.")
      .def(
          "ranked_constrained", &ranked_constrained<Bound, Extractor, Space>, "extractor"_a, "table"_a, "k"_a,
          nb::arg("labels").noconvert(), nb::arg("chosen").noconvert(), "constraint_set"_a,
          nb::arg("tokens").noconvert(), nb::arg("spans").noconvert(), nb::arg("sentences").noconvert(),
          "space"_a,
          "The same of chosen sentences under constraints, `labels` being the best ones without; by sentence "
          "how often the outputs break constraints, and whether that is known to be the best.");
}
