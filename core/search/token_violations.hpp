// Constraints on outputs of one token, which need no search: how often each label breaks them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "search/constraints.hpp"
#include "search/labels.hpp"

namespace marginalia {

// [labels] How often each label breaks the constraints on such an output.
inline std::vector<std::uint32_t> violations_of_one(const ConstraintSet& constraint_set,
                                                    const PlacedConstraints& placed) {
  const OutputConstraints constraints(constraint_set, placed, 1);
  std::vector<std::uint32_t> violations;
  std::vector<std::size_t> broken;
  for (Labels y(1); y[0] < constraint_set.labels; ++y[0])
    violations.push_back(constraints.violations(y, broken));
  return violations;
}

// The same of many outputs, of which those that are not chosen have no constraints. Most have none of their
// own: what all share is counted once.
class TokenViolations {
 public:
  // All must outlive it. Throws std::invalid_argument unless all fit.
  TokenViolations(const ConstraintSet& constraint_set, std::span<const std::uint8_t> chosen,
                  const std::vector<PlacedConstraints>& placed)
      : constraint_set_(constraint_set),
        chosen_(chosen),
        placed_(placed),
        shared_(violations_of_one(constraint_set, {})) {
    if (chosen.size() != placed.size()) throw std::invalid_argument("constraints: outputs do not fit");
  }

  // Valid until the next call.
  const std::vector<std::uint32_t>& of(std::size_t s) {
    if (chosen_[s] == 0) {
      own_.assign(constraint_set_.labels, 0);
      return own_;
    }
    if (placed_[s].tokens.empty() && placed_[s].spans.empty()) return shared_;
    own_ = violations_of_one(constraint_set_, placed_[s]);
    return own_;
  }

  // Leaves of the labels of output s those that break its constraints least often; returns how often that is.
  template <class ScoredLabel>
  std::uint32_t keep_least(std::size_t s, std::vector<ScoredLabel>& labels) {
    const std::vector<std::uint32_t>& broken = of(s);
    const std::uint32_t least = *std::min_element(broken.begin(), broken.end());
    std::erase_if(labels, [&](const ScoredLabel& one) { return broken.at(one.output) != least; });
    return least;
  }

 private:
  const ConstraintSet& constraint_set_;
  std::span<const std::uint8_t> chosen_;
  const std::vector<PlacedConstraints>& placed_;
  std::vector<std::uint32_t> shared_, own_;
};

}  // namespace marginalia
