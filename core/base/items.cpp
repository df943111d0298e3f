#include "base/items.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "base/lines.hpp"

namespace marginalia {

void require_float(double value) {
  if (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())) return;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  throw std::invalid_argument("found " + std::string(text, end) +
                              ", expected a number of at most 3.4e+38 in size");
}

void ItemsBuilder::add(std::string_view name, double value) {
  require_float(value);
  const auto number = static_cast<float>(value);
  if (number == 0.0f) return;
  if (number != 1.0f && items_.values.empty()) items_.values.assign(items_.names.size(), 1.0f);
  items_.names.push_back(number_of(name));
  if (number != 1.0f || !items_.values.empty()) items_.values.push_back(number);
}

std::uint32_t ItemsBuilder::number_of(std::string_view name) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = quick_hash(name, 0) & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask)
    if (items_.name(slots_[i] - 1) == name) return slots_[i] - 1;
  const auto number = static_cast<std::uint32_t>(items_.keys.size());
  if (number == UINT32_MAX - 1) throw std::length_error("more than 4 billion attributes");
  slots_[i] = number + 1;
  items_.text += name;
  items_.text_end.push_back(items_.text.size());
  items_.keys.push_back(key_of(hash_of(name).hash, false));
  if (items_.keys.size() * 2 > slots_.size()) grow();
  return number;
}

void ItemsBuilder::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t number = 0; number < items_.keys.size(); ++number) {
    std::size_t i = quick_hash(items_.name(number), 0) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = number + 1;
  }
}

namespace {

class ItemParser {
 public:
  ItemParser(std::string text, std::uint32_t first_line) : line_(first_line) {
    check_size(text.size());
    table_.text = std::move(text);
    table_.columns = 2;
    text_ = table_.text;
    const bool marked = first_line == 1 && text_.starts_with(kByteOrderMark);
    lines_ = Lines{text_, marked ? kByteOrderMark.size() : 0};
  }

  TokenTable parse() {
    const std::size_t bad = first_malformed(text_);
    for (; lines_.advance(); ++line_) {
      if (bad < lines_.next) fail(describe_byte(text_[bad]), bad);
      read_line();
    }
    end_sentence();
    table_.items = std::make_shared<const Items>(items_.take());
    return std::move(table_);
  }

 private:
  void read_line() {
    if (text_.find_first_not_of(" \t", lines_.from) >= lines_.to) return end_sentence();
    if (const std::size_t at = text_.substr(0, lines_.to).find('\r', lines_.from); at != kNowhere)
      fail("found a carriage return inside a line, expected LF or CRLF line ends", at);
    const std::size_t tab = tab_after(lines_.from);
    const std::size_t rest = std::min(tab + 1, lines_.to);
    add_field(rest, lines_.to);
    add_field(lines_.from, tab);
    if (text_.substr(lines_.from, tab - lines_.from).starts_with("@weight"))
      fail("found @weight, which is not read here: give weights of sequences apart", lines_.from);
    for (std::size_t i = rest; i < lines_.to;) i = read_attribute(i) + 1;
    items_.end_token();
    table_.line.push_back(line_);
  }

  // The next tab of the line, or its end.
  std::size_t tab_after(std::size_t from) const {
    return std::min(text_.substr(0, lines_.to).find('\t', from), lines_.to);
  }

  void add_field(std::size_t from, std::size_t to) {
    table_.begin.push_back(static_cast<std::uint32_t>(from));
    table_.length.push_back(static_cast<std::uint32_t>(to - from));
  }

  // Reads NAME or NAME:NUMBER; where it ends.
  std::size_t read_attribute(std::size_t from) {
    const std::size_t end = tab_after(from);
    std::size_t i = from;
    name_.clear();
    for (; i < end && text_[i] != ':'; ++i) {
      if (text_[i] == '\\' && ++i == end) fail("found a backslash at the end of an attribute", end - 1);
      name_ += text_[i];
    }
    if (end == from) return end;  // two tabs in a row, or one at the end
    const double value = i + 1 < end ? number(i + 1, end) : 1.0;
    try {
      items_.add(name_, value);
    } catch (const std::invalid_argument& error) {
      fail(error.what(), i + 1);
    }
    return end;
  }

  double number(std::size_t from, std::size_t to) {
    const std::string digits(text_.substr(from, to - from));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (end != digits.c_str() + digits.size() || digits.front() == ' ')
      fail("found '" + digits + "' behind a colon, expected a number (a colon in a name is written \\:)",
           from);
    return value;
  }

  void end_sentence() {
    if (table_.line.size() == table_.sentence.back()) return;
    table_.sentence.push_back(static_cast<std::uint32_t>(table_.line.size()));
    table_.document.push_back(0);
  }

  [[noreturn]] void fail(const std::string& what, std::size_t at) const {
    throw ParseError(what, line_, count_characters(text_.substr(lines_.from, at - lines_.from)) + 1);
  }

  TokenTable table_;
  ItemsBuilder items_;
  std::string_view text_;
  Lines lines_{};
  std::uint32_t line_;
  std::string name_;
};

}  // namespace

TokenTable parse_items(std::string text, std::uint32_t first_line) {
  return ItemParser(std::move(text), first_line).parse();
}

std::string replace_column(const TokenTable& table, std::uint32_t column, std::span<const std::string> labels,
                           std::span<const std::int32_t> ids) {
  if (column >= table.columns && table.tokens() != 0) throw std::invalid_argument("there is no such column");
  check_labels(table, labels, ids);
  std::string out;
  std::size_t copied = 0;
  for (std::size_t token = 0; token < table.tokens(); ++token) {
    const std::size_t i = token * table.columns + column;
    out.append(table.text, copied, table.begin[i] - copied);
    out += labels[ids[token]];
    copied = std::size_t{table.begin[i]} + table.length[i];
  }
  return out.append(table.text, copied);
}

}  // namespace marginalia
