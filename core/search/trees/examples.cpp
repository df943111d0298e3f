#include "search/trees/examples.hpp"

#include <algorithm>
#include <stdexcept>

#include "search/trees/oracle.hpp"

namespace marginalia {

void TreeExamples::add(const TreeExtractor& extractor, const TokenTable& table) {
  if (tokens() != 0 && sources_ != extractor.sources())
    throw std::invalid_argument("examples: of another extractor");
  sources_ = extractor.sources();
  ExtractionSpace space;
  TreeValues x;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    if (last - first > kMostTreeTokens) throw std::invalid_argument("trees: a sentence is too long");
    extractor.read(table, first, last, nullptr, space, x);
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < x.length * sources_; ++k) {
      const std::uint32_t number = number_of(x.grid[k]);
      values_.push_back(number);
      if (!keeps_texts_ || number < texts_.size()) continue;
      if (texts.empty()) texts = extractor.texts(table, first, last, space);
      texts_.push_back(texts[k]);
    }
    sentence.push_back(static_cast<std::uint32_t>(tokens() + (last - first)));
  }
}

std::uint32_t TreeExamples::number_of(const Hashed& value) {
  const std::uint64_t hash = value.absent() ? UINT64_MAX : value.hash;  // hashes are smaller
  const auto [found, added] = number_.try_emplace(hash, static_cast<std::uint32_t>(pool_.size()));
  if (added) pool_.push_back(value);
  return found->second;
}

void TreeExamples::values(const TreeExtractor& extractor, std::size_t i, TreeValues& out) const {
  hidden_values(extractor, i, Hidden(), out);
}

void TreeExamples::hidden_values(const TreeExtractor& extractor, std::size_t i, const Hidden& hidden,
                                 TreeValues& out) const {
  out.length = length(i);
  out.grid.resize(out.length * sources_);
  const std::uint32_t* numbers = values_.data() + sentence[i] * sources_;
  for (std::size_t k = 0; k < out.grid.size(); ++k) out.grid[k] = pool_[numbers[k]];
  for (std::size_t k = 0; k < sources_ && hidden.any_input(); ++k) {
    if (extractor.source(k).kind == Source::Kind::first) continue;
    for (std::size_t t = 0; t < out.length; ++t)
      if (hidden.value(t, extractor.source(k).column)) out.grid[t * sources_ + k] = kAbsent;
  }
  extractor.complete(out);
}

namespace {

[[noreturn]] void fail(std::size_t sentence, const std::string& why) {
  throw std::invalid_argument(std::to_string(sentence) + " " + why);
}

}  // namespace

std::size_t TreeExamples::set_gold(const TreeShape& shape, std::span<const std::int32_t> heads,
                                   std::span<const std::int32_t> labels) {
  if (heads.size() != tokens() || labels.size() != tokens())
    throw std::invalid_argument("0 trees: arcs disagree with the tokens");
  heads_.clear();
  labels_.clear();
  for (std::size_t t = 0; t < heads.size(); ++t) {
    heads_.push_back(heads[t] < 0 ? kAnyHead : static_cast<std::uint32_t>(heads[t]));
    labels_.push_back(labels[t] < 0 ? kAnyLabel : static_cast<std::uint32_t>(labels[t]));
    if (labels_.back() != kAnyLabel && labels_.back() >= shape.labels())
      throw std::invalid_argument("0 trees: a label is out of range");
  }
  actions_.clear();
  complete_.clear();
  actions_end_.assign(1, 0);
  open_ = 0;
  std::size_t lifted = 0;
  TreeStates states(shape);
  for (std::size_t i = 0; i < sentences(); ++i) {
    TreeArcs tree = gold(i);
    for (const std::uint32_t head : tree.head)
      if (head != kAnyHead && head > tree.size()) fail(i, "trees: a head is not in the sentence");
    complete_.push_back(tree.complete());
    open_ += complete_.back() == 0;
    if (complete_.back() != 0) {
      try {
        check_tree(tree, shape.options().one_root);
      } catch (const std::invalid_argument& error) {
        fail(i, error.what());
      }
      if (shape.system() != TransitionSystem::swap) {
        const TreeArcs before = tree;
        tree = projectivised(std::move(tree));
        for (std::size_t t = 0; t < tree.size(); ++t) lifted += tree.head[t] != before.head[t];
        std::copy(tree.head.begin(), tree.head.end(), heads_.begin() + sentence[i]);
      }
      const std::vector<std::uint32_t> made = oracle(shape, tree, states);
      actions_.insert(actions_.end(), made.begin(), made.end());
    }
    actions_end_.push_back(actions_.size());
  }
  return lifted;
}

TreeArcs TreeExamples::gold(std::size_t i) const {
  const auto part = [&](const std::vector<std::uint32_t>& all) {
    return std::vector<std::uint32_t>(all.begin() + sentence[i], all.begin() + sentence[i + 1]);
  };
  return {part(heads_), part(labels_)};
}

// Where arcs are open, trees may need moves that no known arc shows: those take any label.
std::vector<std::uint8_t> TreeExamples::seen_actions(const TreeShape& shape) const {
  std::vector<std::uint8_t> seen(shape.row_width(), 0);
  for (std::size_t k = 0; k < kPlainMoves; ++k) seen[k] = 1;
  bool made[kMoves] = {};
  for (std::size_t i = 0; i < sentences(); ++i)
    for (std::uint32_t t = 0; t < length(i); ++t) {
      const std::uint32_t head = gold_head(i, t), label = gold_label(i, t);
      if (head == kAnyHead || label == kAnyLabel) continue;
      const Move move = head == 0 ? Move::root : head > t ? Move::left : Move::right;
      seen[TreeShape::action_of(move, label)] = 1;
      made[static_cast<std::size_t>(move)] = true;
    }
  for (const Move move : {Move::left, Move::right, Move::root})
    for (std::uint32_t label = 0;
         open_ != 0 && !made[static_cast<std::size_t>(move)] && label < shape.labels(); ++label)
      seen[TreeShape::action_of(move, label)] = 1;
  return seen;
}

}  // namespace marginalia
