// Features of single mentions and of quotations (Collins 2002, re-ranking), and of two neighbours: names of
// those that a set declares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "features/global_set.hpp"
#include "features/global_texts.hpp"

namespace marginalia {

// A text in quotation marks: the tokens `begin` and `end` are the marks.
struct Quotation {
  std::uint32_t begin, end;
};

// Marks that only open begin a quotation, and so does one of the other kind unless one is open, which it
// ends.
std::vector<Quotation> quotations(const GlobalTexts& texts, std::span<const std::uint32_t> words);

class AnchoredNames {
 public:
  AnchoredNames(const GlobalSet& set, const MentionLabels& labels) : set_(set), labels_(labels) {}

  void begin(const GlobalTexts& texts, std::span<const std::uint32_t> words) {
    texts_ = &texts;
    words_ = words;
  }
  void of_mention(const Mention& mention, std::vector<std::string>& names) const;
  // Features of two mentions with nothing between them.
  void of_neighbours(const Mention& left, const Mention& right, std::vector<std::string>& names) const;
  void of_quotation(const Quotation& quotation, std::span<const std::uint32_t> y,
                    std::vector<std::string>& names) const;

 private:
  static constexpr std::ptrdiff_t kLongWord = 6;  // longer words are of one length
  static constexpr std::uint32_t kLongest = 10;   // of quotations whose tokens are all in one feature

  enum class Part : std::uint8_t { word, shape, flagged };
  std::string_view part(std::ptrdiff_t t, Part which) const;
  std::string joined(std::ptrdiff_t first, std::ptrdiff_t last, Part which) const;
  std::string tag(std::ptrdiff_t t, std::span<const std::uint32_t> y) const;
  void grams(const char* family, const std::string& type, std::ptrdiff_t first, std::size_t size,
             std::vector<std::string>& names) const;
  void ends(const char* family, const std::string& type, const Mention& mention, Part which, bool from_end,
            std::vector<std::string>& names) const;
  void whole(Family family, const Quotation& quotation, std::span<const std::uint32_t> y,
             std::vector<std::string>& names) const;
  void frame(const Quotation& quotation, std::span<const std::uint32_t> y,
             std::vector<std::string>& names) const;

  const GlobalSet& set_;
  const MentionLabels& labels_;
  const GlobalTexts* texts_ = nullptr;
  std::span<const std::uint32_t> words_;
};

}  // namespace marginalia
