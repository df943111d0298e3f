#include "weights/packing.hpp"

#include "arrays.hpp"
#include "bind.hpp"

using namespace marginalia;

namespace {

template <class T>
std::vector<T> copy_of(const Input<T>& array) {
  return {array.data(), array.data() + array.size()};
}

using Numbers = Input<std::uint32_t>;
using Bytes = Input<std::uint8_t>;

PackingShape shape_of(std::size_t rows, std::size_t cells, std::uint32_t width, std::uint32_t levels,
                      int bits, bool has_edges) {
  if (rows >= UINT32_MAX || cells >= UINT32_MAX) throw std::invalid_argument("packed weights: too many");
  return {
      static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cells), width, levels, bits, has_edges};
}

nb::object packed(const Numbers& keys, const Numbers& sizes, const Bytes& edge, const Numbers& outputs,
                  const Numbers& values, std::uint32_t width, std::uint32_t levels, int bits,
                  bool has_edges) {
  RowList rows{copy_of(keys), copy_of(sizes), copy_of(edge), copy_of(outputs), copy_of(values)};
  const PackingShape shape = shape_of(keys.size(), outputs.size(), width, levels, bits, has_edges);
  std::vector<std::uint8_t> bytes;
  {
    const nb::gil_scoped_release released;
    bytes = pack(std::move(rows), shape);
  }
  return nb::cast(give(std::move(bytes)));
}

nb::tuple unpacked(const Bytes& bytes, std::size_t rows, std::size_t cells, std::uint32_t width,
                   std::uint32_t levels, int bits, bool has_edges) {
  const PackingShape shape = shape_of(rows, cells, width, levels, bits, has_edges);
  RowList found;
  {
    const nb::gil_scoped_release released;
    found = unpack(view(bytes), shape);
  }
  return nb::make_tuple(give(std::move(found.keys)), give(std::move(found.sizes)),
                        give(std::move(found.edge)), give(std::move(found.outputs)),
                        give(std::move(found.values)));
}

}  // namespace

void bind_packing(nb::module_& m) {
  using namespace nb::literals;
  m.def("pack_rows", &packed, nb::arg("keys").noconvert(), nb::arg("sizes").noconvert(),
        nb::arg("edge").noconvert(), nb::arg("outputs").noconvert(), nb::arg("values").noconvert(), "width"_a,
        "levels"_a, "bits"_a, "has_edges"_a, "Rows of weights, by rising key, as few bytes.");
  m.def("unpack_rows", &unpacked, nb::arg("packed").noconvert(), "rows"_a, "cells"_a, "width"_a, "levels"_a,
        "bits"_a, "has_edges"_a, "Keys, sizes, edges, outputs and values of rows that were packed.");
}
