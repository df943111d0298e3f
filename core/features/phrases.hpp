// A list of phrases, for the longest match of a gazetteer: tokens compared in lower case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// Phrases are kept as hashes of token sequences, sorted, with two low bits as flags; nothing of their text.
class PhraseSet {
 public:
  static constexpr std::uint64_t kEnds = 1;       // a phrase ends here
  static constexpr std::uint64_t kContinues = 2;  // a longer phrase begins like this

  explicit PhraseSet(const std::vector<std::vector<std::string>>& phrases);
  // From `states()` of another set; throws std::invalid_argument unless sorted and well-formed.
  explicit PhraseSet(std::vector<std::uint64_t> states);

  const std::vector<std::uint64_t>& states() const { return states_; }

  // Longest matches from left to right: 0 outside, 1 at a match's first token, 2 inside.
  void match(const std::vector<std::string_view>& tokens, std::vector<std::uint8_t>& out) const;

  // Calls f(begin, last) for every phrase in the tokens, of at most `most` tokens.
  template <class F>
  void match_all(const std::vector<std::string_view>& tokens, std::size_t most, F&& f) const {
    std::string scratch;
    for (std::size_t begin = 0; begin < tokens.size(); ++begin) {
      std::uint64_t state = 0, flags = kContinues;
      for (std::size_t i = begin; i < std::min(tokens.size(), begin + most) && (flags & kContinues) != 0;
           ++i) {
        state = next_state(state, tokens[i], scratch);
        flags = flags_of(state);
        if ((flags & kEnds) != 0) f(begin, i);
      }
    }
  }

 private:
  static std::uint64_t next_state(std::uint64_t state, std::string_view token, std::string& scratch);
  std::uint64_t flags_of(std::uint64_t state) const;
  std::vector<std::uint64_t> states_;
};

}  // namespace marginalia
