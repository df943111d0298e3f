// Tokens of many sentences as a table of byte ranges in one UTF-8 buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

// A comment line: its bytes in the buffer and the sentence it belongs to (which it directly precedes).
struct Comment {
  std::uint32_t begin, length, sentence;
};

struct Items;  // base/items.hpp

struct TokenTable {
  std::string text;                           // the bytes all fields point into
  std::uint32_t columns = 0;                  // fields per token
  std::vector<std::uint32_t> begin;           // [tokens * columns] first byte of a field
  std::vector<std::uint32_t> length;          // [tokens * columns] bytes of a field
  std::vector<std::uint32_t> sentence = {0};  // [sentences + 1] first token of each sentence
  std::vector<std::uint32_t> line;            // [tokens] line number, the first line of a file is 1
  std::vector<std::uint32_t> document;        // [sentences] how many -DOCSTART- lines came before
  std::vector<std::uint32_t> mark;            // [-DOCSTART- lines] where the line's last field ends
  std::uint32_t line_breaks = 0;              // in the text, if it was read as lines
  std::vector<Comment> comments;              // in order of appearance
  std::shared_ptr<const Items> items;         // attributes that users made themselves; null if there are none

  std::size_t tokens() const { return columns == 0 ? 0 : begin.size() / columns; }
  std::size_t sentences() const { return sentence.size() - 1; }
  std::string_view field(std::size_t token, std::size_t column) const {
    const std::size_t i = token * columns + column;
    return std::string_view(text).substr(begin[i], length[i]);
  }
  std::size_t field_end(std::size_t token) const {
    const std::size_t last = token * columns + columns - 1;
    return std::size_t{begin[last]} + length[last];
  }
  // The byte between the first two fields; a tab where there is only one.
  char separator() const { return columns > 1 && tokens() > 0 ? text[begin[1] - 1] : '\t'; }
};

// What is wrong in a column file, and where: line and column count from 1, columns in characters.
struct ParseError : std::invalid_argument {
  ParseError(const std::string& what, std::uint32_t line, std::uint32_t column)
      : std::invalid_argument(what), line(line), column(column) {}
  std::uint32_t line, column;
};

struct ParseOptions {
  std::uint32_t first_line = 1;      // number of the first line; only line 1 may carry a byte order mark
  std::uint32_t first_document = 0;  // -DOCSTART- lines already seen
  std::uint32_t columns = 0;         // fields per token; 0 takes them from the first token line
  bool tabs_only = false;            // fields may contain blanks, or be empty
  std::string comment = "#";         // how comment lines start; empty if there are none
  bool comment_anywhere = false;     // else only before a sentence and if the number of fields differs
};

// Reads lines of fields; a blank line or a -DOCSTART- line ends a sentence. Linear in the text; throws
// ParseError.
TokenTable parse_columns(std::string text, const ParseOptions& options);

// The character of its line, counted from 1, at which a field starts.
std::uint32_t character_column(const TokenTable& table, std::size_t token, std::size_t column);

// A table of given fields: columns[c][token], lengths[sentence]. Its text is the same table, tab-separated.
TokenTable pack(const std::vector<std::vector<std::string_view>>& columns,
                std::span<const std::uint32_t> lengths, std::span<const std::uint32_t> documents = {});

// A field per token: names[ids[token]].
struct NamedColumn {
  std::span<const std::string> names;
  std::span<const std::int32_t> ids;
};

// The text with more fields per token line: `numbers` [tokens][width] with four decimals ("_": not a number),
// then the columns. -DOCSTART- lines get "_" for numbers and, for a column, "O", or "_" if there is no such
// name. All other bytes stay as they are. Throws std::invalid_argument.
std::string render(const TokenTable& table, std::span<const double> numbers, std::size_t width,
                   std::span<const NamedColumn> columns, char separator);

// Throws std::invalid_argument unless there is one of the labels for each token.
void check_labels(const TokenTable& table, std::span<const std::string> labels,
                  std::span<const std::int32_t> ids);

// ids[token] = place of the column's value in `vocabulary`, -1 if it is not there.
std::vector<std::int32_t> intern_column(const TokenTable& table, std::uint32_t column,
                                        std::span<const std::string> vocabulary);

struct Distinct {
  std::vector<std::string_view> values;  // in order of first appearance; they point into the table
  std::vector<std::int32_t> ids;         // [tokens]
};
Distinct distinct(const TokenTable& table, std::uint32_t column);

// The same tokens with one sentence per document.
TokenTable concatenate_documents(const TokenTable& table);

// The same tokens, each a sentence of its own: items. `lines` says where they were read; empty: as the table
// does. Throws std::invalid_argument.
TokenTable as_items(TokenTable table, std::span<const std::uint32_t> lines);

}  // namespace marginalia
