#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "weights/frozen.hpp"

using namespace marginalia;

namespace {

// Names of the given training rows, joined, with the end of each.
nb::tuple joined_names(const FeatureIndex& index, const std::vector<std::uint32_t>& rows) {
  std::string text;
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t row : rows) {
    text += index.name(row);  // of an empty slot: nothing
    if (text.size() > UINT32_MAX)
      throw std::length_error("feature names take more than 4 GiB: set names=off");
    ends.push_back(static_cast<std::uint32_t>(text.size()));
  }
  return nb::make_tuple(nb::bytes(text.data(), text.size()), give(std::move(ends)));
}

nb::dict frozen(const SparseRows& weights, const FeatureIndex& index, std::uint32_t labels) {
  FrozenStorage f = freeze(weights, index, labels);
  nb::dict out;
  if (index.keeps_names()) {
    const nb::tuple names = joined_names(index, f.rows);
    out["names"] = names[0];
    out["name_end"] = names[1];
  }
  out["homes"] = give(std::vector<std::uint64_t>{f.homes});
  out["keys"] = give(std::move(f.keys));
  out["row_end"] = give(std::move(f.row_end));
  out["outputs"] = give(std::move(f.outputs));
  out["weights"] = give(std::move(f.weights));
  if (!f.edge.empty()) out["edge"] = give(std::move(f.edge));
  return out;
}

nb::tuple cells_of(const SparseRows& weights, std::uint32_t row) {
  if (row >= weights.rows.size()) throw nb::index_error("no such row");
  std::vector<std::uint32_t> outputs;
  std::vector<float> values;
  for (const Cell* c = weights.begin(row); c != weights.end(row); ++c) {
    outputs.push_back(c->output);
    values.push_back(c->weight);
  }
  return nb::make_tuple(give(std::move(outputs)), give(std::move(values)));
}

}  // namespace

void bind_weights(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SparseRows>(m, "SparseRows", "Weights to score with; row 0 holds the structure's constants.")
      .def("cells", &cells_of, "row"_a, "Outputs and weights of a row.")
      .def("freeze", &frozen, "index"_a, "labels"_a, "The arrays of a finished model, without what is zero.");
  nb::class_<WeightTable>(m, "WeightTable", "Weights to learn.")
      .def(nb::init<std::uint32_t, std::uint32_t>(), "rows"_a, "constants"_a)
      .def_prop_ro("current", &WeightTable::current, nb::rv_policy::reference_internal)
      .def("averaged", &WeightTable::averaged, "steps"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("copy", [](const WeightTable& w) { return w.current(); });
}
