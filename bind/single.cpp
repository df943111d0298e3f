#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "frozen_model.hpp"
#include "ranked.hpp"
#include "search/single/model.hpp"

using namespace marginalia;

namespace {

using Bound = BoundModel<SingleModel>;

nb::ndarray<nb::numpy, double> scores_of(const Bound& b, const FeatureExtractor& extractor,
                                         const TokenTable& table, SingleModel::Space& space) {
  std::vector<double> all;
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t s = 0; s < table.sentences(); ++s) {
      const ClassScores& scores = b.model.scores(extractor, table, s, space);
      all.insert(all.end(), scores.begin(), scores.end());
    }
  }
  return give(std::move(all), table.sentences(), std::size_t{b.model.shape().labels});
}

nb::list features_of(const Bound& b, const FeatureExtractor& extractor, const TokenTable& table,
                     std::size_t s, SingleModel::Space& space) {
  require_sentence(table, s);
  nb::list found;
  for (const Feature& f : b.model.known(extractor, table, s, space)) {
    const nb::object number = extractor.is_explicit() ? nb::none() : nb::cast(f.template_index);
    auto texts = extractor.texts_of(f, table, space.extraction, table.sentence[s], table.sentence[s + 1]);
    found.append(nb::make_tuple(f.row, f.value, number, texts));
  }
  return found;
}

}  // namespace

void bind_single(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SingleShape>(m, "SingleShape", "The classes of items.")
      .def(nb::init<std::uint32_t>(), "labels"_a)
      .def_ro("labels", &SingleShape::labels)
      .def_prop_ro("row_width", &SingleShape::row_width, "Outputs of a feature's row.")
      .def_prop_ro("constants", &SingleShape::constants, "Number of weights in row 0.");
  nb::class_<SingleModel::Space>(m, "SingleSpace", "Scratch memory of one thread.").def(nb::init<>());
  auto model = bind_frozen_model<SingleModel>(m, "SingleModel", "A finished model of single classes.");
  bind_label_answers(model);
  bind_ranked(model);
  bind_rule_use(model);
  model
      .def(nb::new_([](const SingleShape& shape, const nb::dict& arrays) {
             return make_bound_model<SingleModel>(shape, arrays, shape.labels, 0);
           }),
           "shape"_a, "arrays"_a)
      .def("scores", &scores_of, "extractor"_a, "table"_a, "space"_a, "[items, classes].")
      .def("features", &features_of, "extractor"_a, "table"_a, "item"_a, "space"_a,
           "(row, how often, template or None, texts of its pieces) of each known feature.");
}
