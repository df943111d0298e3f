// Text as lines of UTF-8: what the parsers of all formats begin with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/unicode.hpp"

namespace marginalia {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr std::size_t kNowhere = std::string_view::npos;

inline void check_size(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("found a block of 4 GiB or more, expected less: cut the text into sentences");
}

// True if all eight bytes are ASCII and none is NUL.
inline bool plain_word(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  const std::uint64_t high = 0x8080808080808080u;
  return ((word | (word - 0x0101010101010101u)) & high) == 0;
}

// Where the first byte stands that is NUL or no UTF-8 (which the decoder turns into a low surrogate).
inline std::size_t first_malformed(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    if (i + 8 <= s.size() && plain_word(s.data() + i)) {
      i += 8;
      continue;
    }
    const std::size_t at = i;
    const char32_t code = next_code_point(s, i);
    if (code == 0 || (code >= 0xDC00 && code <= 0xDFFF)) return at;
  }
  return kNowhere;
}

inline std::uint32_t count_characters(std::string_view s) {
  return static_cast<std::uint32_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

inline std::string describe_byte(char c) {
  if (c == '\0') return "found a NUL byte, expected UTF-8 text";
  constexpr char digits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("found byte 0x") + digits[byte >> 4] + digits[byte & 15] + ", expected UTF-8 text";
}

// Iterates over the lines of a text; [from, to) is the current one without its line break.
struct Lines {
  std::string_view text;
  std::size_t next;
  std::size_t from = 0, to = 0;

  bool advance() {
    if (next >= text.size()) return false;
    from = next;
    const void* newline = std::memchr(text.data() + from, '\n', text.size() - from);
    to = newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - text.data()) : text.size();
    next = to + 1;
    if (to > from && text[to - 1] == '\r') --to;
    return true;
  }
};

}  // namespace marginalia
