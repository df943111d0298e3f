// What an output marginals, as something that other outputs of the sentence may marginal too: that a token
// has its label, that there is a span. The probability of a marginal is that of all outputs which make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/schemes.hpp"
#include "base/token_table.hpp"
#include "search/labels.hpp"

namespace marginalia {

// Sets of relations have the bit 1 << relation.
using Relations = std::uint8_t;
inline constexpr Relations kAnyRelation = 0b111, kBoundary = 0b011, kInOneSpan = 0b100;

inline bool has(Relations set, std::uint8_t relation) {
  return (set >> relation & 1) != 0;
}

// How labels spell spans.
struct Spelling {
  std::size_t labels = 0;
  std::vector<std::uint32_t> type;     // [L]
  std::vector<std::uint8_t> inside;    // [types] are its labels in spans?
  std::vector<std::uint8_t> relation;  // [L][L]
  // [3][3] the prefix that users see, as a number, by the relations to the labels before and after; empty if
  // they see the labels as they are.
  std::vector<std::uint8_t> prefix;
  std::vector<std::vector<std::uint32_t>> members;  // [types] its labels

  // Throws std::invalid_argument unless the parts fit.
  Spelling(std::vector<std::uint32_t> type, std::vector<std::uint8_t> inside,
           std::vector<std::uint8_t> relation, std::vector<std::uint8_t> prefix);
};

// The tokens [begin, end) have labels of one type, each joined to the next; the relations to what stands
// before and after are of these sets.
struct Marginal {
  std::size_t begin, end;
  std::uint32_t type;
  Relations before, after;
  double probability = 0.0;
};

// Throws std::invalid_argument unless there is a known label for each token.
void check_labels(const TokenTable& table, std::span<const std::int32_t> labels, std::size_t known);

// The marginals of an output: of its spans, and of its tokens unless users see the labels as they are. Spans
// end with the sentences, given by their first tokens: an output may be that of a document.
struct Marginals {
  std::vector<Marginal> spans, tokens;
};
Marginals marginals_of(const Spelling& spelling, std::span<const std::uint32_t> output,
                       std::span<const std::size_t> sentences);

// The probabilities of what outputs marginal.
struct Confidences {
  std::vector<double> token, span, output;
  std::vector<std::uint32_t> span_begin, span_end;  // tokens of the table

  // Of one more output that begins at token `first`; `labels`: its tokens, where they are not among the
  // marginals.
  void add(const Marginals& marginals, std::span<const double> labels, std::size_t first, double probability);
};

// Cuts a table with labels, in order of its sentences, into outputs with what they marginal.
// probability(s, output, marginals, tokens) gives the marginals and, where users see labels as they are, the
// tokens their probabilities, and returns that of the output. `sentences`: first tokens of the sentences that
// users see, of which the table's consist. Throws std::invalid_argument unless all fit.
class OutputsOf {
 public:
  OutputsOf(const TokenTable& table, std::span<const std::int32_t> labels,
            std::span<const std::uint32_t> sentences, std::size_t known_labels);
  Labels output(std::size_t s) const;
  std::vector<std::size_t> sentences(std::size_t s);  // to be asked for s = 0, 1, 2 ...

 private:
  const TokenTable& table_;
  std::span<const std::int32_t> labels_;
  std::span<const std::uint32_t> sentences_;
  std::size_t next_ = 0;
};

template <class Probability>
Confidences confidences_of(const TokenTable& table, std::span<const std::int32_t> labels,
                           std::span<const std::uint32_t> sentences, const Spelling& spelling,
                           Probability&& probability) {
  OutputsOf outputs(table, labels, sentences, spelling.labels);
  Confidences found;
  std::vector<double> tokens;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const Labels y = outputs.output(s);
    Marginals marginals = marginals_of(spelling, y, outputs.sentences(s));
    tokens.assign(spelling.prefix.empty() ? y.size() : 0, 0.0);
    const double whole = probability(s, y, marginals, std::span<double>(tokens));
    found.add(marginals, tokens, table.sentence[s], whole);
  }
  return found;
}

}  // namespace marginalia
