#include "base/token_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/lines.hpp"

namespace marginalia {
namespace {

constexpr std::string_view kDocument = "-DOCSTART-";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

class Parser {
 public:
  Parser(std::string text, const ParseOptions& options) : options_(options), line_(options.first_line) {
    check_size(text.size());
    table_.text = std::move(text);
    text_ = table_.text;
    if (options.first_line == 1 && text_.starts_with(kByteOrderMark)) start_ = kByteOrderMark.size();
    lines_ = Lines{text_, start_};
  }

  TokenTable parse() {
    check_characters();
    table_.columns = options_.columns != 0 ? options_.columns : guess_columns();
    reserve();
    line_ = options_.first_line;
    for (lines_ = Lines{text_, start_}; lines_.advance(); ++line_) read_line();
    end_sentence();
    const bool is_cut = line_ > options_.first_line && text_.back() != '\n';
    table_.line_breaks = line_ - options_.first_line - (is_cut ? 1 : 0);
    return std::move(table_);
  }

 private:
  void check_characters() {
    const std::size_t at = first_malformed(text_);
    if (at == kNowhere) return;
    while (lines_.advance() && lines_.next <= at) ++line_;
    fail(describe_byte(text_[at]), at);
  }

  // Fields of the first line that is a token beyond doubt; 0 if there is no such line.
  std::uint32_t guess_columns() {
    for (; lines_.advance(); ++line_) {
      const std::uint32_t found = split();
      const bool token = found > 0 && !is_document() && !looks_like_comment();
      drop(found);
      if (token) return found;
    }
    return 0;
  }

  // A token line seldom has fewer than eight bytes; growing once more is cheaper than reserving too much.
  void reserve() {
    table_.begin.reserve(text_.size() / 8 * table_.columns);
    table_.length.reserve(text_.size() / 8 * table_.columns);
    table_.line.reserve(text_.size() / 8);
  }

  void read_line() {
    const std::uint32_t found = split();
    if (found == 0) return end_sentence();
    if (is_comment(found)) return add_comment(found);
    if (is_document()) return add_document(found);
    if (found != table_.columns) fail_columns(found);
    table_.line.push_back(line_);
  }

  // Appends the fields of the current line to the table and returns their number, 0 for a blank line.
  std::uint32_t split() {
    fields_ = table_.begin.size();
    std::size_t i = skip_blanks(lines_.from);
    if (i == lines_.to) return 0;
    if (options_.tabs_only) i = lines_.from;
    while (true) {
      const std::size_t first = i;
      i = field_end(i);
      table_.begin.push_back(static_cast<std::uint32_t>(first));
      table_.length.push_back(static_cast<std::uint32_t>(i - first));
      if (!options_.tabs_only) i = skip_blanks(i);
      if (i == lines_.to) break;
      if (options_.tabs_only) ++i;
    }
    return static_cast<std::uint32_t>(table_.begin.size() - fields_);
  }

  std::size_t skip_blanks(std::size_t i) const {
    while (i < lines_.to && is_blank(text_[i])) ++i;
    return i;
  }

  std::size_t field_end(std::size_t i) const {
    for (; i < lines_.to; ++i) {
      if (static_cast<unsigned char>(text_[i]) > ' ') continue;
      if (text_[i] == '\t' || (text_[i] == ' ' && !options_.tabs_only)) break;
      if (text_[i] == '\r') fail("found a carriage return inside a line, expected LF or CRLF line ends", i);
    }
    return i;
  }

  void drop(std::uint32_t found) {
    table_.begin.resize(table_.begin.size() - found);
    table_.length.resize(table_.length.size() - found);
  }

  bool is_document() const {
    return text_.substr(table_.begin[fields_], table_.length[fields_]) == kDocument;
  }

  bool looks_like_comment() const {
    return !options_.comment.empty() &&
           text_.substr(lines_.from, lines_.to - lines_.from).starts_with(options_.comment);
  }

  bool is_comment(std::uint32_t found) const {
    if (!looks_like_comment()) return false;
    return options_.comment_anywhere ||
           (table_.line.size() == table_.sentence.back() && found != table_.columns);
  }

  void add_comment(std::uint32_t found) {
    drop(found);
    table_.comments.push_back({static_cast<std::uint32_t>(lines_.from),
                               static_cast<std::uint32_t>(lines_.to - lines_.from),
                               static_cast<std::uint32_t>(table_.sentences())});
  }

