// Templates over labelled segments: tokens begin..last of a sentence, both included.
//
// A value is taken at a place that its anchor names: the segment's first or last token, a token between them
// (inside), any token of the segment (within), the whole segment, or, in templates of tokens, each token in
// turn. A template with an inside or within value gives a feature for each such token, so a segment may have
// many. What features have in common is shared: those that depend on the first token alone are the same for
// all segments that begin there, and so on (`Part`), so that the cost of all segments of a sentence grows
// with its length times the longest segment.
//
// Templates of neighbours also look at the segment before (`previous_begin` …), or have their weights at its
// type: their features are those of two segments, and are enumerated apart (features/segment_pairs.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/items.hpp"
#include "features/extractor.hpp"

namespace marginalia {

enum class Anchor : std::uint8_t {
  none,
  token,
  begin,
  end,
  inside,
  within,
  whole,
  length,
  previous_begin,   // of the segment before: its first token,
  previous_whole,   // all of it,
  previous_length,  // the number of its tokens
};
inline constexpr std::size_t kNoPrevious = SIZE_MAX;  // the first token of what stands before all segments

struct SegmentPiece {
  Anchor anchor = Anchor::none;  // none: literal text
  std::string text;
  std::uint32_t source = 0;
  std::int32_t offset = 0;                 // from the anchor; of a length: the longest that is told apart
  std::vector<std::string> before, after;  // values outside the sentence, as in `Piece`
};

using SegmentTemplate = std::vector<SegmentPiece>;

// What a feature depends on, and so which segments have it.
enum class Part : std::uint8_t {
  token,    // a token: all segments that have it, told apart by whether it is the first
  begin,    // the first token
  end,      // the last token
  arrival,  // a token inside: all segments that have it inside
  length,   // the number of tokens
  own,      // the segment
  grow,     // the first token and one inside: the segment and all longer ones that begin there
  shrink,   // the last token and one inside: the segment and all longer ones that end there
  leave,    // the segment before, and the first token: all segments that follow it there
  pair,     // the segment and the one before
  before,   // the segment, for the one before: its weights are at that one's type
};

// A sentence as values: what the sources of an extractor make of its tokens.
struct SegmentValues {
  struct Match {  // a phrase of a list that is a whole segment
    std::uint32_t source, begin, last;
    auto operator<=>(const Match&) const = default;
  };
  std::size_t length = 0;
  std::vector<Hashed> grid;     // [tokens][sources]
  std::vector<Hashed> slashed;  // the same with a slash behind: most values of a template are followed by one
  std::vector<Match> matches;   // sorted

  struct Item {  // an explicit attribute of a token
    std::uint64_t key;
    std::uint32_t name;  // a number that stands for its name, for whoever made these values
    float value;
  };
  std::vector<Item> items;
  std::vector<std::size_t> item_end;  // [tokens + 1]; empty if there are no explicit attributes
};

inline Hashed slashed(const Hashed& value) {
  static const Hashed slash = hash_of("/");
  return value.absent() ? kAbsent : joined(value, slash);
}

class SegmentExtractor {
 public:
  // `before`: the templates, by number, whose weights are at the type of the segment before.
  SegmentExtractor(std::vector<Source> sources, std::vector<SegmentTemplate> templates,
                   std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns,
                   const std::vector<std::uint32_t>& before = {});
  // The extractor whose features are the explicit attributes of tables: each is one of all segments that have
  // the token, told apart by whether it is the first.
  static SegmentExtractor of_items(std::uint32_t columns);

  bool is_explicit() const { return reader_.is_explicit(); }
  std::size_t sources() const { return sources_.size(); }
  const Source& source(std::size_t which) const { return sources_[which]; }
  std::size_t templates() const { return compiled_.size(); }
  // How far apart the tokens of `arrival` templates are: a segment has those that arrive at its token t if it
  // began at least so many tokens before t.
  const std::vector<std::uint32_t>& spans() const { return spans_; }

  // Reads the values of one sentence of the table.
  void read(const TokenTable& table, std::size_t first, std::size_t last, const Identity& owner,
            ExtractionSpace& space, SegmentValues& out) const;
  // Their texts, [tokens][sources], "" where there is none: what names are made of.
  std::vector<std::string> texts(const TokenTable& table, std::size_t first, std::size_t last,
                                 const ExtractionSpace& space) const;

  // Where a feature of a segment comes from.
  struct Origin {
    std::uint32_t template_index;
    std::size_t begin, last;
    std::size_t inner;                          // the token inside, within or in turn
    bool none;                                  // there is no token inside
    const SegmentValues::Item* item = nullptr;  // an explicit attribute instead of a template
    std::size_t previous = kNoPrevious;  // first token of the segment before, of features of neighbours

