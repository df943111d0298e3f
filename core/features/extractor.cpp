#include "features/extractor.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/prefetch.hpp"

namespace marginalia {

namespace {

// Beyond either the cache starts again, so that its memory is bounded on any stream.
constexpr std::size_t kMostCached = 1u << 16;  // strings
constexpr std::size_t kMostBytes = 1u << 22;

// Columns have different seeds, in the byte that the hash of a short text leaves free: with its length such a
// hash can be turned back into text and column. Hashes of the same text are different in different columns.
constexpr std::uint64_t seed_of(std::uint32_t column) {
  return std::uint64_t{column} << 56 ^ column >> 8;
}
bool is_known_by_hash(std::string_view text, std::uint32_t columns) {
  return text.size() < 8 && columns <= 256;
}

constexpr std::uint64_t kNoLead = UINT64_MAX;  // the value is absent; hashes are smaller

// The hash of a name that goes on with `by`.
std::uint64_t extended(std::uint64_t hash, const Hashed& by) {
  return add(multiply(hash, by.power), by.hash);
}

std::ptrdiff_t position(std::int32_t offset, bool absolute, std::size_t at, std::size_t length) {
  if (!absolute) return static_cast<std::ptrdiff_t>(at) + offset;
  return offset >= 0 ? offset : static_cast<std::ptrdiff_t>(length) + offset;
}

void match_list(const PhraseSet& phrases, const TokenTable& table, std::size_t first, std::size_t last,
                std::uint32_t column, std::vector<std::uint8_t>& out) {
  std::vector<std::string_view> tokens;
  for (std::size_t t = first; t < last; ++t) tokens.push_back(table.field(t, column));
  phrases.match(tokens, out);
}

}  // namespace

FeatureExtractor::FeatureExtractor(std::vector<Source> sources, std::vector<Template> templates,
                                   std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns)
    : sources_(std::move(sources)),
      templates_(std::move(templates)),
      lists_(std::move(lists)),
      layout_(columns),
      columns_(columns) {
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    has_grid_ = has_grid_ || source.kind != Source::Kind::column;
    if (source.kind == Source::Kind::first) continue;
    if (source.column >= columns) throw std::invalid_argument("extractor: column out of range");
    if (source.kind == Source::Kind::list) {
      if (source.list >= lists_.size() || lists_[source.list] == nullptr)
        throw std::invalid_argument("extractor: list out of range");
    } else if (source.kind == Source::Kind::document) {
      of_document_.push_back(i);
    } else {
      check(source.attribute);
      layout_[source.column].sources.push_back(i);
    }
  }
  std::vector<DocumentAttribute> of_documents;
  for (const std::uint32_t i : of_document_) of_documents.push_back(sources_[i].document);
  documents_ = DocumentValues(std::move(of_documents), lists_, columns);
  for (const Template& t : templates_) {
    for (const Piece& piece : t.pieces) {
      if (piece.literal) continue;
      if (piece.source >= sources_.size()) throw std::invalid_argument("extractor: attribute out of range");
      if (piece.before.empty() || piece.after.empty())
        throw std::invalid_argument("extractor: a value needs its boundary strings");
    }
    every_.push_back(static_cast<std::uint32_t>(compiled_.size()));
    compiled_.push_back(compile(t));
    has_edges_ = has_edges_ || t.scope == Scope::edge;
  }
  lay_out();
  groups_ = groups_of(templates_, sources_);
}

FeatureExtractor FeatureExtractor::of_items(std::uint32_t columns) {
  FeatureExtractor extractor({}, {}, {}, columns);
  extractor.explicit_ = true;
  return extractor;
}

FeatureExtractor FeatureExtractor::of_bags(std::vector<BagTemplate> templates, std::uint32_t columns) {
  FeatureExtractor extractor({}, {}, {}, columns);
  extractor.bags_ = std::make_shared<const Bags>(std::move(templates), columns);
  return extractor;
}

std::vector<std::vector<FeatureExtractor::Read>> FeatureExtractor::reads() const {
  if (explicit_) return {{{0, false, 0}}};
  std::vector<std::vector<Read>> all;
  for (const BagTemplate& t : bags_ == nullptr ? std::vector<BagTemplate>() : bags_->templates()) {
    all.emplace_back();
    for (const BagPiece& piece : t)
      if (piece.kind != BagPiece::Kind::literal) all.back().push_back({0, false, piece.column});
  }
  for (const Template& t : templates_) {
    all.emplace_back();
    for (const Piece& piece : t.pieces)
      if (!piece.literal && sources_[piece.source].kind != Source::Kind::first)
        all.back().push_back({piece.offset, piece.absolute, sources_[piece.source].column});
  }
  return all;
}

