#include "search/trees/shape.hpp"

#include <stdexcept>
#include <utility>

namespace marginalia {

TreeShape::TreeShape(std::vector<std::string> labels, const Options& options)
    : labels_(std::move(labels)), options_(options), allowed_(row_width(), 1) {
  if (labels_.empty() || labels_.size() > kMostTreeLabels)
    throw std::invalid_argument("trees: the number of labels is out of range");
  if (options.beam == 0) throw std::invalid_argument("trees: a beam without states");
  if (options.merge && options.system != TransitionSystem::standard)
    throw std::invalid_argument("trees: states are merged in the arc-standard system only");
  if (options.merge && !options.one_root)
    throw std::invalid_argument("trees: states are merged where there is one root only");
  number_columns();
}

bool TreeShape::has(Move move) const {
  if (move == Move::reduce) return options_.system == TransitionSystem::eager;
  return move != Move::swap || options_.system == TransitionSystem::swap;
}

void TreeShape::allow(std::span<const std::uint8_t> allowed) {
  if (allowed.size() != row_width())
    throw std::invalid_argument("trees: actions that may be taken disagree with the labels");
  allowed_.assign(allowed.begin(), allowed.end());
  number_columns();
}

void TreeShape::number_columns() {
  actions_.clear();
  for (std::size_t m = 0; m < kMoves; ++m) {
    begin_[m] = columns();
    const auto move = static_cast<Move>(m);
    if (!has(move)) continue;
    const std::uint32_t count = m < kPlainMoves ? 1 : labels();
    for (std::uint32_t label = 0; label < count; ++label)
      if (m < kPlainMoves || allowed_[action_of(move, label)] != 0)
        actions_.push_back(action_of(move, label));
  }
  begin_[kMoves] = columns();
  column_of_.assign(row_width(), static_cast<std::uint16_t>(columns()));
  for (std::uint32_t c = 0; c < columns(); ++c) column_of_[actions_[c]] = static_cast<std::uint16_t>(c);
}

}  // namespace marginalia