    double value() const { return item == nullptr ? 1.0 : static_cast<double>(item->value); }
  };
  bool is_of_token(const Origin& origin) const {
    return origin.item != nullptr || compiled_[origin.template_index].part == Part::token;
  }
  // Has a feature its weight at the type of the segment before?
  bool is_before(const Origin& origin) const {
    return origin.item == nullptr && compiled_[origin.template_index].part == Part::before;
  }
  // Are there templates of neighbours?
  bool has_neighbours() const {
    return !of(Part::leave).empty() || !of(Part::pair).empty() || !of(Part::before).empty();
  }
  // Calls f(key, origin) for the features of a segment, those of its tokens included, but not for those that
  // it shares with the segment before.
  template <class F>
  void for_segment(const SegmentValues& x, std::size_t begin, std::size_t last, F&& f) const;
  // Calls f(key, origin) for those; `previous` is the first token of the segment before, or kNoPrevious.
  template <class F>
  void for_neighbours(const SegmentValues& x, std::size_t previous, std::size_t begin, std::size_t last,
                      F&& f) const;

  // The hash of what the names of some of a template's features have in common.
  struct Lead {
    std::uint64_t hash;
    bool present;
  };
  // Memory that is kept from call to call.
  class Scratch {
   public:
    explicit Scratch(const SegmentExtractor& extractor) : leads(extractor.compiled_.size()) {}

   private:
    friend class SegmentExtractor;
    std::vector<Lead> leads;
    std::vector<Hashed> wholes;
    std::vector<Lead> names;  // of segments that begin at a token, by length
  };

  // The features of all segments at once. Each of the following calls f(part, a, b, key), with a value behind
  // the key if it is one of an explicit attribute: token, begin, end (a: the token) and arrival (a: the
  // token, b: which of `spans`) at a token;
  template <class F>
  void for_token(const SegmentValues& x, std::size_t t, F&& f) const;
  // length (a: tokens) of all lengths up to `most`;
  template <class F>
  void for_lengths(std::size_t most, F&& f) const;
  // own and grow (a: first token, b: last token) of the segments of at most `most` tokens that begin at a
  // token: own ones template by template, short segments first, then those that grow, short ones first;
  template <class F>
  void for_begin(const SegmentValues& x, std::size_t begin, std::size_t most, Scratch& scratch, F&& f) const;
  // shrink (a: first token, b: last token) of the segments that end at a token and begin at `from` or later,
  // short ones first.
  template <class F>
  void for_last(const SegmentValues& x, std::size_t last, std::size_t from, Scratch& scratch, F&& f) const;

  // Whole values of the segments of at most `most` tokens that begin at a token, short ones first, `wholes()`
  // of each.
  std::size_t wholes() const { return wholes_.size(); }
  void read_wholes(const SegmentValues& x, std::size_t begin, std::size_t most,
                   std::vector<Hashed>& out) const;
  // A segment with its whole values.
  struct Whole {
    std::size_t begin, last;
    const Hashed* values;
  };
  // What stands between a segment (nothing before: `previous.begin` is kNoPrevious) and those that begin at
  // a token: calls f(key) for the features of all of them, and sets the leads of those of each.
  template <class F>
  void for_leave(const SegmentValues& x, const Whole& previous, std::size_t begin, std::vector<Lead>& leads,
                 F&& f) const;
  // How the names of the features of a segment and the one before end behind their leads, whatever the latter
  // is: `pairs()` of them, each of which has a place for all of `count` segments, of which this is number n.
  std::size_t pairs() const { return of(Part::pair).size(); }
  void read_tails(const SegmentValues& x, const Whole& segment, std::size_t n, std::size_t count,
                  Hashed* tails) const;
  // Calls f(n, key) for those features of all segments; segment(n): number n.
  template <class Segment, class F>
  void for_pairs(const SegmentValues& x, const Whole& previous, const std::vector<Lead>& leads,
                 std::size_t count, Segment&& segment, const Hashed* tails, F&& f) const;
  // Calls f(key) for the features of a segment that have weights at the type of the one before.
  template <class F>
  void for_before(const SegmentValues& x, const Whole& segment, F&& f) const;