std::size_t FeatureExtractor::templates(Scope scope) const {
  return static_cast<std::size_t>(std::count_if(templates_.begin(), templates_.end(),
                                                [&](const Template& t) { return t.scope == scope; }));
}

FeatureExtractor::Compiled FeatureExtractor::compile(const Template& t) {
  Compiled made;
  made.edge = t.scope == Scope::edge;
  for (const Piece& piece : t.pieces) {
    if (!piece.literal)
      made.steps.push_back({piece.source,
                            piece.offset,
                            piece.absolute,
                            sources_[piece.source].column,
                            kUnknownRow,
                            hashes_of(piece.before),
                            hashes_of(piece.after),
                            {},
                            false});
    else if (made.steps.empty())
      made.head = joined(made.head, hash_of(piece.text));
    else
      made.steps.back().literal = joined(made.steps.back().literal, hash_of(piece.text));
  }
  for (Step& step : made.steps) step.has_literal = step.literal.power != 1;
  if (made.steps.empty() || made.steps[0].absolute) return made;
  const Source& first = sources_[made.steps[0].source];
  if (first.kind != Source::Kind::column) return made;
  made.column = first.column;
  made.offset = made.steps[0].offset;
  ColumnLayout& layout = layout_[made.column];
  std::vector<std::uint32_t>& templates = made.steps.size() == 1 ? layout.single : layout.longer;
  made.lead = static_cast<std::uint32_t>(templates.size());
  if (made.steps.size() == 1) made.place = made.lead;
  templates.push_back(static_cast<std::uint32_t>(compiled_.size()));
  return made;
}

// Once it is known how many templates begin with a column, the places of hashes are.
void FeatureExtractor::lay_out() {
  for (Compiled& t : compiled_) {
    if (t.place != kUnknownRow) {
      const ColumnLayout& layout = layout_[t.column];
      t.lead += static_cast<std::uint32_t>(layout.longer.size() + 2 * layout.sources.size());
    }
    for (Step& step : t.steps) {
      if (sources_[step.source].kind != Source::Kind::column) continue;
      const ColumnLayout& layout = layout_[step.column];
      const auto found = std::find(layout.sources.begin(), layout.sources.end(), step.source);
      step.value = static_cast<std::uint32_t>(layout.longer.size()) +
                   2 * static_cast<std::uint32_t>(found - layout.sources.begin());
    }
  }
}

Hashed FeatureExtractor::value_at(const Step& step, const ExtractionSpace& space, std::size_t at,
                                  std::size_t length) const {
  const auto where = static_cast<std::size_t>(position(step.offset, step.absolute, at, length));
  if (where < length) {
    if (step.value == kUnknownRow) return space.grid_[where * sources_.size() + step.source];
    const std::uint64_t* value =
        &space.hashes_[space.known_[where * columns_ + step.column].hashes + step.value];
    return {value[0], value[1]};
  }
  const std::size_t before = std::size_t{0} - where;  // wraps around before the sentence
  return before <= where ? outside(step.before, before) : outside(step.after, where - length + 1);
}

std::uint64_t FeatureExtractor::key_at(const Compiled& t, const ExtractionSpace& space, std::size_t at,
                                       std::size_t length) const {
  std::uint64_t hash = t.head.hash;
  std::size_t k = 0;
  const std::size_t where = at + static_cast<std::size_t>(t.offset);  // wraps around before the sentence
  if (t.lead != kUnknownRow && where < length) {
    hash = space.hashes_[space.known_[where * columns_ + t.column].hashes + t.lead];
    if (hash == kNoLead) return 0;
    k = 1;
  }
  for (; k < t.steps.size(); ++k) {
    const Step& step = t.steps[k];
    const Hashed value = value_at(step, space, at, length);
    if (value.absent()) return 0;
    hash = extended(hash, value);
    if (step.has_literal) hash = extended(hash, step.literal);
  }
  return key_of(hash, t.edge);
}

