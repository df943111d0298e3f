#include "base/normalization.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/mapped_ranges.hpp"
#include "base/unicode.hpp"

namespace marginalia {

namespace {

struct Decomposition {  // of `code`: `length` code points of kDecomposed from `first` on
  char32_t code;
  std::uint16_t first;
  std::uint8_t length;
};

struct ClassRange {  // canonical combining class
  char32_t first, last;
  std::uint8_t combining;
};

struct Composite {
  char32_t first, second, whole;
};

#include "base/normalization_tables.inc"

// Hangul syllables are made of letters by arithmetic (section 3.12 of the Unicode standard).
constexpr char32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTrail = 0x11A7;
constexpr char32_t kLeads = 19, kVowels = 21, kTrails = 28, kSyllables = kLeads * kVowels * kTrails;

void decompose(char32_t code, std::u32string& out) {
  if (code < 0xA0) {
    out += code;
    return;
  }
  if (const char32_t syllable = code - kSyllable; code >= kSyllable && syllable < kSyllables) {
    out += kLead + syllable / (kVowels * kTrails);
    out += kVowel + syllable % (kVowels * kTrails) / kTrails;
    if (syllable % kTrails != 0) out += kTrail + syllable % kTrails;
    return;
  }
  const auto found =
      std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), code,
                       [](const Decomposition& one, char32_t wanted) { return one.code < wanted; });
  if (found == std::end(kDecompositions) || found->code != code)
    out += code;
  else
    out.append(kDecomposed + found->first, found->length);
}

std::uint8_t combining_class(char32_t code) {
  if (code < 0x300) return 0;
  const auto found = std::lower_bound(std::begin(kClasses), std::end(kClasses), code,
                                      [](const ClassRange& range, char32_t c) { return range.last < c; });
  return found == std::end(kClasses) || code < found->first ? std::uint8_t{0} : found->combining;
}

// Marks that follow one another are put in the order of their classes.
void reorder(std::u32string& text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(at),
                     text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    at = end + 1;
  }
}

// What two code points make, or 0.
char32_t composed(char32_t first, char32_t second) {
  if (first >= kLead && first < kLead + kLeads && second >= kVowel && second < kVowel + kVowels)
    return kSyllable + ((first - kLead) * kVowels + (second - kVowel)) * kTrails;
  if (first >= kSyllable && first < kSyllable + kSyllables && (first - kSyllable) % kTrails == 0 &&
      second > kTrail && second < kTrail + kTrails)
    return first + (second - kTrail);
  const auto found =
      std::lower_bound(std::begin(kComposites), std::end(kComposites), Composite{first, second, 0},
                       [](const Composite& a, const Composite& b) {
                         return a.first != b.first ? a.first < b.first : a.second < b.second;
                       });
  const bool is = found != std::end(kComposites) && found->first == first && found->second == second;
  return is ? found->whole : 0;
}

// Each mark joins the last starter before it, unless a mark of its class or a higher one stands between.
void compose(std::u32string& text) {
  std::size_t kept = 0, starter = SIZE_MAX;
  int last_class = 0;
  for (const char32_t code : text) {
    const int own = combining_class(code);
    const bool is_next = starter != SIZE_MAX && starter + 1 == kept;
    if (starter != SIZE_MAX && (is_next || (last_class < own && last_class != 0)))
      if (const char32_t whole = composed(text[starter], code); whole != 0) {
        text[starter] = whole;
        continue;
      }
    if (own == 0) starter = kept;
    last_class = own;
    text[kept++] = code;
  }
  text.resize(kept);
}

}  // namespace

char32_t usual_width_of(char32_t code) {
  return code < 0x2000 ? code : mapped(kWidths, code);
}

void append_usual_width(std::string_view text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) append(out, usual_width_of(next_code_point(text, at)));
}

void append_nfkc(std::string_view text, std::string& out) {
  std::u32string codes;
  for (std::size_t at = 0; at < text.size();) decompose(next_code_point(text, at), codes);
  reorder(codes);
  compose(codes);
  for (const char32_t code : codes) append(out, code);
}

std::vector<std::int32_t> width_table() {
  return flat(kWidths);
}

}  // namespace marginalia
