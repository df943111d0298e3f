// Attributes: functions from the string of one token to a string, or to nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "features/word_table.hpp"

namespace marginalia {

enum class Function {
  column,        // the string itself
  lower,         // lower-cased (one code point to one code point)
  prefix,        // first n code points; nothing if the string is shorter
  suffix,        // last n code points; nothing if the string is shorter
  lower_prefix,  // the same, lower-cased
  lower_suffix,
  shape,            // Animal-42 -> Xxxxxx-dd
  collapsed_shape,  // runs collapsed: Animal-42 -> Xx-d
  has,              // "1" if the string has a digit | upper | hyphen, else nothing
  is,               // "1" if the string is of the named word-form class, else nothing
  char_class,   // script class of the first code point: han hiragana katakana hangul latin digit punct ...
  test,         // Wapiti's %t: "true" / "false" for a regular expression
  match,        // Wapiti's %m: the matched part, possibly empty
  lower_match,  // Wapiti's %M: the matched part, lower-cased
  width,        // in usual widths: full-width letters and digits are ASCII (one code point to one)
  nfkc,         // normalisation form KC
  cluster,      // the first bits of the path of the word's cluster, or "all"; nothing for unknown words
  lexicon,      // what a lexicon says of the word's labels (word_functions.hpp); nothing for unknown words
};

struct Attribute {
  Function function = Function::column;
  std::string argument;                              // n, a flag, a class or an expression, by function
  std::shared_ptr<const WordTable> words = nullptr;  // of `cluster` and `lexicon`
};

// By the name users write ("collapsed-shape"); throws std::invalid_argument for an unknown one.
Function function_named(std::string_view name);

// Throws std::invalid_argument when the argument does not suit the function.
void check(const Attribute& attribute);

// Writes the value into `out` (cleared first) and returns true, or returns false: no value, no feature.
bool evaluate(const Attribute& attribute, std::string_view value, std::string& out);

}  // namespace marginalia