void FeatureExtractor::read(const TokenTable& table, std::size_t first, std::size_t last,
                            const Identity& owner, ExtractionSpace& space) const {
  if (table.columns < columns_) throw std::invalid_argument("extractor: the table has too few columns");
  if (explicit_) return read_items(table, first, owner, space);
  if (bags_ != nullptr) {
    bags_->read(table, first, last, space.bags_);
    space.rows_.assign(space.bags_.found.size(), kUnaskedRow);
    return;
  }
  if (space.extractor_ != identity_ || space.owner_ != owner || space.used_ > kMostCached ||
      space.texts_.size() > kMostBytes) {
    space = ExtractionSpace();
    space.extractor_ = identity_;
    space.owner_ = owner;
    space.slots_.resize(1024);
    space.ids_of_ = new_identity();
  }
  const std::size_t reach = groups_.reach;
  space.known_.resize((last - first) * columns_);
  space.ids_.resize((last - first + 2 * reach) * columns_);
  for (std::uint32_t c = 0; c < columns_; ++c) {
    if (layout_[c].sources.empty()) continue;
    space.keys_.clear();
    for (std::size_t t = first; t < last; ++t) {
      space.keys_.push_back(quick_hash(table.field(t, c), seed_of(c)));
      prefetch(&space.slots_[space.keys_.back() & (space.slots_.size() - 1)]);
    }
    for (std::size_t t = first; t < last; ++t) {
      const auto& slot = slot_of(table.field(t, c), c, space.keys_[t - first], space);
      space.known_[(t - first) * columns_ + c] = {slot.rows, slot.hashes};
      space.ids_[(reach + t - first) * columns_ + c] = slot.id;
    }
  }
  for (std::uint32_t d = 0; d < reach * columns_; ++d) {  // outside of the sentence a distance is a value
    space.ids_[d] = static_cast<std::uint32_t>(reach - 1 - d / columns_);
    space.ids_[(reach + last - first) * columns_ + d] = static_cast<std::uint32_t>(reach + d / columns_);
  }
  if (space.used_ + 2 * reach >= (std::size_t{1} << kIdBits) - 1) space.ids_of_.reset();
  if (has_grid_) read_grid(table, first, last, space);
}

// The values that are not those of a column's strings.
void FeatureExtractor::read_grid(const TokenTable& table, std::size_t first, std::size_t last,
                                 ExtractionSpace& space) const {
  const std::size_t n = sources_.size();
  space.grid_.assign((last - first) * n, kAbsent);
  if (!documents_.empty() && last > first) documents_.read(table, first, space.document_);
  for (std::size_t k = 0; k < of_document_.size(); ++k)
    for (std::size_t t = first; t < last; ++t)
      space.grid_[(t - first) * n + of_document_[k]] = space.document_.hash(k, t);
  std::vector<std::uint8_t> matched;
  for (std::size_t i = 0; i < n; ++i) {
    if (sources_[i].kind == Source::Kind::first && last > first) space.grid_[i] = hash_of("1");
    if (sources_[i].kind != Source::Kind::list) continue;
    match_list(*lists_[sources_[i].list], table, first, last, sources_[i].column, matched);
    for (std::size_t t = 0; t < matched.size(); ++t)
      if (matched[t] != 0) space.grid_[t * n + i] = hash_of(matched[t] == 1 ? "B" : "I");
  }
}

// Names are looked up once for each table.
void FeatureExtractor::read_items(const TokenTable& table, std::size_t first, const Identity& owner,
                                  ExtractionSpace& space) const {
  if (table.items == nullptr) throw std::invalid_argument("extractor: the table has no explicit attributes");
  if (space.extractor_ != identity_ || space.owner_ != owner || space.items_ != table.items) {
    space = ExtractionSpace();
    space.extractor_ = identity_;
    space.owner_ = owner;
    space.items_ = table.items;
    space.rows_.assign(table.items->keys.size(), kUnaskedRow);
  }
  space.first_ = first;
}

// The values of a string in a column, and the rows of its one-value features, from memory or computed.
const ExtractionSpace::Slot& FeatureExtractor::slot_of(std::string_view text, std::uint32_t column,
                                                       std::uint64_t hash, ExtractionSpace& space) const {
  if (space.used_ * 2 >= space.slots_.size()) grow(space);
  const std::size_t mask = space.slots_.size() - 1;
  std::size_t i = hash & mask;
  for (; space.slots_[i].id != 0; i = (i + 1) & mask) {
    const auto& slot = space.slots_[i];
    if (slot.hash != hash || slot.text_length != text.size()) continue;
    if (is_known_by_hash(text, columns_) ||
        std::string_view(space.texts_).substr(slot.text_begin, slot.text_length) == text)
      return slot;
  }
  space.slots_[i] = {hash,
                     static_cast<std::uint32_t>(space.texts_.size()),
                     static_cast<std::uint32_t>(text.size()),
                     static_cast<std::uint32_t>(space.rows_.size()),
                     static_cast<std::uint32_t>(space.hashes_.size()),
                     static_cast<std::uint32_t>(++space.used_ + 2 * groups_.reach)};
  space.texts_ += text;
  const ColumnLayout& layout = layout_[column];
  std::vector<Hashed>& by_source = space.by_source_;
  by_source.resize(sources_.size());
  for (const std::uint32_t source : layout.sources) {
    const bool present = evaluate(sources_[source].attribute, text, space.scratch_);
    by_source[source] = present ? hash_of(space.scratch_) : kAbsent;
  }
  const auto add_leads = [&](const std::vector<std::uint32_t>& templates) {
    for (const std::uint32_t t : templates) {
      const Step& step = compiled_[t].steps[0];
      const Hashed& value = by_source[step.source];
      const std::uint64_t lead = extended(extended(compiled_[t].head.hash, value), step.literal);
      space.hashes_.push_back(value.absent() ? kNoLead : lead);
    }
  };
  add_leads(layout.longer);
  for (const std::uint32_t source : layout.sources) {
    space.hashes_.push_back(by_source[source].hash);
    space.hashes_.push_back(by_source[source].power);
  }
  add_leads(layout.single);
  space.rows_.resize(space.rows_.size() + layout.single.size(), kUnaskedRow);
  return space.slots_[i];
}

