#include "base/unicode.hpp"

#include <algorithm>
#include <iterator>

#include "base/mapped_ranges.hpp"

namespace marginalia {

namespace {

#include "base/unicode_tables.inc"

constexpr char32_t kBadByte = 0xDC00;

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// Length of the sequence that a lead byte promises; 0 for a byte that cannot lead.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

// Refuses overlong forms, surrogates and numbers beyond Unicode.
bool is_scalar(char32_t code, std::size_t length) {
  if (length == 3) return code >= 0x800 && (code < 0xD800 || code > 0xDFFF);
  if (length == 4) return code >= 0x10000 && code <= 0x10FFFF;
  return true;
}

std::uint32_t packed_class(char32_t code) {
  const auto after = std::upper_bound(std::begin(kRanges), std::end(kRanges), code << 8 | 0xFF);
  return *std::prev(after);
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const std::size_t length = sequence_length(lead);
  if (length == 1) return lead;
  if (length == 0 || length - 1 > text.size() - at) return kBadByte + lead;
  char32_t code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 0; i + 1 < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if (!is_continuation(byte)) return kBadByte + lead;
    code = code << 6 | (byte & 0x3F);
  }
  if (!is_scalar(code, length)) return kBadByte + lead;
  at += length - 1;
  return code;
}

std::u32string decoded(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) result += next_code_point(text, at);
  return result;
}

void append(std::string& text, char32_t code) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code >= kBadByte && code <= kBadByte + 0xFF) {
    put(code - kBadByte);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

Kind kind_of(char32_t code) {
  if (code >= U'a' && code <= U'z') return Kind::lower;
  if (code >= U'A' && code <= U'Z') return Kind::upper;
  if (code >= U'0' && code <= U'9') return Kind::digit;
  return static_cast<Kind>(packed_class(code) & 0xF);
}

Script script_of(char32_t code) {
  return static_cast<Script>(packed_class(code) >> 4 & 0xF);
}

char32_t lower_of(char32_t code) {
  if (code < 0x80) return code >= U'A' && code <= U'Z' ? code + 32 : code;
  return mapped(kLowers, code);
}

std::vector<std::uint32_t> class_table() {
  return {std::begin(kRanges), std::end(kRanges)};
}

std::vector<std::int32_t> lower_table() {
  return flat(kLowers);
}

}  // namespace marginalia
