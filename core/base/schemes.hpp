// Labels that spell spans, as numbers: which neighbours a scheme allows, and the same spans in another
// scheme.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace marginalia {

// How the labels of two neighbours relate: of different types (or one of them of none), of one type but in
// two spans, in one span.
enum Relation : std::uint8_t { kApart = 0, kTwins = 1, kJoined = 2 };

// The labels of a scheme by type and prefix; the edge of a sentence has no type and the last prefix.
class SchemeLabels {
 public:
  static constexpr std::uint32_t kOutside = UINT32_MAX;  // the type of a label outside of spans

  // type [L], prefix [L]; joined [P][P] of labels of one type: are they in one span?; legal [P + 1][P + 1][2]
  // without and with the same type: may they be neighbours? Throws std::invalid_argument.
  SchemeLabels(std::vector<std::uint32_t> type, std::vector<std::uint8_t> prefix,
               std::vector<std::uint8_t> joined, std::vector<std::uint8_t> legal);

  std::size_t labels() const { return type_.size(); }

  Relation relation(std::int32_t left, std::int32_t right) const {
    if (type_[left] != type_[right] || type_[left] == kOutside) return kApart;
    return joined_[prefix_[left] * prefixes_ + prefix_[right]] != 0 ? kJoined : kTwins;
  }

  // Tokens whose label may not follow the one before it, or may not end a sentence. `starts`: first tokens of
  // sentences, then the number of tokens; throws std::invalid_argument unless all fit.
  std::vector<std::uint32_t> illegal(std::span<const std::int32_t> ids,
                                     std::span<const std::uint32_t> starts) const;

  // targets [L][3][3]: the number of a label in another scheme by the relations to the labels before and
  // after it. The ids of all tokens by this table.
  std::vector<std::int32_t> translated(std::span<const std::int32_t> ids,
                                       std::span<const std::uint32_t> starts,
                                       std::span<const std::int32_t> targets) const;

 private:
  void check(std::span<const std::int32_t> ids, std::span<const std::uint32_t> starts) const;

  std::vector<std::uint32_t> type_;
  std::vector<std::uint8_t> prefix_, joined_, legal_;
  std::size_t prefixes_ = 0;
};

}  // namespace marginalia
