#include "features/phrases.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/hash.hpp"
#include "features/attributes.hpp"

namespace marginalia {

namespace {

constexpr std::uint64_t kFlags = PhraseSet::kEnds | PhraseSet::kContinues;

// Sorts states and joins the flags of equal ones.
void unite(std::vector<std::uint64_t>& states) {
  std::sort(states.begin(), states.end());
  std::size_t kept = 0;
  for (const std::uint64_t state : states) {
    if (kept != 0 && (states[kept - 1] & ~kFlags) == (state & ~kFlags))
      states[kept - 1] |= state;
    else
      states[kept++] = state;
  }
  states.resize(kept);
  states.shrink_to_fit();
}

}  // namespace

std::uint64_t PhraseSet::next_state(std::uint64_t state, std::uint64_t token_hash) {
  return scrambled((state | kFlags) + token_hash) & ~kFlags;
}

std::uint64_t PhraseSet::hash_of_token(std::string_view token, std::string& scratch) const {
  static const Attribute lower{Function::lower, ""};
  if (!ignore_case_) return hash_of(token).hash;
  evaluate(lower, token, scratch);
  return hash_of(scratch).hash;
}

std::vector<std::uint64_t> PhraseSet::hashes_of(const std::vector<std::string_view>& tokens) const {
  std::vector<std::uint64_t> hashes(tokens.size());
  std::string scratch;
  for (std::size_t i = 0; i < tokens.size(); ++i) hashes[i] = hash_of_token(tokens[i], scratch);
  return hashes;
}

PhraseSet::PhraseSet(const TokenSequences& phrases, bool ignore_case) : ignore_case_(ignore_case) {
  std::string scratch;
  states_.reserve(phrases.tokens.size());
  for (std::size_t p = 0; p < phrases.size(); ++p) {
    std::uint64_t state = 0;
    for (std::size_t i = phrases.ends[p]; i < phrases.ends[p + 1]; ++i) {
      state = next_state(state, hash_of_token(phrases.tokens[i], scratch));
      states_.push_back(state | (i + 1 == phrases.ends[p + 1] ? kEnds : kContinues));
    }
  }
  unite(states_);
  make_buckets();
}

PhraseSet::PhraseSet(std::vector<std::uint64_t> states) : states_(std::move(states)) {
  if (!std::is_sorted(states_.begin(), states_.end()))
    throw std::invalid_argument("phrase list: states are not sorted");
  make_buckets();
}

PhraseSet PhraseSet::thinned(double share, std::uint64_t seed) const {
  const double most = share * 0x1p53;
  std::vector<std::uint64_t> kept;
  for (const std::uint64_t state : states_) {
    const bool gone = static_cast<double>(scrambled((state & ~kFlags) ^ scrambled(seed)) >> 11) < most;
    const std::uint64_t left = gone ? state & ~kEnds : state;
    if ((left & kFlags) != 0) kept.push_back(left);
  }
  return PhraseSet(std::move(kept));
}

void PhraseSet::make_buckets() {
  if (states_.size() > UINT32_MAX) throw std::invalid_argument("phrase list: too many phrases");
  const int bits = std::max(static_cast<int>(std::bit_width(states_.size())) - 1, 1);
  shift_ = 64 - bits;
  buckets_.assign((std::size_t{1} << bits) + 1, 0);
  for (const std::uint64_t state : states_) ++buckets_[(state >> shift_) + 1];
  for (std::size_t b = 1; b < buckets_.size(); ++b) buckets_[b] += buckets_[b - 1];
}

std::size_t PhraseSet::place_of(std::uint64_t state) const {
  const std::uint64_t bucket = state >> shift_;
  const auto first = states_.begin() + buckets_[bucket], last = states_.begin() + buckets_[bucket + 1];
  const auto found = std::lower_bound(first, last, state);
  return found != last && (*found & ~kFlags) == state ? static_cast<std::size_t>(found - states_.begin())
                                                      : states_.size();
}

std::size_t PhraseSet::place_of(const std::uint64_t* hashes, std::size_t length) const {
  std::uint64_t state = 0;
  for (std::size_t i = 0; i < length; ++i) state = next_state(state, hashes[i]);
  return length == 0 ? states_.size() : place_of(state);
}

void PhraseSet::match(const std::vector<std::string_view>& tokens, std::vector<std::uint8_t>& out) const {
  out.assign(tokens.size(), 0);
  const std::vector<std::uint64_t> hashes = hashes_of(tokens);
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    match_at(hashes, begin, [&](std::size_t last, std::size_t) { end = last + 1; });
    for (std::size_t i = begin; i < end; ++i) out[i] = i == begin ? 1 : 2;
    begin = std::max(end, begin + 1);
  }
}

}  // namespace marginalia
