#include "features/program.hpp"

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

Program::Program(std::vector<Source> sources, std::vector<Template> templates,
                 std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns)
    : sources_(std::move(sources)),
      templates_(std::move(templates)),
      lists_(std::move(lists)),
      sources_of_column_(columns),
      one_value_templates_(columns, 0),
      leads_of_column_(columns),
      columns_(columns) {
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (source.kind == Source::Kind::first) continue;
    if (source.column >= columns) throw std::invalid_argument("program: column out of range");
    if (source.kind == Source::Kind::list) {
      if (source.list >= lists_.size() || lists_[source.list] == nullptr)
        throw std::invalid_argument("program: list out of range");
    } else {
      check(source.attribute);
      sources_of_column_[source.column].push_back(i);
    }
  }
  for (const Template& t : templates_) {
    for (const Piece& piece : t.pieces) {
      if (piece.literal) continue;
      if (piece.source >= sources_.size()) throw std::invalid_argument("program: attribute out of range");
      if (piece.before.empty() || piece.after.empty())
        throw std::invalid_argument("program: a value needs its boundary strings");
    }
    every_.push_back(static_cast<std::uint32_t>(compiled_.size()));
    compiled_.push_back(compile(t));
    has_edges_ = has_edges_ || t.scope == Scope::edge;
  }
  groups_ = groups_of(templates_, sources_);
}

Program Program::of_items(std::uint32_t columns) {
  Program program({}, {}, {}, columns);
  program.explicit_ = true;
  return program;
}

Program Program::of_bags(std::vector<BagTemplate> templates, std::uint32_t columns) {
  Program program({}, {}, {}, columns);
  program.bags_ = std::make_shared<const Bags>(std::move(templates), columns);
  return program;
}

