// Sentences as values of tokens, ready for search over segments and learning. Their features are made when
// they are needed: there are far too many segments to keep them all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "features/dropout.hpp"
#include "features/right.hpp"
#include "features/segment_extractor.hpp"

namespace marginalia {

class SegmentExamples {
 public:
  explicit SegmentExamples(bool keep_texts) : keeps_texts_(keep_texts) {}

  std::vector<std::uint32_t> sentence = {0};  // [sentences + 1] first token
  std::vector<std::uint32_t> gold;            // [tokens] label ids or sets of them, or empty
  LabelSets sets;

  std::size_t sentences() const { return sentence.size() - 1; }
  std::size_t tokens() const { return sentence.back(); }
  std::size_t length(std::size_t i) const { return sentence[i + 1] - sentence[i]; }

  // Appends the table's sentences; the extractor must always be the same.
  void add(const SegmentExtractor& extractor, const TokenTable& table);

  // The values of sentence i; the same, with some of them hidden.
  void values(std::size_t i, SegmentValues& out) const;
  void hidden_values(std::size_t i, const Hidden& hidden, SegmentValues& out) const;

  bool keeps_texts() const { return keeps_texts_; }
  // The text of a value of sentence i.
  std::string_view text(std::size_t i, std::size_t token, std::uint32_t source) const {
    return texts_[values_[(sentence[i] + token) * sources_ + source]];
  }
  // The name of an explicit attribute, by its number in `values`.
  std::string_view item_name(std::uint32_t which) const { return item_names_[which]; }

 private:
  static constexpr std::uint32_t kNoColumn = UINT32_MAX;

  std::uint32_t number_of(const Hashed& value);
  void add_items(const Items& items);

  bool keeps_texts_;
  std::size_t sources_ = 0;
  std::vector<std::uint32_t> columns_;                       // [sources] what they look at, or kNoColumn
  std::vector<std::uint32_t> values_;                        // [tokens][sources] into pool_
  std::vector<Hashed> pool_, slashed_;                       // distinct values
  std::vector<std::string> texts_;                           // beside them, if they are kept
  std::unordered_map<std::uint64_t, std::uint32_t> number_;  // of the hash of a value
  std::vector<SegmentValues::Match> matches_;
  std::vector<std::size_t> match_end_ = {0};  // [sentences + 1]

  // Explicit attributes of all tokens; their names are numbered anew.
  std::vector<SegmentValues::Item> items_;
  std::vector<std::size_t> item_end_ = {0};                       // [tokens + 1]; {0} if there are none
  std::unordered_map<std::uint64_t, std::uint32_t> item_number_;  // of a key
  std::vector<std::string> item_names_;                           // if texts are kept
};

}  // namespace marginalia
