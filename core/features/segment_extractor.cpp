#include "features/segment_extractor.hpp"

#include <stdexcept>

namespace marginalia {

namespace {

bool is_inner(Anchor anchor) {
  return anchor == Anchor::token || anchor == Anchor::inside || anchor == Anchor::within;
}

}  // namespace

SegmentExtractor::SegmentExtractor(std::vector<Source> sources, std::vector<SegmentTemplate> templates,
                                   std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns,
                                   const std::vector<std::uint32_t>& before)
    : sources_(std::move(sources)),
      lists_(std::move(lists)),
      reader_(sources_, {}, lists_, columns),
      templates_of_(static_cast<std::size_t>(Part::before) + 1) {
  for (std::uint32_t i = 0; i < templates.size(); ++i)
    add_template(std::move(templates[i]), std::find(before.begin(), before.end(), i) != before.end());
}

SegmentExtractor SegmentExtractor::of_items(std::uint32_t columns) {
  SegmentExtractor extractor({}, {}, {}, columns);
  extractor.reader_ = FeatureExtractor::of_items(columns);
  return extractor;
}

void SegmentExtractor::add_template(SegmentTemplate t, bool before) {
  check(t);
  check_neighbours(t, before);
  std::int32_t lowest = INT32_MAX;  // values within a segment are counted from the first of them
  for (const SegmentPiece& piece : t)
    if (piece.anchor == Anchor::within) lowest = std::min(lowest, piece.offset);
  for (SegmentPiece& piece : t)
    if (piece.anchor == Anchor::within) piece.offset -= lowest;
  const auto number = static_cast<std::uint32_t>(compiled_.size());
  compiled_.push_back(compile(t, before));
  templates_.push_back(std::move(t));
  templates_of_[static_cast<std::size_t>(compiled_.back().part)].push_back(number);
  if (compiled_.back().inner == Anchor::inside) without_inside_.push_back(number);
}

void SegmentExtractor::check(const SegmentTemplate& t) const {
  Anchor inner = Anchor::none;
  bool of_ends = false;
  for (const SegmentPiece& piece : t) {
    if (piece.anchor == Anchor::none) continue;
    of_ends = of_ends || !is_inner(piece.anchor);
    if (piece.anchor == Anchor::length || piece.anchor == Anchor::previous_length) {
      if (piece.offset < 1 || piece.offset > 1000)
        throw std::invalid_argument("extractor: length out of range");
      continue;
    }
    if (piece.source >= sources_.size()) throw std::invalid_argument("extractor: attribute out of range");
    if (piece.anchor == Anchor::whole || piece.anchor == Anchor::previous_whole) continue;
    if (piece.offset < -kFarthest || piece.offset > kFarthest)
      throw std::invalid_argument("extractor: offset out of range");
    if (piece.before.empty() || piece.after.empty())
      throw std::invalid_argument("extractor: a value needs its boundary strings");
    if (!is_inner(piece.anchor)) continue;
    if (inner != Anchor::none && inner != piece.anchor)
      throw std::invalid_argument("extractor: a template looks at tokens of two kinds");
    inner = piece.anchor;
  }
  if (inner == Anchor::token && of_ends)
    throw std::invalid_argument("extractor: a template looks at tokens and at segments");
}

// Features of two segments look at their ends and wholes only, so that there is one for each two.
void SegmentExtractor::check_neighbours(const SegmentTemplate& t, bool before) {
  const auto has = [&](auto&& of) {
    return std::any_of(t.begin(), t.end(), [&](const SegmentPiece& piece) { return of(piece.anchor); });
  };
  if ((before || has(is_of_previous)) && has(is_inner))
    throw std::invalid_argument("extractor: a template of neighbours looks at tokens inside");
  if (before && has(is_of_previous))
    throw std::invalid_argument("extractor: a template for the segment before looks at it");
}

SegmentExtractor::Step SegmentExtractor::step_of(const SegmentPiece& piece) {
  Step step{piece.anchor, piece.source, piece.offset, hashes_of(piece.before), hashes_of(piece.after), {},
            {},           false,        false};
  if (piece.anchor == Anchor::length || piece.anchor == Anchor::previous_length)
    for (std::size_t n = 1; n <= static_cast<std::size_t>(piece.offset); ++n)
      step.lengths.push_back(hash_of(length_text(n, static_cast<std::size_t>(piece.offset))));
  if (piece.anchor == Anchor::whole || piece.anchor == Anchor::previous_whole) {
    const auto found = std::find(wholes_.begin(), wholes_.end(), piece.source);
    step.source = static_cast<std::uint32_t>(found - wholes_.begin());
    if (found == wholes_.end()) wholes_.push_back(piece.source);
  }
  return step;
}

// Values at tokens and nearby are kept with a slash behind; a slash then costs nothing.
void SegmentExtractor::take_slash(Step& step) {
  step.has_literal = step.literal.power != 1;
  if (step.literal != hash_of("/") || step.anchor == Anchor::length || step.anchor == Anchor::whole ||
      step.anchor == Anchor::previous_whole || step.anchor == Anchor::previous_length)
    return;
  step.has_slash = true;
  step.has_literal = false;
  for (auto* outside : {&step.before, &step.after})
    for (Hashed& value : *outside) value = slashed(value);
}

SegmentExtractor::Compiled SegmentExtractor::compile(const SegmentTemplate& t, bool before) {
  Compiled made;
  for (const SegmentPiece& piece : t) {
    if (piece.anchor != Anchor::none)
      made.steps.push_back(step_of(piece));
    else if (made.steps.empty())
      made.head = joined(made.head, hash_of(piece.text));
    else
      made.steps.back().literal = joined(made.steps.back().literal, hash_of(piece.text));
  }
  for (Step& step : made.steps) take_slash(step);
  classify(made, t, before);
  return made;
}

// Which segments share the template's features, and how much of their names is known how early.
void SegmentExtractor::classify(Compiled& made, const SegmentTemplate& t, bool before) {
  bool begin = false, end = false, both = false, length = false, previous = false;
  for (const SegmentPiece& piece : t) {
    begin = begin || piece.anchor == Anchor::begin;
    end = end || piece.anchor == Anchor::end;
    both = both || piece.anchor == Anchor::whole;
    length = length || piece.anchor == Anchor::length;
    previous = previous || is_of_previous(piece.anchor);
    if (is_inner(piece.anchor)) made.inner = piece.anchor;
    if (piece.anchor == Anchor::within)
      made.reach = std::max(made.reach, static_cast<std::uint32_t>(piece.offset));
  }
  both = both || (begin && end) || (length && (begin || end || made.inner != Anchor::none));
  if (before)
    made.part = Part::before;
  else if (previous)
    made.part = both || end || length ? Part::pair : Part::leave;
  else if (made.inner == Anchor::token)
    made.part = Part::token;
  else if (both)
    made.part = Part::own;
  else if (made.inner == Anchor::none)
    made.part = begin ? Part::begin : end ? Part::end : Part::length;
  else
    made.part = begin ? Part::grow : end ? Part::shrink : Part::arrival;
  if (made.inner == Anchor::inside || made.inner == Anchor::within)
    made.span = span_of(made.inner == Anchor::inside ? 2 : made.reach);
  const auto leading = [&](auto&& depends) {
    std::size_t k = 0;
    while (k < made.steps.size() && depends(made.steps[k].anchor)) ++k;
    return k;
  };
  const Anchor outer = made.part == Part::shrink ? Anchor::end : Anchor::begin;
  made.lead = leading([&](Anchor anchor) { return anchor == outer || is_of_previous(anchor); });
  made.ends_lead = leading([](Anchor anchor) { return !is_inner(anchor); });
  made.has_tail = std::none_of(made.steps.begin() + static_cast<std::ptrdiff_t>(made.lead), made.steps.end(),
                               [](const Step& step) { return is_of_previous(step.anchor); });
}

std::uint32_t SegmentExtractor::span_of(std::uint32_t tokens) {
  const auto found = std::find(spans_.begin(), spans_.end(), tokens);
  const auto place = static_cast<std::uint32_t>(found - spans_.begin());
  if (found == spans_.end()) spans_.push_back(tokens);
  return place;
}

void SegmentExtractor::read(const TokenTable& table, std::size_t first, std::size_t last,
                            const Identity& owner, ExtractionSpace& space, SegmentValues& out) const {
  reader_.read(table, first, last, owner, space);
  out.length = last - first;
  if (is_explicit()) return read_items(*table.items, first, last, out);
  reader_.values(space, out.length, out.grid);
  out.slashed.resize(out.grid.size());
  std::transform(out.grid.begin(), out.grid.end(), out.slashed.begin(), slashed);
  out.matches.clear();
  for (const std::uint32_t source : wholes_) {
    if (sources_[source].kind != Source::Kind::list) continue;
    std::vector<std::string_view> tokens;
    for (std::size_t t = first; t < last; ++t) tokens.push_back(table.field(t, sources_[source].column));
    const PhraseSet& phrases = *lists_[sources_[source].list];
    phrases.match_all(phrases.hashes_of(tokens), [&](std::size_t b, std::size_t e, std::size_t) {
      out.matches.push_back({source, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(e)});
    });
  }
  std::sort(out.matches.begin(), out.matches.end());
}

void SegmentExtractor::read_items(const Items& items, std::size_t first, std::size_t last,
                                  SegmentValues& out) const {
  out.items.clear();
  out.item_end.assign(1, 0);
  for (std::size_t t = first; t < last; ++t) {
    for (std::uint64_t i = items.end[t]; i < items.end[t + 1]; ++i)
      out.items.push_back({items.keys[items.names[i]], items.names[i], items.value(i)});
    out.item_end.push_back(out.items.size());
  }
}

std::vector<std::string> SegmentExtractor::texts(const TokenTable& table, std::size_t first, std::size_t last,
                                                 const ExtractionSpace& space) const {
  std::vector<std::string> result((last - first) * sources_.size());
  for (std::size_t t = 0; t < last - first; ++t)
    for (std::uint32_t s = 0; s < sources_.size(); ++s) {
      std::string& text = result[t * sources_.size() + s];
      if (!reader_.value_text(s, table, space, first, t, text)) text.clear();
    }
  return result;
}

Hashed SegmentExtractor::one_whole(std::uint32_t source, const SegmentValues& x, std::size_t begin,
                                   std::size_t last) const {
  static const Hashed one = hash_of("1");
  const SegmentValues::Match wanted{source, static_cast<std::uint32_t>(begin),
                                    static_cast<std::uint32_t>(last)};
  return std::binary_search(x.matches.begin(), x.matches.end(), wanted) ? one : kAbsent;
}

// The whole value of a segment is that of the one without its last token, and a little more.
void SegmentExtractor::read_wholes(const SegmentValues& x, std::size_t begin, std::size_t most,
                                   std::vector<Hashed>& out) const {
  static const Hashed blank = hash_of(" ");
  const std::size_t count = std::min(x.length - begin, most), width = wholes_.size();
  out.resize(count * width);
  for (std::size_t k = 0; k < width; ++k) {
    const std::uint32_t source = wholes_[k];
    const bool listed = sources_[source].kind == Source::Kind::list;
    Hashed whole;
    for (std::size_t n = 0; n < count; ++n) {
      const Hashed& value = x.grid[(begin + n) * sources_.size() + source];
      if (listed)
        whole = one_whole(source, x, begin, begin + n);
      else if (n == 0)
        whole = value;
      else
        whole = value.absent() || whole.absent() ? kAbsent : joined(whole, joined(blank, value));
      out[n * width + k] = whole;
    }
  }
}

void SegmentExtractor::hash_own(std::uint32_t i, const SegmentValues& x, std::size_t begin,
                                Scratch& scratch) const {
  const Compiled& t = compiled_[i];
  std::vector<Lead>& names = scratch.names;
  std::fill(names.begin(), names.end(), scratch.leads[i]);
  const auto go_on = [&](auto&& value_of) {
    for (std::size_t n = 0; n < names.size(); ++n) {
      const Hashed& value = value_of(n);
      names[n].hash = add(multiply(names[n].hash, value.power), value.hash);
      names[n].present = names[n].present && !value.absent();
    }
  };
  for (std::size_t k = t.lead; k < t.steps.size(); ++k) {
    const Step& step = t.steps[k];
    if (step.anchor == Anchor::whole)
      go_on([&](std::size_t n) -> const Hashed& { return scratch.wholes[n * wholes_.size() + step.source]; });
    else if (step.anchor == Anchor::length)
      go_on(
          [&](std::size_t n) -> const Hashed& { return step.lengths[std::min(n, step.lengths.size() - 1)]; });
    else
      go_on([&](std::size_t n) -> const Hashed& {
        return value_at(step, x, {begin, begin + n, begin, false, nullptr});
      });
    if (step.has_literal) go_on([&](std::size_t) -> const Hashed& { return step.literal; });
  }
}

SegmentExtractor::Inner SegmentExtractor::inner_of(const Compiled& t, std::size_t begin,
                                                   std::size_t last) const {
  Inner inner{begin, last + 1};
  if (t.inner == Anchor::inside) inner = {begin + 1, last};
  if (t.inner == Anchor::within) inner.end = last - begin < t.reach ? begin : last + 1 - t.reach;
  if (t.part == Part::own) inner.end = std::min(inner.end, inner.first + kMostInside);
  return inner;
}

}  // namespace marginalia
