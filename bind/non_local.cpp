// Structures with global features, for learning.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <optional>

#include "arrays.hpp"
#include "bind.hpp"
#include "search/chain.hpp"
#include "search/document_features.hpp"
#include "search/segments.hpp"
#include "structure.hpp"

using namespace marginalia;

namespace {

using Set = std::shared_ptr<const GlobalSet>;
using Types = std::shared_ptr<const MentionLabels>;

using WholeChain = BoundExamples<Whole<Chain, ChainShape, ChainData>, ChainShape, WholeData<ChainData>>;
using WholeSegments =
    BoundExamples<Whole<Segments, SegmentShape, SegmentData>, SegmentShape, WholeData<SegmentData>>;

DocumentData documents_of(const Set& set, const Types& labels, const GlobalTexts& texts, FeatureIndex& index,
                          bool open, std::size_t examples, std::size_t known) {
  if (texts.size() != examples || labels->labels() != known)
    throw std::invalid_argument("global features: the documents or labels do not fit the examples");
  return {set, labels, texts, index, open};
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

  bind_examples<WholeChain>(m, "WholeChainExamples")
      .def(
          "__init__",
          [](WholeChain* self, const ChainShape& shape, const Examples& examples, const Set& set,
             const Types& labels, const GlobalTexts& texts, FeatureIndex& index, bool open,
             const NonLocalOptions& options) {
            const DocumentData documents =
                documents_of(set, labels, texts, index, open, examples.sentences(), shape.labels);
            new (self) WholeChain(
                shape, {ChainData{examples, std::make_shared<LabelCosts>()}, documents, options});
          },
          "shape"_a, "examples"_a, "set"_a, "labels"_a, "texts"_a, "index"_a, "open"_a, "options"_a,
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>());

  bind_examples<WholeSegments>(m, "WholeSegmentBatch")
      .def(
          "__init__",
          [](WholeSegments* self, const SegmentShape& shape, const SegmentProgram& program, bool open_local,
             const SegmentExamples& examples, const Set& set, const Types& labels, const GlobalTexts& texts,
             FeatureIndex& index, bool open, const NonLocalOptions& options) {
            const DocumentData documents =
                documents_of(set, labels, texts, index, open, examples.sentences(), shape.labels);
            SegmentData data{program,       examples,      index, open_local && open, examples.gold,
                             examples.sets, std::make_shared<LabelCosts>()};
            new (self) WholeSegments(shape, {data, documents, options});
          },
          "shape"_a, "program"_a, "open_local"_a, "examples"_a, "set"_a, "labels"_a, "texts"_a, "index"_a,
          "open"_a, "options"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 5>(),
          nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>());
}
