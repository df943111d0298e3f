#include "features/segment_examples.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

namespace {

void hide_items(const Hidden& hidden, SegmentValues& x) {
  std::size_t kept = 0, begin = 0;
  for (std::size_t t = 0; t < x.length; ++t) {
    const std::size_t end = x.item_end[t + 1];
    if (!hidden.value(t, 0))
      for (std::size_t i = begin; i < end; ++i) x.items[kept++] = x.items[i];
    begin = end;
    x.item_end[t + 1] = kept;
  }
  x.items.resize(kept);
}

}  // namespace

void SegmentExamples::add(const SegmentExtractor& extractor, const TokenTable& table) {
  if (tokens() != 0 && sources_ != extractor.sources())
    throw std::invalid_argument("examples: of another extractor");
  sources_ = extractor.sources();
  columns_.clear();
  for (std::size_t k = 0; k < sources_; ++k) {
    const Source& source = extractor.source(k);
    columns_.push_back(source.kind == Source::Kind::first ? kNoColumn : source.column);
  }
  if (extractor.is_explicit()) {
    if (table.items == nullptr) throw std::invalid_argument("examples: a table without explicit attributes");
    add_items(*table.items);
  }
  ExtractionSpace space;
  SegmentValues x;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    extractor.read(table, first, last, nullptr, space, x);
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < x.grid.size(); ++k) {
      const std::uint32_t number = number_of(x.grid[k]);
      values_.push_back(number);
      if (!keeps_texts_ || number < texts_.size()) continue;
      if (texts.empty()) texts = extractor.texts(table, first, last, space);
      texts_.push_back(texts[k]);
    }
    matches_.insert(matches_.end(), x.matches.begin(), x.matches.end());
    match_end_.push_back(matches_.size());
    sentence.push_back(static_cast<std::uint32_t>(tokens() + (last - first)));
  }
}

void SegmentExamples::add_items(const Items& items) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t which = 0; which < items.keys.size(); ++which) {
    const auto [found, added] =
        item_number_.try_emplace(items.keys[which], static_cast<std::uint32_t>(item_number_.size()));
    if (added && keeps_texts_) item_names_.emplace_back(items.name(which));
    numbers.push_back(found->second);
  }
  const std::size_t before = items_.size();
  for (std::size_t i = 0; i < items.names.size(); ++i)
    items_.push_back({items.keys[items.names[i]], numbers[items.names[i]], items.value(i)});
  for (std::size_t t = 1; t < items.end.size(); ++t) item_end_.push_back(before + items.end[t]);
}

std::uint32_t SegmentExamples::number_of(const Hashed& value) {
  const std::uint64_t hash = value.absent() ? UINT64_MAX : value.hash;  // hashes are smaller
  const auto [found, added] = number_.try_emplace(hash, static_cast<std::uint32_t>(pool_.size()));
  if (added) {
    pool_.push_back(value);
    slashed_.push_back(slashed(value));
  }
  return found->second;
}

void SegmentExamples::values(std::size_t i, SegmentValues& out) const {
  out.length = length(i);
  out.items.clear();
  out.item_end.clear();
  if (item_end_.size() > 1) {
    const std::size_t first = item_end_[sentence[i]], last = item_end_[sentence[i + 1]];
    out.items.assign(items_.begin() + static_cast<std::ptrdiff_t>(first),
                     items_.begin() + static_cast<std::ptrdiff_t>(last));
    for (std::size_t t = sentence[i]; t <= sentence[i + 1]; ++t) out.item_end.push_back(item_end_[t] - first);
  }
  out.grid.resize(out.length * sources_);
  out.slashed.resize(out.grid.size());
  const std::uint32_t* numbers = values_.data() + sentence[i] * sources_;
  for (std::size_t k = 0; k < out.grid.size(); ++k) {
    out.grid[k] = pool_[numbers[k]];
    out.slashed[k] = slashed_[numbers[k]];
  }
  out.matches.assign(matches_.begin() + static_cast<std::ptrdiff_t>(match_end_[i]),
                     matches_.begin() + static_cast<std::ptrdiff_t>(match_end_[i + 1]));
}

void SegmentExamples::hidden_values(std::size_t i, const Hidden& hidden, SegmentValues& out) const {
  values(i, out);
  if (!hidden.any_input()) return;
  if (!out.item_end.empty()) hide_items(hidden, out);
  for (std::size_t k = 0; k < sources_; ++k)
    for (std::size_t t = 0; t < out.length && columns_[k] != kNoColumn; ++t)
      if (hidden.value(t, columns_[k])) out.grid[t * sources_ + k] = out.slashed[t * sources_ + k] = kAbsent;
  std::erase_if(out.matches, [&](const SegmentValues::Match& m) {
    for (std::size_t t = m.begin; t <= m.last; ++t)
      if (hidden.value(t, columns_[m.source])) return true;
    return false;
  });
}

}  // namespace marginalia
