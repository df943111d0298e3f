// Hashes of strings that can be joined: hash(a + b) follows from hash(a) and hash(b).
// A feature is its name; its key is the hash of that name, built from the hashes of its parts.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// Polynomial hash modulo the Mersenne prime 2^61 - 1; `power` is base^length. power == 0: no value.
struct Hashed {
  std::uint64_t hash = 0;
  std::uint64_t power = 1;
  bool absent() const { return power == 0; }
  bool operator==(const Hashed&) const = default;
};

inline constexpr Hashed kAbsent{0, 0};
inline constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
inline constexpr std::uint64_t kBase = 0x0f3a9c5d71b8e246ULL % kPrime;

inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const std::uint64_t sum =
      static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

inline std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

inline Hashed hash_of(std::string_view text) {
  Hashed result;
  for (const char c : text) {
    result.hash = add(multiply(result.hash, kBase), static_cast<unsigned char>(c) + 1u);
    result.power = multiply(result.power, kBase);
  }
  return result;
}

inline std::vector<Hashed> hashes_of(const std::vector<std::string>& texts) {
  std::vector<Hashed> result;
  for (const auto& text : texts) result.push_back(hash_of(text));
  return result;
}

inline Hashed joined(Hashed left, Hashed right) {
  return {add(multiply(left.hash, right.power), right.hash), multiply(left.power, right.power)};
}

inline std::uint64_t scrambled(std::uint64_t x) {  // splitmix64's finaliser
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Keys are never 0, so that 0 can mark an empty slot.
inline std::uint64_t key_of(std::uint64_t name_hash, bool edge) {
  const std::uint64_t key = scrambled(name_hash * 2 + (edge ? 1 : 0) + 0x9e3779b97f4a7c15ULL);
  return key == 0 ? 1 : key;
}

// For look-up tables in memory only: quick, eight bytes at a time, never stored.
inline std::uint64_t quick_hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t h = seed ^ (text.size() * 0x9e3779b97f4a7c15ULL);
  const char* p = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  std::uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  return scrambled(h ^ tail);
}

}  // namespace marginalia
