#include "features/global_evaluator.hpp"

#include <algorithm>
#include <iterator>

namespace marginalia {

namespace {

// May the tags of a quotation differ? The tag of a token depends on its label and the one before it.
bool touches(const Quotation& quotation, std::span<const Stretch> changed) {
  return std::any_of(changed.begin(), changed.end(), [&](const Stretch& stretch) {
    return stretch.begin < quotation.end + std::size_t{2} && quotation.begin < stretch.end + 2;
  });
}

}  // namespace

std::vector<Stretch> differing(std::span<const std::uint32_t> y, std::span<const std::uint32_t> z) {
  std::vector<Stretch> found;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (y[t] == z[t]) continue;
    if (!found.empty() && found.back().end == t)
      ++found.back().end;
    else
      found.push_back({t, t + 1});
  }
  return found;
}

GlobalEvaluator::GlobalEvaluator(const GlobalSet& set, const MentionLabels& labels, bool come_again)
    : set_(set),
      labels_(labels),
      groups_(set, labels, pool_),
      anchored_(set, labels),
      come_again_(come_again) {
  for (std::size_t k = static_cast<std::size_t>(Family::WE); k <= static_cast<std::size_t>(Family::SF2); ++k)
    has_anchored_ = has_anchored_ || set.has(static_cast<Family>(k));
  has_anchored_ = has_anchored_ || set.has(Family::word_length);
  has_pairs_ = set.has(Family::conjunction) || set.has_neighbours();
}

// Where the features of mentions of a document go.
void GlobalEvaluator::find_room_for(std::size_t i) {
  if (pool_.size() > (come_again_ ? kMostOfAll : kMostFeatures)) {
    pool_ = {};
    groups_.forget();
    ++generation_;
    first_ = {};
    difference_ = {};
    kept_.clear();
  }
  const std::size_t place = come_again_ ? i : 0;
  if (place >= kept_.size()) kept_.resize(place + 1);
  mention_features_ = &kept_[place];
  if (!come_again_) mention_features_->clear();
}

void GlobalEvaluator::begin(const GlobalTexts& texts, std::size_t i, std::span<const std::uint32_t> first) {
  find_room_for(i);
  texts_ = &texts;
  words_ = texts.words(i);
  output_.assign(first.begin(), first.end());
  mentions_.clear();
  labels_.mentions(output_, 0, output_.size(), mentions_);
  anchored_.begin(texts, words_);
  first_.clear();
  if (set_.has_groups()) {
    groups_.begin(texts, words_);
    count_groups({}, mentions_, first_);
    groups_.apply({}, mentions_);
  }
  if (has_pairs_) count_pairs(nullptr, mentions_, nullptr, 1.0, first_);
  count_mentions(mentions_, 1.0, first_);
  quotations_.clear();
  quotation_features_.clear();
  if (set_.has_quotes()) quotations_ = quotations(texts, words_);
  for (const Quotation& quotation : quotations_) {
    quotation_features_.push_back(features_of(quotation, output_));
    for (const std::uint32_t number : quotation_features_.back()) first_.add(number, 1.0);
  }
  views_.clear();
  if (!set_.functions().empty())
    for (const std::uint32_t word : words_) views_.push_back(texts.facts(word).text);
  count_functions(mentions_, 1.0, first_);
}

const FeatureCounts& GlobalEvaluator::difference(std::span<const std::uint32_t> y,
                                                 std::span<const Stretch> changed) {
  difference_.clear();
  find_regions(y, changed);
  std::vector<Mention> removed, added;
  for (const Region& region : regions_) {
    std::set_difference(region.ours.begin(), region.ours.end(), region.theirs.begin(), region.theirs.end(),
                        std::back_inserter(removed));
    std::set_difference(region.theirs.begin(), region.theirs.end(), region.ours.begin(), region.ours.end(),
                        std::back_inserter(added));
    if (has_pairs_) count_pairs_of(region, difference_);
  }
  if (set_.has_groups()) count_groups(removed, added, difference_);
  count_mentions(removed, -1.0, difference_);
  count_mentions(added, 1.0, difference_);
  count_quotations(y, changed, difference_);
  if (!set_.functions().empty()) {
    count_functions(mentions_, -1.0, difference_);
    count_functions(all_mentions(), 1.0, difference_);
  }
  return difference_;
}

