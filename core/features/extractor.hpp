// The feature extractor: attributes of tokens, joined by templates into features.
// A feature's name is the concatenation of a template's pieces; its key is the hash of that name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/hash.hpp"
#include "base/items.hpp"
#include "base/token_table.hpp"
#include "features/attributes.hpp"
#include "features/bags.hpp"
#include "features/documents.hpp"
#include "features/groups.hpp"
#include "features/phrases.hpp"

namespace marginalia {

enum class Scope : std::uint8_t { node, edge, global };  // global: of whole outputs, one weight each

// Where an attribute's value comes from.
struct Source {
  enum class Kind { column, first, list, document } kind = Kind::column;
  Attribute attribute;              // of a column's string
  std::uint32_t column = 0;         // which column (column, list)
  std::uint32_t list = 0;           // which phrase list (list)
  DocumentAttribute document = {};  // of the whole document (document)
};

struct Piece {
  bool literal = true;
  std::string text;          // literal
  std::uint32_t source = 0;  // value: index into the extractor's sources
  std::int32_t offset = 0;   // relative to the token, or absolute: >= 0 from the start, < 0 from the end
  bool absolute = false;
  std::vector<std::string> before,
      after;  // values outside the sentence; the last one serves all farther ones
};

// The value used `distance` >= 1 tokens outside the sentence.
template <class T>
const T& outside(const std::vector<T>& values, std::size_t distance) {
  return values[std::min(distance, values.size()) - 1];
}

inline std::string concatenated(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

struct Template {
  Scope scope = Scope::node;
  std::vector<Piece> pieces;
};

class FeatureExtractor;

inline constexpr std::uint32_t kUnknownRow = UINT32_MAX;  // no such feature
inline constexpr std::uint32_t kUnaskedRow = UINT32_MAX - 1;
inline constexpr int kIdBits = 21;  // of a value in a group's key
static_assert(kIdBits * TemplateGroups::kMostPlaces < 64);

// A feature of a token, found by `FeatureExtractor::features`. Its row may already be known;
// `FeatureExtractor::resolve` asks for the others by their key.
struct Feature {
  std::uint64_t key;  // 0: the row is known
  std::uint32_t token;
  std::uint32_t row;
  std::uint32_t cell;  // where the space remembers the row; kUnknownRow: nowhere
  std::uint32_t template_index;
  bool edge;
  float value = 1.0f;  // how often the token has it: of explicit attributes any number
};

// Who turns keys into rows. Rows are remembered in a space for one such owner at a time.
using Identity = std::shared_ptr<const char>;
inline Identity new_identity() {
  return std::make_shared<const char>();
}

// Scratch memory of one thread: attribute values of strings seen before with the rows of the features that
// need nothing else, and the values of the current sentence.
class ExtractionSpace {
 public:
  ExtractionSpace() = default;

 private:
  friend class FeatureExtractor;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t text_begin = 0, text_length = 0;
    std::uint32_t rows = 0;    // index into rows_
    std::uint32_t hashes = 0;  // index into hashes_
    std::uint32_t id = 0;      // of the string in its column: their number so far, from 1 on; 0 = empty slot
  };
  struct Known {
    std::uint32_t rows, hashes;
  };
  Identity extractor_, owner_;  // kept so that no other can have them
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::string texts_;
  std::vector<std::uint32_t> rows_;    // rows, by one-value template of the column
  std::vector<std::uint64_t> hashes_;  // of strings, as FeatureExtractor::ColumnLayout says
  std::vector<Hashed> grid_;           // [tokens][sources] of the current sentence, but for values of columns
  std::vector<Known> known_;           // [tokens][columns] of the current sentence
  Identity ids_of_;                    // another one whenever ids start anew
  std::vector<std::uint32_t> ids_;     // [reach + tokens + reach][columns] of the current sentence
  std::vector<std::uint64_t> keys_;    // [tokens] hashes of a column's strings
  std::string scratch_;
  std::vector<Hashed> by_source_;
  std::shared_ptr<const Items>
      items_;               // explicit attributes of the current table; rows_ are those of their names
  std::size_t first_ = 0;   // the current sentence's first token
  DocumentSpace document_;  // of the current sentence's document
  BagSpace bags_;           // of templates over items; rows_ are those of what was found
};

class FeatureExtractor {
 public:
  FeatureExtractor(std::vector<Source> sources, std::vector<Template> templates,
                   std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns);
  // The extractor whose features are the explicit attributes of tables.
  static FeatureExtractor of_items(std::uint32_t columns);
  // The extractor of templates over items, each of which is a token.
  static FeatureExtractor of_bags(std::vector<BagTemplate> templates, std::uint32_t columns);

  std::uint32_t columns() const { return columns_; }
  std::size_t templates(Scope scope) const;
  bool has_edges() const { return has_edges_; }

  // Reads the values of one sentence of the table into the space, which then serves `features` and `name_of`.
  void read(const TokenTable& table, std::size_t first, std::size_t last, const Identity& owner,
            ExtractionSpace& space) const;

