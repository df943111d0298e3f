#include "base/ranked_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace marginalia {

namespace {

// A text by lines, each with its end.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t newline = text.find('\n', at);
      at = newline == std::string_view::npos ? text.size() : newline + 1;
      end_.push_back(at);
    }
  }
  std::size_t size() const { return end_.size() - 1; }
  std::string_view between(std::size_t first, std::size_t last) const {
    last = std::min(last, size());
    return first >= last ? std::string_view() : text_.substr(end_[first], end_[last] - end_[first]);
  }
  bool is_blank(std::size_t line) const {
    return between(line, line + 1).find_first_not_of(" \t\n\r\v\f") == std::string_view::npos;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> end_ = {0};
};

void append_comment(std::string& out, std::size_t rank, const RankedUnits& units, std::size_t unit) {
  out += "#rank=" + std::to_string(rank + 1) + ";score=" + rounded(units.scores[unit]);
  if (!units.probabilities.empty()) out += ";probability=" + rounded(units.probabilities[unit]);
  out += '\n';
}

void check(const TokenTable& table, std::span<const std::uint32_t> units, std::span<const std::string> texts,
           std::span<const RankedUnits> ranks) {
  bool fits = !units.empty() && units.back() == table.tokens() &&
              std::is_sorted(units.begin(), units.end()) && !texts.empty() && texts.size() == ranks.size();
  for (const RankedUnits& rank : ranks)
    fits = fits && rank.scores.size() + 1 == units.size() &&
           (rank.probabilities.empty() || rank.probabilities.size() == rank.scores.size());
  if (!fits) throw std::invalid_argument("ranked outputs do not fit the table");
}

}  // namespace

std::string rounded(double x) {
  if (!std::isfinite(x)) return std::isnan(x) ? "nan" : x > 0.0 ? "inf" : "-inf";
  char text[400];  // the largest number has 309 digits before the point
  const auto decimals = std::to_chars(text, text + sizeof text, x, std::chars_format::fixed, 4).ptr;
  double near = 0.0;
  std::from_chars(text, decimals, near);
  const auto end = std::to_chars(text, text + sizeof text, near, std::chars_format::fixed).ptr;
  std::string out(text, end);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

std::string ranked_text(const TokenTable& table, std::uint32_t first_line,
                        std::span<const std::uint32_t> units, std::span<const std::string> texts,
                        std::span<const RankedUnits> ranks) {
  check(table, units, texts, ranks);
  const std::vector<TextLines> lines(texts.begin(), texts.end());
  std::string out;
  std::size_t copied = 0;
  for (std::size_t u = 0; u + 1 < units.size(); ++u) {
    if (units[u] == units[u + 1]) continue;
    const std::size_t begin = table.line[units[u]] - first_line,
                      end = table.line[units[u + 1] - 1] - first_line + 1;
    out += lines[0].between(copied, begin);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (std::isnan(ranks[r].scores[u])) continue;
      append_comment(out, r, ranks[r], u);
      const std::string_view own = lines[r].between(begin, end);
      (out += own) += own.ends_with('\n') ? "\n" : "\n\n";
    }
    copied = end + (end < lines[0].size() && lines[0].is_blank(end) ? 1 : 0);
  }
  return out += lines[0].between(copied, lines[0].size());
}

}  // namespace marginalia