  // The texts of the pieces of a feature in a sentence of this length, and, joined, its name;
  // text_at(token, source): the text of a value.
  template <class TextAt>
  std::vector<std::string> piece_texts(const Origin& origin, std::size_t length, TextAt&& text_at) const;
  template <class TextAt>
  std::string name(const Origin& origin, std::size_t length, TextAt&& text_at) const {
    return concatenated(piece_texts(origin, length, text_at));
  }

 private:
  struct Step {
    Anchor anchor;
    std::uint32_t source;  // of a whole value: its place in `wholes_`
    std::int32_t offset;
    std::vector<Hashed> before, after;
    std::vector<Hashed> lengths;  // of a length: by number of tokens - 1, the last for all longer ones
    Hashed literal;               // what follows the value
    bool has_literal;
    bool has_slash;  // the literal is taken with the value
  };
  struct Compiled {
    Part part = Part::own;
    Anchor inner = Anchor::none;  // token, inside or within: a feature for each such token
    Hashed head;                  // what stands before the first value
    std::vector<Step> steps;
    std::size_t lead = 0;       // first steps that depend on the outer end alone (the end, if it shrinks)
    std::size_t ends_lead = 0;  // first steps that depend on no token inside
    bool has_tail = false;      // no step behind the lead depends on the segment before
    std::uint32_t reach = 0;    // within: how far its values are apart
    std::uint32_t span = 0;     // which of `spans_`
  };
  struct Place {
    std::size_t begin, last, inner;
    bool none;             // there is no token inside
    const Hashed* wholes;  // by place in `wholes_`
    std::size_t previous = kNoPrevious;
    const Hashed* previous_wholes = nullptr;
  };
  struct Inner {
    std::size_t first, end;
  };
  // With both ends in a template, so many tokens inside are looked at: else cost would grow with the square
  // of the longest segment.
  static constexpr std::size_t kMostInside = 8;
  static constexpr std::int32_t kFarthest = 1'000'000;  // offset: sums of them must not overflow
  static constexpr std::string_view kNothingInside = "_none";

  static constexpr std::string_view kNothingBefore = "_B-1";

  static std::ptrdiff_t place_of(Anchor anchor, std::int32_t offset, std::size_t begin, std::size_t last,
                                 std::size_t inner) {
    const std::size_t at = anchor == Anchor::begin ? begin : anchor == Anchor::end ? last : inner;
    return static_cast<std::ptrdiff_t>(at) + offset;
  }
  static bool is_of_previous(Anchor anchor) { return anchor >= Anchor::previous_begin; }
  static bool is_of_neighbours(Part part) { return part >= Part::leave; }
  static std::string length_text(std::size_t tokens, std::size_t most) {
    return tokens < most ? std::to_string(tokens) : std::to_string(most) + "+";
  }

  const std::vector<std::uint32_t>& of(Part part) const {
    return templates_of_[static_cast<std::size_t>(part)];
  }
  void add_template(SegmentTemplate t, bool before);
  void read_items(const Items& items, std::size_t first, std::size_t last, SegmentValues& out) const;
  Compiled compile(const SegmentTemplate& t, bool before);
  void classify(Compiled& made, const SegmentTemplate& t, bool before);
  Step step_of(const SegmentPiece& piece);
  static void take_slash(Step& step);
  void check(const SegmentTemplate& t) const;
  static void check_neighbours(const SegmentTemplate& t, bool before);
  std::uint32_t span_of(std::uint32_t tokens);
  Hashed one_whole(std::uint32_t source, const SegmentValues& x, std::size_t begin, std::size_t last) const;
  // Those of the longest of the segments that `values` are of.
  const Hashed* last_wholes(const std::vector<Hashed>& values) const {
    return values.data() + values.size() - std::min(values.size(), wholes_.size());
  }
  Inner inner_of(const Compiled& t, std::size_t begin, std::size_t last) const;
  // The token inside that is new when a segment grows to `last`.
  std::size_t arriving(const Compiled& t, std::size_t last) const {
    return t.inner == Anchor::inside ? last - 1 : last - t.reach;
  }

  const Hashed& value_at(const Step& step, const SegmentValues& x, const Place& at) const {
    if (step.anchor == Anchor::length)
      return step.lengths[std::min(at.last - at.begin, step.lengths.size() - 1)];
    if (step.anchor == Anchor::whole) return at.wholes[step.source];
    if (is_of_previous(step.anchor)) return previous_value(step, x, at);
    if (at.none && step.anchor == Anchor::inside) return nothing_inside_[step.has_slash];
    const std::ptrdiff_t where = place_of(step.anchor, step.offset, at.begin, at.last, at.inner);
    if (where < 0) return outside(step.before, static_cast<std::size_t>(-where));
    if (static_cast<std::size_t>(where) >= x.length)
      return outside(step.after, static_cast<std::size_t>(where) - x.length + 1);
    const std::size_t cell = static_cast<std::size_t>(where) * sources_.size() + step.source;
    return step.has_slash ? x.slashed[cell] : x.grid[cell];
  }