std::vector<std::vector<Program::Read>> Program::reads() const {
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

std::size_t Program::templates(Scope scope) const {
  return static_cast<std::size_t>(std::count_if(templates_.begin(), templates_.end(),
                                                [&](const Template& t) { return t.scope == scope; }));
}

Program::Compiled Program::compile(const Template& t) {
  Compiled made;
  made.edge = t.scope == Scope::edge;
  for (const Piece& piece : t.pieces) {
    if (!piece.literal)
      made.steps.push_back({piece.source,
                            piece.offset,
                            piece.absolute,
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
  made.lead = static_cast<std::uint32_t>(leads_of_column_[made.column].size());
  leads_of_column_[made.column].push_back(static_cast<std::uint32_t>(compiled_.size()));
  if (made.steps.size() == 1) made.place = one_value_templates_[made.column]++;
  return made;
}

const Hashed& Program::value_at(const Step& step, const ExtractionSpace& space, std::size_t at,
                                std::size_t length) const {
  const std::ptrdiff_t where = position(step.offset, step.absolute, at, length);
  if (where < 0) return outside(step.before, static_cast<std::size_t>(-where));
  if (static_cast<std::size_t>(where) >= length)
    return outside(step.after, static_cast<std::size_t>(where) - length + 1);
  return space.grid_[static_cast<std::size_t>(where) * sources_.size() + step.source];
}

std::uint64_t Program::key_at(const Compiled& t, const ExtractionSpace& space, std::size_t at,
                              std::size_t length) const {
  std::uint64_t hash = t.head.hash;
  std::size_t k = 0;
  const std::size_t where = at + static_cast<std::size_t>(t.offset);  // wraps around before the sentence
  if (t.lead != kUnknownRow && where < length) {
    hash = space.leads_[space.known_[where * columns_ + t.column].leads + t.lead];
    if (hash == kNoLead) return 0;
    k = 1;
  }
  for (; k < t.steps.size(); ++k) {
    const Step& step = t.steps[k];
    const Hashed& value = value_at(step, space, at, length);
    if (value.absent()) return 0;
    hash = extended(hash, value);
    if (step.has_literal) hash = extended(hash, step.literal);
  }
  return key_of(hash, t.edge);
}

void Program::read(const TokenTable& table, std::size_t first, std::size_t last, const Identity& owner,
                   ExtractionSpace& space) const {
  if (table.columns < columns_) throw std::invalid_argument("program: the table has too few columns");
  if (explicit_) return read_items(table, first, owner, space);
  if (bags_ != nullptr) {
    bags_->read(table, first, last, space.bags_);
    space.rows_.assign(space.bags_.found.size(), kUnaskedRow);
    return;
  }
  if (space.program_ != identity_ || space.owner_ != owner || space.used_ > kMostCached ||
      space.texts_.size() > kMostBytes) {
    space = ExtractionSpace();
    space.program_ = identity_;
    space.owner_ = owner;
    space.slots_.resize(1024);
    space.ids_of_ = new_identity();
  }
  const std::size_t n = sources_.size(), reach = groups_.reach;
  space.grid_.assign((last - first) * n, kAbsent);
  space.known_.resize((last - first) * columns_);
  space.ids_.resize((last - first + 2 * reach) * columns_);
  for (std::uint32_t c = 0; c < columns_; ++c) {
    const auto& wanted = sources_of_column_[c];
    if (wanted.empty()) continue;
    space.hashes_.clear();
    for (std::size_t t = first; t < last; ++t) {
      space.hashes_.push_back(quick_hash(table.field(t, c), seed_of(c)));
      prefetch(&space.slots_[space.hashes_.back() & (space.slots_.size() - 1)]);
    }
    for (std::size_t t = first; t < last; ++t) {
      const auto& slot = slot_of(table.field(t, c), c, space.hashes_[t - first], space);
      const Hashed* values = &space.cached_[slot.values - 1];
      space.known_[(t - first) * columns_ + c] = {slot.rows, slot.leads};
      space.ids_[(reach + t - first) * columns_ + c] = slot.id;
      Hashed* row = &space.grid_[(t - first) * n];
      for (std::size_t k = 0; k < wanted.size(); ++k) row[wanted[k]] = values[k];
    }
  }
  for (std::uint32_t d = 0; d < reach * columns_; ++d) {  // outside of the sentence a distance is a value
    space.ids_[d] = static_cast<std::uint32_t>(reach - 1 - d / columns_);
    space.ids_[(reach + last - first) * columns_ + d] = static_cast<std::uint32_t>(reach + d / columns_);
  }
  if (space.used_ + 2 * reach >= std::size_t{1} << kIdBits) space.ids_of_.reset();
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
void Program::read_items(const TokenTable& table, std::size_t first, const Identity& owner,
                         ExtractionSpace& space) const {
  if (table.items == nullptr) throw std::invalid_argument("program: the table has no explicit attributes");
  if (space.program_ != identity_ || space.owner_ != owner || space.items_ != table.items) {
    space = ExtractionSpace();
    space.program_ = identity_;
    space.owner_ = owner;
    space.items_ = table.items;
    space.rows_.assign(table.items->keys.size(), kUnaskedRow);
  }
  space.first_ = first;
}

// The values of a string in a column, and the rows of its one-value features, from memory or computed.
const ExtractionSpace::Slot& Program::slot_of(std::string_view text, std::uint32_t column, std::uint64_t hash,
                                              ExtractionSpace& space) const {
  if (space.used_ * 2 >= space.slots_.size()) grow(space);
  const std::size_t mask = space.slots_.size() - 1;
  std::size_t i = hash & mask;
  for (; space.slots_[i].values != 0; i = (i + 1) & mask) {
    const auto& slot = space.slots_[i];
    if (slot.hash != hash || slot.text_length != text.size()) continue;
    if (is_known_by_hash(text, columns_) ||
        std::string_view(space.texts_).substr(slot.text_begin, slot.text_length) == text)
      return slot;
  }
  space.slots_[i] = {hash,
                     static_cast<std::uint32_t>(space.texts_.size()),
                     static_cast<std::uint32_t>(text.size()),
                     static_cast<std::uint32_t>(space.cached_.size() + 1),
                     static_cast<std::uint32_t>(space.rows_.size()),
                     static_cast<std::uint32_t>(space.leads_.size()),
                     static_cast<std::uint32_t>(space.used_ + 2 * groups_.reach)};
  space.texts_ += text;
  ++space.used_;
  std::vector<Hashed>& by_source = space.by_source_;
  by_source.resize(sources_.size());
  for (const std::uint32_t source : sources_of_column_[column]) {
    const bool present = evaluate(sources_[source].attribute, text, space.scratch_);
    by_source[source] = present ? hash_of(space.scratch_) : kAbsent;
    space.cached_.push_back(by_source[source]);
  }
  for (const std::uint32_t i : leads_of_column_[column]) {
    const Step& step = compiled_[i].steps[0];
    const Hashed& value = by_source[step.source];
    const std::uint64_t hash = extended(extended(compiled_[i].head.hash, value), step.literal);
    space.leads_.push_back(value.absent() ? kNoLead : hash);
  }
  space.rows_.resize(space.rows_.size() + one_value_templates_[column], kUnaskedRow);
  return space.slots_[i];
}

void Program::grow(ExtractionSpace& space) const {
  std::vector<ExtractionSpace::Slot> larger(space.slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const auto& slot : space.slots_) {
    if (slot.values == 0) continue;
    std::size_t i = slot.hash & mask;
    while (larger[i].values != 0) i = (i + 1) & mask;
    larger[i] = slot;
  }
  space.slots_ = std::move(larger);
}

bool Program::value_text(std::uint32_t source, const TokenTable& table, const ExtractionSpace& space,
                         std::size_t first, std::size_t at, std::string& out) const {
  const Source& from = sources_[source];
  if (from.kind == Source::Kind::column)
    return evaluate(from.attribute, table.field(first + at, from.column), out);
  const Hashed& value = space.grid_[at * sources_.size() + source];
  const char list_text = value.hash == hash_of("B").hash ? 'B' : 'I';
  out.assign(1, from.kind == Source::Kind::first ? '1' : list_text);
  return !value.absent();
}

std::vector<std::string> Program::texts_at(std::size_t template_index, const TokenTable& table,
                                           const ExtractionSpace& space, std::size_t first, std::size_t last,
                                           std::size_t at) const {
  std::vector<std::string> texts;
  std::string value;
  const std::size_t length = last - first;
  for (const Piece& piece : templates_[template_index].pieces) {
    if (piece.literal) {
      texts.push_back(piece.text);
      continue;
    }
    const std::ptrdiff_t where = position(piece.offset, piece.absolute, at, length);
    if (where < 0)
      texts.push_back(outside(piece.before, static_cast<std::size_t>(-where)));
    else if (static_cast<std::size_t>(where) >= length)
      texts.push_back(outside(piece.after, static_cast<std::size_t>(where) - length + 1));
    else if (value_text(piece.source, table, space, first, static_cast<std::size_t>(where), value))
      texts.push_back(value);
    else
      texts.emplace_back();
  }
  return texts;
}

}  // namespace marginalia
