// The tiers of the contract as data: what a structure offers, from its concepts, and what a learner needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "search/structure.hpp"

namespace marginalia {

enum class Tier : std::uint8_t {
  costs,
  expectations,
  steps,
  partial,
  dropout,
  constants,
  penalties,
  lists,
  tokens
};

struct TierText {
  const char* name;
  const char* what;  // a structure that has the tier offers
};

// By tier.
inline constexpr std::array<TierText, 9> kTiers = {{
    {"costs", "costs of wrong outputs"},
    {"expectations", "expected features"},
    {"steps", "outputs that are made choice by choice"},
    {"partial", "examples with more than one right output"},
    {"dropout", "examples with features left out"},
    {"constants", "weights that no feature of the input has"},
    {"penalties", "the rows that an example's score comes from"},
    {"lists", "lists of outputs that are given with the examples"},
    {"tokens", "labels that are each of one token (or item) with its features"},
}};

class Tiers {
 public:
  constexpr Tiers() = default;
  constexpr Tiers(Tier tier) : bits_(1u << static_cast<unsigned>(tier)) {}
  constexpr bool has(Tier tier) const { return (bits_ & Tiers(tier).bits_) != 0; }
  constexpr Tiers with(Tier tier, bool is = true) const {
    Tiers both = *this;
    if (is) both.bits_ |= Tiers(tier).bits_;
    return both;
  }

 private:
  std::uint32_t bits_ = 0;
};

template <Structure S>
constexpr Tiers tiers_of() {
  return Tiers()
      .with(Tier::costs, CostSensitive<S>)
      .with(Tier::expectations, Probabilistic<S>)
      .with(Tier::steps, Stepwise<S>)
      .with(Tier::partial, PartiallyLabelled<S>)
      .with(Tier::dropout, Droppable<S>)
      .with(Tier::constants, WithConstants<S>)
      .with(Tier::penalties, LazilyPenalised<S>)
      .with(Tier::lists, Listed<S>)
      .with(Tier::tokens, Labelled<S>);
}

// Refuses a pair: what needs a tier, and a structure that does not have it.
[[noreturn]] inline void refuse(const char* learner, Tier tier, const char* structure) {
  throw std::invalid_argument(std::string(learner) + " needs " + kTiers[static_cast<std::size_t>(tier)].what +
                              ", which the structure " + structure + " does not have");
}

// Throws std::invalid_argument unless the structure has all tiers that the learner needs.
template <Structure S>
void check_fit(const char* learner, Tiers needs) {
  for (std::size_t k = 0; k < kTiers.size(); ++k)
    if (const auto tier = static_cast<Tier>(k); needs.has(tier) && !tiers_of<S>().has(tier))
      refuse(learner, tier, S::kName);
}

// log Z; means of the expected features: of whole outputs, or (`local`) of each choice on the way to gold.
template <Structure S, class Means>
double expectations([[maybe_unused]] S& s, [[maybe_unused]] std::size_t i, bool local,
                    [[maybe_unused]] Means&& means) {
  if constexpr (Stepwise<S>)
    if (local) return s.local_expectations(i, means);
  if constexpr (Probabilistic<S>)
    if (!local) return s.expectations(i, means);
  refuse("the likelihood", local ? Tier::steps : Tier::expectations, S::kName);
}

// log Z and expected features over the right outputs of an example with more than one.
template <Structure S, class Means>
double right_expectations([[maybe_unused]] S& s, [[maybe_unused]] std::size_t i,
                          [[maybe_unused]] Means&& means) {
  if constexpr (PartiallyLabelled<S> && Probabilistic<S>)
    return s.right_expectations(i, means);
  else
    refuse("the likelihood", PartiallyLabelled<S> ? Tier::expectations : Tier::partial, S::kName);
}

}  // namespace marginalia