  const Hashed& previous_value(const Step& step, const SegmentValues& x, const Place& at) const {
    if (at.previous == kNoPrevious) return nothing_before_[step.has_slash];
    if (step.anchor == Anchor::previous_whole) return at.previous_wholes[step.source];
    if (step.anchor == Anchor::previous_length)
      return step.lengths[std::min(at.begin - at.previous - 1, step.lengths.size() - 1)];
    const std::ptrdiff_t where = static_cast<std::ptrdiff_t>(at.previous) + step.offset;
    if (where < 0) return outside(step.before, static_cast<std::size_t>(-where));
    if (static_cast<std::size_t>(where) >= x.length)
      return outside(step.after, static_cast<std::size_t>(where) - x.length + 1);
    const std::size_t cell = static_cast<std::size_t>(where) * sources_.size() + step.source;
    return step.has_slash ? x.slashed[cell] : x.grid[cell];
  }

  // Goes on with the hash of a name; false if a value is absent.
  bool hash_steps(const Compiled& t, std::size_t from, std::size_t to, const SegmentValues& x,
                  const Place& at, std::uint64_t& hash) const {
    for (std::size_t k = from; k < to; ++k) {
      const Step& step = t.steps[k];
      const Hashed& value = value_at(step, x, at);
      if (value.absent()) return false;
      hash = add(multiply(hash, value.power), value.hash);
      if (step.has_literal) hash = add(multiply(hash, step.literal.power), step.literal.hash);
    }
    return true;
  }
  // All steps behind the lead as one value.
  Hashed hashed_steps(const Compiled& t, const SegmentValues& x, const Place& at) const {
    Hashed all;
    for (std::size_t k = t.lead; k < t.steps.size(); ++k) {
      const Hashed& value = value_at(t.steps[k], x, at);
      if (value.absent()) return kAbsent;
      all = joined(all, value);
      if (t.steps[k].has_literal) all = joined(all, t.steps[k].literal);
    }
    return all;
  }
  void take_lead(std::uint32_t i, const SegmentValues& x, const Place& at, Scratch& scratch) const {
    auto& lead = scratch.leads[i];
    lead.hash = compiled_[i].head.hash;
    lead.present = hash_steps(compiled_[i], 0, compiled_[i].lead, x, at, lead.hash);
  }
  // Calls f(key) of the name that begins with a hash and goes on with the steps after `from`.
  template <class F>
  void feature(const Compiled& t, const SegmentValues& x, const Place& at, std::size_t from,
               std::uint64_t hash, F&& f) const {
    if (hash_steps(t, from, t.steps.size(), x, at, hash)) f(key_of(hash, false));
  }
  // The names of a template without a token inside, of the first `scratch.names.size()` segments that begin
  // at a token, step by step: what a step looks at is asked once for all segments.
  void hash_own(std::uint32_t i, const SegmentValues& x, std::size_t begin, Scratch& scratch) const;
  template <class F>
  void own_features(const Compiled& t, const SegmentValues& x, const Place& place, std::uint64_t hash,
                    F&& f) const;
  template <class TextAt>
  std::string whole_text(std::uint32_t source, std::size_t begin, std::size_t last, TextAt&& text_at) const;
  template <class TextAt>
  std::string previous_text(const SegmentPiece& piece, const Origin& origin, std::size_t length,
                            TextAt&& text_at) const;

  std::vector<Source> sources_;
  std::vector<std::shared_ptr<const PhraseSet>> lists_;
  FeatureExtractor reader_;
  std::vector<Compiled> compiled_;
  std::vector<SegmentTemplate> templates_;
  std::vector<std::uint32_t> wholes_;                     // sources of whole values
  std::vector<std::vector<std::uint32_t>> templates_of_;  // by part
  std::vector<std::uint32_t> without_inside_;             // templates that say so if nothing is inside
  std::vector<std::uint32_t> spans_;
  Hashed nothing_inside_[2] = {hash_of(kNothingInside), slashed(hash_of(kNothingInside))};
  Hashed nothing_before_[2] = {hash_of(kNothingBefore), slashed(hash_of(kNothingBefore))};
};

}  // namespace marginalia

#include "features/segment_features.hpp"
#include "features/segment_pairs.hpp"
