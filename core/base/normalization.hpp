// Compatibility forms of characters: widths (full-width Latin, half-width katakana) and Unicode's NFKC.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// A character in its usual width, one code point for one code point; itself if it has no other.
char32_t usual_width_of(char32_t code);

// Appends a text in usual widths.
void append_usual_width(std::string_view text, std::string& out);

// Appends the text in normalisation form KC: compatibility decomposition, then canonical composition. Bytes
// that are not UTF-8 stay as they are.
void append_nfkc(std::string_view text, std::string& out);

// (first, last, step, distance) of usual widths, flat, for exported programs that must agree with us.
std::vector<std::int32_t> width_table();

}  // namespace marginalia
