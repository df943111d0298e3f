// The arrays of a model file, for every structure.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "search/vote.hpp"
#include "weights/frozen.hpp"

// Views of a model's arrays, and the objects that own them.
struct ModelArrays {
  std::vector<nb::object> kept;
  marginalia::FrozenArrays weights;
  std::span<const std::uint32_t> constant_at;
  std::span<const float> constants;
  marginalia::VoteLog votes;
};

// Throws if one is missing or of a wrong kind.
ModelArrays take_arrays(const nb::dict& arrays);

inline void require_sentence(const marginalia::TokenTable& table, std::size_t s) {
  if (s >= table.sentences()) throw nb::index_error("no such sentence");
}
