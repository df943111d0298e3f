// The best outputs of a model with global features, for Python: the same methods for every model.
#pragma once

#include <optional>
#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "frozen_model.hpp"
#include "ranked.hpp"
#include "search/rescoring.hpp"

inline void check_documents(const marginalia::TokenTable& table, const marginalia::Rescorer& rescorer,
                            std::size_t labels) {
  if (rescorer.documents() != table.sentences() || rescorer.model().labels().labels() != labels)
    throw std::invalid_argument("global features: the documents or labels do not fit");
}

// A second model that scores the hypotheses of the first, with what it needs in this thread; none if null.
template <class Model>
struct Scorer {
  Scorer(const BoundModel<Model>* bound, const typename Model::Extractor* extractor,
         typename Model::Space* space, std::size_t labels) {
    if (bound == nullptr) return;
    if (extractor == nullptr || space == nullptr || bound->model.shape().labels != labels)
      throw std::invalid_argument("global features: the scorer does not fit the model");
    local_.emplace(marginalia::LocalModel<Model>{bound->model, *extractor, *space});
  }
  const marginalia::LocalModel<Model>* get() const { return local_ ? &*local_ : nullptr; }

 private:
  std::optional<marginalia::LocalModel<Model>> local_;
};

template <class Model>
nb::tuple rescored(const BoundModel<Model>& bound, const typename Model::Extractor& extractor,
                   const marginalia::TokenTable& table, marginalia::Rescorer& rescorer, std::uint32_t column,
                   std::size_t n, std::size_t k, bool vote, typename Model::Space& space,
                   const BoundModel<Model>* scorer, const typename Model::Extractor* scorer_extractor,
                   typename Model::Space* scorer_space) {
  marginalia::RankedLabels found;
  {
    nb::gil_scoped_release unlocked;
    rescorer.read(table, column);
    check_documents(table, rescorer, bound.model.shape().labels);
    const Scorer<Model> second(scorer, scorer_extractor, scorer_space, bound.model.shape().labels);
    const marginalia::LocalModel<Model> base{bound.model, extractor, space};
    found = marginalia::rescored(base, second.get(), table, rescorer, n, k, vote);
  }
  return give_ranked(std::move(found));
}

template <class Model>
nb::tuple rescored_confidences(const BoundModel<Model>& bound, const typename Model::Extractor& extractor,
                               const marginalia::TokenTable& table, marginalia::Rescorer& rescorer,
                               std::uint32_t column, std::size_t n, const Input<std::int32_t>& labels,
                               const Input<std::uint32_t>& sentences, const marginalia::Spelling& spelling,
                               double factor, typename Model::Space& space, const BoundModel<Model>* scorer,
                               const typename Model::Extractor* scorer_extractor,
                               typename Model::Space* scorer_space) {
  marginalia::Confidences found;
  {
    nb::gil_scoped_release unlocked;
    rescorer.read(table, column);
    check_documents(table, rescorer, spelling.labels);
    const Scorer<Model> second(scorer, scorer_extractor, scorer_space, spelling.labels);
    const marginalia::LocalModel<Model> base{bound.model, extractor, space};
    found = marginalia::rescored_confidences(base, second.get(), table, rescorer, n, view(labels),
                                             view(sentences), spelling, factor);
  }
  return nb::make_tuple(give(std::move(found.token)), give(std::move(found.span)),
                        give(std::move(found.span_begin)), give(std::move(found.span_end)),
                        give(std::move(found.output)));
}

template <class Model>
void bind_rescored(nb::class_<BoundModel<Model>>& model) {
  using namespace nb::literals;
  model
      .def("rescored", &rescored<Model>, "extractor"_a, "table"_a, "rescorer"_a, "column"_a, "n"_a, "k"_a,
           "vote"_a, "space"_a, nb::arg("scorer") = nb::none(), nb::arg("scorer_extractor") = nb::none(),
           nb::arg("scorer_space") = nb::none(),
           "The k best outputs by all features, of the n best by local ones, as `ranked` gives them; with "
           "`vote` the one that versions of the weights vote for comes first, if they do. With a `scorer`, "
           "local scores are those of that model.")
      .def("rescored_confidences", &rescored_confidences<Model>, "extractor"_a, "table"_a, "rescorer"_a,
           "column"_a, "n"_a, nb::arg("labels").noconvert(), nb::arg("sentences").noconvert(), "spelling"_a,
           "factor"_a, "space"_a, nb::arg("scorer") = nb::none(), nb::arg("scorer_extractor") = nb::none(),
           nb::arg("scorer_space") = nb::none(),
           "As `confidences`, over the n best outputs by local features, with their total scores.");
}
