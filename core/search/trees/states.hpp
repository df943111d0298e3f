// States of a transition-based parser as nodes that share what they have in common: a new state costs the
// same however long the sentence is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/known_numbers.hpp"
#include "features/tree_extractor.hpp"
#include "search/trees/shape.hpp"

namespace marginalia {

// Heads and labels of tokens, of which some may not be known.
struct TreeArcs {
  std::vector<std::uint32_t> head, label;  // by token; heads from 1 on, 0 is the root

  std::size_t size() const { return head.size(); }
  bool complete() const;
};

// Tokens first to last, counted from 1, as heads are.
struct TokenSpan {
  std::uint32_t first, last;
  bool has(std::uint32_t number) const { return first <= number && number <= last; }
};

// Arcs that outputs must have, with how many children of each token are among them, by side; and spans of
// which exactly one token has its head outside.
struct GivenArcs {
  explicit GivenArcs(TreeArcs given, std::vector<TokenSpan> given_spans = {});
  TreeArcs arcs;
  std::vector<TokenSpan> spans;
  std::vector<std::uint32_t> children[2];
};

// A token with its children so far. 0 stands for none of them.
struct TreeItem {
  struct Child {
    std::uint32_t item = 0, label = 0;
  };
  std::uint32_t token = 0;
  std::uint32_t side[2] = {};     // items that agree in one have the same token and children on that side
  Child child[2][2];              // [side][outermost first]
  std::uint32_t labels[2] = {};   // sets of the children's labels
  std::uint16_t valency[2] = {};  // children
  std::uint16_t given[2] = {};    // children of arcs that were given
};

// A list of items: the stack, or tokens put back in front of the queue.
struct TreeCell {
  std::uint32_t item = 0, below = 0;
  std::uint32_t label = kAnyLabel;  // of the item's arc, if its head is below (arc-eager)
};

struct TreeState {
  double score = 0.0;
  std::uint32_t stack = 0, back = 0;  // cells
  std::uint32_t next = 0;             // the first token that was never shifted
  std::uint32_t size = 0;             // of the stack
  std::uint32_t headless = 0;         // items of the stack without a head (arc-eager)
  std::uint32_t before = 0;           // the state that it came from
  std::uint32_t action = 0;           // by which
  std::uint32_t steps = 0;
  std::uint32_t spans = 0;  // where its counts of given spans begin
};

// An arc that an action makes, by tokens; head == kAnyHead: none.
struct NewArc {
  std::uint32_t head = kAnyHead, dependent = 0;  // head counted from 1, dependent from 0
};

class TreeStates {
 public:
  explicit TreeStates(const TreeShape& shape) : shape_(shape), names_(shape.label_names()) {}

  // Begins a sentence; state 0 is the first one. `given` may be null, else it must live on.
  void begin(std::size_t length, const GivenArcs* given);

  std::size_t length() const { return length_; }
  std::uint64_t sentence() const { return sentence_; }  // how many were begun
  const TreeState& operator[](std::uint32_t state) const { return states_[state]; }
  TreeState& at(std::uint32_t state) { return states_[state]; }
  TreeNames& names() { return names_; }
  const TreeNames& names() const { return names_; }

  bool done(const TreeState& s) const { return s.size == 0 && s.back == 0 && s.next == length_; }
  // Legal moves, a bit for each.
  unsigned moves(const TreeState& s) const;
  NewArc arc(const TreeState& s, Move move) const;
  // Whether an action with a label keeps given arcs; moves keep them as far as labels do not matter.
  bool keeps(const NewArc& arc, std::uint32_t label) const {
    if (given_ == nullptr || arc.head == kAnyHead) return true;
    const std::uint32_t wanted = given_->arcs.label[arc.dependent];
    return wanted == kAnyLabel || wanted == label;
  }
  // The state after an action; a score is not added.
  std::uint32_t apply(std::uint32_t from, std::uint32_t action);
  // The state after a reduce whose top is that of `right` and whose stack below is that of `left` (merging).
  std::uint32_t reduce(std::uint32_t left, std::uint32_t right, std::uint32_t action);

  // The fields of a state that templates look at.
  void fields(const TreeExtractor& extractor, const TreeState& s, std::vector<std::uint32_t>& out);
  void add_fields(const TreeExtractor& extractor, const TreeState& s, std::vector<std::uint32_t>& out);

  // The actions that lead to a state, and the arcs that they make: a number for each token, kAnyHead for
  // those without one.
  void actions(std::uint32_t state, std::vector<std::uint32_t>& out) const;
  void arcs(std::uint32_t state, std::vector<std::uint32_t>& out) const;

  // What is known of the token at a place: on the stack so deep, and from there from child to child.
  struct PlacedToken {
    std::uint32_t token, label;
    std::uint32_t valency[2], labels[2];
  };
  PlacedToken at_place(const TreeState& s, std::uint32_t depth, const std::vector<TreeStep>& path) const;
  // The first token of all that hang on the top of the stack.
  std::uint32_t first_under(const TreeState& s) const;

  std::uint32_t token(std::uint32_t cell) const { return items_[cells_[cell].item].token; }
  std::uint32_t front(const TreeState& s) const { return s.back != 0 ? token(s.back) : s.next; }
  bool queue_empty(const TreeState& s) const { return s.back == 0 && s.next == length_; }
  bool has_head(std::uint32_t cell) const { return cells_[cell].label != kAnyLabel; }
  std::uint32_t below(std::uint32_t cell) const { return cells_[cell].below; }

 private:
  struct Place {
    std::uint32_t item, cell, label;
  };
  unsigned standard_moves(const TreeState& s) const;
  unsigned hybrid_moves(const TreeState& s) const;
  unsigned eager_moves(const TreeState& s) const;
  unsigned keeping(const TreeState& s, unsigned moves) const;
  bool keeps_arc(const NewArc& arc) const;
  bool keeps_spans(const TreeState& s, Move move) const;
  void count_spans(TreeState& s, const NewArc& arc);
  bool has_given(std::uint32_t item, bool left_only) const;
  std::uint32_t queue_item(const TreeState& s, std::uint32_t depth) const;
  std::uint32_t push(std::uint32_t item, std::uint32_t below, std::uint32_t label = kAnyLabel);
  std::uint32_t attach(std::uint32_t head, std::uint32_t dependent, std::uint32_t label);
  std::uint32_t take_front(TreeState& s) const;
  void apply_standard(TreeState& s, Move move, std::uint32_t label);
  void apply_hybrid(TreeState& s, Move move, std::uint32_t label);
  void apply_eager(TreeState& s, Move move, std::uint32_t label);
  Place place(const TreeAddress& address, const TreeState& s) const;
  std::uint32_t field(const TreeField& field);

  const TreeShape& shape_;
  TreeNames names_;
  const GivenArcs* given_ = nullptr;
  std::size_t length_ = 0;
  std::uint64_t sentence_ = 0;
  KnownNumbers attached_;        // items by head, child and label
  std::vector<TreeItem> items_;  // 0: none, then each token without children
  std::vector<TreeCell> cells_;  // 0: none
  std::vector<TreeState> states_;
  std::vector<Place> places_;
  // Of a state and a given span: how many of its tokens have no head yet, and whether one has its head
  // outside.
  struct SpanCount {
    std::uint32_t headless;
    bool has_outside;
  };
  std::vector<SpanCount> span_counts_;
};

}  // namespace marginalia