void GlobalEvaluator::enter(std::span<const std::uint32_t> y, std::span<const Stretch> changed) {
  if (!set_.has_groups()) return;
  find_regions(y, changed);
  ConsistencyGroups::Touched touched;
  for (const Region& region : regions_) groups_.touch(region.theirs, touched);
}

void GlobalEvaluator::touch(std::span<const std::uint32_t> y, std::span<const Stretch> changed,
                            std::vector<std::uint64_t>& groups) {
  constexpr std::uint64_t kKind = std::uint64_t{1} << 32;
  groups.clear();
  find_regions(y, changed);
  ConsistencyGroups::Touched touched;
  for (const Region& region : regions_) {
    if (set_.has_groups()) {
      groups_.touch(region.ours, touched);
      groups_.touch(region.theirs, touched);
    }
    // The gaps between mentions that it lies in: those of neighbours that share one may become conjoined.
    const auto by_begin = [](const Mention& one, std::size_t place) { return one.begin < place; };
    const auto first = std::lower_bound(mentions_.begin(), mentions_.end(), region.begin, by_begin);
    const auto last = std::lower_bound(first, mentions_.end(), region.end, by_begin);
    for (auto gap = first - mentions_.begin(); gap <= last - mentions_.begin(); ++gap)
      groups.push_back(static_cast<std::uint64_t>(gap));
  }
  for (const std::uint32_t string : touched.strings) groups.push_back(kKind + string);
  for (const std::uint32_t word : touched.words) groups.push_back(2 * kKind + word);
  for (std::size_t k = 0; k < quotations_.size(); ++k)
    if (touches(quotations_[k], changed)) groups.push_back(3 * kKind + k);
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
}

// Stretches grow until no mention crosses their ends; those without a shared mention between them become one,
// so that the neighbours of a region are mentions of both outputs.
void GlobalEvaluator::find_regions(std::span<const std::uint32_t> y, std::span<const Stretch> changed) {
  regions_.clear();
  for (const Stretch& stretch : changed) {
    std::size_t begin = stretch.begin, end = stretch.end;
    while (labels_.crosses(output_, begin) || labels_.crosses(y, begin)) --begin;
    while (labels_.crosses(output_, end) || labels_.crosses(y, end)) ++end;
    if (!regions_.empty()) {
      Region& last = regions_.back();
      const auto next = std::partition_point(mentions_.begin(), mentions_.end(),
                                             [&](const Mention& one) { return one.begin < last.end; });
      if (next == mentions_.end() || next->begin >= begin) {
        last.end = std::max(last.end, end);
        continue;
      }
    }
    regions_.push_back({begin, end, {}, {}});
  }
  for (Region& region : regions_) {
    labels_.mentions(output_, region.begin, region.end, region.ours);
    labels_.mentions(y, region.begin, region.end, region.theirs);
  }
}

// The features of the groups that a change touches: before it negative, after it positive.
void GlobalEvaluator::count_groups(std::span<const Mention> removed, std::span<const Mention> added,
                                   FeatureCounts& counts) {
  ConsistencyGroups::Touched touched;
  groups_.touch(removed, touched);
  groups_.touch(added, touched);
  groups_.count(touched, -1.0, counts);
  groups_.apply(removed, added);
  groups_.count(touched, 1.0, counts);
  groups_.apply(added, removed);
}

void GlobalEvaluator::count_mentions(std::span<const Mention> mentions, double sign, FeatureCounts& counts) {
  if (!has_anchored_) return;
  for (const Mention& mention : mentions)
    for (const std::uint32_t number : features_of(mention)) counts.add(number, sign);
}

