// Explicit attributes from Python objects, by the rules of python-crfsuite, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "base/items.hpp"

namespace nb = nanobind;

// The UTF-8 bytes of a Python string, kept alive by that string.
std::string_view bytes_of(nb::handle string);

// items[token], of sentences of these lengths. Throws std::invalid_argument, which names the place.
marginalia::Items items_of(const nb::list& items, const std::vector<std::uint32_t>& lengths);

nb::list attributes_of(const marginalia::TokenTable& table, std::size_t first, std::size_t last);
nb::bytes bytes_of_items(const marginalia::TokenTable& table);
