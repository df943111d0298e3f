// A finished model of words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/frozen_model.hpp"
#include "search/output_features.hpp"
#include "search/segments/marginals.hpp"
#include "search/segments/model.hpp"
#include "search/words/paths.hpp"

namespace marginalia {

// A sentence that was searched, with all that is needed to ask about it.
struct SearchedWords {
  SearchedWords(const SegmentExtractor& extractor, const WordShape& shape)
      : extractor(extractor), scoring(extractor, shape), search(extractor, shape) {}
  const SegmentExtractor& extractor;
  SegmentScoring scoring;
  SegmentScores scores;
  WordSearch search;
};

struct WordTypes {
  static constexpr const char* kName = "words";
  using Shape = WordShape;
  using Constants = SegmentConstants;
  using Extractor = SegmentExtractor;
  using Output = Labels;
  struct Space : FrozenSpace<SegmentConstants> {
    Identity owner;  // the model that `searched` is for, with its extractor
    std::unique_ptr<SearchedWords> searched;
  };
};

class WordModel : public FrozenModel<WordModel, WordTypes> {
 public:
  using FrozenModel::FrozenModel;
  using Lookup = SegmentModel::Lookup;
  using LocatedFeature = SegmentModel::LocatedFeature;

  // Those of an output of sentence s that the model knows.
  std::vector<LocatedFeature> features_of(const SegmentExtractor& extractor, const TokenTable& table,
                                          std::size_t s, const Labels& y, Space& space) const;
  // Those of output y of sentence s that have a weight, but for those of words that output z has too, behind
  // the same words.
  std::vector<OutputFeature> differing_features(const SegmentExtractor& extractor, const TokenTable& table,
                                                std::size_t s, const Labels& y, const Labels& z,
                                                Space& space) const;

  // As FrozenModel needs them. Scores are those of all words of the sentence, and what search has found.
  SearchedWords& scores(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                        Space& space) const;
  void find_best(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s, Space& space,
                 Labels& output) const;
  std::vector<ScoredLabels> k_best(SearchedWords& words, std::size_t k, Space&) const {
    return k_best_words(shape(), words.search, lookup(), words.scores, k);
  }
  WordPaths<Lookup> paths(const SearchedWords& words) const {
    return {shape(), constants(), words.scores, words.scoring.x, lookup(), {words.extractor, shape()}};
  }
  auto features(const SegmentExtractor& extractor, const TokenTable&, std::size_t, Space& space) const {
    return [&](const Labels& y, auto&& f) {
      for_features(extractor, space.searched->scoring.x, y,
                   [&](std::uint32_t row, std::uint32_t label, const SegmentExtractor::Origin& origin) {
                     f(row, label, origin.value());
                   });
    };
  }
  template <class F>
  void for_constants_of(const Labels& y, F&& f) const {
    for_constants(shape(), shape().segments(y), f);
  }
  SegmentMarginals marginals(const Spelling& spelling) const { return {shape(), spelling}; }
  double probability(const SegmentMarginals& answers, const Labels& y, Marginals& marginals,
                     std::span<double>, double factor, const SegmentConstants& scaled, Space& space) const;
  // Searches a sentence into memory of its own.
  std::unique_ptr<SearchedWords> searched(const SegmentExtractor& extractor, const TokenTable& table,
                                          std::size_t s, Space& space) const;
  Lookup lookup() const { return {weights()}; }

 private:
  SearchedWords& read(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                      Space& space) const;
  void search(SearchedWords& words) const;
  template <class F>
  void for_features(const SegmentExtractor& extractor, const SegmentValues& x, const Labels& y, F&& f) const;
};

template <class F>
void WordModel::for_features(const SegmentExtractor& extractor, const SegmentValues& x, const Labels& y,
                             F&& f) const {
  const std::vector<Segment> words = shape().segments(y);
  for (std::size_t k = 0; k < words.size(); ++k) {
    const Segment& word = words[k];
    const auto known = [&](std::uint64_t key, std::uint32_t label, const SegmentExtractor::Origin& origin) {
      const std::uint32_t row = weights().find(key);
      if (row != kUnknownRow) f(row, label, origin);
    };
    extractor.for_segment(x, word.begin, word.last,
                          [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
                            known(key, label_of(shape(), extractor, origin, word.type), origin);
                          });
    extractor.for_neighbours(x, k == 0 ? kNoPrevious : words[k - 1].begin, word.begin, word.last,
                             [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
                               const bool before = extractor.is_before(origin);
                               known(key, shape().begin_label[before ? words[k - 1].type : word.type],
                                     origin);
                             });
  }
}

}  // namespace marginalia
