#include "base/regex.hpp"

#include <stdexcept>

#include "base/unicode.hpp"

namespace marginalia {

namespace {

bool is_letter(Kind kind) {
  return kind == Kind::upper || kind == Kind::lower || kind == Kind::letter || kind == Kind::mark;
}

bool is_repeat(char32_t c) {
  return c == U'*' || c == U'?';
}

bool is_class_name(char32_t c) {
  return std::u32string_view(U"adlpsuw").find(c) != std::u32string_view::npos;
}

bool in_class(char32_t name, Kind kind) {
  switch (name) {
    case U'a':
      return is_letter(kind);
    case U'd':
      return kind == Kind::digit;
    case U'l':
      return kind == Kind::lower;
    case U'p':
      return kind == Kind::punct;
    case U's':
      return kind == Kind::space;
    case U'u':
      return kind == Kind::upper;
    default:
      return is_letter(kind) || kind == Kind::digit;  // 'w'
  }
}

}  // namespace

bool Regex::Item::accepts(char32_t c) const {
  if (!is_class) return c == code;
  if (code == U'.') return true;
  const char32_t name = lower_of(code);
  return in_class(name, kind_of(c)) == (name == code);
}

Regex::Regex(std::string_view pattern) {
  const std::u32string codes = decoded(pattern);
  from_start_ = codes.starts_with(U'^');
  for (std::size_t at = from_start_ ? 1 : 0; at < codes.size();) {
    to_end_ = codes[at] == U'$' && at + 1 == codes.size();
    if (to_end_) break;
    items_.push_back(parse_item(codes, at));
  }
}

Regex::Item Regex::parse_item(std::u32string_view pattern, std::size_t& at) {
  if (is_repeat(pattern[at]))
    throw std::invalid_argument("regular expression: * or ? with nothing to repeat; write \\* or \\?");
  const bool escaped = pattern[at] == U'\\';
  if (escaped && ++at == pattern.size())
    throw std::invalid_argument("regular expression: a backslash with nothing after it");
  const char32_t code = pattern[at++];
  const bool is_class = escaped ? is_class_name(lower_of(code)) : code == U'.';
  Repeat repeat = Repeat::once;
  if (at < pattern.size() && is_repeat(pattern[at]))
    repeat = pattern[at++] == U'*' ? Repeat::any : Repeat::optional;
  return {code, is_class, repeat};
}

Regex::Grid Regex::tails(std::u32string_view text) const {
  const std::size_t n = text.size(), m = items_.size();
  Grid matches{m + 1, std::vector<bool>((n + 1) * (m + 1))};
  for (std::size_t at = n + 1; at-- > 0;) {
    const std::size_t row = at * matches.stride;
    matches.cells[row + m] = !to_end_ || at == n;
    for (std::size_t i = m; i-- > 0;) {
      const Item& item = items_[i];
      const std::size_t rest = item.repeat == Repeat::any ? i : i + 1;
      const bool skips = item.repeat != Repeat::once && matches(at, i + 1);
      matches.cells[row + i] = skips || (at < n && item.accepts(text[at]) && matches(at + 1, rest));
    }
  }
  return matches;
}

std::size_t Regex::end_of_match(std::u32string_view text, const Grid& matches, std::size_t begin) const {
  std::size_t at = begin;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.repeat == Repeat::any) {
      while (!matches(at, i + 1)) ++at;
    } else if (item.repeat == Repeat::once ||
               (at < text.size() && item.accepts(text[at]) && matches(at + 1, i + 1))) {
      ++at;
    }
  }
  return at;
}

std::optional<std::string_view> Regex::find(std::string_view text) const {
  std::u32string codes;
  std::vector<std::size_t> bytes;  // where each code point begins, and the end
  for (std::size_t at = 0; at < text.size();) {
    bytes.push_back(at);
    codes += next_code_point(text, at);
  }
  bytes.push_back(text.size());

  const Grid matches = tails(codes);
  const std::size_t last_begin = from_start_ ? 0 : codes.size();
  std::size_t begin = 0;
  while (begin <= last_begin && !matches(begin, 0)) ++begin;
  if (begin > last_begin) return std::nullopt;
  const std::size_t end = end_of_match(codes, matches, begin);
  return text.substr(bytes[begin], bytes[end] - bytes[begin]);
}

}  // namespace marginalia
