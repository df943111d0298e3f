#include "learn/difference.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace marginalia {

// An example with many features leaves a large table behind, which costs the next ones nothing: only slots
// that were used are emptied.
void NetDifference::clear() {
  for (const std::uint32_t slot : used_) slots_[slot] = 0;
  used_.clear();
  terms_.clear();
}

std::size_t NetDifference::slot_of(const Coordinate& at) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = scrambled((std::uint64_t{at.row} << 32) + at.output) & mask;
  while (slots_[i] != 0) {
    const Coordinate& there = terms_[slots_[i] - 1].at;
    if (there.row == at.row && there.output == at.output) break;
    i = (i + 1) & mask;
  }
  return i;
}

void NetDifference::add(const Coordinate& at, double value) {
  const std::size_t slot = slot_of(at);
  if (slots_[slot] != 0) {
    terms_[slots_[slot] - 1].value += value;
    return;
  }
  terms_.push_back({at, value});
  use(slot, terms_.size());
  if (terms_.size() * 2 > slots_.size()) grow();
}

void NetDifference::use(std::size_t slot, std::size_t term) {
  slots_[slot] = static_cast<std::uint32_t>(term);
  used_.push_back(static_cast<std::uint32_t>(slot));
}

void NetDifference::grow() {
  slots_.assign(slots_.size() * 2, 0);
  used_.clear();
  for (std::size_t k = 0; k < terms_.size(); ++k) use(slot_of(terms_[k].at), k + 1);
}

void NetDifference::finish() {
  std::erase_if(terms_, [](const Term& term) { return term.value == 0.0; });
}

double NetDifference::squared_norm() const {
  double sum = 0.0;
  for (const Term& term : terms_) sum += term.value * term.value;
  return sum;
}

}  // namespace marginalia
