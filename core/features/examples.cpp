#include "features/examples.hpp"

#include <stdexcept>

namespace marginalia {

namespace {

// Walks all features of a table: row_of(template, key, space, first, last, at) gives a row or kNoRow. The
// keys of a sentence are made before any is looked up, so that the memory can be asked for them in time.
template <class RowOf>
void extract(const Program& program, const TokenTable& table, const FeatureIndex& index, RowOf&& row_of,
             Examples* out) {
  struct Found {
    std::uint64_t key;
    std::uint32_t template_index;
  };
  ExtractionSpace space;
  std::vector<Found> found;
  std::vector<std::size_t> ends;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    program.read(table, first, last, space);
    found.clear();
    ends.clear();
    for (std::size_t at = 0; at < last - first; ++at) {
      program.emit_at(space, at, last - first, [&](std::uint32_t i, std::uint64_t key) {
        index.prefetch(key);
        found.push_back({key, i});
      });
      ends.push_back(found.size());
    }
    for (std::size_t at = 0, k = 0; at < last - first; ++at) {
      for (; k < ends[at]; ++k) {
        const std::uint32_t row = row_of(found[k].template_index, found[k].key, space, first, last, at);
        if (out == nullptr || row == kNoRow) continue;
        (program.scope(found[k].template_index) == Scope::node ? out->node_rows : out->edge_rows)
            .push_back(row);
      }
      if (out == nullptr) continue;
      out->node_end.push_back(out->node_rows.size());
      if (program.has_edges()) out->edge_end.push_back(out->edge_rows.size());
    }
    if (out != nullptr) out->sentence.push_back(static_cast<std::uint32_t>(out->tokens()));
  }
}

auto growing(const Program& program, const TokenTable& table, FeatureIndex& index) {
  return [&](std::uint32_t i, std::uint64_t key, const ExtractionSpace& space, std::size_t first,
             std::size_t last, std::size_t at) {
    bool added = false;
    const std::uint32_t row = index.count(key, program.scope(i), added);
    if (added && index.keeps_names()) index.add_name(program.name_at(i, table, space, first, last, at));
    return row;
  };
}

void renumber(std::vector<std::uint64_t>& ends, std::vector<std::uint32_t>& rows,
              const std::vector<std::uint32_t>& renumbered) {
  std::uint64_t kept = 0, begin = 0;
  for (std::size_t t = 1; t < ends.size(); ++t) {
    const std::uint64_t end = ends[t];
    for (std::uint64_t i = begin; i < end; ++i)
      if (const std::uint32_t row = renumbered.at(rows[i]); row != kNoRow) rows[kept++] = row;
    begin = end;
    ends[t] = kept;
  }
  rows.resize(kept);
}

}  // namespace

void extract_growing(const Program& program, const TokenTable& table, FeatureIndex& index, Examples& out) {
  extract(program, table, index, growing(program, table, index), &out);
}

void count_only(const Program& program, const TokenTable& table, FeatureIndex& index) {
  extract(program, table, index, growing(program, table, index), nullptr);
}

void extract_known(const Program& program, const TokenTable& table, const FeatureIndex& index,
                   Examples& out) {
  const auto row_of = [&](std::uint32_t, std::uint64_t key, const auto&...) { return index.find(key); };
  extract(program, table, index, row_of, &out);
}

void reserve(Examples& examples, const Program& program, std::size_t tokens) {
  examples.node_end.reserve(tokens + 1);
  examples.node_rows.reserve(tokens * program.templates(Scope::node));
  if (program.has_edges()) examples.edge_end.reserve(tokens + 1);
  examples.edge_rows.reserve(tokens * program.templates(Scope::edge));
}

void renumber(Examples& examples, const std::vector<std::uint32_t>& renumbered) {
  renumber(examples.node_end, examples.node_rows, renumbered);
  renumber(examples.edge_end, examples.edge_rows, renumbered);
}

}  // namespace marginalia
