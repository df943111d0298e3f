// Maps from code points to code points, as ranges in each of which they go equally far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace marginalia {

// Every `step`-th code point from `first` to `last` goes `delta` further.
struct MappedRange {
  char32_t first, last;
  std::uint8_t step;
  std::int32_t delta;
};

// The code point itself if no range of the sorted table has it.
template <std::size_t n>
char32_t mapped(const MappedRange (&table)[n], char32_t code) {
  const auto found = std::lower_bound(std::begin(table), std::end(table), code,
                                      [](const MappedRange& range, char32_t c) { return range.last < c; });
  if (found == std::end(table) || code < found->first || (code - found->first) % found->step != 0)
    return code;
  return static_cast<char32_t>(static_cast<std::int32_t>(code) + found->delta);
}

// (first, last, step, delta) of all ranges.
template <std::size_t n>
std::vector<std::int32_t> flat(const MappedRange (&table)[n]) {
  std::vector<std::int32_t> numbers;
  for (const MappedRange& range : table)
    for (const auto number : {static_cast<std::int32_t>(range.first), static_cast<std::int32_t>(range.last),
                              std::int32_t{range.step}, range.delta})
      numbers.push_back(number);
  return numbers;
}

}  // namespace marginalia
