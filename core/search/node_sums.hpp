// Label scores of tokens from the groups of templates: sums of weight rows that are kept by the values which
// the groups look at. The sums are the same whether they were kept or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/extractor.hpp"
#include "weights/frozen.hpp"
#include "weights/score_cache.hpp"

namespace marginalia {

class NodeSums {
 public:
  // Scratch memory of one thread.
  struct Space {
    Identity owner, keys_of;  // the model whose sums are kept, and what their keys mean
    ScoreCache words, contexts;
    std::vector<Feature> features;           // of a group at a token
    std::vector<ScoreCache::Record> places;  // [tokens][contexts] of records
    std::vector<std::uint64_t> keys;         // the same
    std::vector<const float*> rows;          // of a token
    std::vector<const double*> sums;
  };

  // Are there groups, and few enough labels? Vectors of many labels are mostly zeros.
  static bool fits(const FeatureExtractor& extractor, std::size_t labels) {
    return labels <= kMostLabels &&
           !(extractor.groups().words.empty() && extractor.groups().contexts.empty());
  }

  // For a sentence that was read. All must outlive it.
  NodeSums(const FrozenWeights& weights, std::size_t labels, const FeatureExtractor& extractor,
           const Identity& owner, std::size_t length, ExtractionSpace& extraction, Space& space);

  // Asks the memory for what the sums of the tokens [begin, end) need.
  void prefetch(std::size_t begin, std::size_t end);
  // Writes the sums of the same tokens to node[token][label].
  void write(std::size_t begin, std::size_t end, double* node);

 private:
  static constexpr std::size_t kMostLabels = 64;

  // Adds the vector of a group at a token to those that were found; fills it if it is not known.
  void take(const ScoreCache& cache, ScoreCache::Record record, std::size_t vector,
            const TemplateGroup& group, std::size_t at);
  void fill(const ScoreCache& cache, ScoreCache::Record record, std::size_t vector,
            const TemplateGroup& group, std::size_t at);

  const FrozenWeights& weights_;
  const std::size_t labels_;
  const FeatureExtractor& extractor_;
  const TemplateGroups& groups_;
  const std::size_t length_;
  ExtractionSpace& extraction_;
  Space& space_;
  bool keeps_;  // do keys mean anything?
};

// Gives features their rows, and asks the memory for those.
inline void resolve(std::vector<Feature>& features, const FrozenWeights& weights, ExtractionSpace& space) {
  FeatureExtractor::resolve(features, space, [&](const Feature& f) {
    const std::uint32_t row = weights.find(f.key, f.edge);
    if (row != kUnknownRow) weights.prefetch_row(row);
    return row;
  });
}

}  // namespace marginalia
