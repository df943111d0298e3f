#include "base/segmented.hpp"

#include <string_view>
#include <utility>

#include "base/lines.hpp"

namespace marginalia {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

class Parser {
 public:
  Parser(std::string_view text, const SegmentedOptions& options)
      : options_(options), text_(text), line_(options.first_line) {
    if (options.first_line == 1 && text_.starts_with(kByteOrderMark))
      text_.remove_prefix(kByteOrderMark.size());
  }

  TokenTable parse() {
    check_characters();
    table_.columns = 2;
    reserve();
    line_ = options_.first_line;
    for (lines_ = Lines{text_, 0}; lines_.advance(); ++line_) read_line();
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

  // Most characters of such texts have three bytes.
  void reserve() {
    table_.text.reserve(text_.size() * 2);
    table_.begin.reserve(text_.size() * 2 / 3);
    table_.length.reserve(text_.size() * 2 / 3);
    table_.line.reserve(text_.size() / 3);
  }

  void read_line() {
    std::size_t end = lines_.to;
    while (end > lines_.from && text_[end - 1] == '\r') --end;
    for (std::size_t at = lines_.from; at < end;) {
      const std::size_t first = at;
      while (at < end && !is_blank(text_[at])) ++at;
      if (at > first) add_word(first, at);
      while (at < end && is_blank(text_[at])) ++at;
    }
    if (table_.line.size() == table_.sentence.back() && !options_.blank_lines) return;
    table_.text += '\n';
    check_size(table_.text.size());
    table_.document.push_back(options_.first_document + static_cast<std::uint32_t>(table_.sentences()));
    table_.sentence.push_back(static_cast<std::uint32_t>(table_.line.size()));
  }

  void add_word(std::size_t first, std::size_t end) {
    const std::size_t last = take_tag(first, end);
    for (std::size_t at = first; at < last;) {
      std::size_t next = at + 1;
      while (next < last && (text_[next] & 0xC0) == 0x80) ++next;
      const char* prefixes = at == first ? "BS" : "ME";
      add_character(text_.substr(at, next - at), prefixes[next == last ? 1 : 0]);
      at = next;
    }
  }

  // Where the word ends before its tag; `type_` becomes what the tag adds to its labels.
  std::size_t take_tag(std::size_t first, std::size_t end) {
    const std::string& separator = options_.tag_separator;
    if (separator.empty()) return end;
    const std::string_view item = text_.substr(first, end - first);
    const std::size_t at = item.rfind(separator);
    if (at == kNowhere || at == 0 || at + separator.size() == item.size())
      fail("found '" + std::string(item) + "', expected word" + separator + "tag", first);
    if (item.back() == '-')  // no scheme has such a label
      fail("found '" + std::string(item) + "', expected a tag that does not end in '-'", first);
    (type_ = '-') += item.substr(at + separator.size());
    return first + at;
  }

  void add_character(std::string_view character, char prefix) {
    add_field(character);
    table_.text += '\t';
    table_.begin.push_back(static_cast<std::uint32_t>(table_.text.size()));
    table_.length.push_back(static_cast<std::uint32_t>(1 + type_.size()));
    (table_.text += prefix) += type_;
    table_.text += '\n';
    table_.line.push_back(line_);
  }

  void add_field(std::string_view field) {
    table_.begin.push_back(static_cast<std::uint32_t>(table_.text.size()));
    table_.length.push_back(static_cast<std::uint32_t>(field.size()));
    table_.text += field;
  }

  [[noreturn]] void fail(const std::string& what, std::size_t at) const {
    throw ParseError(what, line_, count_characters(text_.substr(lines_.from, at - lines_.from)) + 1);
  }

  const SegmentedOptions& options_;
  std::string_view text_;
  TokenTable table_;
  Lines lines_{text_, 0};
  std::uint32_t line_;
  std::string type_;  // a hyphen and the tag of the word
};

}  // namespace

TokenTable parse_segmented(const std::string& text, const SegmentedOptions& options) {
  return Parser(text, options).parse();
}

std::string render_segmented(const TokenTable& table, const SchemeLabels& labels,
                             std::span<const std::int32_t> ids, std::span<const std::string> tags) {
  if (tags.size() != labels.labels())
    throw std::invalid_argument("found labels and tags of different number");
  check_labels(table, tags, ids);
  std::string out;
  out.reserve(table.text.size());
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    std::size_t first = table.sentence[s];
    for (std::size_t t = first; t < table.sentence[s + 1]; ++t) {
      if (t > table.sentence[s] && labels.relation(ids[t - 1], ids[t]) != kJoined) {
        (out += tags[ids[first]]) += ' ';
        first = t;
      }
      out += table.field(t, 0);
    }
    if (first < table.sentence[s + 1]) out += tags[ids[first]];
    out += '\n';
  }
  return out;
}

}  // namespace marginalia
