// Attributes that users made themselves: for each token some names, each with a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/token_table.hpp"

namespace marginalia {

struct Items {
  std::vector<std::uint64_t> end = {0};  // [tokens + 1] into names
  std::vector<std::uint32_t> names;      // which of the distinct names
  std::vector<float> values;             // beside them; empty if all are 1

  std::string text;                           // the distinct names, one after another ...
  std::vector<std::uint64_t> text_end = {0};  // [distinct names + 1]
  std::vector<std::uint64_t> keys;            // [distinct names] ... and the keys of their features

  float value(std::uint64_t i) const { return values.empty() ? 1.0f : values[i]; }
  std::string_view name(std::uint32_t which) const {
    return std::string_view(text).substr(text_end[which], text_end[which + 1] - text_end[which]);
  }
};

// Throws std::invalid_argument unless a float can hold the value.
void require_float(double value);

// Collects the attributes of one token after another and numbers their names.
class ItemsBuilder {
 public:
  // Throws std::invalid_argument unless the value is a number that a float can hold. What is 0 counts for
  // nothing and is left out.
  void add(std::string_view name, double value);
  void end_token() { items_.end.push_back(items_.names.size()); }
  Items take() { return std::move(items_); }

 private:
  std::uint32_t number_of(std::string_view name);
  void grow();

  Items items_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);  // open addressing: number + 1
};

// Reads CRFsuite's item files: a line for each token, its label and then its attributes (NAME or NAME:NUMBER,
// with \: and \\ in names) behind tabs; blank lines end sentences. The table has two columns, the text of all
// attributes and the label. Throws ParseError.
TokenTable parse_items(std::string text, std::uint32_t first_line);

// The text with the values of a column replaced by labels[ids[token]]; all other bytes stay as they are.
std::string replace_column(const TokenTable& table, std::uint32_t column, std::span<const std::string> labels,
                           std::span<const std::int32_t> ids);

}  // namespace marginalia
