// Examples with some of their features left out at random: a regulariser for learning, never for use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/examples.hpp"

namespace marginalia {

struct Dropout {
  double input = 0.0;     // each token is hidden with this probability, with all features that look at it
  double features = 0.0;  // each feature of the example is left out with this probability
  std::uint64_t seed = 0;

  bool active() const { return input > 0.0 || features > 0.0; }
};

// Which tokens of an example are hidden (empty: none), and whether a feature is left out. Both follow from
// the seed and the step, nothing else; `which` names the feature.
std::vector<std::uint8_t> hidden_tokens(const Dropout& dropout, std::uint64_t step, std::size_t length);
bool leaves_out(const Dropout& dropout, std::uint64_t step, std::uint64_t which);

// Makes `out` example i alone, thinned. Hiding tokens needs examples that keep their templates.
void thin(const Examples& examples, std::size_t i, const Dropout& dropout, std::uint64_t step, Examples& out);

}  // namespace marginalia
