#include "search/rule_trie.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hash.hpp"

namespace marginalia {

namespace {

[[noreturn]] void refuse(const char* why) {
  throw std::invalid_argument(std::string("rules: ") + why);
}

void check(const RuleArrays& rules, std::span<const std::uint32_t> rows) {
  if (rules.end.size() != rules.keys.size() || rows.size() != rules.keys.size())
    refuse("the parts disagree in number");
  std::uint32_t begin = 0;
  for (const std::uint32_t end : rules.end) {
    if (end < begin || end > rules.atoms.size() || end - begin > kMostAtoms) refuse("a rule is out of range");
    begin = end;
  }
  if (begin != rules.atoms.size()) refuse("the parts disagree in number");
}

std::span<const std::uint64_t> atoms_of(const RuleArrays& rules, std::size_t rule) {
  const std::uint32_t begin = rule == 0 ? 0 : rules.end[rule - 1];
  return rules.atoms.subspan(begin, rules.end[rule] - begin);
}

// A sign that joins atoms is marked where it is a part of one: at its beginning or after a blank.
std::string joinable(const std::string& atom) {
  std::string text;
  for (std::size_t i = 0; i < atom.size(); ++i) {
    const std::size_t sign = atom.find_first_not_of('\\', i);
    const bool begins = i == 0 || atom[i - 1] == ' ';
    if (begins && sign != std::string::npos && atom[sign] == '&') text += '\\';
    text += atom[i];
  }
  return text;
}

}  // namespace

std::string rule_name(std::vector<std::string> atoms) {
  if (atoms.empty()) return "(always)";
  if (atoms.size() == 1) return atoms.front();
  for (std::string& atom : atoms) atom = joinable(atom);
  std::sort(atoms.begin(), atoms.end());
  std::string name;
  for (const std::string& atom : atoms) name += (name.empty() ? "" : " & ") + atom;
  return name;
}

std::string label_atom(std::size_t distance, const std::string& label, bool backwards) {
  return std::string("label[") + (backwards ? "" : "-") + std::to_string(distance) + "]=" + label;
}

std::vector<std::uint64_t> label_atom_keys(const std::vector<std::string>& labels, std::size_t neighbours,
                                           bool backwards) {
  std::vector<std::uint64_t> keys;
  for (std::size_t distance = 1; distance <= neighbours; ++distance)
    for (const std::string& label : labels)
      keys.push_back(key_of(hash_of(label_atom(distance, label, backwards)).hash, false));
  return keys;
}

RuleTrie::RuleTrie(const RuleArrays& rules, std::span<const std::uint32_t> rows,
                   std::span<const std::uint64_t> label_keys, std::uint32_t labels)
    : labels_(labels), nodes_(1) {
  check(rules, rows);
  if (label_keys.size() > kMostAsked * labels) refuse("labels of more than three neighbours");
  std::unordered_map<std::uint64_t, std::uint32_t> places;
  for (std::uint32_t k = 0; k < label_keys.size(); ++k) places[label_keys[k]] = k;
  number_atoms(rules, rows, places);
  std::vector<Body> bodies;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] == kUnknownRow) continue;
    bodies.push_back(body_of(rules, r, places));
    bodies.back().labels.row = rows[r];
  }
  build(bodies);
}

void RuleTrie::number_atoms(const RuleArrays& rules, std::span<const std::uint32_t> rows,
                            const std::unordered_map<std::uint64_t, std::uint32_t>& places) {
  std::unordered_map<std::uint64_t, std::uint32_t> counts;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r] != kUnknownRow)
      for (const std::uint64_t key : atoms_of(rules, r))
        if (!places.contains(key)) ++counts[key];
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
  for (const auto& [key, count] : counts) order.emplace_back(count, key);
  std::sort(order.begin(), order.end());
  for (const auto& [count, key] : order) atoms_.emplace(key, static_cast<std::uint32_t>(atoms_.size()));
}

RuleTrie::Body RuleTrie::body_of(const RuleArrays& rules, std::size_t rule,
                                 const std::unordered_map<std::uint64_t, std::uint32_t>& places) const {
  Body body;
  for (const std::uint64_t key : atoms_of(rules, rule)) {
    const auto label = places.find(key);
    if (label == places.end()) {
      body.features.push_back(atoms_.at(key));
      continue;
    }
    std::uint32_t& place = body.labels.asked[label->second / labels_];
    if (place != kAnyLabel) refuse("a rule asks for two labels of one neighbour");
    place = label->second % labels_;
  }
  std::sort(body.features.begin(), body.features.end());
  if (std::adjacent_find(body.features.begin(), body.features.end()) != body.features.end())
    refuse("a rule has an atom twice");
  return body;
}

void RuleTrie::build(const std::vector<Body>& bodies) {
  std::vector<std::map<std::uint32_t, std::uint32_t>> children(1);
  std::vector<std::vector<LabelRule>> rules(1);
  for (const Body& body : bodies) {
    std::uint32_t at = 0;
    for (const std::uint32_t atom : body.features) {
      const auto [place, added] = children[at].try_emplace(atom, static_cast<std::uint32_t>(nodes_.size()));
      at = place->second;
      if (!added) continue;
      nodes_.emplace_back();
      children.emplace_back();
      rules.emplace_back();
    }
    const LabelRule& labels = body.labels;
    if (labels.asked.any()) {
      for (const LabelRule& other : rules[at])
        if (other.asked == labels.asked) refuse("a rule is there twice");
      rules[at].push_back(labels);
    } else {
      if (nodes_[at].row != kUnknownRow) refuse("a rule is there twice");
      nodes_[at].row = labels.row;
    }
  }
  first_.assign(atoms_.size(), 0);
  for (const auto& [atom, node] : children[0]) first_[atom] = node;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Node& here = nodes_[node];
    here.child = static_cast<std::uint32_t>(child_atom_.size());
    here.children = static_cast<std::uint32_t>(children[node].size());
    for (const auto& [atom, child] : children[node]) {
      child_atom_.push_back(atom);
      child_node_.push_back(child);
    }
    here.rule = static_cast<std::uint32_t>(label_rules_.size());
    here.rules = static_cast<std::uint32_t>(rules[node].size());
    label_rules_.insert(label_rules_.end(), rules[node].begin(), rules[node].end());
  }
}

}  // namespace marginalia
