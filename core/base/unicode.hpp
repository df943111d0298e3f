// Code points of UTF-8 text, their kinds, scripts and lower case.
// A byte that is not part of valid UTF-8 counts as one code point, U+DC00 + byte (which UTF-8 cannot
// encode), so that any bytes survive decoding and encoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// tools/make_unicode_tables.py numbers both in this order.
enum class Kind : std::uint8_t { other, upper, lower, letter, mark, digit, punct, space };
enum class Script : std::uint8_t { none, han, hiragana, katakana, hangul, latin, greek, cyrillic, cjk_digit };

// The code point that begins at `at`, which moves past it. `at` must lie inside the text.
char32_t next_code_point(std::string_view text, std::size_t& at);

// All code points of a text.
std::u32string decoded(std::string_view text);

// Appends the UTF-8 form of a code point; a byte that was not UTF-8 comes back as it was.
void append(std::string& text, char32_t code);

Kind kind_of(char32_t code);
Script script_of(char32_t code);

// Lower case as one code point; the code point itself if it has none.
char32_t lower_of(char32_t code);

// The tables themselves, for exported programs that must agree with us: ranges of kinds and scripts, packed
// as tools/make_unicode_tables.py says, and (first, last, step, distance) of lower case, flat.
std::vector<std::uint32_t> class_table();
std::vector<std::int32_t> lower_table();

}  // namespace marginalia
