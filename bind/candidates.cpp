#include "base/candidates.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "frozen_model.hpp"
#include "items.hpp"
#include "learn/rank_boost.hpp"
#include "search/candidates/model.hpp"
#include "structure.hpp"

using namespace marginalia;

namespace {

using Bound = BoundModel<CandidateModel>;
using Batch = BoundBatch<Candidates, CandidateShape, CandidateData>;

template <class T>
std::span<const T> view_of(const std::optional<Input<T>>& array) {
  return array ? view(*array) : std::span<const T>();
}

nb::ndarray<nb::numpy, double> scores_of(const Bound& b, const FeatureExtractor& extractor,
                                         const TokenTable& table, CandidateModel::Space& space) {
  std::vector<double> all;
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t s = 0; s < table.sentences(); ++s) {
      const ClassScores& scores = b.model.scores(extractor, table, s, space);
      all.insert(all.end(), scores.begin(), scores.end());
    }
  }
  return give(std::move(all));
}

nb::list features_of(const Bound& b, const FeatureExtractor& extractor, const TokenTable& table,
                     std::size_t s, std::size_t candidate, CandidateModel::Space& space) {
  require_sentence(table, s);
  nb::list found;
  for (const Feature& f : b.model.known(extractor, table, s, space)) {
    if (f.token != candidate) continue;
    const auto texts =
        extractor.texts_of(f, table, space.extraction, table.sentence[s], table.sentence[s + 1]);
    found.append(nb::make_tuple(f.row, f.value, texts));
  }
  return found;
}

// Candidates of items, with a loss for each or none.
void make_batch(Batch* self, const CandidateShape& shape, const ExampleRows& examples,
                const Input<float>& losses) {
  for (std::size_t i = 0; i < examples.sentences(); ++i)
    if (examples.sentence[i] == examples.sentence[i + 1])
      throw std::invalid_argument("an item needs at least one candidate");
  if (losses.size() != 0 && losses.size() != examples.tokens())
    throw std::invalid_argument("losses: expected one for each candidate");
  auto kept = std::make_shared<const std::vector<float>>(losses.data(), losses.data() + losses.size());
  new (self) Batch(shape, CandidateData{examples, std::move(kept)});
}

TokenTable table_of(const Input<std::uint32_t>& lengths, const Input<std::uint64_t>& ends,
                    const Input<std::uint32_t>& features, const nb::list& names,
                    const std::optional<Input<float>>& values,
                    const std::optional<Input<std::uint64_t>>& keys,
                    const std::optional<Input<double>>& scores, const std::optional<Input<double>>& losses,
                    bool all_right) {
  std::vector<std::string_view> texts;
  texts.reserve(names.size());
  for (const nb::handle name : names) texts.push_back(bytes_of(name));
  const CandidateFeatures found{view(ends), view(features), view_of(values), texts, view_of(keys)};
  nb::gil_scoped_release unlocked;
  return candidate_table(view(lengths), found, view_of(scores), view_of(losses), all_right);
}

void collect_pairs(CandidatePairs& pairs, const Batch& batch, std::uint32_t base_row,
                   const Input<double>& sample_weights, const SparseRows& weights) {
  if (sample_weights.size() != 0 && sample_weights.size() != batch.data().size())
    throw std::invalid_argument("sample weights disagree with the examples");
  if (batch.data().most_row() >= weights.rows.size())
    throw std::invalid_argument("the weights do not fit the examples");
  batch.data().check_gold(batch.shape());
  nb::gil_scoped_release unlocked;
  Candidates structure(batch.shape(), batch.data(), weights);
  add_pairs(structure, view(sample_weights), base_row, pairs);
}

