// The global features of outputs of a document, of each output what it changes in those of a first one:
// outputs of an n-best list share most of their mentions, so the cost follows the differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "features/global_anchored.hpp"
#include "features/global_groups.hpp"
#include "features/global_set.hpp"
#include "features/global_texts.hpp"

namespace marginalia {

// Tokens [begin, end).
struct Stretch {
  std::size_t begin, end;
};

// Stretches in which two outputs of one length differ.
std::vector<Stretch> differing(std::span<const std::uint32_t> y, std::span<const std::uint32_t> z);

class GlobalEvaluator {
 public:
  // Both must outlive it. If documents `come_again`, all are of the same texts, and the features of their
  // mentions are kept.
  GlobalEvaluator(const GlobalSet& set, const MentionLabels& labels, bool come_again = false);

  // The document `i` of texts, which must outlive what is asked about it, and an output to compare others
  // with. Numbers of features stay the same until the next call of this.
  void begin(const GlobalTexts& texts, std::size_t i, std::span<const std::uint32_t> first);

  std::span<const std::uint32_t> output() const { return output_; }  // the first
  // The features of the first output.
  const FeatureCounts& first() const { return first_; }
  // Those of another output minus those of the first. `changed`: where they may differ, rising, apart.
  const FeatureCounts& difference(std::span<const std::uint32_t> y, std::span<const Stretch> changed);

  // Do changes add up that touch no group of features in common? Nothing is known of functions of users.
  bool separable() const { return set_.functions().empty(); }
  // Makes the groups known of a change that makes this output of the first one.
  void enter(std::span<const std::uint32_t> y, std::span<const Stretch> changed);
  // Rises when groups become known; never 0.
  std::size_t known_groups() const { return groups_.strings() + 1; }
  // The groups of features that such a change touches, of those that are known: numbers, rising.
  void touch(std::span<const std::uint32_t> y, std::span<const Stretch> changed,
             std::vector<std::uint64_t>& groups);

  const FeaturePool& features() const { return pool_; }
  // Rises when numbers of features are given anew.
  std::size_t generation() const { return generation_; }

 private:
  // Features that are kept from one document to the next.
  static constexpr std::size_t kMostFeatures = std::size_t{1} << 20, kMostOfAll = std::size_t{1} << 23;
  using MentionFeatures = std::map<Mention, std::vector<std::uint32_t>>;

  void find_room_for(std::size_t i);
  // A part of the document that no mention of the two outputs crosses, with all mentions in it.
  struct Region {
    std::size_t begin, end;
    std::vector<Mention> ours, theirs;  // of the first output, of the other one
  };
  void find_regions(std::span<const std::uint32_t> y, std::span<const Stretch> changed);
  void count_groups(std::span<const Mention> removed, std::span<const Mention> added, FeatureCounts& counts);
  void count_mentions(std::span<const Mention> mentions, double sign, FeatureCounts& counts);
  void count_pairs_of(const Region& region, FeatureCounts& counts);
  void count_neighbours(const Mention& left, const Mention& right, double sign, FeatureCounts& counts);
  void count_pairs(const Mention* before, std::span<const Mention> mentions, const Mention* after,
                   double sign, FeatureCounts& counts);
  void count_quotations(std::span<const std::uint32_t> y, std::span<const Stretch> changed,
                        FeatureCounts& counts);
  void count_functions(std::span<const Mention> mentions, double sign, FeatureCounts& counts);
  bool conjoined(const Mention& left, const Mention& right) const;
  std::vector<Mention> all_mentions() const;
  const std::vector<std::uint32_t>& features_of(const Mention& mention);
  std::vector<std::uint32_t> features_of(const Quotation& quotation, std::span<const std::uint32_t> y);

  const GlobalSet& set_;
  const MentionLabels& labels_;
  FeaturePool pool_;
  std::size_t generation_ = 0;
  ConsistencyGroups groups_;
  AnchoredNames anchored_;
  bool has_anchored_ = false, has_pairs_ = false, come_again_;

  const GlobalTexts* texts_ = nullptr;
  std::span<const std::uint32_t> words_;
  std::vector<std::string_view> views_;  // of the words, for functions
  std::vector<std::uint32_t> output_;    // the first
  std::vector<Mention> mentions_;        // of the first output
  std::vector<Quotation> quotations_;
  std::vector<std::vector<std::uint32_t>> quotation_features_;  // of the first output
  std::vector<MentionFeatures> kept_;                           // by document, or those of the one at hand
  MentionFeatures* mention_features_ = nullptr;                 // that were asked for
  FeatureCounts first_, difference_;
  std::vector<Region> regions_;
};

}  // namespace marginalia
