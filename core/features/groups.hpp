// Templates that look at the same few values near a token: together they add up to one vector of label scores
// for each combination of these values, which whoever adds weights may keep.
#pragma once

#include <cstdint>
#include <vector>

namespace marginalia {

struct Template;
struct Source;

struct TemplateGroup {
  struct Place {
    std::int32_t offset;
    std::uint32_t column;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;             // at most kMostPlaces: what its templates look at
  std::vector<std::uint32_t> templates;  // rising
};

struct TemplateGroups {
  static constexpr std::size_t kMostPlaces = 3;
  static constexpr std::int32_t kFarthest = 8;  // offset

  std::vector<TemplateGroup> words;     // each looks at one place in the first column; by falling offset
  std::vector<TemplateGroup> contexts;  // of other columns
  std::vector<std::uint32_t> others;    // templates of no group, rising
  std::size_t reach = 0;                // the largest distance of a place from the token
};

// The groups depend on the templates alone, and scores are added group by group: so the sums do not depend on
// what was kept.
TemplateGroups groups_of(const std::vector<Template>& templates, const std::vector<Source>& sources);

}  // namespace marginalia
