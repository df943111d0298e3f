// Sentences with their trees, ready for learning to parse. Their features are made when they are needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "features/dropout.hpp"
#include "features/tree_extractor.hpp"
#include "search/trees/states.hpp"

namespace marginalia {

class TreeExamples {
 public:
  explicit TreeExamples(bool keep_texts) : keeps_texts_(keep_texts) {}

  std::vector<std::uint32_t> sentence = {0};  // [sentences + 1] first token

  std::size_t sentences() const { return sentence.size() - 1; }
  std::size_t tokens() const { return sentence.back(); }
  std::size_t length(std::size_t i) const { return sentence[i + 1] - sentence[i]; }

  // Appends the table's sentences; the extractor must always be the same. Throws std::invalid_argument for
  // sentences that are too long.
  void add(const TreeExtractor& extractor, const TokenTable& table);

  // The right arcs of all tokens; heads and labels below 0 are not known. Arcs that cross others are lifted
  // if the system cannot make them: returns how many. Throws std::invalid_argument, with the sentence in
  // front, for heads that make no tree.
  std::size_t set_gold(const TreeShape& shape, std::span<const std::int32_t> heads,
                       std::span<const std::int32_t> labels);
  bool has_gold() const { return actions_end_.size() == sentence.size(); }
  // Whether each arc of each tree is known.
  bool complete() const { return open_ == 0; }
  bool complete(std::size_t i) const { return complete_[i] != 0; }
  TreeArcs gold(std::size_t i) const;
  // Of a complete tree.
  std::span<const std::uint32_t> actions(std::size_t i) const {
    return {actions_.data() + actions_end_[i], actions_end_[i + 1] - actions_end_[i]};
  }
  std::uint32_t gold_head(std::size_t i, std::size_t t) const { return heads_[sentence[i] + t]; }
  std::uint32_t gold_label(std::size_t i, std::size_t t) const { return labels_[sentence[i] + t]; }
  // Which actions make right arcs, by number: 1 if one does.
  std::vector<std::uint8_t> seen_actions(const TreeShape& shape) const;

  // The values of sentence i; the same, with some of them hidden.
  void values(const TreeExtractor& extractor, std::size_t i, TreeValues& out) const;
  void hidden_values(const TreeExtractor& extractor, std::size_t i, const Hidden& hidden,
                     TreeValues& out) const;

  bool keeps_texts() const { return keeps_texts_; }
  std::string_view text(std::size_t i, std::size_t token, std::uint32_t source) const {
    return texts_[values_[(sentence[i] + token) * sources_ + source]];
  }

 private:
  std::uint32_t number_of(const Hashed& value);

  bool keeps_texts_;
  std::size_t sources_ = 0;
  std::vector<std::uint32_t> values_;                        // [tokens][sources] into pool_
  std::vector<Hashed> pool_;                                 // distinct values
  std::vector<std::string> texts_;                           // beside them, if they are kept
  std::unordered_map<std::uint64_t, std::uint32_t> number_;  // of the hash of a value
  std::vector<std::uint32_t> heads_, labels_;                // [tokens]
  std::vector<std::uint8_t> complete_;                       // [sentences]
  std::vector<std::uint32_t> actions_;
  std::vector<std::size_t> actions_end_;  // [sentences + 1]
  std::size_t open_ = 0;                  // sentences that are not complete
};

}  // namespace marginalia
