#include "features/global_groups.hpp"

#include <algorithm>
#include <string>

namespace marginalia {

namespace {

// The type that most are of, with one of `without` left out; ties go to the first. `types`: there are none.
std::uint32_t majority(std::span<const std::uint32_t> of_type, std::size_t without) {
  auto best = static_cast<std::uint32_t>(of_type.size());
  std::uint32_t most = 0;
  for (std::uint32_t type = 0; type < of_type.size(); ++type) {
    const std::uint32_t count = of_type[type] - (type == without ? 1 : 0);
    if (count > most) most = count, best = type;
  }
  return best;
}

void keep_distinct(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

ConsistencyGroups::ConsistencyGroups(const GlobalSet& set, const MentionLabels& labels, FeaturePool& pool)
    : set_(set), labels_(labels), pool_(pool) {}

void ConsistencyGroups::begin(const GlobalTexts& texts, std::span<const std::uint32_t> words) {
  lower_.clear();
  places_.clear();
  spans_.clear();
  numbers_.clear();
  strings_.clear();
  words_.clear();
  for (std::uint32_t t = 0; t < words.size(); ++t) {
    lower_.push_back(texts.facts(words[t]).lower);
    places_[lower_.back()].push_back(t);
  }
  covering_.assign(words.size(), {});
  covered_.assign(words.size(), 0);
}

std::uint32_t ConsistencyGroups::string_of(std::uint32_t begin, std::uint32_t end) {
  const auto [at, fresh] = spans_.try_emplace(std::uint64_t{begin} << 32 | end, 0);
  if (!fresh) return at->second;
  std::vector<std::uint32_t> key(lower_.begin() + begin, lower_.begin() + end);
  if (const auto found = numbers_.find(key); found != numbers_.end()) return at->second = found->second;
  const std::uint32_t number = add_string(begin, end);
  numbers_.emplace(std::move(key), number);
  return spans_[std::uint64_t{begin} << 32 | end] = number;
}

std::uint32_t ConsistencyGroups::add_string(std::uint32_t begin, std::uint32_t end) {
  const auto number = static_cast<std::uint32_t>(strings_.size());
  const std::uint32_t length = end - begin;
  String string{length, {}, {}, {}, std::vector<std::uint32_t>(labels_.types.size())};
  for (const std::uint32_t p : places_[lower_[begin]])
    if (p + length <= lower_.size() &&
        std::equal(lower_.begin() + begin, lower_.begin() + end, lower_.begin() + p))
      string.places.push_back(p);
  strings_.push_back(std::move(string));
  relate(number);
  for (const std::uint32_t p : strings_[number].places)
    for (std::uint32_t t = p; t < p + length; ++t) covering_[t].push_back({number, p});
  return number;
}

// Finds the known strings that contain a new one, and those that it contains. All occurrences of a known string
// cover their tokens, so one occurrence of the new one is enough to find what is inside it.
void ConsistencyGroups::relate(std::uint32_t number) {
  String& string = strings_[number];
  for (const std::uint32_t p : string.places)
    for (const Covering& other : covering_[p])
      if (other.begin + strings_[other.string].length >= p + string.length &&
          strings_[other.string].length > string.length)
        string.longer.push_back(other.string);
  keep_distinct(string.longer);
  std::vector<std::uint32_t> shorter;
  const std::uint32_t p = string.places.front();
  for (std::uint32_t t = p; t < p + string.length; ++t)
    for (const Covering& other : covering_[t])
      if (other.begin == t && t + strings_[other.string].length <= p + string.length &&
          strings_[other.string].length < string.length)
        shorter.push_back(other.string);
  keep_distinct(shorter);
  for (const std::uint32_t other : shorter) strings_[other].longer.push_back(number);
}

void ConsistencyGroups::put(const Mention& mention, int sign) {
  String& string = strings_[string_of(mention.begin, mention.end)];
  if (sign > 0)
    string.at.emplace(mention.begin, mention.type);
  else
    string.at.erase(mention.begin);
  string.of_type[mention.type] += static_cast<std::uint32_t>(sign);
  const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(mention.end - mention.begin, 3));
  for (std::uint32_t t = mention.begin; t < mention.end; ++t) {
    covered_[t] = sign > 0;
    Word& word = words_[lower_[t]];
    word.of_type.resize(labels_.types.size());
    word.of_type[mention.type] += static_cast<std::uint32_t>(sign);
    word.of_length[{mention.type, length}] += static_cast<std::uint32_t>(sign);
  }
}

void ConsistencyGroups::apply(std::span<const Mention> removed, std::span<const Mention> added) {
  for (const Mention& mention : removed) put(mention, -1);
  for (const Mention& mention : added) put(mention, 1);
}

// Strings that a mention contains, that contain it, or that occur where it stands: all of them have occurrences
// that share a token with it.
void ConsistencyGroups::touch(std::span<const Mention> mentions, Touched& touched) {
  for (const Mention& mention : mentions) string_of(mention.begin, mention.end);
  for (const Mention& mention : mentions)
    for (std::uint32_t t = mention.begin; t < mention.end; ++t) {
      for (const Covering& other : covering_[t]) touched.strings.push_back(other.string);
      touched.words.push_back(lower_[t]);
    }
  keep_distinct(touched.strings);
  keep_distinct(touched.words);
}

void ConsistencyGroups::count(const Touched& touched, double sign, FeatureCounts& counts) {
  for (const std::uint32_t number : touched.strings)
    if (!strings_[number].at.empty()) count_string(strings_[number], sign, counts);
  if (set_.has(Family::token_majority))
    for (const std::uint32_t word : touched.words) count_word(word, sign, counts);
}

void ConsistencyGroups::count_string(const String& string, double sign, FeatureCounts& counts) {
  const auto types = static_cast<std::uint32_t>(labels_.types.size());
  if (set_.has(Family::same)) count_same(string, sign, counts);
  if (set_.has(Family::majority))
    for (std::uint32_t type = 0; type < types; ++type)
      if (string.of_type[type] != 0)
        if (const std::uint32_t most = majority(string.of_type, type); most < types)
          tell(Family::majority, type, most, string.length, sign * string.of_type[type], counts);
  if (!string.longer.empty()) count_longer(string, sign, counts);
}

// Pairs of mentions in text order; and mentions with occurrences of the string that no mention touches.
void ConsistencyGroups::count_same(const String& string, double sign, FeatureCounts& counts) {
  const auto types = static_cast<std::uint32_t>(labels_.types.size());
  std::vector<std::uint32_t> before(types);
  for (const auto& [place, type] : string.at) {
    for (std::uint32_t other = 0; other < types; ++other)
      if (before[other] != 0) tell(Family::same, other, type, string.length, sign * before[other], counts);
    ++before[type];
  }
  double free = 0.0;
  for (const std::uint32_t p : string.places) free += is_free(p, string.length) ? 1.0 : 0.0;
  if (free == 0.0) return;
  for (std::uint32_t type = 0; type < types; ++type)
    if (before[type] != 0) tell(Family::same, type, types, string.length, sign * before[type] * free, counts);
}

void ConsistencyGroups::count_longer(const String& string, double sign, FeatureCounts& counts) {
  const auto types = static_cast<std::uint32_t>(labels_.types.size());
  std::vector<std::uint32_t> longer(types);
  for (const std::uint32_t other : string.longer)
    for (std::uint32_t type = 0; type < types; ++type) longer[type] += strings_[other].of_type[type];
  const std::uint32_t most = majority(longer, types);
  if (most == types) return;
  for (std::uint32_t type = 0; type < types; ++type) {
    if (string.of_type[type] == 0) continue;
    for (std::uint32_t other = 0; other < types; ++other)
      if (longer[other] != 0)
        tell(Family::sub, type, other, string.length, sign * string.of_type[type] * longer[other], counts);
    tell(Family::super_majority, type, most, string.length, sign * string.of_type[type], counts);
  }
}

void ConsistencyGroups::count_word(std::uint32_t word, double sign, FeatureCounts& counts) {
  const auto found = words_.find(word);
  if (found == words_.end()) return;
  for (const auto& [kind, count] : found->second.of_length)
    if (count != 0)
      if (const std::uint32_t most = majority(found->second.of_type, kind.first); most < labels_.types.size())
        tell(Family::token_majority, kind.first, most, kind.second, sign * count, counts);
}

void ConsistencyGroups::tell(Family family, std::uint32_t type, std::uint32_t other, std::size_t length,
                             double count, FeatureCounts& counts) {
  for (const std::uint32_t line : set_.of(family)) counts.add(feature(line, type, other, length), count);
}

std::uint32_t ConsistencyGroups::feature(std::uint32_t line, std::uint32_t type, std::uint32_t other,
                                         std::size_t length) {
  const GlobalSet::Line& declared = set_.lines()[line];
  const std::uint64_t size = declared.length ? std::min<std::uint64_t>(length, 3) : 0;
  const std::uint64_t types = labels_.types.size() + 1;
  const auto [at, fresh] = features_.try_emplace(((line * types + type) * types + other) * 4 + size, 0);
  if (!fresh) return at->second;
  std::string name = kFamilies[static_cast<std::size_t>(declared.family)];
  if (size != 0) name += "/length";
  name += "(" + labels_.types[type] + "," + (other < labels_.types.size() ? labels_.types[other] : "O");
  if (size != 0) name += size == 3 ? ",3+" : "," + std::to_string(size);
  return at->second = pool_.number_of(name + ")");
}

bool ConsistencyGroups::is_free(std::uint32_t begin, std::uint32_t length) const {
  for (std::uint32_t t = begin; t < begin + length; ++t)
    if (covered_[t] != 0) return false;
  return true;
}

}  // namespace marginalia