void FeatureExtractor::grow(ExtractionSpace& space) const {
  std::vector<ExtractionSpace::Slot> larger(space.slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const auto& slot : space.slots_) {
    if (slot.id == 0) continue;
    std::size_t i = slot.hash & mask;
    while (larger[i].id != 0) i = (i + 1) & mask;
    larger[i] = slot;
  }
  space.slots_ = std::move(larger);
}

void FeatureExtractor::values(const ExtractionSpace& space, std::size_t length,
                              std::vector<Hashed>& out) const {
  const std::size_t n = sources_.size();
  out = space.grid_;
  out.resize(length * n, kAbsent);
  for (std::uint32_t c = 0; c < columns_; ++c) {
    const ColumnLayout& layout = layout_[c];
    for (std::size_t t = 0; !layout.sources.empty() && t < length; ++t) {
      const std::uint64_t* value =
          &space.hashes_[space.known_[t * columns_ + c].hashes + layout.longer.size()];
      for (const std::uint32_t source : layout.sources) {
        out[t * n + source] = {value[0], value[1]};
        value += 2;
      }
    }
  }
}

bool FeatureExtractor::value_text(std::uint32_t source, const TokenTable& table, const ExtractionSpace& space,
                                  std::size_t first, std::size_t at, std::string& out) const {
  const Source& from = sources_[source];
  if (from.kind == Source::Kind::column)
    return evaluate(from.attribute, table.field(first + at, from.column), out);
  const Hashed& value = space.grid_[at * sources_.size() + source];
  if (from.kind == Source::Kind::document) {
    const auto found = std::find(of_document_.begin(), of_document_.end(), source);
    out = space.document_.text(static_cast<std::size_t>(found - of_document_.begin()), first + at);
    return !value.absent();
  }
  const char list_text = value.hash == hash_of("B").hash ? 'B' : 'I';
  out.assign(1, from.kind == Source::Kind::first ? '1' : list_text);
  return !value.absent();
}

template <class F>
void FeatureExtractor::for_texts(std::size_t template_index, const TokenTable& table,
                                 const ExtractionSpace& space, std::size_t first, std::size_t last,
                                 std::size_t at, F&& f) const {
  std::string value;
  const std::size_t length = last - first;
  for (const Piece& piece : templates_[template_index].pieces) {
    if (piece.literal) {
      f(std::string_view(piece.text));
      continue;
    }
    const std::ptrdiff_t where = position(piece.offset, piece.absolute, at, length);
    if (where < 0)
      f(std::string_view(outside(piece.before, static_cast<std::size_t>(-where))));
    else if (static_cast<std::size_t>(where) >= length)
      f(std::string_view(outside(piece.after, static_cast<std::size_t>(where) - length + 1)));
    else if (value_text(piece.source, table, space, first, static_cast<std::size_t>(where), value))
      f(std::string_view(value));
    else
      f(std::string_view());
  }
}

std::vector<std::string> FeatureExtractor::texts_at(std::size_t template_index, const TokenTable& table,
                                                    const ExtractionSpace& space, std::size_t first,
                                                    std::size_t last, std::size_t at) const {
  std::vector<std::string> texts;
  for_texts(template_index, table, space, first, last, at,
            [&](std::string_view text) { texts.emplace_back(text); });
  return texts;
}

void FeatureExtractor::name_of(const Feature& feature, const TokenTable& table, const ExtractionSpace& space,
                               std::size_t first, std::size_t last, std::string& out) const {
  if (explicit_ || bags_ != nullptr) {
    out = concatenated(texts_of(feature, table, space, first, last));
    return;
  }
  out.clear();
  for_texts(feature.template_index, table, space, first, last, feature.token,
            [&](std::string_view text) { out += text; });
}

}  // namespace marginalia