bool GlobalEvaluator::conjoined(const Mention& left, const Mention& right) const {
  if (left.end == right.begin) return false;
  for (std::uint32_t t = left.end; t < right.begin; ++t)
    if (!texts_->facts(words_[t]).joins) return false;
  return true;
}

void GlobalEvaluator::count_pairs(const Mention* before, std::span<const Mention> mentions,
                                  const Mention* after, double sign, FeatureCounts& counts) {
  const auto pair = [&](const Mention* left, const Mention* right) {
    if (left == nullptr || right == nullptr) return;
    if (left->end == right->begin && set_.has_neighbours()) count_neighbours(*left, *right, sign, counts);
    if (!conjoined(*left, *right)) return;
    for (const std::uint32_t line : set_.of(Family::conjunction))
      counts.add(groups_.feature(line, left->type, right->type, left->end - left->begin), sign);
  };
  for (const Mention& mention : mentions) {
    pair(before, &mention);
    before = &mention;
  }
  pair(before, after);
}

void GlobalEvaluator::count_neighbours(const Mention& left, const Mention& right, double sign,
                                       FeatureCounts& counts) {
  std::vector<std::string> names;
  anchored_.of_neighbours(left, right, names);
  for (const std::string& name : names) counts.add(pool_.number_of(name), sign);
}

void GlobalEvaluator::count_pairs_of(const Region& region, FeatureCounts& counts) {
  const auto by_begin = [](const Mention& one, std::size_t place) { return one.begin < place; };
  const auto first = std::lower_bound(mentions_.begin(), mentions_.end(), region.begin, by_begin);
  const auto next = std::lower_bound(first, mentions_.end(), region.end, by_begin);
  const Mention* before = first == mentions_.begin() ? nullptr : &*std::prev(first);
  const Mention* after = next == mentions_.end() ? nullptr : &*next;
  count_pairs(before, region.ours, after, -1.0, counts);
  count_pairs(before, region.theirs, after, 1.0, counts);
}

void GlobalEvaluator::count_quotations(std::span<const std::uint32_t> y, std::span<const Stretch> changed,
                                       FeatureCounts& counts) {
  for (std::size_t k = 0; k < quotations_.size(); ++k) {
    if (!touches(quotations_[k], changed)) continue;
    for (const std::uint32_t number : quotation_features_[k]) counts.add(number, -1.0);
    for (const std::uint32_t number : features_of(quotations_[k], y)) counts.add(number, 1.0);
  }
}

void GlobalEvaluator::count_functions(std::span<const Mention> mentions, double sign, FeatureCounts& counts) {
  std::vector<std::string> names;
  for (const UserFeatures& function : set_.functions()) function(views_, mentions, names);
  for (const std::string& name : names) counts.add(pool_.number_of(name), sign);
}

// Those of the output whose regions were found last.
std::vector<Mention> GlobalEvaluator::all_mentions() const {
  std::vector<Mention> all;
  auto next = mentions_.begin();
  for (const Region& region : regions_) {
    for (; next != mentions_.end() && next->begin < region.begin; ++next) all.push_back(*next);
    all.insert(all.end(), region.theirs.begin(), region.theirs.end());
    while (next != mentions_.end() && next->begin < region.end) ++next;
  }
  all.insert(all.end(), next, mentions_.end());
  return all;
}

const std::vector<std::uint32_t>& GlobalEvaluator::features_of(const Mention& mention) {
  const auto [at, fresh] = mention_features_->try_emplace(mention);
  if (fresh) {
    std::vector<std::string> names;
    anchored_.of_mention(mention, names);
    at->second.reserve(names.size());
    for (const std::string& name : names) at->second.push_back(pool_.number_of(name));
  }
  return at->second;
}

std::vector<std::uint32_t> GlobalEvaluator::features_of(const Quotation& quotation,
                                                        std::span<const std::uint32_t> y) {
  std::vector<std::string> names;
  anchored_.of_quotation(quotation, y, names);
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names) numbers.push_back(pool_.number_of(name));
  return numbers;
}

}  // namespace marginalia
