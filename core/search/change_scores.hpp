// What global features make of each output of a list, compared with the first. Outputs of an n-best list are
// mostly the same few changes in other combinations, and most changes have nothing to do with each other: a
// combination is divided into parts that touch no group of features in common, and each part is scored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "features/global_evaluator.hpp"
#include "search/hypothesis_list.hpp"

namespace marginalia {

class ChangeScores {
 public:
  using ScoreOf = std::function<double(const FeatureCounts&)>;

  // The evaluator has begun with the first output of the list. All must outlive it.
  ChangeScores(GlobalEvaluator& evaluator, const HypothesisList& list, const ScoreOf& score_of)
      : evaluator_(evaluator), list_(list), score_of_(score_of), labels_(list.first()) {}

  // For each output the score of its features minus that of the first one's.
  std::vector<double> differences();

 private:
  struct Change {
    Stretch stretch;
    std::vector<std::uint32_t> labels;
    std::vector<std::uint64_t> touched;  // groups of features, rising ...
    std::size_t known = 0;               // ... when so many were known
  };
  struct Interaction {
    bool is = false;
    std::size_t known = 0;
  };
  using Numbers = std::vector<std::uint32_t>;  // of changes, rising

  void read();
  void read_stretch(const Labels& y, const Stretch& stretch, Numbers& numbers);
  std::uint32_t number_of(const Labels& y, const Stretch& stretch);
  const std::vector<std::uint64_t>& touched(std::uint32_t change);
  bool interact(std::uint32_t a, std::uint32_t b);
  double score(const Numbers& changes);
  Numbers next_part(Numbers& left);
  // Nothing if it made groups known that were not: what has to do with what is to be found anew.
  std::optional<double> score_of_part(const Numbers& part);
  template <class F>
  void with(const Numbers& changes, F&& f);  // f(labels, stretches) of the first output with some changes

  GlobalEvaluator& evaluator_;
  const HypothesisList& list_;
  const ScoreOf& score_of_;
  Labels labels_;
  std::vector<Change> changes_;
  std::unordered_map<std::u32string, std::uint32_t> numbers_;  // of first token and labels
  std::vector<Numbers> outputs_;
  std::unordered_map<std::uint64_t, Interaction> interactions_;
  std::unordered_map<std::u32string, double> scores_;  // of parts
};

// The scores of listed outputs by all features: `scale` times those of the list, and what the evaluator,
// which has begun with the first of them, finds in them.
std::vector<double> totals_of(GlobalEvaluator& evaluator, const HypothesisList& list,
                              const ChangeScores::ScoreOf& score_of, double scale);

}  // namespace marginalia
