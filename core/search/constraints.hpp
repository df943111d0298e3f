// Constraints of a user on outputs: labels of tokens, spans that must not be, counts, orders, neighbours. All
// of it is said in sets of contexts of tokens, so that it holds for every structure and every way of spelling
// spans as labels. A path along an output remembers what constraints need to know of the tokens behind it,
// and counts how often they are broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/labels.hpp"
#include "search/marginals.hpp"

namespace marginalia {

// A token's context is its label with its relations to the tokens before and after it. A set has a byte for
// each: [label][relation before][relation after].
using Contexts = std::vector<std::uint8_t>;

inline constexpr std::uint32_t kNoLimit = UINT32_MAX;

// Constraints that any sentence may have to satisfy.
struct ConstraintSet {
  struct Count {
    std::uint32_t set, least, most;  // how many tokens are in the set
  };
  struct Pair {
    std::uint32_t first, second;  // sets
  };

  std::size_t labels = 0;
  std::vector<std::uint8_t> relation;  // [L][L] of neighbours
  std::vector<Contexts> sets;
  std::vector<std::uint32_t> everywhere;  // sets that every token must be in
  std::vector<Count> counts;
  std::vector<Pair> orders;      // no token of the first set after one of the second
  std::vector<Pair> neighbours;  // no token of the first set right before one of the second

  // Throws std::invalid_argument unless the parts fit.
  void check() const;
};

// Constraints that one output has to satisfy, which may be that of several sentences.
struct PlacedConstraints {
  struct OfToken {
    std::uint32_t token, set;  // must be in the set
  };
  struct OfSpan {
    std::uint32_t first, last, set;  // must not be a span whose first token is in the set
  };
  std::vector<OfToken> tokens;
  std::vector<OfSpan> spans;
  std::vector<std::size_t> sentences;  // first tokens of all but the first one
};

// The constraints on the sentences of a table: tokens are rows of sentence, token, set; spans of sentence,
// first, last, set. `starts` are the first tokens of the sentences that users see, of which those of the
// table may consist. Throws std::invalid_argument unless all fit.
std::vector<PlacedConstraints> placed_constraints_of(const TokenTable& table,
                                                     std::span<const std::uint32_t> tokens,
                                                     std::span<const std::uint32_t> spans,
                                                     std::span<const std::uint32_t> starts);

// The constraints on one output, in a form to path along it.
class OutputConstraints {
 public:
  // Both must outlive it. Throws std::invalid_argument if they do not fit the output.
  OutputConstraints(const ConstraintSet& constraint_set, const PlacedConstraints& placed, std::size_t length);

  // Those that need a memory are numbered: counts, orders, neighbours, spans.
  std::size_t remembering() const { return most_.size(); }

  std::size_t labels() const { return constraint_set_.labels; }
  // The relation of the tokens t - 1 and t with these labels, as users see it.
  std::uint8_t relation(std::size_t t, std::uint32_t left, std::uint32_t right) const {
    return begins_[t] ? std::uint8_t{kApart}
                      : constraint_set_.relation[left * constraint_set_.labels + right];
  }

  // How often an output breaks them; `broken` gets the numbers of those that need a memory and are not met.
  std::uint32_t violations(const Labels& y, std::vector<std::size_t>& broken) const;

 private:
  friend class ConstraintAutomaton;
  const ConstraintSet& constraint_set_;
  const PlacedConstraints& placed_;
  std::size_t length_;
  std::vector<std::uint32_t> set_end_;     // [T + 1] where the sets that each token must be in end ...
  std::vector<std::uint32_t> token_sets_;  // ... in this list
  std::vector<std::uint8_t> begins_;       // [T + 1] does a sentence begin there, or everything end?
  std::vector<std::uint32_t> most_;        // [remembering] the largest number to remember
};

// Walks along outputs with a memory, packed into a number, for the constraints on single tokens and some
// others.
class ConstraintAutomaton {
 public:
  static constexpr std::uint64_t kStart = 0;  // nothing is remembered

  struct Left {
    std::uint64_t memory = 0;
    std::uint32_t violations = 0;
  };

  explicit ConstraintAutomaton(const OutputConstraints& constraints);  // which must outlive it
  // From now on with one more constraint; false if the memory has no room for it.
  bool add(std::size_t constraint);
  bool has(std::size_t constraint) const { return field_[constraint].width != 0; }

  // A token with this label is left for one in the given relation to it: what is remembered then.
  Left leave(std::size_t t, std::uint32_t label, std::uint8_t after, std::uint64_t memory) const;

  std::uint32_t violations(const Labels& y) const;

 private:
  struct Field {
    std::uint32_t shift = 0, width = 0;
    std::uint32_t of(std::uint64_t memory) const {
      return static_cast<std::uint32_t>(memory >> shift & ((std::uint64_t{1} << width) - 1));
    }
    std::uint64_t with(std::uint64_t memory, std::uint32_t value) const {
      const std::uint64_t mask = ((std::uint64_t{1} << width) - 1) << shift;
      return (memory & ~mask) | std::uint64_t{value} << shift;
    }
  };
  void use(std::uint32_t set);
  std::uint32_t advance(std::size_t constraint, std::size_t t, std::size_t context, std::uint8_t after,
                        std::uint64_t& memory) const;
  std::uint32_t missing(std::uint64_t memory) const;

  const OutputConstraints* constraints_;
  bool before_matters_ = false;  // is the relation to the token before kept, in the lowest two bits?
  std::uint32_t used_ = 2;       // bits
  std::vector<Field> field_;     // [remembering]
  std::vector<std::size_t> tracked_;
};

}  // namespace marginalia
