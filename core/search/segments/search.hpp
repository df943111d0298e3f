// Search over the segments of a sentence: best output, k best outputs, probabilities.
//   T tokens, S types, M tokens in the longest segment. An output's score is the sum of its segments' scores,
//   of start and end at the ends and of transition[type][type] between neighbours. All need O(T * M * S), and
//   O(T * S * S) if there are transitions.
// Ties: seen from the end of the sentence, the lowest type wins, then the shortest segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "search/segments/shape.hpp"

namespace marginalia {

// The scores of the segments that begin at the tokens [first, first + count).
struct SegmentScores {
  std::size_t first = 0, count = 0;
  std::size_t length = 0;  // of the sentence
  std::size_t most = 0, width = 0;
  std::vector<double> values;  // [count][M][width], width > S

  void begin(const SegmentShape& shape, std::size_t sentence, std::size_t from, std::size_t tokens);
  std::size_t longest(std::size_t begin) const { return std::min(most, length - begin); }
  double* at(std::size_t begin, std::size_t tokens) {
    return &values[((begin - first) * most + tokens - 1) * width];
  }
  const double* at(std::size_t begin, std::size_t tokens) const {
    return const_cast<SegmentScores*>(this)->at(begin, tokens);
  }
  // Makes all segments illegal that give token t a label without a 1.
  void allow(const SegmentShape& shape, std::size_t t, std::span<const std::uint8_t> labels);
};

// The best way to each place between two tokens.
class SegmentViterbi {
 public:
  void begin(const SegmentShape& shape, const SegmentConstants& constants, std::size_t length);
  // To be called for blocks of scores, one after another, until all tokens were there.
  void go_on(const SegmentScores& scores);
  double finish(Labels& best);  // the score of the best output

  // The best score of what stands before a place, if a segment of each type follows it; at the end of the
  // sentence: [1] of everything.
  const double* entering(std::size_t place) const { return &entering_[place * shape_->types()]; }
  // The best score of what stands before a place, by the type that ends there.
  const double* leaving(std::size_t place) const { return &leaving_[place * shape_->types()]; }

 private:
  void enter(std::size_t place);

  const SegmentShape* shape_ = nullptr;
  const SegmentConstants* constants_ = nullptr;
  std::size_t length_ = 0;
  std::vector<double> leaving_, entering_;  // [T + 1][S]
  std::vector<std::uint32_t> tokens_,
      before_;  // [T + 1][S] of the last segment; the type before the next one
};

// The outputs of a sentence, best first: forward Viterbi, then best-first search from the end with the
// forward scores as exact heuristic. With k given, no more than k outputs can be asked for, which saves work.
class SegmentKBest {
 public:
  // All must outlive it; the scores are those of the whole sentence.
  SegmentKBest(const SegmentShape& shape, const SegmentConstants& constants, const SegmentScores& scores,
               std::size_t k = SIZE_MAX);
  std::optional<double> next(Labels& output);

 private:
  static constexpr std::uint32_t kEnd = UINT32_MAX;
  struct Node {  // all segments from a token on
    std::size_t begin;
    std::size_t tokens;    // of the first of them
    std::uint32_t type;    // of the first of them
    std::uint32_t parent;  // without the first of them
    double score;
  };
  struct Candidate {
    double bound;  // the best score of an output that ends so
    std::uint64_t order;
    std::uint32_t node;
    bool operator<(const Candidate& other) const {
      return bound != other.bound ? bound < other.bound : order < other.order;
    }
  };
  void expand(std::uint32_t node, double most);
  void push(double bound, const Node& node);
  Labels output_of(std::uint32_t node) const;

  const SegmentShape& shape_;
  const SegmentConstants& constants_;
  const SegmentScores& scores_;
  std::size_t k_;
  SegmentViterbi forward_;
  std::vector<Node> nodes_;
  std::vector<std::pair<double, Node>> found_;  // of one expansion
  std::priority_queue<Candidate> queue_;
  std::uint64_t pushed_ = 0;
};

// What is expected of the neighbours in a sentence.
struct SegmentExpectations {
  std::vector<double> start, end;  // [S]
  std::vector<double> transition;  // [S][S]
  std::vector<double> twins;       // [T][S] that one segment of a type ends before a token and another begins
  double log_z = 0.0;
};

// Turns the scores of all segments of a sentence into their probabilities. It works on logarithms.
SegmentExpectations segment_probabilities(const SegmentShape& shape, const SegmentConstants& constants,
                                          SegmentScores& scores);

// The score of a given output, -infinity if its labels spell no segments.
double score_of(const SegmentShape& shape, const SegmentConstants& constants, const SegmentScores& scores,
                const Labels& y);

}  // namespace marginalia
