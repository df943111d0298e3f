// How `SegmentExtractor` enumerates the features of segments.
#pragma once

#include <algorithm>

#include "features/segment_extractor.hpp"

namespace marginalia {

template <class F>
void SegmentExtractor::for_segment(const SegmentValues& x, std::size_t begin, std::size_t last, F&& f) const {
  std::vector<Hashed> wholes;
  read_wholes(x, begin, last + 1 - begin, wholes);
  for (std::uint32_t i = 0; i < compiled_.size(); ++i) {
    const Compiled& t = compiled_[i];
    if (is_of_neighbours(t.part)) continue;
    const auto at = [&](std::size_t inner, bool none) {
      feature(t, x, {begin, last, inner, none, last_wholes(wholes)}, 0, t.head.hash,
              [&](std::uint64_t key) { f(key, Origin{i, begin, last, inner, none}); });
    };
    if (t.inner == Anchor::none) {
      at(begin, false);
      continue;
    }
    const Inner inner = inner_of(t, begin, last);
    for (std::size_t k = inner.first; k < inner.end; ++k) at(k, false);
    if (t.inner == Anchor::inside && inner.first >= inner.end) at(begin, true);
  }
  for (std::size_t t = begin; t <= last && !x.item_end.empty(); ++t)
    for (std::size_t i = x.item_end[t]; i < x.item_end[t + 1]; ++i)
      f(x.items[i].key, Origin{0, begin, last, t, false, &x.items[i]});
}

template <class F>
void SegmentExtractor::for_token(const SegmentValues& x, std::size_t t, F&& f) const {
  const auto at = [&](Part part, std::size_t inner) {
    for (const std::uint32_t i : of(part))
      feature(compiled_[i], x, {t, t, inner, false, nullptr}, 0, compiled_[i].head.hash,
              [&](std::uint64_t key) { f(part, t, 0, key); });
  };
  const std::size_t end = x.item_end.empty() ? 0 : x.item_end[t + 1];
  for (std::size_t i = end == 0 ? 0 : x.item_end[t]; i < end; ++i)
    f(Part::token, t, 0, x.items[i].key, x.items[i].value);
  at(Part::token, t);
  at(Part::begin, t);
  at(Part::end, t);
  for (const std::uint32_t i : of(Part::arrival)) {
    const Compiled& c = compiled_[i];
    const std::uint32_t span = spans_[c.span];
    if (t < span) continue;
    feature(c, x, {t, t, arriving(c, t), false, nullptr}, 0, c.head.hash,
            [&](std::uint64_t key) { f(Part::arrival, t, c.span, key); });
  }
}

template <class F>
void SegmentExtractor::for_lengths(std::size_t most, F&& f) const {
  const SegmentValues nothing;
  for (std::size_t n = 1; n <= most; ++n)
    for (const std::uint32_t i : of(Part::length))
      feature(compiled_[i], nothing, {0, n - 1, 0, false, nullptr}, 0, compiled_[i].head.hash,
              [&](std::uint64_t key) { f(Part::length, n, 0, key); });
}

template <class F>
void SegmentExtractor::for_begin(const SegmentValues& x, std::size_t begin, std::size_t most,
                                 Scratch& scratch, F&& f) const {
  for (const Part part : {Part::own, Part::grow})
    for (const std::uint32_t i : of(part)) take_lead(i, x, {begin, begin, 0, false, nullptr}, scratch);
  read_wholes(x, begin, most, scratch.wholes);
  const std::size_t count = std::min(x.length - begin, most);
  scratch.names.resize(count);
  const auto place_of = [&](std::size_t n, bool none) {
    return Place{begin, begin + n, begin, none, scratch.wholes.data() + n * wholes_.size()};
  };
  const auto own = [&](std::size_t n) {
    return [&f, begin, n](std::uint64_t key) { f(Part::own, begin, begin + n, key); };
  };
  for (const std::uint32_t i : of(Part::own)) {
    if (!scratch.leads[i].present) continue;
    if (compiled_[i].inner != Anchor::none) {
      for (std::size_t n = 0; n < count; ++n)
        own_features(compiled_[i], x, place_of(n, false), scratch.leads[i].hash, own(n));
      continue;
    }
    hash_own(i, x, begin, scratch);
    for (std::size_t n = 0; n < count; ++n)
      if (scratch.names[n].present) own(n)(key_of(scratch.names[n].hash, false));
  }
  for (std::size_t n = 0; n < std::min<std::size_t>(count, 2); ++n)
    for (const std::uint32_t i : without_inside_)
      feature(compiled_[i], x, place_of(n, true), 0, compiled_[i].head.hash, own(n));
  for (std::size_t last = begin; last < begin + count; ++last)
    for (const std::uint32_t i : of(Part::grow)) {
      const Compiled& c = compiled_[i];
      if (!scratch.leads[i].present || last - begin < spans_[c.span]) continue;
      feature(c, x, {begin, last, arriving(c, last), false, nullptr}, c.lead, scratch.leads[i].hash,
              [&](std::uint64_t key) { f(Part::grow, begin, last, key); });
    }
}

template <class F>
void SegmentExtractor::own_features(const Compiled& t, const SegmentValues& x, const Place& place,
                                    std::uint64_t hash, F&& f) const {
  const Inner inner = inner_of(t, place.begin, place.last);
  if (inner.first >= inner.end || !hash_steps(t, t.lead, t.ends_lead, x, place, hash)) return;
  for (std::size_t k = inner.first; k < inner.end; ++k)
    feature(t, x, {place.begin, place.last, k, false, place.wholes}, t.ends_lead, hash, f);
}

template <class F>
void SegmentExtractor::for_last(const SegmentValues& x, std::size_t last, std::size_t from, Scratch& scratch,
                                F&& f) const {
  if (of(Part::shrink).empty()) return;
  for (const std::uint32_t i : of(Part::shrink)) take_lead(i, x, {last, last, 0, false, nullptr}, scratch);
  for (std::size_t begin = last + 1; begin-- > from;)
    for (const std::uint32_t i : of(Part::shrink)) {
      const Compiled& c = compiled_[i];
      if (!scratch.leads[i].present || last - begin < spans_[c.span]) continue;
      const std::size_t inner = c.inner == Anchor::inside ? begin + 1 : begin;
      feature(c, x, {begin, last, inner, false, nullptr}, c.lead, scratch.leads[i].hash,
              [&](std::uint64_t key) { f(Part::shrink, begin, last, key); });
    }
}

template <class TextAt>
std::vector<std::string> SegmentExtractor::piece_texts(const Origin& origin, std::size_t length,
                                                       TextAt&& text_at) const {
  std::vector<std::string> texts;
  for (const SegmentPiece& piece : templates_[origin.template_index]) {
    const std::ptrdiff_t where =
        place_of(piece.anchor, piece.offset, origin.begin, origin.last, origin.inner);
    if (piece.anchor == Anchor::none)
      texts.emplace_back(piece.text);
    else if (piece.anchor == Anchor::length)
      texts.emplace_back(length_text(origin.last - origin.begin + 1, static_cast<std::size_t>(piece.offset)));
    else if (piece.anchor == Anchor::whole)
      texts.emplace_back(whole_text(piece.source, origin.begin, origin.last, text_at));
    else if (is_of_previous(piece.anchor))
      texts.emplace_back(previous_text(piece, origin, length, text_at));
    else if (origin.none && piece.anchor == Anchor::inside)
      texts.emplace_back(kNothingInside);
    else if (where < 0)
      texts.emplace_back(outside(piece.before, static_cast<std::size_t>(-where)));
    else if (static_cast<std::size_t>(where) >= length)
      texts.emplace_back(outside(piece.after, static_cast<std::size_t>(where) - length + 1));
    else
      texts.emplace_back(text_at(static_cast<std::size_t>(where), piece.source));
  }
  return texts;
}

template <class TextAt>
std::string SegmentExtractor::whole_text(std::uint32_t source, std::size_t begin, std::size_t last,
                                         TextAt&& text_at) const {
  if (sources_[source].kind == Source::Kind::list) return "1";
  std::string text;
  for (std::size_t t = begin; t <= last; ++t) {
    if (t > begin) text += ' ';
    text += text_at(t, source);
  }
  return text;
}

}  // namespace marginalia
