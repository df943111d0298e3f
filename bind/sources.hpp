// What extractors of all kinds and examples of all kinds are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "features/extractor.hpp"
#include "features/right.hpp"

using SourceFields = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>;

using WordTables = std::vector<std::shared_ptr<const marginalia::WordTable>>;

inline marginalia::Source source_of(const SourceFields& fields, const WordTables& words) {
  using marginalia::Source;
  const auto& [function, argument, column, list] = fields;
  if (function == "first") return {Source::Kind::first, {}, 0, 0, {}};
  if (function == "list") return {Source::Kind::list, {}, column, list, {}};
  marginalia::DocumentAttribute document{.column = column, .list = list};
  if (marginalia::find_document_function(function, document.function)) {
    if (function.starts_with("elsewhere-") && function != "elsewhere-list")
      document.n = static_cast<std::uint32_t>(std::stoul(argument));
    return {Source::Kind::document, {}, column, list, document};
  }
  marginalia::Attribute attribute{marginalia::function_named(function), argument};
  if (function == "cluster" || function == "lexicon") attribute.words = words.at(list);
  return {Source::Kind::column, std::move(attribute), column, 0, {}};
}

inline std::vector<marginalia::Source> sources_of(const std::vector<SourceFields>& fields,
                                                  const WordTables& words) {
  std::vector<marginalia::Source> made;
  for (const auto& one : fields) made.push_back(source_of(one, words));
  return made;
}

// Sets of labels, [sets][labels]: 1 for those that may be right.
using Sets = std::optional<Input<std::uint8_t>>;

inline marginalia::LabelSets sets_of(const Sets& allowed, std::uint32_t labels) {
  if (!allowed || allowed->size() == 0) return {};
  marginalia::LabelSets sets{labels, {allowed->data(), allowed->data() + allowed->size()}};
  if (labels == 0 || sets.allowed.size() % labels != 0)
    throw std::invalid_argument("sets of labels disagree with the labels");
  for (std::size_t k = 0; k < sets.size(); ++k)
    if (std::count(&sets.allowed[k * labels], &sets.allowed[k * labels] + labels, 1) == 0)
      throw std::invalid_argument("a set of labels is empty");
  return sets;
}

// Label numbers from 0 on; -1 - k stands for set k.
inline std::vector<std::uint32_t> gold_of(const Input<std::int32_t>& gold, std::size_t tokens,
                                          std::uint32_t labels, const marginalia::LabelSets& sets) {
  if (gold.size() != tokens) throw std::invalid_argument("gold labels disagree with the tokens");
  std::vector<std::uint32_t> ids;
  ids.reserve(tokens);
  for (const std::int64_t label : view(gold)) {
    if (label >= static_cast<std::int64_t>(labels) || -1 - label >= static_cast<std::int64_t>(sets.size()))
      throw std::invalid_argument("a gold label is out of range");
    ids.push_back(static_cast<std::uint32_t>(label >= 0 ? label : labels - 1 - label));
  }
  return ids;
}

inline nb::ndarray<nb::numpy, std::uint8_t> give_sets(const marginalia::LabelSets& sets) {
  return give(std::vector<std::uint8_t>(sets.allowed), sets.size(), std::size_t{sets.labels});
}
