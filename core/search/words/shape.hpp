// Words as segments of characters, with how they are searched and learned.
#pragma once

#include <cstdint>
#include <vector>

#include "search/segments/shape.hpp"

namespace marginalia {

struct WordShape : SegmentShape {
  std::uint32_t beam;  // states that search keeps at each place between two tokens; 0: all
  bool early;  // updates compare prefixes up to where the beam lost gold, else up to where it is worst

  // Throws std::invalid_argument.
  WordShape(const std::vector<std::uint32_t>& inside, std::uint32_t most, bool transitions, bool ends,
            std::uint32_t beam, bool early)
      : SegmentShape(inside, most, transitions, ends), beam(beam), early(early) {}
};

}  // namespace marginalia
