// Features of the mentions of one string, and of strings inside others, throughout a document (Kazama and
// Torisawa 2007): same, sub, majority, token-majority and super-majority. What is counted falls into groups,
// one for each string and one for each word, and a change of some mentions touches the groups of strings that
// occur where those mentions stand. Other groups are not looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "features/global_set.hpp"
#include "features/global_texts.hpp"

namespace marginalia {

class ConsistencyGroups {
 public:
  ConsistencyGroups(const GlobalSet& set, const MentionLabels& labels, FeaturePool& pool);

  // A document without mentions. The texts must outlive it.
  void begin(const GlobalTexts& texts, std::span<const std::uint32_t> words);

  // To be called when the pool is emptied.
  void forget() { features_.clear(); }

  std::size_t strings() const { return strings_.size(); }

  // Puts mentions in, or takes them out; they must not overlap those that stay.
  void apply(std::span<const Mention> removed, std::span<const Mention> added);

  // The groups that a change of these mentions can touch.
  struct Touched {
    std::vector<std::uint32_t> strings, words;
  };
  void touch(std::span<const Mention> mentions, Touched& touched);

  // Adds `sign` times the features of groups as they are now.
  void count(const Touched& touched, double sign, FeatureCounts& counts);

  // The name of a feature of two types, with the length of a string if the line wants it. `other` may be the
  // number of types, which stands for no mention.
  std::uint32_t feature(std::uint32_t line, std::uint32_t type, std::uint32_t other, std::size_t length);

 private:
  struct String {
    std::uint32_t length;
    std::vector<std::uint32_t> places;          // where it occurs
    std::vector<std::uint32_t> longer;          // strings that contain it
    std::map<std::uint32_t, std::uint32_t> at;  // its mentions: first token -> type
    std::vector<std::uint32_t> of_type;         // how many of each type
  };
  struct Word {
    std::vector<std::uint32_t> of_type;  // tokens in mentions, by type ...
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        of_length;  // ... and length of the mention
  };
  struct Covering {
    std::uint32_t string, begin;
  };

  std::uint32_t string_of(std::uint32_t begin, std::uint32_t end);
  std::uint32_t add_string(std::uint32_t begin, std::uint32_t end);
  void relate(std::uint32_t number);
  void put(const Mention& mention, int sign);
  void count_string(const String& string, double sign, FeatureCounts& counts);
  void count_same(const String& string, double sign, FeatureCounts& counts);
  void count_longer(const String& string, double sign, FeatureCounts& counts);
  void count_word(std::uint32_t word, double sign, FeatureCounts& counts);
  void emit(Family family, std::uint32_t type, std::uint32_t other, std::size_t length, double count,
            FeatureCounts& counts);
  bool is_free(std::uint32_t begin, std::uint32_t length) const;

  const GlobalSet& set_;
  const MentionLabels& labels_;
  FeaturePool& pool_;
  std::unordered_map<std::uint64_t, std::uint32_t> features_;  // by line, types and length

  std::vector<std::uint32_t> lower_;                                      // [tokens]
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> places_;  // of each lower-cased word
  std::unordered_map<std::uint64_t, std::uint32_t> spans_;                // (begin, end) -> string
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;           // words -> string
  std::vector<String> strings_;
  std::vector<std::vector<Covering>> covering_;  // [tokens] occurrences of strings
  std::vector<std::uint8_t> covered_;            // [tokens] is it in a mention?
  std::unordered_map<std::uint32_t, Word> words_;
};

}  // namespace marginalia
