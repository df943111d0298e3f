#include "search/segment_model.hpp"

#include <cmath>
#include <stdexcept>

#include "search/segment_claims.hpp"
#include "search/walks.hpp"

namespace marginalia {

SegmentModel::SegmentModel(SegmentShape shape, FrozenWeights weights,
                           std::span<const std::uint32_t> constant_at, std::span<const float> constants)
    : shape_(std::move(shape)), weights_(weights), constants_(shape_) {
  if (constant_at.size() != constants.size())
    throw std::invalid_argument("segments: constants disagree in number");
  for (std::size_t k = 0; k < constants.size(); ++k) {
    if (constant_at[k] >= shape_.constants() || !std::isfinite(constants[k]))
      throw std::invalid_argument("segments: a constant is out of range");
    constants_.set(shape_, constant_at[k], static_cast<double>(constants[k]));
  }
}

SegmentScoring& SegmentModel::read(const SegmentProgram& program, const TokenTable& table, std::size_t s,
                                   Space& space) const {
  if (space.owner != identity_ || space.program != &program) {
    space.owner = identity_;
    space.program = &program;
    space.scaled.reset();
    space.scoring.emplace(program, shape_);
  }
  program.read(table, table.sentence[s], table.sentence[s + 1], identity_, space.extraction,
               space.scoring->x);
  return *space.scoring;
}

std::vector<std::int32_t> SegmentModel::best(const SegmentProgram& program, const TokenTable& table,
                                             Space& space) const {
  std::vector<std::int32_t> labels;
  labels.reserve(table.tokens());
  Labels output;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    SegmentScoring& scoring = read(program, table, s, space);
    const std::size_t length = scoring.x.length, block = scoring.block();
    space.viterbi.begin(shape_, constants_, length);
    for (std::size_t first = 0; first < length; first += block) {
      scoring.score(Lookup{weights_}, first, std::min(block, length - first), {}, space.scores);
      space.viterbi.go_on(space.scores);
    }
    space.viterbi.finish(output);
    labels.insert(labels.end(), output.begin(), output.end());
  }
  return labels;
}

const SegmentScores& SegmentModel::scores(const SegmentProgram& program, const TokenTable& table,
                                          std::size_t s, Space& space) const {
  read(program, table, s, space).score_all(Lookup{weights_}, space.scores);
  return space.scores;
}

template <class F>
void SegmentModel::for_features(const SegmentProgram& program, const SegmentValues& x, const Labels& y,
                                F&& f) const {
  for (const Segment& segment : shape_.segments(y))
    program.for_segment(x, segment.begin, segment.last,
                        [&](std::uint64_t key, const SegmentProgram::Origin& origin) {
                          const std::uint32_t row = weights_.find(key);
                          if (row == kUnknownRow) return;
                          f(row, label_of(shape_, program, origin, segment.type), origin);
                        });
}

std::vector<SegmentModel::Found> SegmentModel::features_of(const SegmentProgram& program,
                                                           const TokenTable& table, std::size_t s,
                                                           const Labels& y, Space& space) const {
  const SegmentScoring& scoring = read(program, table, s, space);
  if (y.size() != scoring.x.length) throw std::invalid_argument("labels do not fit the sentence");
  const std::vector<std::string> texts =
      program.texts(table, table.sentence[s], table.sentence[s + 1], space.extraction);
  const auto text_at = [&](std::size_t token, std::uint32_t source) -> const std::string& {
    return texts[token * program.sources() + source];
  };
  std::vector<Found> found;
  for_features(program, scoring.x, y,
               [&](std::uint32_t row, std::uint32_t label, const SegmentProgram::Origin& origin) {
                 found.push_back({row, label, origin, {}});
                 if (origin.item != nullptr)
                   found.back().texts.emplace_back(table.items->name(origin.item->name));
                 else
                   found.back().texts = program.piece_texts(origin, y.size(), text_at);
               });
  return found;
}

std::vector<std::int32_t> SegmentModel::voted(const SegmentProgram& program, const TokenTable& table,
                                              const VoteLog& log, std::size_t k, Space& space) const {
  if (log.row_end.size() != weights_.slots() + 1)
    throw std::invalid_argument("votes: the log does not fit the weights");
  const auto constant_row = static_cast<std::uint32_t>(weights_.slots());
  std::vector<std::int32_t> labels;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    SegmentKBest search(shape_, constants_, scores(program, table, s, space), k);
    std::vector<Labels> candidates;
    Labels output;
    while (search.next(output)) candidates.push_back(output);
    Ballot ballot(candidates.size());
    const auto add = [&](const Labels& y, std::size_t j, double count) {
      for_features(program, space.scoring->x, y,
                   [&](std::uint32_t row, std::uint32_t label, const SegmentProgram::Origin& origin) {
                     ballot.add(j, row, label, count * origin.value());
                   });
      for_constants(shape_, shape_.segments(y), [&](std::size_t at) {
        ballot.add(j, constant_row, static_cast<std::uint32_t>(at), count);
      });
    };
    for (std::size_t j = 1; j < candidates.size(); ++j) {
      add(candidates[j], j, 1.0);
      add(candidates[0], j, -1.0);
    }
    const Labels& chosen = candidates.at(ballot.winner(log));
    labels.insert(labels.end(), chosen.begin(), chosen.end());
  }
  return labels;
}

ConstrainedLabels SegmentModel::constrain(const SegmentProgram& program, const TokenTable& table,
                                          std::span<const std::int32_t> labels,
                                          std::span<const std::uint8_t> chosen, const Rules& rules,
                                          const std::vector<Places>& places, Space& space) const {
  return constrained_labels(table, labels, shape_.labels, chosen, rules, places,
                            [&](std::size_t s, const Demands& demands, const Labels& free) {
                              const SegmentScores& all = scores(program, table, s, space);
                              return constrained(SegmentWalks{shape_, constants_, all}, demands, free);
                            });
}

Confidences SegmentModel::confidences(const SegmentProgram& program, const TokenTable& table,
                                      std::span<const std::int32_t> labels,
                                      std::span<const std::uint32_t> sentences, const Spelling& spelling,
                                      double factor, Space& space) const {
  if (spelling.labels != shape_.labels) throw std::invalid_argument("confidence: the spelling does not fit");
  const SegmentClaims answers(shape_, spelling);
  return confidences_of(table, labels, sentences, spelling,
                        [&](std::size_t s, const Labels& y, Claims& claims, std::span<double>) {
                          scores(program, table, s, space);
                          if (factor != 1.0 && (!space.scaled || space.factor != factor)) {
                            space.scaled.emplace(constants_).scale(factor);
                            space.factor = factor;
                          }
                          const SegmentConstants& used = factor != 1.0 ? *space.scaled : constants_;
                          if (factor != 1.0)
                            for (double& score : space.scores.values) score *= factor;
                          return answers.probability(used, y, claims, space.scores);
                        });
}

}  // namespace marginalia
