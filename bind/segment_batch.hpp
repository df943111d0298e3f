// Batches of structures whose outputs are segments: segments and words.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "bind.hpp"
#include "costs.hpp"
#include "features/segment_examples.hpp"
#include "search/segments/segments.hpp"
#include "structure.hpp"

template <class Structure, class Shape>
void bind_segment_batch(nb::module_& m, const char* name) {
  using namespace nb::literals;
  using namespace marginalia;
  using Batch = BoundBatch<Structure, Shape, SegmentData>;
  bind_batch<Batch>(m, name)
      .def(
          "__init__",
          [](Batch* self, const Shape& shape, const SegmentExtractor& extractor,
             const SegmentExamples& examples, FeatureIndex& index, bool open, const Costs& costs) {
            if (open && index.keeps_names() && !examples.keeps_texts())
              throw std::invalid_argument("names of new features need examples that keep their texts");
            new (self) Batch(shape, SegmentData{extractor, examples, index, open, examples.gold,
                                                examples.sets, costs_of(costs, shape.labels)});
          },
          "shape"_a, "extractor"_a, "examples"_a, "index"_a, "open"_a,
          nb::arg("costs").noconvert() = nb::none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def(
          "count_features",
          [](const Batch& batch) {
            nb::gil_scoped_release unlocked;
            SparseRows none;
            none.rows.resize(1);
            Structure structure(batch.shape(), batch.data(), none);
            for (std::size_t i = 0; i < structure.size(); ++i) structure.count_features(i);
          },
          "Gives the features of the gold outputs rows of the index, and counts them.");
}
