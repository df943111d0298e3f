#include "features/groups.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "features/extractor.hpp"

namespace marginalia {

namespace {

using Places = std::vector<TemplateGroup::Place>;

Places united(Places places, const Places& more) {
  for (const auto& place : more)
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  return places;
}

// What a template looks at, if that is all that its scores depend on; else nothing.
std::optional<Places> places_of(const Template& t, const std::vector<Source>& sources) {
  Places places;
  if (t.scope != Scope::node) return std::nullopt;
  for (const Piece& piece : t.pieces) {
    if (piece.literal) continue;
    const Source& source = sources[piece.source];
    if (source.kind != Source::Kind::column || piece.absolute ||
        std::abs(piece.offset) > TemplateGroups::kFarthest)
      return std::nullopt;
    places = united(std::move(places), {{piece.offset, source.column}});
  }
  if (places.empty() || places.size() > TemplateGroups::kMostPlaces) return std::nullopt;
  return places;
}

// The first column has words, and combinations of words seldom come again: only what depends on one of them
// is worth keeping. Other columns are taken to have few values.
bool is_of_word(const Places& places) {
  return places.size() == 1 && places[0].column == 0;
}
bool has_word(const Places& places) {
  return std::any_of(places.begin(), places.end(), [](const auto& place) { return place.column == 0; });
}

// The group that needs the fewest further places for these; none if each would have too many.
TemplateGroup* group_for(std::vector<TemplateGroup>& groups, const Places& places, std::size_t most) {
  TemplateGroup* best = nullptr;
  std::size_t fewest = 0;
  for (TemplateGroup& group : groups) {
    const std::size_t all = united(group.places, places).size(), more = all - group.places.size();
    if (all > most || (best != nullptr && more >= fewest)) continue;
    best = &group;
    fewest = more;
  }
  return best;
}

void add(std::uint32_t index, const Places& places, std::size_t most, std::vector<TemplateGroup>& groups) {
  TemplateGroup* group = group_for(groups, places, most);
  if (group == nullptr) group = &groups.emplace_back();
  group->places = united(std::move(group->places), places);
  group->templates.push_back(index);
}

}  // namespace

TemplateGroups groups_of(const std::vector<Template>& templates, const std::vector<Source>& sources) {
  TemplateGroups all;
  std::vector<std::optional<Places>> places;
  for (const Template& t : templates) places.push_back(places_of(t, sources));
  for (std::size_t size = TemplateGroups::kMostPlaces; size > 0; --size) {
    for (std::uint32_t i = 0; i < templates.size(); ++i) {
      if (!places[i] || places[i]->size() != size) continue;
      if (is_of_word(*places[i]))
        add(i, *places[i], 1, all.words);
      else if (!has_word(*places[i]))
        add(i, *places[i], TemplateGroups::kMostPlaces, all.contexts);
    }
  }
  // The first that need a word are the tokens before it.
  std::sort(all.words.begin(), all.words.end(), [](const TemplateGroup& a, const TemplateGroup& b) {
    return a.places[0].offset > b.places[0].offset;
  });
  std::vector<std::uint8_t> grouped(templates.size(), 0);
  for (std::vector<TemplateGroup>* groups : {&all.words, &all.contexts}) {
    for (TemplateGroup& group : *groups) {
      std::sort(group.templates.begin(), group.templates.end());
      for (const std::uint32_t i : group.templates) grouped[i] = 1;
      for (const auto& place : group.places)
        all.reach = std::max(all.reach, static_cast<std::size_t>(std::abs(place.offset)));
    }
  }
  for (std::uint32_t i = 0; i < templates.size(); ++i)
    if (grouped[i] == 0) all.others.push_back(i);
  return all;
}

}  // namespace marginalia