  // The features of the tokens [begin, end) of a sentence of this length that was read, of some templates.
  // For each key that has yet to be looked up by the owner `prefetch(key)` is called; features for which it
  // is false may be left out.
  template <class Prefetch>
  void features(const ExtractionSpace& space, std::size_t length, std::size_t begin, std::size_t end,
                const std::vector<std::uint32_t>& templates, std::vector<Feature>& out,
                Prefetch&& prefetch) const {
    out.clear();
    if (explicit_) return item_features(space, begin, end, out, prefetch);
    if (bags_ != nullptr) return bag_features(space, begin, end, out, prefetch);
    for (auto at = static_cast<std::uint32_t>(begin); at < end; ++at) {
      for (const std::uint32_t i : templates) {
        const Compiled& t = compiled_[i];
        const std::uint32_t cell = cell_at(t, space, at, length);
        const std::uint32_t row = cell == kUnknownRow ? kUnaskedRow : space.rows_[cell];
        if (row == kUnknownRow) continue;
        const std::uint64_t key = row == kUnaskedRow ? key_at(t, space, at, length) : 0;
        if (row == kUnaskedRow && key == 0) continue;
        // That a feature of one value is unknown is remembered when it is resolved.
        if (key != 0 && !may_be(key, prefetch) && cell == kUnknownRow) continue;
        out.push_back({key, at, row, cell, i, t.edge});
      }
    }
  }

  // The features of all templates.
  template <class Prefetch>
  void features(const ExtractionSpace& space, std::size_t length, std::size_t begin, std::size_t end,
                std::vector<Feature>& out, Prefetch&& prefetch) const {
    features(space, length, begin, end, every_, out, prefetch);
  }

  // Gives the features their rows by asking row_of(feature), which answers kUnknownRow if there is none such;
  // those are then left out.
  template <class RowOf>
  static void resolve(std::vector<Feature>& features, ExtractionSpace& space, RowOf&& row_of) {
    auto known = features.begin();
    for (Feature& feature : features) {
      if (feature.key != 0) {
        feature.row = row_of(feature);
        if (feature.cell != kUnknownRow) space.rows_[feature.cell] = feature.row;
        if (feature.row == kUnknownRow) continue;
      }
      if (&*known != &feature) *known = feature;
      ++known;
    }
    features.erase(known, features.end());
  }

  const TemplateGroups& groups() const { return groups_; }
  // Values near a token as numbers. They mean the same for the space as long as `keys_of` is the same; if
  // that is null, there are too many values for numbers of groups.
  std::uint32_t value_id(const TemplateGroup::Place& place, const ExtractionSpace& space,
                         std::size_t at) const {
    const std::size_t where = groups_.reach + at + static_cast<std::size_t>(std::ptrdiff_t{place.offset});
    return space.ids_[where * columns_ + place.column];
  }
  // Those that a group looks at as one number, which is not 0.
  std::uint64_t group_key(const TemplateGroup& group, const ExtractionSpace& space, std::size_t at) const {
    std::uint64_t key = 0;
    for (const auto& place : group.places) key = key << kIdBits | value_id(place, space, at);
    return key + 1;
  }
  static const Identity& keys_of(const ExtractionSpace& space) { return space.ids_of_; }

  Scope scope(const Feature& feature) const { return feature.edge ? Scope::edge : Scope::node; }
  bool is_explicit() const { return explicit_; }

  // The values of the sentence that was read, [tokens][sources], and the text of one of them; false: absent.
  void values(const ExtractionSpace& space, std::size_t length, std::vector<Hashed>& out) const;
  bool value_text(std::uint32_t source, const TokenTable& table, const ExtractionSpace& space,
                  std::size_t first, std::size_t at, std::string& out) const;

  // A value that a template looks at: the token as in `Piece`, and the column (0 of explicit attributes).
  struct Read {
    std::int32_t offset;
    bool absolute;
    std::uint32_t column;
  };
  std::vector<std::vector<Read>> reads() const;  // by template

  // The texts of the pieces that the name of a feature of the sentence in `space`, one of the table from
  // `first` to `last`, is made of: those of its template, or the name of an explicit attribute.
  std::vector<std::string> texts_of(const Feature& feature, const TokenTable& table,
                                    const ExtractionSpace& space, std::size_t first, std::size_t last) const {
    if (explicit_) return {std::string(space.items_->name(feature.cell))};
    if (bags_ != nullptr) return bags_->texts_of(feature.cell, table, first, space.bags_);
    return texts_at(feature.template_index, table, space, first, last, feature.token);
  }
  // The same as one text, into `out`.
  void name_of(const Feature& feature, const TokenTable& table, const ExtractionSpace& space,
               std::size_t first, std::size_t last, std::string& out) const;

 private:
  // Of a template that has a feature at this token.
  std::vector<std::string> texts_at(std::size_t template_index, const TokenTable& table,
                                    const ExtractionSpace& space, std::size_t first, std::size_t last,
                                    std::size_t at) const;
  // f(text) for each piece of the template.
  template <class F>
  void for_texts(std::size_t template_index, const TokenTable& table, const ExtractionSpace& space,
                 std::size_t first, std::size_t last, std::size_t at, F&& f) const;

