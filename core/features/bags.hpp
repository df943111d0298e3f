// Templates over whole items: bags of words, of word n-grams and of character n-grams of a text, values of
// columns, numbers. A template with a bag gives a feature for each of its elements, so that the features of
// an item count how often each one occurs.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/token_table.hpp"
#include "features/attributes.hpp"

namespace marginalia {

struct BagPiece {
  enum class Kind { literal, column, words, characters, number } kind = Kind::literal;
  std::string text;          // literal
  Attribute attribute;       // column: a function of its string
  std::uint32_t column = 0;  // all but literals
  std::uint32_t n = 1;       // words, characters: so many in a row
  bool lower = false;        // words, characters: in lower case
  double divisor = 1.0;      // number: how many make 1
  Hashed hashed = {};        // of a literal; set by `Bags`
  std::uint32_t view = 0;    // of a bag: which of those that are cut; set by `Bags`

  bool is_bag() const { return kind == Kind::words || kind == Kind::characters; }
};

using BagTemplate = std::vector<BagPiece>;

// A text cut into words or characters.
struct BagView {
  std::string text;                       // in lower case if that is asked for
  std::vector<std::uint32_t> begin, end;  // [elements] bytes of the text
  std::vector<Hashed> hashes;             // [elements]
  std::size_t size() const { return begin.size(); }
  std::string_view element(std::size_t i) const {
    return std::string_view(text).substr(begin[i], end[i] - begin[i]);
  }
};

// Words: runs of letters, marks, digits and underscores, every other sign by itself, white space between
// them.
void cut_words(std::string_view text, bool lower, BagView& out);
// Characters: code points; white space of any length is one blank, and there is one at each end. None of a
// text that is empty or blank.
void cut_characters(std::string_view text, bool lower, BagView& out);

// The features of some items, by template.
struct BagSpace {
  struct BagFeature {
    std::uint64_t key;
    std::uint32_t item, template_index, element;
    float value;
  };
  std::vector<BagFeature> found;
  std::vector<BagView> views;  // [items][views]
  std::string scratch;
};

// What is wrong in an item: the line of the table it stands in.
struct ItemError : std::invalid_argument {
  ItemError(const std::string& what, std::uint32_t line) : std::invalid_argument(what), line(line) {}
  std::uint32_t line;
};

class Bags {
 public:
  // Throws std::invalid_argument.
  Bags(std::vector<BagTemplate> templates, std::uint32_t columns);

  const std::vector<BagTemplate>& templates() const { return templates_; }

  // Finds the features of the items [first, last) of the table. Throws ItemError.
  void read(const TokenTable& table, std::size_t first, std::size_t last, BagSpace& space) const;

  // The texts of the pieces of a feature that was found.
  std::vector<std::string> texts_of(std::size_t found, const TokenTable& table, std::size_t first,
                                    const BagSpace& space) const;

 private:
  struct View {
    BagPiece::Kind kind;
    std::uint32_t column;
    bool lower;
    bool operator==(const View&) const = default;
  };
  void prepare(BagTemplate& one, std::uint32_t columns);
  void add_features(std::uint32_t index, const TokenTable& table, std::size_t token, std::uint32_t item,
                    BagSpace& space) const;

  std::vector<BagTemplate> templates_;
  std::vector<View> views_;
};

}  // namespace marginalia