  void add_document(std::uint32_t found) {
    const std::uint32_t end = table_.begin.back() + table_.length.back();
    drop(found);
    end_sentence();
    table_.mark.push_back(end);
  }

  void end_sentence() {
    if (table_.line.size() == table_.sentence.back()) return forget_comments();
    table_.sentence.push_back(static_cast<std::uint32_t>(table_.line.size()));
    table_.document.push_back(options_.first_document + static_cast<std::uint32_t>(table_.mark.size()));
  }

  // Comments that no sentence follows directly belong to none, wherever the text is cut into blocks.
  void forget_comments() {
    while (!table_.comments.empty() && table_.comments.back().sentence == table_.sentences())
      table_.comments.pop_back();
  }

  [[noreturn]] void fail_columns(std::uint32_t found) const {
    const std::size_t at = found > table_.columns ? table_.begin[fields_ + table_.columns] : lines_.to;
    fail("found " + std::to_string(found) + (found == 1 ? " column" : " columns") + ", expected " +
             std::to_string(table_.columns),
         at);
  }

  [[noreturn]] void fail(const std::string& what, std::size_t at) const {
    throw ParseError(what, line_, count_characters(text_.substr(lines_.from, at - lines_.from)) + 1);
  }

  const ParseOptions& options_;
  TokenTable table_;
  std::string_view text_;
  std::size_t start_ = 0;  // after the byte order mark
  Lines lines_;
  std::uint32_t line_;
  std::size_t fields_ = 0;  // where the current line's fields start in the table
};

using Index = std::unordered_map<std::string_view, std::int32_t>;

// Gives `visit(token, value)` every value of a column.
template <class Visit>
void each_value(const TokenTable& table, std::uint32_t column, Visit visit) {
  if (column >= table.columns)
    throw std::invalid_argument("found column " + std::to_string(column) + ", expected less than " +
                                std::to_string(table.columns));
  for (std::size_t token = 0; token < table.tokens(); ++token) visit(token, table.field(token, column));
}

void append_number(std::string& out, double number) {
  if (std::isnan(number)) {
    out += '_';
    return;
  }
  char digits[400];  // enough for any double with four decimals
  const auto end = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed, 4).ptr;
  out.append(digits, end);
}

}  // namespace

void check_labels(const TokenTable& table, std::span<const std::string> labels,
                  std::span<const std::int32_t> ids) {
  if (ids.size() != table.tokens())
    throw std::invalid_argument("found " + std::to_string(ids.size()) + " label ids, expected " +
                                std::to_string(table.tokens()));
  for (const std::int32_t id : ids)
    if (id < 0 || static_cast<std::size_t>(id) >= labels.size())
      throw std::invalid_argument("found label id " + std::to_string(id) + ", expected 0 to " +
                                  std::to_string(labels.size()) + " exclusive");
}

TokenTable parse_columns(std::string text, const ParseOptions& options) {
  return Parser(std::move(text), options).parse();
}

std::uint32_t character_column(const TokenTable& table, std::size_t token, std::size_t column) {
  const std::string_view before =
      std::string_view(table.text).substr(0, table.begin[token * table.columns + column]);
  const std::size_t newline = before.rfind('\n');
  if (newline != kNowhere) return count_characters(before.substr(newline + 1)) + 1;
  return count_characters(before) + (before.starts_with(kByteOrderMark) ? 0 : 1);
}

TokenTable pack(const std::vector<std::vector<std::string_view>>& columns,
                std::span<const std::uint32_t> lengths, std::span<const std::uint32_t> documents) {
  TokenTable table;
  if (!documents.empty() && documents.size() != lengths.size())
    throw std::invalid_argument("documents and sentences disagree in number");
  table.columns = static_cast<std::uint32_t>(columns.size());
  std::uint32_t line = 1;
  std::size_t token = 0;
  for (const std::uint32_t size : lengths) {
    for (const std::size_t end = token + size; token < end; ++token) {
      for (const auto& column : columns) {
        table.begin.push_back(static_cast<std::uint32_t>(table.text.size()));
        table.length.push_back(static_cast<std::uint32_t>(column.at(token).size()));
        table.text += column[token];
        table.text += &column == &columns.back() ? '\n' : '\t';
      }
      table.line.push_back(line++);
    }
    check_size(table.text.size());
    table.text += '\n';
    ++line;
    table.sentence.push_back(static_cast<std::uint32_t>(token));
    table.document.push_back(documents.empty() ? 0 : documents[table.document.size()]);
  }
  return table;
}

