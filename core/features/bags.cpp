#include "features/bags.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/items.hpp"
#include "base/unicode.hpp"

namespace marginalia {

namespace {

using Part = BagPiece::Kind;

constexpr std::uint32_t kLongestGram = 99;

enum class Class : std::uint8_t { space, word, sign };

Class class_of(char32_t code) {
  switch (kind_of(code)) {
    case Kind::space:
      return Class::space;
    case Kind::other:
    case Kind::punct:
      return Class::sign;
    default:
      return Class::word;
  }
}

// The next code point with its class; the usual ones need no table.
char32_t next(std::string_view text, std::size_t& at, Class& what) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0x80) {
    const char32_t code = next_code_point(text, at);
    what = class_of(code);
    return code;
  }
  ++at;
  const unsigned letter = byte | 0x20u;
  if ((letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '_')
    what = Class::word;
  else
    what = byte == ' ' || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x1c && byte <= 0x1f) ? Class::space
                                                                                           : Class::sign;
  return byte;
}

void append_to(BagView& view, char32_t code, bool lower) {
  append(view.text, lower ? lower_of(code) : code);
}

void end_element(BagView& view, std::size_t begin) {
  view.begin.push_back(static_cast<std::uint32_t>(begin));
  view.end.push_back(static_cast<std::uint32_t>(view.text.size()));
  view.hashes.push_back(hash_of(view.element(view.size() - 1)));
}

void clear(BagView& view) {
  view.text.clear();
  view.begin.clear();
  view.end.clear();
  view.hashes.clear();
}

// A template's name without what joins it to a value.
std::string shown(const std::string& name) {
  return name.substr(0, name.find_last_not_of('=') + 1);
}

// The number that a text is, absent if there is none.
std::optional<double> number_in(std::string_view text, const std::string& name, std::uint32_t line) {
  const std::size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t") + 1;
  if (from == text.npos) return std::nullopt;
  std::string_view digits = text.substr(from, to - from);
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    throw ItemError(shown(name) + ": found '" + std::string(text) + "', expected a number", line);
  return value;
}

}  // namespace

void cut_words(std::string_view text, bool lower, BagView& out) {
  clear(out);
  bool inside = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    Class what;
    const char32_t code = next(text, at, what);
    if (inside && what != Class::word) {
      end_element(out, begin);
      inside = false;
    }
    if (what == Class::space) continue;
    if (!inside) begin = out.text.size();
    append_to(out, code, lower);
    inside = what == Class::word;
    if (!inside) end_element(out, begin);
  }
  if (inside) end_element(out, begin);
}

void cut_characters(std::string_view text, bool lower, BagView& out) {
  clear(out);
  bool blank = true;  // one is due before the next character
  for (std::size_t at = 0; at < text.size();) {
    Class what;
    const char32_t code = next(text, at, what);
    if (what == Class::space) {
      blank = true;
      continue;
    }
    for (const char32_t one : {U' ', code}) {
      if (one == U' ' && !blank) continue;
      const std::size_t begin = out.text.size();
      append_to(out, one, lower);
      end_element(out, begin);
    }
    blank = false;
  }
  if (out.size() == 0) return;
  out.text += ' ';
  end_element(out, out.text.size() - 1);
}

Bags::Bags(std::vector<BagTemplate> templates, std::uint32_t columns) : templates_(std::move(templates)) {
  for (BagTemplate& one : templates_) prepare(one, columns);
}

void Bags::prepare(BagTemplate& one, std::uint32_t columns) {
  if (std::count_if(one.begin(), one.end(), [](const BagPiece& p) { return p.is_bag(); }) > 1)
    throw std::invalid_argument("extractor: a template of items has two bags");
  for (BagPiece& piece : one) {
    piece.hashed = hash_of(piece.text);
    if (piece.kind == Part::literal) continue;
    if (piece.column >= columns) throw std::invalid_argument("extractor: column out of range");
    if (piece.kind == Part::column) marginalia::check(piece.attribute);
    if (piece.kind == Part::number && !(std::isfinite(piece.divisor) && piece.divisor > 0.0))
      throw std::invalid_argument("extractor: found a divisor that is not above 0");
    if (!piece.is_bag()) continue;
    if (piece.n < 1 || piece.n > kLongestGram)
      throw std::invalid_argument("extractor: found " + std::to_string(piece.n) +
                                  " elements in a row, expected 1 to " + std::to_string(kLongestGram));
    const View view{piece.kind, piece.column, piece.lower};
    const auto known = std::find(views_.begin(), views_.end(), view);
    piece.view = static_cast<std::uint32_t>(known - views_.begin());
    if (known == views_.end()) views_.push_back(view);
  }
}

