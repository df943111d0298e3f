// The small regular expressions of Wapiti's pattern files, over code points.
//   .        any code point            \x  the class named x, its complement if x is upper case:
//   x*       any number of x's               \d digit  \a letter or mark  \w letter, mark or digit
//   x?       x or nothing                    \l lower  \u upper  \p punctuation or symbol  \s space
//   ^ first, $ last: the text's ends   \x  any other x: itself        x  any other x: itself
// A star takes as few as it can, a question mark takes x if it can (as in Wapiti): so `\a*` matches nothing,
// `\a*$` the last letters. The leftmost match counts. Time and memory: pattern length x text length.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace marginalia {

class Regex {
 public:
  // Throws std::invalid_argument on a star or question mark that repeats nothing, and on a backslash at the
  // end.
  explicit Regex(std::string_view pattern);

  // The part of the text that matches, possibly empty; nothing if no part does.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  enum class Repeat { once, optional, any };
  struct Item {
    char32_t code;  // the code point itself, or the letter of a class ('.' for any)
    bool is_class;
    Repeat repeat;
    bool accepts(char32_t c) const;
  };
  // [code points + 1][items + 1]: whether the items from there on match the text from there on.
  struct Grid {
    std::size_t stride;
    std::vector<bool> cells;
    bool operator()(std::size_t at, std::size_t item) const { return cells[at * stride + item]; }
  };

  static Item parse_item(std::u32string_view pattern, std::size_t& at);
  Grid tails(std::u32string_view text) const;
  std::size_t end_of_match(std::u32string_view text, const Grid& matches, std::size_t begin) const;

  std::vector<Item> items_;
  bool from_start_ = false, to_end_ = false;
};

}  // namespace marginalia
