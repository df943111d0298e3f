// Sentences as rows of features, ready for search and learning.
#pragma once

#include <cstdint>
#include <vector>

#include "base/large_vector.hpp"
#include "features/extractor.hpp"
#include "features/index.hpp"
#include "features/right.hpp"

namespace marginalia {

struct ExampleRows {
  std::vector<std::uint32_t> sentence = {0};  // [sentences + 1] first token
  std::vector<std::uint64_t> node_end = {0};  // [tokens + 1] into node_rows
  LargeVector<std::uint32_t> node_rows;
  std::vector<float> node_values;             // beside node_rows: how often; empty if all are 1
  std::vector<std::uint64_t> edge_end = {0};  // [tokens + 1] into edge_rows; only {0} without edge templates
  LargeVector<std::uint32_t> edge_rows;
  std::vector<std::uint32_t> gold;  // [tokens] label ids or sets of them, or empty
  LabelSets sets;

  // What hiding input needs to know; only kept if asked for.
  bool keeps_templates = false;
  std::vector<std::uint16_t> node_templates, edge_templates;  // beside the rows: which template they are of
  std::vector<std::vector<FeatureExtractor::Read>> reads;     // by template: what it looks at

  std::size_t sentences() const { return sentence.size() - 1; }
  std::size_t tokens() const { return node_end.size() - 1; }
  bool has_edges() const { return edge_end.size() > 1; }
  double node_value(std::uint64_t i) const {
    return node_values.empty() ? 1.0 : static_cast<double>(node_values[i]);
  }
  void add_node(std::uint32_t row, float value);
  bool can_hide() const { return keeps_templates; }
  std::uint32_t most_row() const { return most_row_; }  // the highest row that a feature has
  void add_edge(std::uint32_t row) {
    edge_rows.push_back(row);
    most_row_ = row > most_row_ ? row : most_row_;
  }
  void find_most_row();  // to be called when rows have been renumbered

 private:
  std::uint32_t most_row_ = 0;
};

// One sentence of the above.
struct Example {
  const ExampleRows* all;
  std::size_t first;   // its first token
  std::size_t length;  // in tokens

  // f(row, value)
  template <class F>
  void for_node_rows(std::size_t t, F&& f) const {
    for (std::uint64_t i = all->node_end[first + t]; i < all->node_end[first + t + 1]; ++i)
      f(all->node_rows[i], all->node_value(i));
  }
  // f(row)
  template <class F>
  void for_edge_rows(std::size_t t, F&& f) const {
    if (!all->has_edges()) return;
    for (std::uint64_t i = all->edge_end[first + t]; i < all->edge_end[first + t + 1]; ++i)
      f(all->edge_rows[i]);
  }
  const std::uint32_t* gold() const { return all->gold.data() + first; }
};

inline Example example(const ExampleRows& all, std::size_t i) {
  return {&all, all.sentence[i], all.sentence[i + 1] - all.sentence[i]};
}

inline RightLabels right_labels(const ExampleRows& all, std::size_t i) {
  const Example x = example(all, i);
  return {x.gold(), x.length, all.sets};
}

// Room for so many tokens, at most; memory is only taken as it fills.
void reserve(ExampleRows& examples, const FeatureExtractor& extractor, std::size_t tokens);

// Appends the table's sentences. New features are added to the index and counted.
void extract_growing(const FeatureExtractor& extractor, const TokenTable& table, FeatureIndex& index,
                     ExampleRows& out);

// Counts the table's features without keeping the sentences: the first pass over a corpus larger than memory.
void count_only(const FeatureExtractor& extractor, const TokenTable& table, FeatureIndex& index);

// Appends the table's sentences; features the index does not know are left out.
void extract_known(const FeatureExtractor& extractor, const TokenTable& table, const FeatureIndex& index,
                   ExampleRows& out);

// Counts each feature once for every sentence that has it.
void count_by_sentence(const ExampleRows& examples, FeatureIndex& index);

// Multiplies the values of a row, from a token on.
void scale_values(ExampleRows& examples, std::uint32_t row, float factor, std::size_t first_token);

// Follows `FeatureIndex::cut`.
void renumber(ExampleRows& examples, const std::vector<std::uint32_t>& renumbered);

}  // namespace marginalia
