// Tables as plain data, to be handed to another process.
#pragma once

#include <nanobind/nanobind.h>

#include "base/token_table.hpp"

namespace nb = nanobind;

// All that a table holds: numbers, and bytes of its arrays.
nb::tuple state_of(const marginalia::TokenTable& table);

// The table of such a state. Throws std::invalid_argument if it is none.
marginalia::TokenTable table_of(const nb::tuple& state);
