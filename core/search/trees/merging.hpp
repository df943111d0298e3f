// Beam search with state merging (Huang and Sagae 2010), for the arc-standard system: states that templates
// cannot tell apart, now and after whatever actions follow, are one. Such a state stands for all derivations
// that lead to it, and a reduce pops through all states that its stack may go on with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/trees/scoring.hpp"
#include "search/trees/states.hpp"

namespace marginalia {

// What states must agree in to be one: the fields that templates look at, and those that these may come from
// by actions. Tokens need only agree in the attributes that are looked at, unless a distance is.
class TreeSignature {
 public:
  explicit TreeSignature(const TreeExtractor& extractor);

  // A number that is the same for states that agree.
  std::uint64_t of(const TreeState& s, std::uint32_t first, TreeStates& states, const TreeValues& x);
  std::size_t size() const { return parts_.size(); }

 private:
  struct Part {
    std::uint32_t depth;                 // on the stack; what is in the queue follows from where it begins
    std::vector<TreeStep> path;          // from there to a child
    TreeFieldKind kind;                  // distance: which token it is
    std::vector<std::uint32_t> sources;  // of a token
    bool right;
    bool is_same_place(const Part& other) const {
      return depth == other.depth && path == other.path && kind == other.kind && right == other.right;
    }
  };
  void add(const Part& part);
  void close();

  std::size_t sources_;
  std::vector<Part> parts_;
};

class MergingSearch {
 public:
  MergingSearch(const TreeExtractor& extractor, const TreeShape& shape)
      : shape_(shape), signature_(extractor) {}

  // Steps of `states` with scores of `scoring`, whose sentence it is.
  void begin(TreeScoring& scoring, TreeStates& states);
  // One step of all states of the beam; false: they are done.
  template <class Lookup>
  bool advance(const Lookup& lookup) {
    if (states_->done((*states_)[beam_[0]])) return false;
    scoring_->score(lookup, *states_, beam_);
    collect();
    take();
    return true;
  }

  const std::vector<std::uint32_t>& beam() const { return beam_; }  // best first
  // The actions that lead to a state.
  std::vector<std::uint32_t> actions(std::uint32_t state) const;
  // Whether a state that was made apart from the beam agrees with one of it.
  bool has(std::uint32_t state);

  std::uint64_t made() const { return made_; }      // states that were to be kept, in all
  std::uint64_t merged() const { return merged_; }  // of these, those that were one with another

 private:
  static constexpr std::uint32_t kNothing = UINT32_MAX;
  // What merging knows of a state, beside what states are.
  struct Node {
    std::vector<std::uint32_t> before;  // states that its stack may go on with: its top was shifted there
    double inside = 0.0;                // score since that shift
    double shift = 0.0;                 // what a shift adds here
    std::uint32_t first = 0;            // the first token under its top
    std::uint32_t left = kNothing;      // reduce: the state below, ...
    std::uint32_t right = kNothing;     // ... and the one whose top was joined with it; shift, root: the last
    std::uint32_t action = 0;
  };
  struct Candidate {
    double score;
    std::uint32_t at, left, action, column;
  };
  static bool worse(const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score < b.score;
    if (a.at != b.at) return a.at > b.at;
    return a.left != b.left ? a.left > b.left : a.column > b.column;
  }
  void collect();
  void take();
  std::uint32_t make(const Candidate& one);
  bool merges(std::uint32_t state);

  const TreeShape& shape_;
  TreeSignature signature_;
  TreeScoring* scoring_ = nullptr;
  TreeStates* states_ = nullptr;
  std::vector<std::uint32_t> beam_, last_;
  std::vector<std::uint64_t> signatures_;  // of the beam
  std::vector<Node> nodes_;                // by state; those of states made apart are empty
  std::vector<Candidate> candidates_;
  std::uint64_t made_ = 0, merged_ = 0;
};

}  // namespace marginalia
