// The template program: attributes of tokens, joined by templates into features.
// A feature's name is the concatenation of a template's pieces; its key is the hash of that name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/table.hpp"
#include "features/attributes.hpp"
#include "features/phrases.hpp"

namespace marginalia {

enum class Scope : std::uint8_t { node, edge };

// Where an attribute's value comes from.
struct Source {
  enum class Kind { column, first, list } kind = Kind::column;
  Attribute attribute;       // of a column's string
  std::uint32_t column = 0;  // which column (column, list)
  std::uint32_t list = 0;    // which phrase list (list)
};

struct Piece {
  bool literal = true;
  std::string text;          // literal
  std::uint32_t source = 0;  // value: index into the program's sources
  std::int32_t offset = 0;   // relative to the token, or absolute: >= 0 from the start, < 0 from the end
  bool absolute = false;
  std::vector<std::string> before,
      after;  // values outside the sentence; the last one serves all farther ones
};

struct Template {
  Scope scope = Scope::node;
  std::vector<Piece> pieces;
};

class Program;

// Scratch memory of one thread: attribute values of strings met before, and of the current sentence.
class ExtractionSpace {
 public:
  ExtractionSpace() = default;

 private:
  friend class Program;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t column = 0;
    std::uint32_t text_begin = 0, text_length = 0;
    std::uint32_t values = 0;  // index into values_ + 1; 0 = empty slot
  };
  std::shared_ptr<const char> owner_;  // the program's identity, kept so that no other can have it
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::string texts_;
  std::vector<Hashed> cached_;
  std::vector<Hashed> grid_;  // [tokens][sources] of the current sentence
  std::string scratch_;
};

class Program {
 public:
  Program(std::vector<Source> sources, std::vector<Template> templates,
          std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns);

  std::uint32_t columns() const { return columns_; }
  std::size_t templates(Scope scope) const;
  bool has_edges() const { return has_edges_; }

  // Fills the space with the attribute values of one sentence; `emit_at` may then be called for its tokens.
  void read(const TokenTable& table, std::size_t first, std::size_t last, ExtractionSpace& space) const;

  // Calls emit(template index, key) for every feature of token `at` (counted from the sentence's start).
  template <class Emit>
  void emit_at(const ExtractionSpace& space, std::size_t at, std::size_t length, Emit&& emit) const {
    for (std::uint32_t i = 0; i < compiled_.size(); ++i) {
      const std::uint64_t key = key_at(compiled_[i], space, at, length);
      if (key != 0) emit(i, key);
    }
  }

  Scope scope(std::size_t template_index) const { return templates_[template_index].scope; }

  // The name of a feature that the template has at this token (which must have it) of the sentence in
  // `space`.
  std::string name_at(std::size_t template_index, const TokenTable& table, const ExtractionSpace& space,
                      std::size_t first, std::size_t last, std::size_t at) const;

 private:
  struct Step {
    std::uint32_t source;
    std::int32_t offset;
    bool absolute;
    Hashed literal_before;  // joined in front of the value
    std::vector<Hashed> before, after;
  };
  struct Compiled {
    std::vector<Step> steps;
    Hashed tail;
    bool has_tail;
    bool edge;
  };

  static Compiled compile(const Template& t);
  std::uint64_t key_at(const Compiled& t, const ExtractionSpace& space, std::size_t at,
                       std::size_t length) const;
  const Hashed* values_of(std::string_view text, std::uint32_t column, ExtractionSpace& space) const;
  void grow(ExtractionSpace& space) const;
  bool value_text(std::uint32_t source, const TokenTable& table, const ExtractionSpace& space,
                  std::size_t first, std::size_t at, std::string& out) const;

  std::vector<Source> sources_;
  std::vector<Template> templates_;
  std::vector<Compiled> compiled_;
  std::vector<std::shared_ptr<const PhraseSet>> lists_;
  std::vector<std::vector<std::uint32_t>> sources_of_column_;
  std::uint32_t columns_;
  bool has_edges_ = false;
  std::shared_ptr<const char> identity_ = std::make_shared<const char>();
};

}  // namespace marginalia