void bind_rank_boost(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<CandidatePairs>(m, "CandidatePairs", "Pairs of a right candidate and another one.")
      .def(nb::init<>())
      .def("__len__", &CandidatePairs::size)
      .def("add", &collect_pairs, "batch"_a, "base_row"_a, nb::arg("sample_weights").noconvert(), "weights"_a,
           "Adds the pairs of examples; of several right candidates the one that these weights like best.");
  nb::class_<RankBoost>(m, "RankBoost", "The boosting re-ranker: a weight at a time.")
      .def_static(
          "needs", [] { return names_of(Tiers(Tier::lists)); },
          "The tiers of the contract that it needs of a structure.")
      .def(nb::init<const CandidatePairs&, std::uint32_t, std::uint32_t, double>(), "pairs"_a, "rows"_a,
           "base_row"_a, "smoothing"_a)
      .def("find_base_weight", &RankBoost::find_base_weight, nb::call_guard<nb::gil_scoped_release>(),
           "The weight of the base score by a line search.")
      .def(
          "begin_with", [](RankBoost& b, const Input<double>& weights) { b.begin_with(view(weights)); },
          nb::arg("weights").noconvert(), "Goes on from these weights, by row.")
      .def("run", &RankBoost::run, "rounds"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Up to so many rounds; how many were made.")
      .def("refresh", &RankBoost::refresh, nb::call_guard<nb::gil_scoped_release>(),
           "Computes all sums anew from the weights.")
      .def_prop_ro(
          "weights", [](const RankBoost& b) { return give(std::vector<double>(b.weights())); },
          nb::rv_policy::move, "By row.")
      .def_prop_ro(
          "chosen", [](const RankBoost& b) { return give(std::vector<std::uint32_t>(b.chosen())); },
          nb::rv_policy::move, "The row of each round.")
      .def_prop_ro("loss", &RankBoost::loss, "The exponential loss of all pairs.")
      .def_prop_ro("bound", &RankBoost::bound, "What the share of wrong examples cannot exceed.");
}

void bind_tables(nb::module_& m) {
  using namespace nb::literals;
  m.attr("BASE_SCORE") = nb::str(kBaseScore.data(), kBaseScore.size());
  m.attr("BEST_CANDIDATE") = nb::str(kBestLabel.data(), kBestLabel.size());
  m.attr("OTHER_CANDIDATE") = nb::str(kOtherLabel.data(), kOtherLabel.size());
  m.def(
      "right_candidates",
      [](const Input<std::uint32_t>& lengths, const Input<double>& losses,
         const std::optional<Input<double>>& scores,
         bool all) { return give(right_candidates(view(lengths), view(losses), view_of(scores), all)); },
      nb::arg("lengths").noconvert(), nb::arg("losses").noconvert(), nb::arg("scores").noconvert(), "all"_a,
      "Which candidates are right: the one with the least loss of each item, or all of those.");
  m.def("candidate_table", &table_of, nb::arg("lengths").noconvert(), nb::arg("ends").noconvert(),
        nb::arg("features").noconvert(), "names"_a, nb::arg("values").noconvert() = nb::none(),
        nb::arg("keys").noconvert() = nb::none(), nb::arg("scores").noconvert() = nb::none(),
        nb::arg("losses").noconvert() = nb::none(), "all_right"_a = false,
        "The table of items with so many candidates each; the features of candidate c end at ends[c].");
  m.def(
      "count_by_item",
      [](FeatureIndex& index, const ExampleRows& examples, bool fresh) {
        if (fresh) index.forget_counts();
        count_by_sentence(examples, index);
        if (const std::uint32_t base = index.find(base_score_key()); base != kNoRow) index.keep(base);
      },
      "index"_a, "examples"_a, "fresh"_a,
      "Counts each feature once for every item that has it; `fresh`: and forgets what was counted before.");
  m.def(
      "base_row", [](const FeatureIndex& index) { return index.find(base_score_key()); }, "index"_a,
      "The row of the base score; 0 if it has none.");
  m.def("scale_values", &scale_values, "examples"_a, "row"_a, "factor"_a, "first"_a,
        "Multiplies the values of a row, from a candidate on.");
}

}  // namespace

void bind_candidates(nb::module_& m) {
  using namespace nb::literals;
  bind_tables(m);
  nb::class_<CandidateShape>(m, "CandidateShape", "How base scores of candidates count.")
      .def(nb::init<float>(), "base_scale"_a)
      .def_ro("base_scale", &CandidateShape::base_scale)
      .def_prop_ro("row_width", &CandidateShape::row_width, "Outputs of a feature's row.")
      .def_prop_ro("constants", &CandidateShape::constants, "Number of weights in row 0.");
  nb::class_<CandidateModel::Space>(m, "CandidateSpace", "Scratch memory of one thread.").def(nb::init<>());
  bind_frozen_model<CandidateModel>(m, "CandidateModel", "A finished model of candidates.")
      .def(nb::new_([](const CandidateShape& shape, const nb::dict& arrays) {
             return make_bound_model<CandidateModel>(shape, arrays, 1, 0);
           }),
           "shape"_a, "arrays"_a)
      .def("scores", &scores_of, "extractor"_a, "table"_a, "space"_a, "Of all candidates of all items.")
      .def("features", &features_of, "extractor"_a, "table"_a, "item"_a, "candidate"_a, "space"_a,
           "(row, value, texts of its name) of each known feature of a candidate.");
  bind_batch<Batch>(m, "CandidateExamples")
      .def("__init__", &make_batch, "shape"_a, "examples"_a, nb::arg("losses").noconvert(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  bind_rank_boost(m);
}
