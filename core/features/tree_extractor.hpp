// Templates over the configurations of a transition-based parser: a stack, a queue of tokens to come and the
// arcs so far.
//
// What a template looks at are *fields* of a configuration, each a small number: which token stands at an
// address (s0, q1, s0.left ...), the label of its arc, a distance, a number of children, a set of labels. A
// feature's name is made of the texts that fields stand for. Fields follow from a few *parts* of a
// configuration, and templates that look at the same parts are a *group*: what they add to scores is the same
// wherever the fields of the group are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "features/extractor.hpp"

namespace marginalia {

enum class TreeStep : std::uint8_t { left, left2, right, right2, head };  // outermost child, the next one ...
enum class TreeFieldKind : std::uint8_t { token, label, distance, valency, labels };

// A place of a configuration: from the top of the stack or the front of the queue, or from another address.
struct TreeAddress {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t from = kNone;  // the address that the step is taken from
  bool queue = false;          // without one: stack or queue ...
  std::uint32_t depth = 0;     // ... and how deep
  TreeStep step = TreeStep::left;
  bool operator==(const TreeAddress&) const = default;
};

struct TreeField {
  TreeFieldKind kind = TreeFieldKind::token;
  std::uint32_t address = 0;
  std::uint32_t other = 0;  // distance: the second address
  bool right = false;       // valency, labels: of which side
  bool operator==(const TreeField&) const = default;
};

// A part of a configuration: a token of the stack, that token with its children on one side, its place in the
// stack with all that is below; or the queue.
struct TreePart {
  enum class Kind : std::uint8_t { token, left, right, cell, queue };
  Kind kind = Kind::token;
  std::uint32_t depth = 0;  // on the stack
  auto operator<=>(const TreePart&) const = default;
};

// A piece of a template: literal text, or what stands at a place (`anchor`): an attribute of a token, or,
// without a source, s0.label, distance(s0,q0), valency(s0,left) or labels(s0,left).
struct TreePiece {
  static constexpr std::uint32_t kNoSource = UINT32_MAX;
  std::string text;
  std::uint32_t source = kNoSource;
  std::string anchor;  // none: literal text
};

// A sentence as values of its tokens; the last row is that of no token.
struct TreeValues {
  std::size_t length = 0;
  std::vector<Hashed> grid;    // [tokens + 1][sources]
  std::vector<Hashed> joined;  // [tokens + 1][runs] what templates take from one token, as one text
};

// Texts and hashes of what the numbers of fields other than tokens stand for. Sets of labels are numbered as
// they come: 0 is the empty one.
class TreeNames {
 public:
  explicit TreeNames(const std::vector<std::string>& labels);

  static constexpr std::uint32_t kMostChildren = 6, kDistances = 8;
  static std::uint32_t distance(std::uint32_t a, std::uint32_t b);  // of two tokens; a number below 8
  std::uint32_t labels() const { return static_cast<std::uint32_t>(labels_.size() - 1); }

  // Forgets sets if there are many: to be called when no number of one is in use.
  void trim() {
    if (sets_.size() > kMostSets) clear_sets();
  }
  // The set with one more label.
  std::uint32_t with(std::uint32_t set, std::uint32_t label);

  const Hashed& value(TreeFieldKind kind, std::uint32_t number, bool slash) const {
    return hashes_[static_cast<std::size_t>(kind)][slash][number];
  }
  std::string text(TreeFieldKind kind, std::uint32_t number) const;

 private:
  static constexpr std::size_t kMostSets = 20'000;
  void add(TreeFieldKind kind, const std::string& text);
  void clear_sets();

  std::vector<std::string> labels_;  // the last is that of no arc
  std::vector<Hashed> hashes_[5][2];
  std::vector<std::vector<std::uint32_t>> sets_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;  // of sets
  std::vector<std::uint32_t> next_;  // [sets][labels] the set with one more, 0: not made yet
};

class TreeExtractor {
 public:
  static constexpr std::string_view kNone = "_none";

  // Throws std::invalid_argument.
  TreeExtractor(std::vector<Source> sources, std::vector<std::vector<TreePiece>> templates,
                std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns);

