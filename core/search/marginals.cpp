#include "search/marginals.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace marginalia {

Spelling::Spelling(std::vector<std::uint32_t> types, std::vector<std::uint8_t> in_spans,
                   std::vector<std::uint8_t> relations, std::vector<std::uint8_t> prefixes)
    : labels(types.size()),
      type(std::move(types)),
      inside(std::move(in_spans)),
      relation(std::move(relations)),
      prefix(std::move(prefixes)),
      members(inside.size()) {
  if (relation.size() != labels * labels || (!prefix.empty() && prefix.size() != 9))
    throw std::invalid_argument("spelling: the parts do not fit each other");
  if (std::any_of(relation.begin(), relation.end(), [](std::uint8_t r) { return r > kJoined; }))
    throw std::invalid_argument("spelling: there is no such relation");
  for (std::uint32_t label = 0; label < labels; ++label) {
    if (type[label] >= members.size()) throw std::invalid_argument("spelling: there is no such type");
    members[type[label]].push_back(label);
  }
}

namespace {

// Those relations on one side that make the same prefix as the given ones.
Relations same_prefix(const Spelling& spelling, std::uint8_t before, std::uint8_t after, bool left) {
  Relations found = 0;
  for (std::uint8_t r = 0; r < 3; ++r)
    if (spelling.prefix[(left ? r : before) * 3 + (left ? after : r)] == spelling.prefix[before * 3 + after])
      found = static_cast<Relations>(found | 1 << r);
  return found;
}

void add_marginals_of_sentence(const Spelling& spelling, std::span<const std::uint32_t> y, std::size_t first,
                               std::size_t last, Marginals& marginals) {
  const auto relation = [&](std::size_t t) {  // of the tokens t - 1 and t
    return t == first || t == last ? std::uint8_t{kApart}
                                   : spelling.relation[y[t - 1] * spelling.labels + y[t]];
  };
  std::size_t begin = first;
  for (std::size_t t = first; t < last; ++t) {
    const std::uint32_t type = spelling.type[y[t]];
    const std::uint8_t before = relation(t), after = relation(t + 1);
    const bool inside = spelling.inside[type] != 0;
    // At its edges a sentence has no neighbours, whatever the document has there.
    const auto at_edge = [&](std::size_t place, Relations otherwise) {
      return place == first || place == last ? kAnyRelation : otherwise;
    };
    if (!spelling.prefix.empty())
      marginals.tokens.push_back(
          {t, t + 1, type, inside ? at_edge(t, same_prefix(spelling, before, after, true)) : kAnyRelation,
           inside ? at_edge(t + 1, same_prefix(spelling, before, after, false)) : kAnyRelation});
    if (before != kJoined) begin = t;
    if (inside && after != kJoined)
      marginals.spans.push_back({begin, t + 1, type, at_edge(begin, kBoundary), at_edge(t + 1, kBoundary)});
  }
}

}  // namespace

Marginals marginals_of(const Spelling& spelling, std::span<const std::uint32_t> output,
                       std::span<const std::size_t> sentences) {
  Marginals marginals;
  for (std::size_t s = 0; s < sentences.size(); ++s)
    add_marginals_of_sentence(spelling, output, sentences[s],
                              s + 1 < sentences.size() ? sentences[s + 1] : output.size(), marginals);
  return marginals;
}

void Confidences::add(const Marginals& marginals, std::span<const double> labels, std::size_t first,
                      double probability) {
  const auto whole = [](double p) { return std::clamp(p, 0.0, 1.0); };  // but for rounding
  for (const double p : labels) token.push_back(whole(p));
  for (const Marginal& marginal : marginals.tokens) token.push_back(whole(marginal.probability));
  for (const Marginal& marginal : marginals.spans) {
    span.push_back(whole(marginal.probability));
    span_begin.push_back(static_cast<std::uint32_t>(first + marginal.begin));
    span_end.push_back(static_cast<std::uint32_t>(first + marginal.end));
  }
  output.push_back(whole(probability));
}

void check_labels(const TokenTable& table, std::span<const std::int32_t> labels, std::size_t known) {
  if (labels.size() != table.sentence.back()) throw std::invalid_argument("labels do not fit the tokens");
  for (const std::int32_t label : labels)
    if (label < 0 || static_cast<std::size_t>(label) >= known)
      throw std::invalid_argument("a label is out of range");
}

OutputsOf::OutputsOf(const TokenTable& table, std::span<const std::int32_t> labels,
                     std::span<const std::uint32_t> sentences, std::size_t known_labels)
    : table_(table), labels_(labels), sentences_(sentences) {
  check_labels(table, labels, known_labels);
  if (!std::is_sorted(sentences.begin(), sentences.end()))
    throw std::invalid_argument("confidence: sentences are not in order");
}

Labels OutputsOf::output(std::size_t s) const {
  return Labels(labels_.begin() + table_.sentence[s], labels_.begin() + table_.sentence[s + 1]);
}

std::vector<std::size_t> OutputsOf::sentences(std::size_t s) {
  const std::size_t begin = table_.sentence[s], end = table_.sentence[s + 1];
  std::vector<std::size_t> found{0};
  for (; next_ < sentences_.size() && sentences_[next_] < end; ++next_)
    if (sentences_[next_] > begin) found.push_back(sentences_[next_] - begin);
  return found;
}

}  // namespace marginalia