void Bags::read(const TokenTable& table, std::size_t first, std::size_t last, BagSpace& space) const {
  space.found.clear();
  space.views.resize(std::max(space.views.size(), (last - first) * views_.size()));
  for (std::size_t token = first; token < last; ++token) {
    const std::size_t item = token - first;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      const auto cut = views_[v].kind == Part::words ? cut_words : cut_characters;
      cut(table.field(token, views_[v].column), views_[v].lower, space.views[item * views_.size() + v]);
    }
    for (std::uint32_t i = 0; i < templates_.size(); ++i)
      add_features(i, table, token, static_cast<std::uint32_t>(item), space);
  }
}

// A name is what stands before the bag, an element of it, and what stands behind it.
void Bags::add_features(std::uint32_t index, const TokenTable& table, std::size_t token, std::uint32_t item,
                        BagSpace& space) const {
  const std::uint32_t line = token < table.line.size() ? table.line[token] : 0;
  Hashed before, after;
  const BagPiece* bag = nullptr;
  double value = 1.0;
  for (const BagPiece& piece : templates_[index]) {
    Hashed& part = bag == nullptr ? before : after;
    if (piece.kind == Part::literal) {
      part = joined(part, piece.hashed);
    } else if (piece.kind == Part::column) {
      const std::string_view field = table.field(token, piece.column);
      if (field.empty() || !evaluate(piece.attribute, field, space.scratch)) return;
      part = joined(part, hash_of(space.scratch));
    } else if (piece.kind == Part::number) {
      const auto number = number_in(table.field(token, piece.column), templates_[index][0].text, line);
      if (!number) return;
      value *= *number / piece.divisor;
    } else {
      bag = &piece;
    }
  }
  try {
    require_float(value);
  } catch (const std::invalid_argument& error) {
    throw ItemError(shown(templates_[index][0].text) + ": " + error.what(), line);
  }
  const auto times = static_cast<float>(value);
  if (times == 0.0f) return;
  if (bag == nullptr) {
    space.found.push_back({key_of(before.hash, false), item, index, 0, times});
    return;
  }
  const BagView& view = space.views[item * views_.size() + bag->view];
  static const Hashed blank = hash_of(" ");
  for (std::size_t i = 0; i + bag->n <= view.size(); ++i) {
    Hashed name = joined(before, view.hashes[i]);
    for (std::size_t k = 1; k < bag->n; ++k) {
      if (bag->kind == Part::words) name = joined(name, blank);
      name = joined(name, view.hashes[i + k]);
    }
    if (after.power != 1) name = joined(name, after);
    space.found.push_back({key_of(name.hash, false), item, index, static_cast<std::uint32_t>(i), times});
  }
}

std::vector<std::string> Bags::texts_of(std::size_t found, const TokenTable& table, std::size_t first,
                                        const BagSpace& space) const {
  const BagSpace::BagFeature& feature = space.found.at(found);
  std::vector<std::string> texts;
  for (const BagPiece& piece : templates_[feature.template_index]) {
    std::string& text = texts.emplace_back();
    if (piece.kind == Part::literal) {
      text = piece.text;
    } else if (piece.kind == Part::column) {
      evaluate(piece.attribute, table.field(first + feature.item, piece.column), text);
    } else if (piece.is_bag()) {
      const BagView& view = space.views[feature.item * views_.size() + piece.view];
      for (std::size_t k = 0; k < piece.n; ++k) {
        if (k > 0 && piece.kind == Part::words) text += ' ';
        text += view.element(feature.element + k);
      }
    }
  }
  return texts;
}

}  // namespace marginalia