  struct Step {
    std::uint32_t source;
    std::int32_t offset;
    bool absolute;
    std::uint32_t column;  // of the source ...
    std::uint32_t value;   // ... and where its hash is among those of a string; kUnknownRow: not of a column
    std::vector<Hashed> before, after;  // values outside the sentence
    Hashed literal;                     // what follows the value
    bool has_literal;
  };
  struct Compiled {
    Hashed head;  // what stands before the first value
    std::vector<Step> steps;
    bool edge;
    // The name up to the second value depends on the first value alone, so its hash is remembered with that
    // value: where among the hashes of a string. A template of one value has the same row wherever that value
    // is.
    std::uint32_t column = 0;
    std::uint32_t lead = kUnknownRow;   // kUnknownRow: the first value is not one of a column near the token
    std::uint32_t place = kUnknownRow;  // kUnknownRow: not a template of one such value
    std::ptrdiff_t offset = 0;          // of the first value
  };

  // What `prefetch` says of a key; if it says nothing, any may be there.
  template <class Prefetch>
  static bool may_be(std::uint64_t key, Prefetch&& prefetch) {
    if constexpr (std::is_void_v<decltype(prefetch(key))>) {
      prefetch(key);
      return true;
    } else {
      return prefetch(key);
    }
  }

  // Where the space remembers the row of this template at this token; kUnknownRow: nowhere.
  std::uint32_t cell_at(const Compiled& t, const ExtractionSpace& space, std::size_t at,
                        std::size_t length) const {
    if (t.place == kUnknownRow) return kUnknownRow;
    const std::size_t where = at + static_cast<std::size_t>(t.offset);  // wraps around before the sentence
    return where < length ? space.known_[where * columns_ + t.column].rows + t.place : kUnknownRow;
  }

  template <class Prefetch>
  static void item_features(const ExtractionSpace& space, std::size_t begin, std::size_t end,
                            std::vector<Feature>& out, Prefetch&& prefetch) {
    const Items& items = *space.items_;
    for (std::size_t at = begin; at < end; ++at) {
      for (std::uint64_t i = items.end[space.first_ + at]; i < items.end[space.first_ + at + 1]; ++i) {
        const std::uint32_t name = items.names[i], row = space.rows_[name];
        if (row == kUnknownRow) continue;
        const std::uint64_t key = row == kUnaskedRow ? items.keys[name] : 0;
        if (key != 0) prefetch(key);
        out.push_back({key, static_cast<std::uint32_t>(at), row, name, 0, false, items.value(i)});
      }
    }
  }
  template <class Prefetch>
  static void bag_features(const ExtractionSpace& space, std::size_t begin, std::size_t end,
                           std::vector<Feature>& out, Prefetch&& prefetch) {
    for (std::uint32_t i = 0; i < space.bags_.found.size(); ++i) {
      const BagSpace::BagFeature& found = space.bags_.found[i];
      if (found.item < begin || found.item >= end) continue;
      prefetch(found.key);
      out.push_back({found.key, found.item, kUnaskedRow, i, found.template_index, false, found.value});
    }
  }
  void read_grid(const TokenTable& table, std::size_t first, std::size_t last, ExtractionSpace& space) const;
  void read_items(const TokenTable& table, std::size_t first, const Identity& owner,
                  ExtractionSpace& space) const;

  // What is remembered of a string: hashes of names up to the second value, of templates that begin with one
  // of its values and have more; its values, two numbers each; such hashes of templates of one value.
  struct ColumnLayout {
    std::vector<std::uint32_t> sources, longer, single;  // single, longer: templates
    std::size_t size() const { return longer.size() + 2 * sources.size() + single.size(); }
  };

  void lay_out();
  Compiled compile(const Template& t);
  Hashed value_at(const Step& step, const ExtractionSpace& space, std::size_t at, std::size_t length) const;
  std::uint64_t key_at(const Compiled& t, const ExtractionSpace& space, std::size_t at,
                       std::size_t length) const;
  const ExtractionSpace::Slot& slot_of(std::string_view text, std::uint32_t column, std::uint64_t hash,
                                       ExtractionSpace& space) const;
  void grow(ExtractionSpace& space) const;

  std::vector<Source> sources_;
  std::vector<Template> templates_;
  std::vector<Compiled> compiled_;
  std::vector<std::shared_ptr<const PhraseSet>> lists_;
  DocumentValues documents_;
  std::vector<std::uint32_t> of_document_;  // sources, in the order of their values in `documents_`
  std::vector<ColumnLayout> layout_;        // [columns]
  std::vector<std::uint32_t> every_;        // template
  TemplateGroups groups_;
  std::uint32_t columns_;
  bool has_edges_ = false;
  bool has_grid_ = false;  // are there values that are not those of a column's strings?
  bool explicit_ = false;
  std::shared_ptr<const Bags> bags_;  // null: templates over tokens
  Identity identity_ = new_identity();
};

}  // namespace marginalia
