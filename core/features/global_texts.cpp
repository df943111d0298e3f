#include "features/global_texts.hpp"

#include <array>
#include <stdexcept>

#include "base/unicode.hpp"

namespace marginalia {

namespace {

char32_t shape_of(char32_t code) {
  switch (kind_of(code)) {
    case Kind::upper:
      return U'A';
    case Kind::lower:
    case Kind::letter:
      return U'a';
    case Kind::digit:
      return U'0';
    default:
      return code;
  }
}

std::string collapsed_shape(std::u32string_view codes) {
  std::string shape;
  char32_t last = 0;
  for (const char32_t code : codes) {
    const char32_t one = shape_of(code);
    if (one != last) append(shape, one);
    last = one;
  }
  return shape;
}

Quote quote_of(std::string_view text) {
  if (text == "\"") return Quote::either;
  for (const char* opening : {"``", "\u201c", "\u00ab", "\u201e"})
    if (text == opening) return Quote::opening;
  for (const char* closing : {"''", "\u201d", "\u00bb"})
    if (text == closing) return Quote::closing;
  return Quote::none;
}

bool joins(std::string_view lowered) {
  for (const char* one : {",", "and", "or", "&", "/"})
    if (lowered == one) return true;
  return false;
}

}  // namespace

std::uint32_t GlobalTexts::number_of(std::string_view text) {
  const auto [at, fresh] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(facts_.size()));
  if (!fresh) return at->second;
  const std::u32string codes = decoded(text);
  std::string lowered;
  for (const char32_t code : codes) append(lowered, lower_of(code));
  const Kind first = codes.empty() ? Kind::other : kind_of(codes[0]);
  const auto number =
      lower_numbers_.try_emplace(lowered, static_cast<std::uint32_t>(lower_numbers_.size())).first->second;
  std::string shape = collapsed_shape(codes);
  std::string flagged = shape + (set_->is_lowercase(lowered) ? "1" : "0");
  facts_.push_back({std::string(text), std::move(shape), std::move(flagged), number, first == Kind::lower,
                    first == Kind::upper,
                    first == Kind::lower || first == Kind::upper || first == Kind::letter || first == Kind::digit,
                    joins(lowered), quote_of(text)});
  return at->second;
}

void GlobalTexts::add(const TokenTable& table, std::uint32_t column) {
  if (table.tokens() != 0 && column >= table.columns)
    throw std::invalid_argument("global features: there is no such column");
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    for (std::size_t t = table.sentence[s]; t < table.sentence[s + 1]; ++t)
      words_.push_back(number_of(table.field(t, column)));
    start_.push_back(words_.size());
  }
}

}  // namespace marginalia
