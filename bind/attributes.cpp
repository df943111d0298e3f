#include "features/attributes.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "arrays.hpp"
#include "base/normalization.hpp"
#include "base/unicode.hpp"
#include "bind.hpp"

namespace {

marginalia::Attribute checked(std::string_view function, std::string argument) {
  marginalia::Attribute attribute{marginalia::function_named(function), std::move(argument)};
  marginalia::check(attribute);
  return attribute;
}

std::optional<std::string> evaluate_text(std::string_view function, std::string argument,
                                         std::string_view value) {
  std::string out;
  if (!marginalia::evaluate(checked(function, std::move(argument)), value, out)) return std::nullopt;
  return out;
}

std::optional<nb::bytes> evaluate_bytes(std::string_view function, std::string argument, nb::bytes value) {
  std::string out;
  const std::string_view view(value.c_str(), value.size());
  if (!marginalia::evaluate(checked(function, std::move(argument)), view, out)) return std::nullopt;
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_attributes(nb::module_& m) {
  m.def(
      "check_attribute",
      [](std::string_view function, std::string argument) { checked(function, std::move(argument)); },
      nb::arg("function"), nb::arg("argument"),
      "Raise ValueError unless the function exists and takes this argument.");
  m.def("evaluate_attribute", evaluate_text, nb::arg("function"), nb::arg("argument"), nb::arg("value"),
        "The value of an attribute for one string, or None.");
  m.def("evaluate_attribute", evaluate_bytes, nb::arg("function"), nb::arg("argument"), nb::arg("value"),
        "An attribute of bytes, which need not be valid UTF-8.");
  m.def(
      "unicode_tables",
      [] {
        return nb::make_tuple(give(marginalia::class_table()), give(marginalia::lower_table()),
                              give(marginalia::width_table()));
      },
      "Ranges of kinds and scripts of characters, packed; and (first, last, step, distance) of lower case "
      "and of "
      "usual widths.");
}
