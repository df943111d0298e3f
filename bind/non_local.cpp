// Structures with global features, for learning.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <optional>

#include "arrays.hpp"
#include "bind.hpp"
#include "search/chain/chain.hpp"
#include "search/document_features.hpp"
#include "search/segments/segments.hpp"
#include "structure.hpp"

using namespace marginalia;

namespace {

using Set = std::shared_ptr<const GlobalSet>;
using Types = std::shared_ptr<const MentionLabels>;

using WholeChain = BoundBatch<Whole<Chain, ChainShape, ChainData>, ChainShape, WholeData<ChainData>>;
using WholeSegments =
    BoundBatch<Whole<Segments, SegmentShape, SegmentData>, SegmentShape, WholeData<SegmentData>>;

// Outputs of examples that another model listed, to be chosen among.
struct HypothesisLists {
  std::vector<HypothesisList> all;

  // Those of one more example, of so many tokens, one after another, best first.
  void add(const Input<std::int32_t>& labels, std::size_t tokens, std::uint32_t known) {
    const std::span<const std::int32_t> given = view(labels);
    if (tokens == 0 && given.empty()) {
      all.emplace_back();
      return;
    }
    if (tokens == 0 || given.empty() || given.size() % tokens != 0)
      throw std::invalid_argument("hypotheses: the labels do not fit the tokens");
    std::vector<ScoredLabels> outputs;
    for (std::size_t at = 0; at < given.size(); at += tokens) {
      outputs.emplace_back();
      for (const std::int32_t label : given.subspan(at, tokens)) {
        if (label < 0 || static_cast<std::uint32_t>(label) >= known)
          throw std::invalid_argument("hypotheses: a label is out of range");
        outputs.back().output.push_back(static_cast<std::uint32_t>(label));
      }
    }
    all.push_back(listed(outputs));
  }

  // Those of examples with these lengths; none if null.
  static std::span<const HypothesisList> of(const HypothesisLists* lists, const auto& examples) {
    if (lists == nullptr) return {};
    bool fits = lists->all.size() == examples.sentences();
    for (std::size_t i = 0; fits && i < lists->all.size(); ++i)
      fits = lists->all[i].length() == examples.sentence[i + 1] - examples.sentence[i];
    if (!fits) throw std::invalid_argument("hypotheses: they do not fit the examples");
    return lists->all;
  }
};

DocumentData documents_of(const Set& set, const Types& labels, const GlobalTexts& texts, FeatureIndex& index,
                          bool open, std::size_t examples, std::size_t known) {
  if (texts.size() != examples || labels->labels() != known)
    throw std::invalid_argument("global features: the documents or labels do not fit the examples");
  return {set, labels, texts, index, open, std::make_shared<DocumentMemory>()};
}

}  // namespace

void bind_non_local(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<NonLocalOptions>(m, "NonLocalOptions", "How the n best outputs are looked at.")
      .def(
          "__init__",
          [](NonLocalOptions* self, std::size_t n, std::size_t in_use, double margin, double local_margin,
             bool local_updates) {
            new (self) NonLocalOptions{n, in_use, margin, local_margin, local_updates};
          },
          "n"_a, "in_use"_a, "margin"_a, "local_margin"_a, "local_updates"_a);

  nb::class_<HypothesisLists>(m, "HypothesisLists", "Outputs of examples that another model listed.")
      .def(nb::init<>())
      .def("add", &HypothesisLists::add, nb::arg("labels").noconvert(), "tokens"_a, "known"_a,
           "The outputs of one more example, of so many tokens, one after another, best first.");

  bind_batch<WholeChain>(m, "WholeChainBatch")
      .def(
          "__init__",
          [](WholeChain* self, const ChainShape& shape, const ExampleRows& examples, const Set& set,
             const Types& labels, const GlobalTexts& texts, FeatureIndex& index, bool open,
             const NonLocalOptions& options, const HypothesisLists* given) {
            const DocumentData documents =
                documents_of(set, labels, texts, index, open, examples.sentences(), shape.labels);
            new (self) WholeChain(shape, {ChainData{examples, std::make_shared<LabelCosts>()}, documents,
                                          options, HypothesisLists::of(given, examples)});
          },
          "shape"_a, "examples"_a, "set"_a, "labels"_a, "texts"_a, "index"_a, "open"_a, "options"_a,
          nb::arg("given") = nb::none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 10>());

  bind_batch<WholeSegments>(m, "WholeSegmentBatch")
      .def(
          "__init__",
          [](WholeSegments* self, const SegmentShape& shape, const SegmentExtractor& extractor,
             bool open_local, const SegmentExamples& examples, const Set& set, const Types& labels,
             const GlobalTexts& texts, FeatureIndex& index, bool open, const NonLocalOptions& options,
             const HypothesisLists* given) {
            const DocumentData documents =
                documents_of(set, labels, texts, index, open, examples.sentences(), shape.labels);
            SegmentData data{extractor,
                             examples,
                             index,
                             open_local && open,
                             examples.gold,
                             examples.sets,
                             std::make_shared<LabelCosts>()};
            new (self) WholeSegments(shape, {data, documents, options, HypothesisLists::of(given, examples)});
          },
          "shape"_a, "extractor"_a, "open_local"_a, "examples"_a, "set"_a, "labels"_a, "texts"_a, "index"_a,
          "open"_a, "options"_a, nb::arg("given") = nb::none(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>(),
          nb::keep_alive<1, 12>());
}
