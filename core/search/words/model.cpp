#include "search/words/model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace marginalia {

SearchedWords& WordModel::read(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                               Space& space) const {
  if (space.owner != identity() || !space.searched || &space.searched->extractor != &extractor) {
    space.owner = identity();
    space.searched = std::make_unique<SearchedWords>(extractor, shape());
  }
  extractor.read(table, table.sentence[s], table.sentence[s + 1], identity(), space.extraction,
                 space.searched->scoring.x);
  return *space.searched;
}

void WordModel::search(SearchedWords& words) const {
  words.scoring.score_all(lookup(), words.scores);
  words.search.begin(constants(), words.scoring.x, {});
  words.search.go_on(lookup(), words.scores);
}

SearchedWords& WordModel::scores(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                                 Space& space) const {
  SearchedWords& words = read(extractor, table, s, space);
  search(words);
  return words;
}

std::unique_ptr<SearchedWords> WordModel::searched(const SegmentExtractor& extractor, const TokenTable& table,
                                                   std::size_t s, Space& space) const {
  auto words = std::make_unique<SearchedWords>(extractor, shape());
  extractor.read(table, table.sentence[s], table.sentence[s + 1], identity(), space.extraction,
                 words->scoring.x);
  search(*words);
  return words;
}

void WordModel::find_best(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                          Space& space, Labels& output) const {
  SearchedWords& words = read(extractor, table, s, space);
  const std::size_t length = words.scoring.x.length, block = words.scoring.block();
  words.search.begin(constants(), words.scoring.x, {});
  for (std::size_t first = 0; first < length; first += block) {
    words.scoring.score(lookup(), first, std::min(block, length - first), {}, words.scores);
    words.search.go_on(lookup(), words.scores);
  }
  output = words.search.output(length, 0);
}

std::vector<WordModel::LocatedFeature> WordModel::features_of(const SegmentExtractor& extractor,
                                                              const TokenTable& table, std::size_t s,
                                                              const Labels& y, Space& space) const {
  const SegmentValues& x = read(extractor, table, s, space).scoring.x;
  if (y.size() != x.length) throw std::invalid_argument("labels do not fit the sentence");
  const std::vector<std::string> texts =
      extractor.texts(table, table.sentence[s], table.sentence[s + 1], space.extraction);
  const auto text_at = [&](std::size_t token, std::uint32_t source) -> const std::string& {
    return texts[token * extractor.sources() + source];
  };
  std::vector<LocatedFeature> found;
  for_features(extractor, x, y,
               [&](std::uint32_t row, std::uint32_t label, const SegmentExtractor::Origin& origin) {
                 found.push_back({row, label, origin, {}});
                 if (origin.item != nullptr)
                   found.back().texts.emplace_back(table.items->name(origin.item->name));
                 else
                   found.back().texts = extractor.piece_texts(origin, y.size(), text_at);
               });
  return found;
}

std::vector<OutputFeature> WordModel::differing_features(const SegmentExtractor& extractor,
                                                         const TokenTable& table, std::size_t s,
                                                         const Labels& y, const Labels& z,
                                                         Space& space) const {
  const std::vector<Segment> ours = shape().segments(y), theirs = shape().segments(z);
  const auto word_before = [](const std::vector<Segment>& words, auto at) {
    return at == words.begin() ? Segment{kNoPrevious, 0, 0} : *(at - 1);
  };
  const auto starting = [](const std::vector<Segment>& words, std::size_t begin) {
    return std::lower_bound(words.begin(), words.end(), begin,
                            [](const Segment& one, std::size_t first) { return one.begin < first; });
  };
  const auto is_shared = [&](std::size_t begin) {
    const auto own = starting(ours, begin), other = starting(theirs, begin);
    return other != theirs.end() && *own == *other && word_before(ours, own) == word_before(theirs, other);
  };
  std::vector<OutputFeature> found;
  for (LocatedFeature& f : features_of(extractor, table, s, y, space)) {
    const SegmentExtractor::Origin& from = f.origin;
    if (is_shared(from.begin)) continue;
    const double weight = weight_of(weights(), f.row, f.label);
    if (weight != 0.0) found.push_back(SegmentModel::output_feature(extractor, std::move(f), weight));
  }
  return found;
}

// Outputs that the beam has lost have none.
double WordModel::probability(const SegmentMarginals& answers, const Labels& y, Marginals& marginals,
                              std::span<double>, double factor, const SegmentConstants&, Space& space) const {
  SearchedWords& words = *space.searched;
  const double score = paths(words).score(y);
  const WordProbabilities found =
      probabilities_of_words(shape(), words.search, lookup(), words.scores, factor);
  answers.fill(marginals, found.words, found.twins);
  return std::exp(std::min(0.0, factor * score - found.log_z));
}

}  // namespace marginalia
