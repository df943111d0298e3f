#include "features/attributes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "base/normalization.hpp"
#include "base/regex.hpp"
#include "base/unicode.hpp"
#include "features/word_functions.hpp"

namespace marginalia {

namespace {

constexpr unsigned kLongestAffix = 99;

using Flag = bool (*)(std::u32string_view);

bool is_kind(char32_t code, Kind kind) {
  return kind_of(code) == kind;
}

bool is_letter(char32_t code) {
  return is_kind(code, Kind::upper) || is_kind(code, Kind::lower) || is_kind(code, Kind::letter);
}

bool is_hyphen(char32_t code) {
  return code == U'-' || code == U'\u2010' || code == U'\u2011';
}

template <Kind kind>
bool any(std::u32string_view text) {
  return std::any_of(text.begin(), text.end(), [](char32_t c) { return is_kind(c, kind); });
}

template <Kind kind>
bool all(std::u32string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char32_t c) { return is_kind(c, kind); });
}

template <char32_t mark>
bool has_digit_and(std::u32string_view text) {
  return any<Kind::digit>(text) && text.find(mark) != text.npos;
}

using Named = std::pair<std::string_view, Flag>;

constexpr std::array<Named, 3> kHas{{
    {"digit", any<Kind::digit>},
    {"upper", any<Kind::upper>},
    {"hyphen", [](std::u32string_view t) { return std::any_of(t.begin(), t.end(), is_hyphen); }},
}};

// Word forms after Bikel et al. 1999 as Kazama & Torisawa 2007 list them; a word may be of several.
constexpr std::array<Named, 12> kIs{{
    {"two-digits", [](std::u32string_view t) { return t.size() == 2 && all<Kind::digit>(t); }},
    {"four-digits", [](std::u32string_view t) { return t.size() == 4 && all<Kind::digit>(t); }},
    {"digits-letters",
     [](std::u32string_view t) { return any<Kind::digit>(t) && std::any_of(t.begin(), t.end(), is_letter); }},
    {"digits-dash",
     [](std::u32string_view t) { return any<Kind::digit>(t) && std::any_of(t.begin(), t.end(), is_hyphen); }},
    {"digits-slash", has_digit_and<U'/'>},
    {"digits-comma", has_digit_and<U','>},
    {"digits-period", has_digit_and<U'.'>},
    {"number", all<Kind::digit>},
    {"initial-cap", [](std::u32string_view t) { return !t.empty() && is_kind(t[0], Kind::upper); }},
    {"all-caps", all<Kind::upper>},
    {"lower-case", all<Kind::lower>},
    {"cap-period",
     [](std::u32string_view t) { return t.size() == 2 && is_kind(t[0], Kind::upper) && t[1] == U'.'; }},
}};

constexpr std::array<std::pair<std::string_view, Function>, 18> kFunctions{{
    {"column", Function::column},
    {"lower", Function::lower},
    {"prefix", Function::prefix},
    {"suffix", Function::suffix},
    {"lower-prefix", Function::lower_prefix},
    {"lower-suffix", Function::lower_suffix},
    {"shape", Function::shape},
    {"collapsed-shape", Function::collapsed_shape},
    {"has", Function::has},
    {"is", Function::is},
    {"char-class", Function::char_class},
    {"test", Function::test},
    {"match", Function::match},
    {"lower-match", Function::lower_match},
    {"width", Function::width},
    {"nfkc", Function::nfkc},
    {"cluster", Function::cluster},
    {"lexicon", Function::lexicon},
}};

// The value a table gives to a name; otherwise an error that lists the names.
template <class Table>
auto look_up(const Table& table, std::string_view name, const std::string& what) {
  for (const auto& [known, value] : table)
    if (known == name) return value;
  std::string message = what + " '" + std::string(name) + "' is none of";
  for (const auto& entry : table) message += ' ' + std::string(entry.first);
  throw std::invalid_argument(message);
}

std::size_t affix_length(std::string_view argument) {
  unsigned n = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), n);
  if (error != std::errc{} || end != argument.data() + argument.size() || n < 1 || n > kLongestAffix)
    throw std::invalid_argument("the length '" + std::string(argument) +
                                "' is not a whole number from 1 to " + std::to_string(kLongestAffix));
  return n;
}

void lower(std::string_view value, std::string& out) {
  for (std::size_t at = 0; at < value.size();) append(out, lower_of(next_code_point(value, at)));
}

bool prefix(std::size_t n, std::string_view value, std::string& out) {
  std::size_t at = 0;
  for (; n > 0 && at < value.size(); --n) next_code_point(value, at);
  out = value.substr(0, at);
  return n == 0;
}

