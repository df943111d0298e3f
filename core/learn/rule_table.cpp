#include "learn/rule_table.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "search/rule_trie.hpp"

namespace marginalia {

RuleTable::RuleTable(const RuleSamples& samples, FeatureIndex& index, std::vector<std::string> labels)
    : samples_(samples), index_(index), labels_(std::move(labels)), taken_(labels_.size(), 0) {
  if (labels_.size() != samples.neighbours().labels)
    throw std::invalid_argument("rules: labels disagree in number");
}

void RuleTable::take(const RuleLearner& learner) {
  if (&learner.samples() != &samples_ || learner.label() >= labels_.size())
    throw std::invalid_argument("rules: the learner has other samples");
  std::size_t& taken = taken_[learner.label()];
  sums_[{place_of({}).row, learner.label()}] = learner.default_confidence();
  for (; taken < learner.size(); ++taken) {
    const auto [row, number] = place_of(learner.atoms_of(taken));
    sums_[{row, learner.label()}] += learner.confidence(taken);
    arrays_.gain[number] += learner.gain(taken);
  }
}

std::string RuleTable::text_of(std::uint32_t code) const {
  if (code >= kLabelCode) {
    const std::uint32_t place = code - kLabelCode;
    const Neighbours& own = samples_.neighbours();
    return label_atom(place / own.labels + 1, labels_[place % own.labels], own.backwards);
  }
  if (index_.keeps_names()) return std::string(index_.name(code));
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, index_.key(code), 16).ptr;
  const std::string key(digits, end);
  return "#" + std::string(sizeof digits - key.size(), '0') + key;
}

std::uint64_t RuleTable::key_of_atom(std::uint32_t code) const {
  return code < kLabelCode ? index_.key(code) : key_of(hash_of(text_of(code)).hash, false);
}

RuleTable::Place RuleTable::place_of(std::span<const std::uint32_t> atoms) {
  Codes codes;
  for (const std::uint32_t atom : atoms) codes.push_back(samples_.code(atom));
  std::sort(codes.begin(), codes.end());
  const Place next{0, static_cast<std::uint32_t>(arrays_.keys.size())};
  const auto [place, is_new] = places_.try_emplace(codes, next);
  if (!is_new) return place->second;
  std::vector<std::string> texts;
  for (const std::uint32_t code : codes) texts.push_back(text_of(code));
  const std::string name = rule_name(texts);
  const bool feature = codes.size() == 1 && codes[0] < kLabelCode;
  const std::uint64_t key = feature ? index_.key(codes[0]) : key_of(hash_of(name).hash, false);
  bool added = false;
  place->second.row = index_.find_or_add(key, Scope::node, added);
  if (added) index_.add_name(name);
  add(codes, key);
  arrays_.support.push_back(support_of(atoms));
  arrays_.gain.push_back(0.0);
  return place->second;
}

std::uint32_t RuleTable::support_of(std::span<const std::uint32_t> atoms) {
  return static_cast<std::uint32_t>(atoms.empty() ? samples_.size()
                                                  : samples_.samples_with(atoms, space_).size());
}

void RuleTable::add(const Codes& codes, std::uint64_t key) {
  arrays_.keys.push_back(key);
  for (const std::uint32_t code : codes) arrays_.atoms.push_back(key_of_atom(code));
  arrays_.end.push_back(static_cast<std::uint32_t>(arrays_.atoms.size()));
}

RuleTable::Cells RuleTable::cells() const {
  Cells cells;
  for (const auto& [place, sum] : sums_) {
    cells.rows.push_back(place.first);
    cells.outputs.push_back(place.second);
    cells.weights.push_back(static_cast<float>(sum));
  }
  return cells;
}

}  // namespace marginalia
