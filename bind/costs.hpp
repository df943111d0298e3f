// Costs of labels, from Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "arrays.hpp"
#include "search/labels.hpp"

using Costs = std::optional<Input<float>>;

// Without costs, each wrong label costs 1.
inline std::shared_ptr<const marginalia::LabelCosts> costs_of(const Costs& costs, std::uint32_t labels) {
  auto found = std::make_shared<marginalia::LabelCosts>();
  if (!costs) return found;
  if (costs->size() != std::size_t{labels} * labels)
    throw std::invalid_argument("costs: expected one for each pair of labels");
  found->labels = labels;
  found->cost.assign(costs->data(), costs->data() + costs->size());
  return found;
}
