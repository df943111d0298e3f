#include "search/words/search.hpp"

#include <algorithm>

namespace marginalia {

void WordSearch::begin(const SegmentConstants& constants, const SegmentValues& x, const Options& options) {
  constants_ = &constants;
  x_ = &x;
  options_ = options;
  agendas_.resize(std::max(agendas_.size(), x.length + 1));
  for (std::size_t place = 0; place <= x.length; ++place) agendas_[place].clear();
  agendas_[0].push_back({0.0, kNoPrevious, 0, 0, false, !options.gold.empty()});
  gold_at_ = 0;
  gold_score_ = 0.0;
  gold_steps_.clear();
  pairs.begin();
}

// What a word of a type adds behind another one, but for its own score.
double WordSearch::step(std::uint32_t from_type, std::size_t begin, std::size_t span, std::size_t tokens,
                        std::uint32_t type) const {
  double score = pairs.pair(span, tokens)[type];
  if (begin == 0)
    score += constants_->start[type];
  else
    score += constants_->transition[from_type * shape_.types() + type] + pairs.before(tokens)[from_type];
  return begin + tokens == x_->length ? score + constants_->end[type] : score;
}

// Are all labels of the word right ones?
bool WordSearch::fits(std::size_t begin, std::size_t tokens, std::uint32_t type) const {
  if (!options_.right->allows(begin, shape_.begin_label[type])) return false;
  for (std::size_t t = begin + 1; t < begin + tokens; ++t)
    if (!options_.right->allows(t, shape_.inside_label[type])) return false;
  return true;
}

// The best of the states from which words of some tokens can be reached, by type.
void WordSearch::offer(std::size_t begin, std::size_t tokens, const double* own, bool from_wrong) {
  const std::vector<WordState>& states = agendas_[begin];
  const std::size_t types = shape_.types();
  best_.assign(types, kIllegal);
  from_.assign(types, 0);
  for (std::uint32_t at = 0; at < states.size(); ++at) {
    if (states[at].wrong != from_wrong) continue;
    const double* pair = pairs.pair(span_of_[at], tokens);
    const double* constants =
        begin == 0 ? constants_->start.data() : &constants_->transition[states[at].type * types];
    const double base = states[at].score + (begin == 0 ? 0.0 : pairs.before(tokens)[states[at].type]);
    for (std::size_t s = 0; s < types; ++s) {
      const double score = base + (pair[s] + constants[s]);
      if (score > best_[s]) {
        best_[s] = score;
        from_[s] = at;
      }
    }
  }
  const bool ends = begin + tokens == x_->length;
  for (std::uint32_t s = 0; s < types; ++s) {
    if (best_[s] == kIllegal || own[s] == kIllegal) continue;
    const bool wrong = from_wrong || (options_.right != nullptr && !fits(begin, tokens, s));
    const bool gold = gold_at_ < options_.gold.size() && states[from_[s]].gold &&
                      options_.gold[gold_at_] == Segment{begin, begin + tokens - 1, s};
    const double score = best_[s] + own[s] + (ends ? constants_->end[s] : 0.0);
    agendas_[begin + tokens].push_back({score, begin, s, from_[s], wrong, gold});
  }
}

void WordSearch::extend(const SegmentScores& scores, std::size_t begin, std::size_t tokens) {
  const double* own = scores.at(begin, tokens);
  offer(begin, tokens, own, false);
  if (options_.right != nullptr) offer(begin, tokens, own, true);
}

// Gold may have left the beam: its score goes on beside it. The word before is the last of the previous ones
// if no state has it.
void WordSearch::follow_gold(const SegmentScores& scores, std::size_t begin) {
  const Segment& word = options_.gold[gold_at_];
  const std::size_t before = gold_at_ == 0 ? kNoPrevious : options_.gold[gold_at_ - 1].begin;
  const std::uint32_t type = gold_at_ == 0 ? 0 : options_.gold[gold_at_ - 1].type;
  const auto span =
      static_cast<std::size_t>(std::find(previous_.begin(), previous_.end(), before) - previous_.begin());
  const std::size_t tokens = word.last + 1 - begin;
  gold_score_ += scores.at(begin, tokens)[word.type] + step(type, begin, span, tokens, word.type);
  ++gold_at_;
}

// The best states at a place, in order. No word ends there that is not offered yet.
void WordSearch::prune(std::size_t place) {
  std::vector<WordState>& states = agendas_[place];
  const auto better = [](const WordState& a, const WordState& b) {
    if (a.wrong != b.wrong) return b.wrong;
    if (a.score != b.score) return a.score > b.score;
    return a.begin != b.begin ? a.begin > b.begin : a.type < b.type;
  };
  const auto keep = [&](auto first, auto last) {
    const auto most = static_cast<std::ptrdiff_t>(shape_.beam);
    if (shape_.beam != 0 && last - first > most) {
      std::nth_element(first, first + most, last, better);
      last = first + most;
    }
    std::sort(first, last, better);
    return last;
  };
  const auto wrong =
      std::partition(states.begin(), states.end(), [](const WordState& state) { return !state.wrong; });
  const auto right_end = keep(states.begin(), wrong), wrong_end = keep(wrong, states.end());
  states.erase(std::move(wrong, wrong_end, right_end), states.end());
  if (gold_at_ == 0 || gold_at_ > options_.gold.size()) return;
  const Segment& word = options_.gold[gold_at_ - 1];
  if (word.last + 1 != place) return;
  const bool kept = std::any_of(states.begin(), states.end(), [&](const WordState& state) {
    return state.begin == word.begin && state.type == word.type;
  });
  gold_steps_.push_back({place, gold_score_, kept});
}

Labels WordSearch::output(std::size_t place, std::uint32_t state) const {
  Labels labels(place);
  while (place > 0) {
    const WordState& word = agendas_[place][state];
    shape_.write({word.begin, place - 1, word.type}, labels);
    state = word.from;
    place = word.begin;
  }
  return labels;
}

}  // namespace marginalia
