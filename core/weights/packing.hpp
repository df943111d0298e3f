// The weights of a shrunk model as few bytes: keys as differences, outputs by the output before, values by
// their output, all of them by an adaptive range coder (docs/model-file.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace marginalia {

// Rows by rising key, each with its cells by rising output.
struct RowList {
  std::vector<std::uint32_t> keys, sizes;      // [rows]
  std::vector<std::uint8_t> edge;              // [rows] 1: outputs are pairs
  std::vector<std::uint32_t> outputs, values;  // [cells]
};

// What has to be known beforehand. A value is 1 + its level, or, if it is below zero, 1 + levels + its level;
// without levels it is any number of `bits` bits.
struct PackingShape {
  std::uint32_t rows = 0, cells = 0, width = 1, levels = 0;
  int bits = 32;
  bool has_edges = false;
};

// Both throw std::invalid_argument if the rows are not as described.
std::vector<std::uint8_t> pack(RowList rows, const PackingShape& shape);
RowList unpack(std::span<const std::uint8_t> bytes, const PackingShape& shape);

}  // namespace marginalia
