// Phrases, found in tokens: as a list (gazetteer) whose matches are features.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// Sequences of tokens, one behind the other.
struct TokenSequences {
  std::vector<std::string_view> tokens;
  std::vector<std::size_t> ends = {0};  // [sequences + 1]

  std::size_t size() const { return ends.size() - 1; }
};

// Phrases are kept as hashes of token sequences, sorted, with two low bits as flags; nothing of their text.
class PhraseSet {
 public:
  static constexpr std::uint64_t kEnds = 1;       // a phrase ends here
  static constexpr std::uint64_t kContinues = 2;  // a longer phrase begins like this

  // Tokens are compared in lower case if case is ignored.
  explicit PhraseSet(const TokenSequences& phrases, bool ignore_case = true);
  // From `states()` of another set that ignores case; throws std::invalid_argument unless sorted.
  explicit PhraseSet(std::vector<std::uint64_t> states);

  const std::vector<std::uint64_t>& states() const { return states_; }
  std::size_t bytes() const { return 8 * states_.capacity() + 4 * buckets_.capacity(); }

  // Without about this share of the phrases: which ones depends on the seed and the phrase alone.
  PhraseSet thinned(double share, std::uint64_t seed) const;

  // Hashes of tokens, as case matters or not.
  std::vector<std::uint64_t> hashes_of(const std::vector<std::string_view>& tokens) const;

  // Longest matches from left to right: 0 outside, 1 at a match's first token, 2 inside.
  void match(const std::vector<std::string_view>& tokens, std::vector<std::uint8_t>& out) const;

  // Calls f(begin, last, place of the phrase in `states`) for every phrase in tokens with these hashes.
  template <class F>
  void match_all(const std::vector<std::uint64_t>& hashes, F&& f) const {
    for (std::size_t begin = 0; begin < hashes.size(); ++begin)
      match_at(hashes, begin, [&](std::size_t last, std::size_t place) { f(begin, last, place); });
  }

  // The place in `states` of the state that a sequence of tokens with these hashes ends in; their number if
  // it is neither a phrase nor the beginning of one.
  std::size_t place_of(const std::uint64_t* hashes, std::size_t length) const;

 private:
  static std::uint64_t next_state(std::uint64_t state, std::uint64_t token_hash);
  std::uint64_t hash_of_token(std::string_view token, std::string& scratch) const;
  void make_buckets();
  std::size_t place_of(std::uint64_t state) const;

  // Calls f(last, place) for the phrases that begin at a token, short ones first.
  template <class F>
  void match_at(const std::vector<std::uint64_t>& hashes, std::size_t begin, F&& f) const {
    std::uint64_t state = 0, flags = kContinues;
    for (std::size_t i = begin; i < hashes.size() && (flags & kContinues) != 0; ++i) {
      state = next_state(state, hashes[i]);
      const std::size_t place = place_of(state);
      flags = place < states_.size() ? states_[place] : 0;
      if ((flags & kEnds) != 0) f(i, place);
    }
  }

  std::vector<std::uint64_t> states_;
  // States are spread evenly over all numbers: those that begin with the same bits are a few neighbours.
  std::vector<std::uint32_t> buckets_;  // by first bits: where their states begin
  int shift_ = 63;                      // what is left of a state when it is shifted is its bucket
  bool ignore_case_ = true;
};

}  // namespace marginalia
