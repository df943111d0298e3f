// How `SegmentExtractor` enumerates the features of neighbouring segments.
#pragma once

#include "features/segment_extractor.hpp"

namespace marginalia {

template <class F>
void SegmentExtractor::for_neighbours(const SegmentValues& x, std::size_t previous, std::size_t begin,
                                      std::size_t last, F&& f) const {
  std::vector<Hashed> own, others;
  read_wholes(x, begin, last - begin + 1, own);
  if (previous != kNoPrevious) read_wholes(x, previous, begin - previous, others);
  const Place place{begin, last, begin, false, last_wholes(own), previous, last_wholes(others)};
  for (std::uint32_t i = 0; i < compiled_.size(); ++i) {
    const Compiled& t = compiled_[i];
    if (!is_of_neighbours(t.part) || (t.part == Part::before && previous == kNoPrevious)) continue;
    feature(t, x, place, 0, t.head.hash,
            [&](std::uint64_t key) { f(key, Origin{i, begin, last, begin, false, nullptr, previous}); });
  }
}

template <class F>
void SegmentExtractor::for_leave(const SegmentValues& x, const Whole& previous, std::size_t begin,
                                 std::vector<Lead>& leads, F&& f) const {
  const Place place{begin, begin, begin, false, nullptr, previous.begin, previous.values};
  for (const std::uint32_t i : of(Part::leave)) feature(compiled_[i], x, place, 0, compiled_[i].head.hash, f);
  leads.clear();
  for (const std::uint32_t i : of(Part::pair)) {
    Lead lead{compiled_[i].head.hash, true};
    lead.present = hash_steps(compiled_[i], 0, compiled_[i].lead, x, place, lead.hash);
    leads.push_back(lead);
  }
}

inline void SegmentExtractor::read_tails(const SegmentValues& x, const Whole& segment, std::size_t n,
                                         std::size_t count, Hashed* tails) const {
  const Place place{segment.begin, segment.last, segment.begin, false, segment.values};
  const std::vector<std::uint32_t>& templates = of(Part::pair);
  for (std::size_t k = 0; k < templates.size(); ++k)
    if (compiled_[templates[k]].has_tail)
      tails[k * count + n] = hashed_steps(compiled_[templates[k]], x, place);
}

template <class Segment, class F>
void SegmentExtractor::for_pairs(const SegmentValues& x, const Whole& previous,
                                 const std::vector<Lead>& leads, std::size_t count, Segment&& segment,
                                 const Hashed* tails, F&& f) const {
  const std::vector<std::uint32_t>& templates = of(Part::pair);
  for (std::size_t k = 0; k < templates.size(); ++k, tails += count) {
    if (!leads[k].present) continue;
    const Compiled& t = compiled_[templates[k]];
    const std::uint64_t lead = leads[k].hash;
    for (std::size_t n = 0; n < count; ++n) {
      if (!t.has_tail) {
        const Whole one = segment(n);
        const Place place{one.begin, one.last, one.begin, false, one.values, previous.begin, previous.values};
        feature(t, x, place, t.lead, lead, [&](std::uint64_t key) { f(n, key); });
      } else if (!tails[n].absent()) {
        f(n, key_of(add(multiply(lead, tails[n].power), tails[n].hash), false));
      }
    }
  }
}

template <class F>
void SegmentExtractor::for_before(const SegmentValues& x, const Whole& segment, F&& f) const {
  const Place place{segment.begin, segment.last, segment.begin, false, segment.values};
  for (const std::uint32_t i : of(Part::before))
    feature(compiled_[i], x, place, 0, compiled_[i].head.hash, f);
}

template <class TextAt>
std::string SegmentExtractor::previous_text(const SegmentPiece& piece, const Origin& origin,
                                            std::size_t length, TextAt&& text_at) const {
  if (origin.previous == kNoPrevious) return std::string(kNothingBefore);
  if (piece.anchor == Anchor::previous_length)
    return length_text(origin.begin - origin.previous, static_cast<std::size_t>(piece.offset));
  if (piece.anchor == Anchor::previous_whole)
    return whole_text(piece.source, origin.previous, origin.begin - 1, text_at);
  const std::ptrdiff_t where = static_cast<std::ptrdiff_t>(origin.previous) + piece.offset;
  if (where < 0) return std::string(outside(piece.before, static_cast<std::size_t>(-where)));
  if (static_cast<std::size_t>(where) >= length)
    return std::string(outside(piece.after, static_cast<std::size_t>(where) - length + 1));
  return std::string(text_at(static_cast<std::size_t>(where), piece.source));
}

}  // namespace marginalia
