// What programs of all kinds and examples of all kinds are made of.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "features/program.hpp"

using SourceFields = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>;

inline marginalia::Source source_of(const SourceFields& fields) {
  using marginalia::Source;
  const auto& [function, argument, column, list] = fields;
  if (function == "first") return {Source::Kind::first, {}, 0, 0};
  if (function == "list") return {Source::Kind::list, {}, column, list};
  return {Source::Kind::column, {marginalia::function_named(function), argument}, column, 0};
}

inline std::vector<marginalia::Source> sources_of(const std::vector<SourceFields>& fields) {
  std::vector<marginalia::Source> made;
  for (const auto& one : fields) made.push_back(source_of(one));
  return made;
}

inline std::vector<std::uint32_t> gold_of(const Input<std::int32_t>& gold, std::size_t tokens,
                                          std::uint32_t labels) {
  if (gold.size() != tokens) throw std::invalid_argument("gold labels disagree with the tokens");
  for (const std::int32_t label : view(gold))
    if (label < 0 || static_cast<std::uint32_t>(label) >= labels)
      throw std::invalid_argument("a gold label is out of range");
  return {gold.data(), gold.data() + gold.size()};
}