bool suffix(std::size_t n, std::string_view value, std::string& out) {
  const std::u32string codes = decoded(value);
  if (codes.size() < n) return false;
  for (const char32_t code : std::u32string_view(codes).substr(codes.size() - n)) append(out, code);
  return true;
}

char32_t shape_of(char32_t code) {
  switch (kind_of(code)) {
    case Kind::upper:
      return U'X';
    case Kind::lower:
      return U'x';
    case Kind::letter:
      return U'c';
    case Kind::digit:
      return U'd';
    default:
      return code;
  }
}

// Marks are skipped, so that composed and decomposed spellings have the same shape.
void shape(std::string_view value, bool collapse, std::string& out) {
  char32_t previous = 0;
  for (std::size_t at = 0; at < value.size();) {
    const char32_t code = next_code_point(value, at);
    if (is_kind(code, Kind::mark)) continue;
    const char32_t current = shape_of(code);
    if (!collapse || current != previous || out.empty()) append(out, current);
    previous = current;
  }
}

// In the order of the enumerations.
constexpr std::string_view kScriptNames[] = {"",      "han",   "hiragana", "katakana", "hangul",
                                             "latin", "greek", "cyrillic", "cjk-digit"};
constexpr std::string_view kKindNames[] = {"other", "letter", "letter", "letter",
                                           "other", "digit",  "punct",  "space"};

std::string_view class_of(char32_t code) {
  const Script script = script_of(code);
  if (script != Script::none) return kScriptNames[static_cast<std::size_t>(script)];
  return kKindNames[static_cast<std::size_t>(kind_of(code))];
}

bool char_class(std::string_view value, std::string& out) {
  std::size_t at = 0;
  if (!value.empty()) out = class_of(next_code_point(value, at));
  return !value.empty();
}

bool flag(Flag holds, std::string_view value, std::string& out) {
  out += '1';  // was cleared; GCC 12 warns of = "1" in error
  return holds(decoded(value));
}

}  // namespace

Function function_named(std::string_view name) {
  return look_up(kFunctions, name, "the function");
}

void check(const Attribute& attribute) {
  switch (attribute.function) {
    case Function::prefix:
    case Function::suffix:
    case Function::lower_prefix:
    case Function::lower_suffix:
      affix_length(attribute.argument);
      break;
    case Function::has:
      look_up(kHas, attribute.argument, "has: the flag");
      break;
    case Function::is:
      look_up(kIs, attribute.argument, "is: the class");
      break;
    case Function::test:
    case Function::match:
    case Function::lower_match:
      Regex{attribute.argument};
      break;
    case Function::cluster:
      path_bits(attribute.argument);
      if (attribute.words == nullptr) throw std::invalid_argument("cluster: there is no table of words");
      check_paths(*attribute.words);
      break;
    case Function::lexicon:
      lexicon_question(attribute.argument);
      if (attribute.words == nullptr) throw std::invalid_argument("lexicon: there is no table of words");
      check_entries(*attribute.words);
      break;
    default:
      if (!attribute.argument.empty())
        throw std::invalid_argument("the argument '" + attribute.argument + "' is one too many");
  }
}

bool evaluate(const Attribute& attribute, std::string_view value, std::string& out) {
  const std::string& argument = attribute.argument;
  std::string affix;
  out.clear();
  switch (attribute.function) {
    case Function::column:
      out = value;
      return true;
    case Function::lower:
      lower(value, out);
      return true;
    case Function::prefix:
      return prefix(affix_length(argument), value, out);
    case Function::suffix:
      return suffix(affix_length(argument), value, out);
    case Function::lower_prefix:
      if (!prefix(affix_length(argument), value, affix)) return false;
      lower(affix, out);
      return true;
    case Function::lower_suffix:
      if (!suffix(affix_length(argument), value, affix)) return false;
      lower(affix, out);
      return true;
    case Function::shape:
      shape(value, false, out);
      return true;
    case Function::collapsed_shape:
      shape(value, true, out);
      return true;
    case Function::has:
      return flag(look_up(kHas, argument, "has: the flag"), value, out);
    case Function::is:
      return flag(look_up(kIs, argument, "is: the class"), value, out);
    case Function::char_class:
      return char_class(value, out);
    case Function::test:
      out = Regex(argument).find(value) ? "true" : "false";
      return true;
    case Function::match:
      out = Regex(argument).find(value).value_or("");
      return true;
    case Function::lower_match:
      lower(Regex(argument).find(value).value_or(""), out);
      return true;
    case Function::width:
      append_usual_width(value, out);
      return true;
    case Function::nfkc:
      append_nfkc(value, out);
      return true;
    case Function::cluster:
      return cluster(*attribute.words, path_bits(argument), value, out);
    case Function::lexicon:
      return lexicon(*attribute.words, lexicon_question(argument), value, out);
  }
  return false;
}

}  // namespace marginalia
