#include "base/schemes.hpp"

#include "arrays.hpp"
#include "bind.hpp"

using marginalia::SchemeLabels;

void bind_schemes(nb::module_& m) {
  using Types = Input<std::uint32_t>;
  using Ids = Input<std::int32_t>;
  using Bytes = Input<std::uint8_t>;
  nb::class_<SchemeLabels>(m, "SchemeLabels", "Labels that spell spans, by type and prefix.")
      .def(
          "__init__",
          [](SchemeLabels* self, const Types& type, const Bytes& prefix, const Bytes& joined,
             const Bytes& legal) {
            const auto copy = [](const auto& a) { return std::vector(a.data(), a.data() + a.size()); };
            new (self) SchemeLabels(copy(type), copy(prefix), copy(joined), copy(legal));
          },
          nb::arg("type").noconvert(), nb::arg("prefix").noconvert(), nb::arg("joined").noconvert(),
          nb::arg("legal").noconvert())
      .def(
          "illegal",
          [](const SchemeLabels& self, const Ids& ids, const Types& starts) {
            std::vector<std::uint32_t> found;
            {
              nb::gil_scoped_release unlocked;
              found = self.illegal(view(ids), view(starts));
            }
            return give(std::move(found));
          },
          nb::arg("ids").noconvert(), nb::arg("starts").noconvert(),
          "Tokens whose label may not follow the one before it, or may not end a sentence.")
      .def(
          "translated",
          [](const SchemeLabels& self, const Ids& ids, const Types& starts, const Ids& targets) {
            std::vector<std::int32_t> found;
            {
              nb::gil_scoped_release unlocked;
              found = self.translated(view(ids), view(starts), view(targets));
            }
            return give(std::move(found));
          },
          nb::arg("ids").noconvert(), nb::arg("starts").noconvert(), nb::arg("targets").noconvert(),
          "The label of each token in another scheme, by a table [labels][3][3] of its relations to the "
          "labels "
          "before and after it.");
}
