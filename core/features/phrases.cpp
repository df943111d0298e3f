#include "features/phrases.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "base/hash.hpp"
#include "features/attributes.hpp"

namespace marginalia {

namespace {

constexpr std::uint64_t kFlags = PhraseSet::kEnds | PhraseSet::kContinues;

}  // namespace

std::uint64_t PhraseSet::next_state(std::uint64_t state, std::string_view token, std::string& scratch) {
  static const Attribute lower{Function::lower, ""};
  evaluate(lower, token, scratch);
  return scrambled((state | kFlags) + hash_of(scratch).hash) & ~kFlags;
}

PhraseSet::PhraseSet(const std::vector<std::vector<std::string>>& phrases) {
  std::unordered_map<std::uint64_t, std::uint64_t> flags;
  std::string scratch;
  for (const auto& phrase : phrases) {
    std::uint64_t state = 0;
    for (std::size_t i = 0; i < phrase.size(); ++i) {
      state = next_state(state, phrase[i], scratch);
      flags[state] |= i + 1 == phrase.size() ? kEnds : kContinues;
    }
  }
  states_.reserve(flags.size());
  for (const auto& [state, flag] : flags) states_.push_back(state | flag);
  std::sort(states_.begin(), states_.end());
}

PhraseSet::PhraseSet(std::vector<std::uint64_t> states) : states_(std::move(states)) {
  if (!std::is_sorted(states_.begin(), states_.end()))
    throw std::invalid_argument("phrase list: states are not sorted");
}

std::uint64_t PhraseSet::flags_of(std::uint64_t state) const {
  const auto found = std::lower_bound(states_.begin(), states_.end(), state);
  return found != states_.end() && (*found & ~kFlags) == state ? *found & kFlags : 0;
}

void PhraseSet::match(const std::vector<std::string_view>& tokens, std::vector<std::uint8_t>& out) const {
  out.assign(tokens.size(), 0);
  std::string scratch;
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    std::uint64_t state = 0, flags = kContinues;
    for (std::size_t i = begin; i < tokens.size() && (flags & kContinues) != 0; ++i) {
      state = next_state(state, tokens[i], scratch);
      flags = flags_of(state);
      if ((flags & kEnds) != 0) end = i + 1;
    }
    for (std::size_t i = begin; i < end; ++i) out[i] = i == begin ? 1 : 2;
    begin = std::max(end, begin + 1);
  }
}

}  // namespace marginalia
