#include "base/candidates.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hash.hpp"

namespace marginalia {

namespace {

std::size_t total(std::span<const std::uint32_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
}

void check_numbers(std::span<const double> numbers, std::size_t size, const char* what) {
  if (numbers.size() != size)
    throw std::invalid_argument(std::string("candidates: expected one ") + what + " for each");
  for (const double number : numbers)
    if (!std::isfinite(number))
      throw std::invalid_argument(std::string("candidates: a ") + what + " is not finite");
}

// Numbers as texts that say exactly them.
class NumberColumn {
 public:
  explicit NumberColumn(std::span<const double> numbers) {
    std::vector<std::size_t> ends;
    char digits[64];
    for (const double number : numbers) {
      const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
      text_.append(digits, end);
      ends.push_back(text_.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      fields.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
  }
  std::vector<std::string_view> fields;

 private:
  std::string text_;
};

// A value that floats can hold; 0 counts for nothing.
void append(Items& items, std::uint32_t name, double value) {
  require_float(value);
  if (static_cast<float>(value) == 0.0f) return;
  items.names.push_back(name);
  items.values.push_back(static_cast<float>(value));
}

void append_names(const CandidateFeatures& features, Items& items) {
  for (std::size_t n = 0; n < features.names.size(); ++n) {
    items.text += features.names[n];
    items.text_end.push_back(items.text.size());
    items.keys.push_back(features.keys.empty() ? key_of(hash_of(features.names[n]).hash, false)
                                               : features.keys[n]);
  }
  items.text += kBaseScore;
  items.text_end.push_back(items.text.size());
  items.keys.push_back(key_of(hash_of(kBaseScore).hash, false));
}

Items items_of(const CandidateFeatures& features, std::span<const double> scores) {
  if (!features.keys.empty() && features.keys.size() != features.names.size())
    throw std::invalid_argument("candidates: expected one key for each name");
  if (!features.values.empty() && features.values.size() != features.features.size())
    throw std::invalid_argument("candidates: expected one value for each feature");
  Items items;
  append_names(features, items);
  const auto base = static_cast<std::uint32_t>(features.names.size());
  std::uint64_t k = 0;
  for (std::size_t t = 0; t < features.ends.size(); ++t) {
    if (features.ends[t] < k || features.ends[t] > features.features.size())
      throw std::invalid_argument("candidates: the ends of features do not fit");
    if (!scores.empty()) append(items, base, scores[t]);
    for (; k < features.ends[t]; ++k) {
      if (features.features[k] >= base) throw std::invalid_argument("candidates: a feature has no name");
      append(items, features.features[k],
             features.values.empty() ? 1.0 : static_cast<double>(features.values[k]));
    }
    items.end.push_back(items.names.size());
  }
  return items;
}

}  // namespace

std::vector<std::uint8_t> right_candidates(std::span<const std::uint32_t> lengths,
                                           std::span<const double> losses, std::span<const double> scores,
                                           bool all) {
  const std::size_t size = total(lengths);
  check_numbers(losses, size, "loss");
  if (!scores.empty()) check_numbers(scores, size, "score");
  std::vector<std::uint8_t> right(size, 0);
  std::size_t first = 0;
  for (const std::uint32_t length : lengths) {
    if (length == 0) throw std::invalid_argument("candidates: an item has none");
    std::size_t best = first;
    for (std::size_t t = first + 1; t < first + length; ++t) {
      const bool higher = !scores.empty() && scores[t] > scores[best];
      if (losses[t] < losses[best] || (losses[t] == losses[best] && higher)) best = t;
    }
    right[best] = 1;
    for (std::size_t t = first; t < first + length && all; ++t) right[t] = losses[t] == losses[best];
    first += length;
  }
  return right;
}

TokenTable candidate_table(std::span<const std::uint32_t> lengths, const CandidateFeatures& features,
                           std::span<const double> scores, std::span<const double> losses, bool all_right) {
  const std::size_t size = total(lengths);
  if (features.ends.size() != size) throw std::invalid_argument("candidates: expected features of each");
  if (!scores.empty()) check_numbers(scores, size, "score");
  std::vector<std::vector<std::string_view>> columns(2, std::vector<std::string_view>(size));
  const std::vector<double> zeros(scores.empty() ? size : 0, 0.0);
  const NumberColumn score(scores.empty() ? std::span<const double>(zeros) : scores), loss(losses);
  if (!losses.empty()) {
    columns.push_back(score.fields);
    columns.push_back(loss.fields);
    columns.emplace_back();
    for (const std::uint8_t right : right_candidates(lengths, losses, scores, all_right))
      columns.back().push_back(right != 0 ? kBestLabel : kOtherLabel);
  }
  TokenTable table = pack(columns, lengths);
  table.items = std::make_shared<const Items>(items_of(features, scores));
  return table;
}

}  // namespace marginalia
