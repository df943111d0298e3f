#include "search/node_sums.hpp"

#include <algorithm>

namespace marginalia {

namespace {

constexpr std::uint64_t kNoKey = UINT64_MAX;  // keys are smaller

// Which groups have sums that are single rows.
std::vector<std::uint8_t> single_rows(const std::vector<TemplateGroup>& groups) {
  std::vector<std::uint8_t> single;
  for (const TemplateGroup& group : groups) single.push_back(group.templates.size() == 1 ? 1 : 0);
  return single;
}

}  // namespace

NodeSums::NodeSums(const FrozenWeights& weights, std::size_t labels, const FeatureExtractor& extractor,
                   const Identity& owner, std::size_t length, ExtractionSpace& extraction, Space& space)
    : weights_(weights),
      labels_(labels),
      extractor_(extractor),
      groups_(extractor.groups()),
      length_(length),
      extraction_(extraction),
      space_(space),
      keeps_(FeatureExtractor::keys_of(extraction) != nullptr) {
  const Identity& keys_of = FeatureExtractor::keys_of(extraction);
  if (space.owner == owner && space.keys_of == keys_of) return;
  space.words.reset(1, single_rows(groups_.words), labels);
  space.contexts.reset(groups_.contexts.size(), {0}, labels);
  space.owner = owner;
  space.keys_of = keys_of;
}

void NodeSums::prefetch(std::size_t begin, std::size_t end) {
  if (!groups_.words.empty()) {
    const std::size_t reach = groups_.reach;
    for (std::size_t at = begin == 0 ? 0 : begin + reach; at < std::min(end + reach, length_); ++at)
      space_.words.prefetch_record(space_.words.numbered(extractor_.value_id({0, 0}, extraction_, at)));
  }
  space_.places.clear();
  space_.keys.clear();
  for (std::size_t at = begin; at < end; ++at) {
    for (std::size_t g = 0; g < groups_.contexts.size(); ++g) {
      space_.keys.push_back(extractor_.group_key(groups_.contexts[g], extraction_, at));
      space_.places.push_back(space_.contexts.hashed(g, space_.keys.back()));
      space_.contexts.prefetch_record(space_.places.back());
    }
  }
}

// A record may lose its place to another one that the token needs, but not its vector: each group has one at
// a token, and different groups have different vectors.
void NodeSums::write(std::size_t begin, std::size_t end, double* node) {
  std::size_t i = 0;
  for (std::size_t at = begin; at < end; ++at) {
    space_.rows.clear();
    space_.sums.clear();
    for (std::size_t g = 0; g < groups_.words.size(); ++g) {
      const std::uint64_t id = extractor_.value_id(groups_.words[g].places[0], extraction_, at);
      const ScoreCache::Record place = space_.words.numbered(id);
      take(space_.words, ScoreCache::of_one(place, keeps_ ? id + 1 : kNoKey), g, groups_.words[g], at);
    }
    for (std::size_t g = 0; g < groups_.contexts.size(); ++g, ++i) {
      const std::uint64_t key = keeps_ ? space_.keys[i] : kNoKey;
      const ScoreCache::Record record = space_.contexts.of_two(g, space_.places[i], key);
      take(space_.contexts, record, 0, groups_.contexts[g], at);
    }
    sum_vectors(space_.rows, space_.sums, labels_, node + at * labels_);
  }
}

void NodeSums::take(const ScoreCache& cache, ScoreCache::Record record, std::size_t vector,
                    const TemplateGroup& group, std::size_t at) {
  if (!keeps_ || !ScoreCache::is_known(record, vector)) fill(cache, record, vector, group, at);
  if (ScoreCache::is_zero(record, vector)) return;
  if (cache.is_row(vector))
    space_.rows.push_back(cache.row(record, vector));
  else
    space_.sums.push_back(cache.sum(record, vector));
}

void NodeSums::fill(const ScoreCache& cache, ScoreCache::Record record, std::size_t vector,
                    const TemplateGroup& group, std::size_t at) {
  std::vector<Feature>& features = space_.features;
  extractor_.features(extraction_, length_, at, at + 1, group.templates, features,
                      [&](std::uint64_t key) { return weights_.prefetch_key(key); });
  resolve(features, weights_, extraction_);
  for (const Feature& f : features) weights_.prefetch_cells(f.row);
  cache.start_vector(record, vector, features.empty());
  if (!cache.is_row(vector)) {
    for (const Feature& f : features) weights_.add_row(f.row, labels_, cache.sum(record, vector));
  } else if (!features.empty()) {
    float* row = cache.row(record, vector);
    weights_.for_cells(features[0].row, [row](std::uint32_t output, float weight) { row[output] = weight; });
  }
}

}  // namespace marginalia
