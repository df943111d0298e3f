#include "search/segments/model.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

SegmentScoring& SegmentModel::read(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                                   Space& space) const {
  if (space.owner != identity() || space.extractor != &extractor) {
    space.owner = identity();
    space.extractor = &extractor;
    space.scoring.emplace(extractor, shape());
  }
  extractor.read(table, table.sentence[s], table.sentence[s + 1], identity(), space.extraction,
                 space.scoring->x);
  return *space.scoring;
}

void SegmentModel::find_best(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                             Space& space, Labels& output) const {
  SegmentScoring& scoring = read(extractor, table, s, space);
  const std::size_t length = scoring.x.length, block = scoring.block();
  space.viterbi.begin(shape(), constants(), length);
  for (std::size_t first = 0; first < length; first += block) {
    scoring.score(Lookup{weights()}, first, std::min(block, length - first), {}, space.scores);
    space.viterbi.go_on(space.scores);
  }
  space.viterbi.finish(output);
}

const SegmentScores& SegmentModel::scores(const SegmentExtractor& extractor, const TokenTable& table,
                                          std::size_t s, Space& space) const {
  read(extractor, table, s, space).score_all(Lookup{weights()}, space.scores);
  return space.scores;
}

std::vector<ScoredLabels> SegmentModel::k_best(const SegmentScores& scores, std::size_t k, Space&) const {
  SegmentKBest search(shape(), constants(), scores, k);
  std::vector<ScoredLabels> found;
  ScoredLabels one;
  while (const std::optional<double> score = search.next(one.output)) {
    one.score = *score;
    found.push_back(one);
  }
  return found;
}

std::vector<SegmentModel::LocatedFeature> SegmentModel::features_of(const SegmentExtractor& extractor,
                                                                    const TokenTable& table, std::size_t s,
                                                                    const Labels& y, Space& space) const {
  const SegmentScoring& scoring = read(extractor, table, s, space);
  if (y.size() != scoring.x.length) throw std::invalid_argument("labels do not fit the sentence");
  const std::vector<std::string> texts =
      extractor.texts(table, table.sentence[s], table.sentence[s + 1], space.extraction);
  const auto text_at = [&](std::size_t token, std::uint32_t source) -> const std::string& {
    return texts[token * extractor.sources() + source];
  };
  std::vector<LocatedFeature> found;
  for_features(extractor, scoring.x, y,
               [&](std::uint32_t row, std::uint32_t label, const SegmentExtractor::Origin& origin) {
                 found.push_back({row, label, origin, {}});
                 if (origin.item != nullptr)
                   found.back().texts.emplace_back(table.items->name(origin.item->name));
                 else
                   found.back().texts = extractor.piece_texts(origin, y.size(), text_at);
               });
  return found;
}

OutputFeature SegmentModel::output_feature(const SegmentExtractor& extractor, LocatedFeature&& f,
                                           double weight) {
  const SegmentExtractor::Origin& from = f.origin;
  const bool of_token = extractor.is_of_token(from);
  const auto place = [&](std::size_t token) {
    return static_cast<std::uint32_t>(of_token ? from.inner : token);
  };
  return {place(from.begin),
          place(from.last),
          static_cast<std::uint32_t>(from.inner),
          f.row,
          f.label,
          static_cast<std::uint32_t>(from.template_index),
          from.value(),
          weight,
          std::move(f.texts)};
}

std::vector<OutputFeature> SegmentModel::differing_features(const SegmentExtractor& extractor,
                                                            const TokenTable& table, std::size_t s,
                                                            const Labels& y, const Labels& z,
                                                            Space& space) const {
  const std::vector<Segment> others = shape().segments(z);
  const auto is_shared = [&](std::size_t begin, std::size_t last) {
    const auto same = [&](const Segment& one) { return one.begin == begin && one.last == last; };
    const auto other = std::find_if(others.begin(), others.end(), same);
    return other != others.end() && y[begin] == z[begin];
  };
  std::vector<OutputFeature> found;
  for (LocatedFeature& f : features_of(extractor, table, s, y, space)) {
    const SegmentExtractor::Origin& from = f.origin;
    if (is_shared(from.begin, from.last)) continue;
    const double weight = weight_of(weights(), f.row, f.label);
    if (weight != 0.0) found.push_back(output_feature(extractor, std::move(f), weight));
  }
  return found;
}

double SegmentModel::probability(const SegmentMarginals& answers, const Labels& y, Marginals& marginals,
                                 std::span<double>, double factor, const SegmentConstants& scaled,
                                 Space& space) {
  if (factor != 1.0)
    for (double& score : space.scores.values) score *= factor;
  return answers.probability(scaled, y, marginals, space.scores);
}

}  // namespace marginalia