  struct Step {
    std::uint32_t field;
    TreeFieldKind kind;
    std::uint32_t source;  // of a token
    bool slash;
    bool operator==(const Step&) const = default;
  };
  // Values that a template takes from one field one after the other are a *run*: their text is joined once
  // for each token.
  struct Run {
    std::uint32_t field;
    TreeFieldKind kind;
    std::uint32_t number;  // of a token's run
    bool slash;            // of another field
  };
  struct Compiled {
    Hashed head;
    std::vector<Step> steps;
    std::vector<Run> runs;
  };
  struct Group {
    std::vector<std::uint32_t> fields, templates;
  };

  const std::vector<TreeAddress>& addresses() const { return addresses_; }
  const std::vector<TreeField>& fields() const { return fields_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::size_t templates() const { return compiled_.size(); }
  std::size_t sources() const { return sources_.size(); }
  const Source& source(std::size_t which) const { return sources_[which]; }

  // Reads the values of one sentence of the table.
  void read(const TokenTable& table, std::size_t first, std::size_t last, const Identity& owner,
            ExtractionSpace& space, TreeValues& out) const;
  // Their texts, [tokens][sources], "" where there is none.
  std::vector<std::string> texts(const TokenTable& table, std::size_t first, std::size_t last,
                                 const ExtractionSpace& space) const;
  // The row of no token, and what is joined, where the grid has the rows of all tokens.
  void complete(TreeValues& values) const;

  // The key of a template's feature, 0 if there is none.
  std::uint64_t key(std::uint32_t which, const std::uint32_t* fields, const TreeValues& x,
                    const TreeNames& names) const {
    const Compiled& t = compiled_[which];
    std::uint64_t hash = t.head.hash;
    for (const Run& run : t.runs) {
      const std::uint32_t number = fields[run.field];
      const Hashed& value = run.kind == TreeFieldKind::token ? x.joined[number * runs_.size() + run.number]
                                                             : names.value(run.kind, number, run.slash);
      if (value.absent()) return 0;
      hash = add(multiply(hash, value.power), value.hash);
    }
    return key_of(hash, false);
  }

  // Calls f(field, source) for each value that a template looks at.
  template <class F>
  void for_values(F&& f) const {
    for (const Compiled& t : compiled_)
      for (const Step& step : t.steps) f(fields_[step.field], step.source);
  }

  // The texts of a feature's pieces; text_at(token, source): the text of a value.
  template <class TextAt>
  std::vector<std::string> piece_texts(std::uint32_t which, const std::uint32_t* fields, std::size_t length,
                                       const TreeNames& names, TextAt&& text_at) const {
    std::vector<std::string> texts;
    std::size_t k = 0;
    for (const TreePiece& piece : templates_[which]) {
      if (piece.anchor.empty()) {
        texts.push_back(piece.text);
        continue;
      }
      const Step& step = compiled_[which].steps[k++];
      const std::uint32_t number = fields[step.field];
      if (step.kind != TreeFieldKind::token)
        texts.push_back(names.text(step.kind, number));
      else if (number == length)
        texts.emplace_back(kNone);
      else
        texts.emplace_back(text_at(number, step.source));
    }
    return texts;
  }

 private:
  std::uint32_t address_of(std::string_view text);
  std::uint32_t field_of(const TreePiece& piece);
  void compile(const std::vector<TreePiece>& pieces);
  void join_runs(Compiled& made);
  void add_part(std::uint32_t address, TreeFieldKind kind, bool right, std::vector<TreePart>& parts) const;
  std::vector<TreePart> parts_of(const Compiled& made) const;
  std::vector<std::uint32_t> fields_of(const std::vector<std::uint32_t>& templates) const;
  void group();

  std::vector<Source> sources_;
  std::vector<std::vector<TreePiece>> templates_;
  FeatureExtractor reader_;
  std::vector<TreeAddress> addresses_;
  std::vector<TreeField> fields_;
  std::vector<Compiled> compiled_;
  std::vector<std::vector<Step>> runs_;  // of tokens; their field is 0
  std::vector<Group> groups_;
};

}  // namespace marginalia
