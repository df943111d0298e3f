#include "features/example_rows.hpp"

#include <algorithm>
#include <stdexcept>

namespace marginalia {

namespace {

void append(const std::vector<Feature>& features, std::size_t length, bool edges, ExampleRows& out) {
  std::size_t i = 0;
  for (std::size_t t = 0; t < length; ++t) {
    for (; i < features.size() && features[i].token == t; ++i) {
      if (features[i].edge)
        out.add_edge(features[i].row);
      else
        out.add_node(features[i].row, features[i].value);
      if (out.keeps_templates)
        (features[i].edge ? out.edge_templates : out.node_templates)
            .push_back(static_cast<std::uint16_t>(features[i].template_index));
    }
    out.node_end.push_back(out.node_rows.size());
    if (edges) out.edge_end.push_back(out.edge_rows.size());
  }
  out.sentence.push_back(static_cast<std::uint32_t>(out.tokens()));
}

void prepare(ExampleRows& examples, const FeatureExtractor& extractor) {
  if (examples.tokens() != 0 && examples.has_edges() != extractor.has_edges())
    throw std::invalid_argument("examples: some extractors have edge features and some have none");
  if (!examples.keeps_templates) return;
  examples.reads = extractor.reads();
  if (examples.reads.size() > UINT16_MAX) throw std::invalid_argument("examples: too many templates");
}

// The features of sentence after sentence with their rows: row_of(feature, space, first, last) looks them up
// or adds them, done(features, length) gets those of a sentence.
template <class RowOf, class Done>
void extract(const FeatureExtractor& extractor, const TokenTable& table, const FeatureIndex& index,
             RowOf&& row_of, Done&& done) {
  ExtractionSpace space;
  std::vector<Feature> features;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    extractor.read(table, first, last, nullptr, space);
    extractor.features(space, last - first, 0, last - first, features,
                       [&](std::uint64_t key) { index.prefetch(key); });
    for (const Feature& f : features) {  // rows that are known have no key
      if (f.key != 0)
        index.prefetch_row(f.key);
      else
        index.prefetch_of(f.row);
    }
    FeatureExtractor::resolve(features, space,
                              [&](const Feature& f) { return row_of(f, space, first, last); });
    done(features, last - first);
  }
}

// New features get rows and names; all are counted. The sentences are kept if `out` is given.
void extract_new(const FeatureExtractor& extractor, const TokenTable& table, FeatureIndex& index,
                 ExampleRows* out) {
  std::string name;
  const auto find_or_add = [&](const Feature& f, const ExtractionSpace& space, std::size_t first,
                               std::size_t last) {
    bool added = false;
    const std::uint32_t row = index.find_or_add(f.key, extractor.scope(f), added);
    if (added && index.keeps_names()) {
      extractor.name_of(f, table, space, first, last, name);
      index.add_name(name);
    }
    return row;
  };
  extract(extractor, table, index, find_or_add,
          [&](const std::vector<Feature>& features, std::size_t length) {
            for (const Feature& f : features) index.count(f.row);
            if (out != nullptr) append(features, length, extractor.has_edges(), *out);
          });
}

// `beside...` are vectors beside the rows, or empty.
template <class... Beside>
void renumber(const std::vector<std::uint32_t>& renumbered, std::vector<std::uint64_t>& ends,
              LargeVector<std::uint32_t>& rows, Beside&... beside) {
  const auto move = [](auto& values, std::uint64_t from, std::uint64_t to) {
    if (!values.empty()) values[to] = values[from];
  };
  std::uint64_t kept = 0, begin = 0;
  for (std::size_t t = 1; t < ends.size(); ++t) {
    const std::uint64_t end = ends[t];
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t row = renumbered.at(rows[i]);
      if (row == kNoRow) continue;
      (move(beside, i, kept), ...);
      rows[kept++] = row;
    }
    begin = end;
    ends[t] = kept;
  }
  rows.resize(kept);
  (beside.resize(beside.empty() ? 0 : kept), ...);
}

}  // namespace

void ExampleRows::find_most_row() {
  most_row_ = 0;
  for (const std::uint32_t row : node_rows) most_row_ = std::max(most_row_, row);
  for (const std::uint32_t row : edge_rows) most_row_ = std::max(most_row_, row);
}

void ExampleRows::add_node(std::uint32_t row, float value) {
  if (value != 1.0f && node_values.empty()) node_values.assign(node_rows.size(), 1.0f);
  node_rows.push_back(row);
  most_row_ = std::max(most_row_, row);
  if (value != 1.0f || !node_values.empty()) node_values.push_back(value);
}

void extract_growing(const FeatureExtractor& extractor, const TokenTable& table, FeatureIndex& index,
                     ExampleRows& out) {
  prepare(out, extractor);
  extract_new(extractor, table, index, &out);
}

void count_only(const FeatureExtractor& extractor, const TokenTable& table, FeatureIndex& index) {
  extract_new(extractor, table, index, nullptr);
}

void extract_known(const FeatureExtractor& extractor, const TokenTable& table, const FeatureIndex& index,
                   ExampleRows& out) {
  prepare(out, extractor);
  const auto find = [&](const Feature& f, auto&&...) {
    const std::uint32_t row = index.find(f.key);
    return row == kNoRow ? kUnknownRow : row;
  };
  extract(extractor, table, index, find, [&](const std::vector<Feature>& features, std::size_t length) {
    append(features, length, extractor.has_edges(), out);
  });
}

void count_by_sentence(const ExampleRows& examples, FeatureIndex& index) {
  std::vector<std::size_t> seen(index.rows(), 0);  // the number of the last sentence that has it, from 1 on
  for (std::size_t s = 0; s < examples.sentences(); ++s) {
    const std::uint64_t last = examples.node_end[examples.sentence[s + 1]];
    for (std::uint64_t i = examples.node_end[examples.sentence[s]]; i < last; ++i) {
      const std::uint32_t row = examples.node_rows[i];
      if (seen.at(row) != s + 1) index.count(row);
      seen[row] = s + 1;
    }
  }
}

void scale_values(ExampleRows& examples, std::uint32_t row, float factor, std::size_t first_token) {
  if (factor == 1.0f) return;
  for (std::uint64_t i = examples.node_end.at(first_token); i < examples.node_rows.size(); ++i) {
    if (examples.node_rows[i] != row) continue;
    if (examples.node_values.empty()) examples.node_values.assign(examples.node_rows.size(), 1.0f);
    examples.node_values[i] *= factor;
  }
}

void reserve(ExampleRows& examples, const FeatureExtractor& extractor, std::size_t tokens) {
  examples.node_end.reserve(tokens + 1);
  examples.node_rows.reserve(tokens * extractor.templates(Scope::node));
  if (extractor.has_edges()) examples.edge_end.reserve(tokens + 1);
  examples.edge_rows.reserve(tokens * extractor.templates(Scope::edge));
}

void renumber(ExampleRows& examples, const std::vector<std::uint32_t>& renumbered) {
  renumber(renumbered, examples.node_end, examples.node_rows, examples.node_templates, examples.node_values);
  renumber(renumbered, examples.edge_end, examples.edge_rows, examples.edge_templates);
  examples.find_most_row();
}

}  // namespace marginalia
