#include "features/global_anchored.hpp"

#include <algorithm>
#include <optional>

namespace marginalia {

std::vector<Quotation> quotations(const GlobalTexts& texts, std::span<const std::uint32_t> words) {
  std::vector<Quotation> found;
  std::optional<std::uint32_t> open;
  for (std::uint32_t t = 0; t < words.size(); ++t) {
    const Quote quote = texts.facts(words[t]).quote;
    if (quote == Quote::opening || (quote == Quote::either && !open)) {
      open = t;
    } else if (quote != Quote::none && open) {
      found.push_back({*open, t});
      open.reset();
    }
  }
  return found;
}

std::string_view AnchoredNames::part(std::ptrdiff_t t, Part which) const {
  if (t < 0 || t >= static_cast<std::ptrdiff_t>(words_.size())) return "NULL";
  const WordFacts& facts = texts_->facts(words_[t]);
  return which == Part::word ? facts.text : which == Part::shape ? facts.shape : facts.flagged;
}

// The parts of the tokens first .. last, which may stand in reverse order.
std::string AnchoredNames::joined(std::ptrdiff_t first, std::ptrdiff_t last, Part which) const {
  std::string text(part(first, which));
  for (std::ptrdiff_t t = first; t != last;) {
    t += last > first ? 1 : -1;
    text += ' ';
    text += part(t, which);
  }
  return text;
}

// All ways to take each of the tokens as the word itself (0) or as shape and flag (1).
void AnchoredNames::grams(const char* family, const std::string& type, std::ptrdiff_t first, std::size_t size,
                          std::vector<std::string>& names) const {
  for (std::size_t ways = 0; ways < std::size_t{1} << size; ++ways) {
    std::string digits, text;
    for (std::size_t k = 0; k < size; ++k) {
      const bool flagged = (ways >> (size - 1 - k) & 1) != 0;
      digits += flagged ? '1' : '0';
      if (k > 0) text += ' ';
      text += part(first + static_cast<std::ptrdiff_t>(k), flagged ? Part::flagged : Part::word);
    }
    names.push_back(family + digits + type + text);
  }
}

// All beginnings of a mention, or all ends, which are read backwards.
void AnchoredNames::ends(const char* family, const std::string& type, const Mention& mention, Part which,
                         bool from_end, std::vector<std::string>& names) const {
  const std::ptrdiff_t first = mention.begin, last = mention.end - 1;
  for (std::ptrdiff_t k = 0; k <= last - first; ++k)
    names.push_back(family + type +
                    (from_end ? joined(last, last - k, which) : joined(first, first + k, which)));
}

void AnchoredNames::of_mention(const Mention& mention, std::vector<std::string>& names) const {
  const std::string type = "(" + labels_.types[mention.type] + ")=";
  const std::ptrdiff_t first = mention.begin, last = mention.end - 1;
  const auto add = [&](Family family, const std::string& text) {
    if (set_.has(family)) names.push_back(kFamilies[static_cast<std::size_t>(family)] + type + text);
  };
  if (set_.has(Family::WE)) add(Family::WE, joined(first, last, Part::word));
  if (set_.has(Family::FF)) add(Family::FF, joined(first, last, Part::shape));
  if (set_.has(Family::GF)) add(Family::GF, joined(first, last, Part::flagged));
  add(Family::LW, std::string(part(last, Part::word)));
  add(Family::LWLC, texts_->facts(words_[last]).starts_lower ? "1" : "0");
  if (set_.has(Family::BO)) grams("BO", type, first - 1, 2, names);
  if (set_.has(Family::BE)) grams("BE", type, last, 2, names);
  if (set_.has(Family::TO)) grams("TO", type, first - 2, 3, names);
  if (set_.has(Family::TO2)) grams("TO2", type, first - 1, 3, names);
  if (set_.has(Family::TE)) grams("TE", type, last - 1, 3, names);
  if (set_.has(Family::TE2)) grams("TE2", type, last - 2, 3, names);
  if (set_.has(Family::PF)) ends("PF", type, mention, Part::shape, false, names);
  if (set_.has(Family::PF2)) ends("PF2", type, mention, Part::flagged, false, names);
  if (set_.has(Family::SF)) ends("SF", type, mention, Part::shape, true, names);
  if (set_.has(Family::SF2)) ends("SF2", type, mention, Part::flagged, true, names);
  if (set_.has(Family::word_length)) {
    const std::string length = std::to_string(std::min<std::ptrdiff_t>(last - first + 1, kLongWord));
    add(Family::word_length, length);
    add(Family::word_length, length + " from " + std::string(part(first, Part::word)));
    add(Family::word_length, length + " to " + std::string(part(last, Part::word)));
  }
}

void AnchoredNames::of_neighbours(const Mention& left, const Mention& right,
                                  std::vector<std::string>& names) const {
  const std::string types = "(" + labels_.types[left.type] + "," + labels_.types[right.type] + ")";
  if (set_.has(Family::tag_pair)) names.push_back("tag-pair" + types);
  if (!set_.has(Family::word_pair) && !set_.has(Family::word_tag_pair)) return;
  const std::string before = joined(left.begin, left.end - 1, Part::word);
  const std::string after = joined(right.begin, right.end - 1, Part::word);
  if (set_.has(Family::word_pair)) names.push_back("word-pair=" + before + " | " + after);
  if (set_.has(Family::word_tag_pair)) {
    names.push_back("word-tag-pair" + types + "=" + before + " |");
    names.push_back("word-tag-pair" + types + "=| " + after);
  }
}

// Collins' tags: S starts a mention, C continues it, N is in none.
std::string AnchoredNames::tag(std::ptrdiff_t t, std::span<const std::uint32_t> y) const {
  if (t < 0 || t >= static_cast<std::ptrdiff_t>(y.size())) return "NULL";
  const std::uint32_t type = labels_.type[y[t]];
  if (type == MentionLabels::kOutside) return "N";
  return (labels_.crosses(y, static_cast<std::size_t>(t)) ? "C-" : "S-") + labels_.types[type];
}

void AnchoredNames::whole(Family family, const Quotation& quotation, std::span<const std::uint32_t> y,
                          std::vector<std::string>& names) const {
  const std::ptrdiff_t more = family == Family::Q2 ? 1 : 0;
  std::string text = kFamilies[static_cast<std::size_t>(family)];
  char separator = '=';
  for (std::ptrdiff_t t = quotation.begin - more; t <= quotation.end + more; ++t, separator = ' ') {
    text += separator;
    text += part(t, Part::flagged);
    text += ' ' + tag(t, y);
  }
  names.push_back(std::move(text));
}

// Whether all of it is one mention (its type, else 0), how many words are capitalised and not, and its ends.
void AnchoredNames::frame(const Quotation& quotation, std::span<const std::uint32_t> y,
                          std::vector<std::string>& names) const {
  std::ptrdiff_t last = -1;
  std::size_t upper = 0, lower = 0;
  for (std::uint32_t t = quotation.begin + 1; t < quotation.end; ++t) {
    const WordFacts& facts = texts_->facts(words_[t]);
    if (facts.starts_word) last = t;
    upper += facts.starts_upper ? 1 : 0;
    lower += facts.starts_lower ? 1 : 0;
  }
  if (last < 0) return;
  const std::uint32_t first = quotation.begin + 1, type = labels_.type[y[first]];
  bool one = type != MentionLabels::kOutside && !labels_.crosses(y, first);
  for (std::ptrdiff_t t = first + 1; t <= last; ++t) one = one && labels_.crosses(y, t);
  const std::string all = one ? labels_.types[type] : "0";
  const std::string outer =
      ' ' + std::string(part(first, Part::flagged)) + ' ' + std::string(part(last, Part::flagged));
  if (set_.has(Family::QF))
    names.push_back("QF=" + all + ' ' + std::to_string(upper) + ' ' + std::to_string(lower) + outer);
  if (set_.has(Family::QF2)) names.push_back("QF2=" + all + (upper > lower ? " 1" : " 0") + outer);
}

void AnchoredNames::of_quotation(const Quotation& quotation, std::span<const std::uint32_t> y,
                                 std::vector<std::string>& names) const {
  if (quotation.end - quotation.begin <= kLongest)
    for (const Family family : {Family::Q, Family::Q2})
      if (set_.has(family)) whole(family, quotation, y, names);
  if (set_.has(Family::QF) || set_.has(Family::QF2)) frame(quotation, y, names);
}

}  // namespace marginalia
