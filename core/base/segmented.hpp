// Text that blanks cut into words, a sentence a line: its characters as tokens, with labels of the scheme
// BMES.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/schemes.hpp"
#include "base/token_table.hpp"

namespace marginalia {

struct SegmentedOptions {
  std::uint32_t first_line = 1;      // number of the first line; only line 1 may carry a byte order mark
  std::uint32_t first_document = 0;  // each sentence is a document
  bool blank_lines = false;          // are lines without words sentences, too? Else they are left out
  std::string tag_separator;         // what stands before the tag of a word; empty: words have no tags
};

// The columns are characters and labels, `B` or, with tags, `B-n`. The text
// of the table is that of `pack`. Throws ParseError.
TokenTable parse_segmented(const std::string& text, const SegmentedOptions& options);

// The words that labels spell, a sentence a line; behind a word goes what `tags` [labels] has for the label
// of its first character. Throws std::invalid_argument.
std::string render_segmented(const TokenTable& table, const SchemeLabels& labels,
                             std::span<const std::int32_t> ids, std::span<const std::string> tags);

}  // namespace marginalia
