// Examples with some of their features left out at random: a regulariser for learning, never for use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/example_rows.hpp"

namespace marginalia {

struct Dropout {
  double input = 0.0;     // each token is hidden with this probability, with all features that look at it
  double values = 0.0;    // each value of a column at a token is, with all features that look at it
  double features = 0.0;  // each feature of the example is left out with this probability
  std::uint64_t seed = 0;

  bool active() const { return hides() || features > 0.0; }
  bool hides() const { return input > 0.0 || values > 0.0; }
};

// What of an example is hidden or left out. It follows from the seed and the step, nothing else.
class Hidden {
 public:
  Hidden() = default;
  Hidden(const Dropout& dropout, std::uint64_t step);

  // Whether any values may be.
  bool any_input() const { return dropout_.hides(); }
  // A column's value at a token.
  bool value(std::size_t token, std::uint32_t column) const;
  // `which` names the feature. Asked for every feature of learning: mostly there is nothing to draw.
  bool feature(std::uint64_t which) const { return dropout_.features > 0.0 && leaves_out(which); }

 private:
  bool leaves_out(std::uint64_t which) const;

  Dropout dropout_;
  std::uint64_t tokens_ = 0, values_ = 0, features_ = 0;  // keys of what is drawn
};

// Makes `out` example i alone, thinned. Hiding input needs examples that keep their templates.
void thin(const ExampleRows& examples, std::size_t i, const Dropout& dropout, std::uint64_t step,
          ExampleRows& out);

}  // namespace marginalia
