#include "search/trees/search.hpp"

namespace marginalia {

void TreeSearch::begin(const TreeSearchOptions& options, std::span<const std::uint32_t> gold) {
  options_ = options;
  actions_ = gold;
  states.begin(scoring.x.length, options.given);
  beam_.assign(1, 0);
  gold_ = 0;
  follows_ = !gold.empty();
  gold_at_ = follows_ ? 0 : SIZE_MAX;
}

void TreeSearch::offer(const Candidate& one) {
  if (top_.size() == shape_.options().beam) {
    if (!better(one, top_.front())) return;
    std::pop_heap(top_.begin(), top_.end(), better);
    top_.back() = one;
  } else {
    top_.push_back(one);
  }
  std::push_heap(top_.begin(), top_.end(), better);
}

void TreeSearch::offer_labels(const Candidate& base, const float* scores, std::size_t move,
                              const NewArc& arc) {
  for (std::uint32_t c = shape_.begin(move); c < shape_.end(move); ++c) {
    Candidate one{base.score + static_cast<double>(scores[c]), base.at, c};
    const std::uint32_t label = TreeShape::label_of(shape_.action_at(c));
    if (!states.keeps(arc, label)) continue;
    if (options_.costs != nullptr && arc.head != kAnyHead) {
      const std::uint32_t head = options_.costs->head[arc.dependent];
      const std::uint32_t right = options_.costs->label[arc.dependent];
      if ((head != kAnyHead && head != arc.head) || (right != kAnyLabel && right != label)) one.score += 1.0;
    }
    offer(one);
  }
}

void TreeSearch::offer_all(std::uint32_t at, const float* scores) {
  const TreeState& s = states[beam_[at]];
  const unsigned moves = states.moves(s);
  const bool plain = options_.costs == nullptr && options_.given == nullptr;
  for (std::size_t m = 0; m < kMoves; ++m) {
    if ((moves >> m & 1) == 0) continue;
    if (!plain) {
      offer_labels({s.score, at, 0}, scores, m, states.arc(s, static_cast<Move>(m)));
      continue;
    }
    for (std::uint32_t c = shape_.begin(m); c < shape_.end(m); ++c) {
      const double score = s.score + static_cast<double>(scores[c]);
      if (top_.size() == shape_.options().beam && score < top_.front().score) continue;
      offer({score, at, c});
    }
  }
}

// Gold goes on by its own action, in the beam or not.
void TreeSearch::follow_gold(const float* scores) {
  const std::uint32_t action = actions_[states[gold_].steps];
  const std::uint32_t column = shape_.column_of()[action];
  const double score = states[gold_].score + static_cast<double>(scores[column]);
  for (Candidate& one : top_) one.is_gold = one.at == gold_at_ && one.column == column;
  gold_ = states.apply(gold_, action);
  states.at(gold_).score = score;
}

void TreeSearch::take() {
  std::sort(top_.begin(), top_.end(), better);
  next_.clear();
  gold_at_ = SIZE_MAX;
  for (const Candidate& one : top_) {
    if (one.is_gold) gold_at_ = next_.size();
    if (one.column == kStay) {
      next_.push_back(beam_[one.at]);
    } else if (one.is_gold) {
      next_.push_back(gold_);
    } else {
      next_.push_back(states.apply(beam_[one.at], shape_.action_at(one.column)));
      states.at(next_.back()).score = one.score;
    }
  }
  beam_.swap(next_);
}

}  // namespace marginalia