std::string render(const TokenTable& table, std::span<const double> numbers, std::size_t width,
                   std::span<const NamedColumn> columns, char separator) {
  for (const NamedColumn& column : columns) check_labels(table, column.names, column.ids);
  const std::size_t tokens = table.tokens();
  if (numbers.size() != width * tokens)
    throw std::invalid_argument("render: the numbers do not fit the tokens");
  std::size_t bytes = table.text.size() + table.mark.size() * 2 * (width + columns.size());
  for (const NamedColumn& column : columns)
    for (const std::int32_t id : column.ids) bytes += column.names[id].size() + 1;
  std::string out;
  out.reserve(bytes + numbers.size() * 7);
  std::size_t copied = 0, mark = 0;
  const auto copy_to = [&](std::size_t at) {
    out.append(table.text, copied, at - copied);
    copied = at;
  };
  const auto add_mark = [&] {
    copy_to(table.mark[mark++]);
    for (std::size_t i = 0; i < width; ++i) (out += separator) += '_';
    for (const NamedColumn& column : columns) {
      const bool outside = std::find(column.names.begin(), column.names.end(), "O") != column.names.end();
      (out += separator) += outside ? 'O' : '_';
    }
  };
  for (std::size_t token = 0; token < tokens; ++token) {
    const std::size_t at = table.field_end(token);
    while (mark < table.mark.size() && table.mark[mark] < at) add_mark();
    copy_to(at);
    for (std::size_t i = 0; i < width; ++i) append_number(out += separator, numbers[token * width + i]);
    for (const NamedColumn& column : columns) (out += separator) += column.names[column.ids[token]];
  }
  while (mark < table.mark.size()) add_mark();
  return out.append(table.text, copied);
}

std::vector<std::int32_t> intern_column(const TokenTable& table, std::uint32_t column,
                                        std::span<const std::string> vocabulary) {
  Index index;
  index.reserve(vocabulary.size());
  for (std::size_t id = 0; id < vocabulary.size(); ++id)
    index.emplace(vocabulary[id], static_cast<std::int32_t>(id));
  std::vector<std::int32_t> ids(table.tokens());
  each_value(table, column, [&](std::size_t token, std::string_view value) {
    const auto found = index.find(value);
    ids[token] = found == index.end() ? -1 : found->second;
  });
  return ids;
}

Distinct distinct(const TokenTable& table, std::uint32_t column) {
  Index index;
  Distinct result;
  result.ids.resize(table.tokens());
  each_value(table, column, [&](std::size_t token, std::string_view value) {
    const auto [entry, is_new] = index.try_emplace(value, static_cast<std::int32_t>(result.values.size()));
    if (is_new) result.values.push_back(value);
    result.ids[token] = entry->second;
  });
  return result;
}

TokenTable concatenate_documents(const TokenTable& table) {
  TokenTable whole = table;
  whole.sentence = {0};
  whole.document.clear();
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    if (s == 0 || table.document[s] != table.document[s - 1]) {
      whole.sentence.push_back(0);
      whole.document.push_back(table.document[s]);
    }
    whole.sentence.back() = table.sentence[s + 1];
  }
  // Comments were counted by sentence: they now belong to the document of that sentence.
  for (Comment& comment : whole.comments) {
    const std::uint32_t token = table.sentence[comment.sentence];
    const auto after = std::upper_bound(whole.sentence.begin(), whole.sentence.end(), token);
    comment.sentence = static_cast<std::uint32_t>(after - whole.sentence.begin() - 1);
  }
  return whole;
}

TokenTable as_items(TokenTable table, std::span<const std::uint32_t> lines) {
  const std::size_t tokens = table.tokens();
  if (!lines.empty() && lines.size() != tokens)
    throw std::invalid_argument("lines and items disagree in number");
  if (!lines.empty()) table.line.assign(lines.begin(), lines.end());
  table.sentence.resize(tokens + 1);
  std::iota(table.sentence.begin(), table.sentence.end(), 0u);
  table.document.assign(tokens, 0);
  table.comments.clear();
  return table;
}

}  // namespace marginalia
