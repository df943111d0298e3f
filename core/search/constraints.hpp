// What a user demands of outputs: labels of tokens, spans that must not be, counts, orders, neighbours. All
// of it is said in sets of contexts of tokens, so that it holds for every structure and every way of spelling
// spans as labels. A walk along an output remembers what demands need to know of the tokens behind it, and
// counts how often they are broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/claims.hpp"
#include "search/labels.hpp"

namespace marginalia {

// A token's context is its label with its relations to the tokens before and after it. A set has a byte for
// each: [label][relation before][relation after].
using Contexts = std::vector<std::uint8_t>;

inline constexpr std::uint32_t kNoLimit = UINT32_MAX;

// Demands that any sentence may have to meet.
struct Rules {
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

// Demands that one output has to meet, which may be that of several sentences.
struct Places {
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

// The demands on the sentences of a table: tokens are rows of sentence, token, set; spans of sentence, first,
// last, set. `starts` are the first tokens of the sentences that users see, of which those of the table may
// consist. Throws std::invalid_argument unless all fit.
std::vector<Places> places_of(const TokenTable& table, std::span<const std::uint32_t> tokens,
                              std::span<const std::uint32_t> spans, std::span<const std::uint32_t> starts);

// The demands on one output, in a form to walk along it.
class Demands {
 public:
  // Both must outlive it. Throws std::invalid_argument if they do not fit the output.
  Demands(const Rules& rules, const Places& places, std::size_t length);

  // Those that need a memory are numbered: counts, orders, neighbours, spans.
  std::size_t remembering() const { return most_.size(); }

  std::size_t labels() const { return rules_.labels; }
  // The relation of the tokens t - 1 and t with these labels, as users see it.
  std::uint8_t relation(std::size_t t, std::uint32_t left, std::uint32_t right) const {
    return begins_[t] ? std::uint8_t{kApart} : rules_.relation[left * rules_.labels + right];
  }

  // How often an output breaks them; `broken` gets the numbers of those that need a memory and are not met.
  std::uint32_t violations(const Labels& y, std::vector<std::size_t>& broken) const;

 private:
  friend class Watch;
  const Rules& rules_;
  const Places& places_;
  std::size_t length_;
  std::vector<std::uint32_t> set_end_;     // [T + 1] where the sets that each token must be in end ...
  std::vector<std::uint32_t> token_sets_;  // ... in this list
  std::vector<std::uint8_t> begins_;       // [T + 1] does a sentence begin there, or everything end?
  std::vector<std::uint32_t> most_;        // [remembering] the largest number to remember
};

// Walks along outputs with a memory, packed into a number, for the demands on single tokens and some others.
class Watch {
 public:
  static constexpr std::uint64_t kStart = 0;  // nothing is remembered

  struct Left {
    std::uint64_t memory = 0;
    std::uint32_t violations = 0;
  };

  explicit Watch(const Demands& demands);  // which must outlive it
  // From now on with one more demand; false if the memory has no room for it.
  bool add(std::size_t demand);
  bool has(std::size_t demand) const { return field_[demand].width != 0; }

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
  std::uint32_t met(std::size_t demand, std::size_t t, std::size_t context, std::uint8_t after,
                    std::uint64_t& memory) const;
  std::uint32_t missing(std::uint64_t memory) const;

  const Demands* demands_;
  bool before_matters_ = false;  // is the relation to the token before kept, in the lowest two bits?
  std::uint32_t used_ = 2;       // bits
  std::vector<Field> field_;     // [remembering]
  std::vector<std::size_t> watched_;
};

}  // namespace marginalia
