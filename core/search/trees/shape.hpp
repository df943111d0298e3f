// Transition systems for dependency trees: what actions there are, and how search is to go.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace marginalia {

// An arc of a token as one number, as outputs of trees are given: head * kMostTreeLabels + label. Heads are
// counted from 1; 0 is the root.
inline constexpr std::uint32_t kMostTreeLabels = 4096;
inline constexpr std::uint32_t kMostTreeTokens = (1u << 31) / kMostTreeLabels - 2;
inline constexpr std::uint32_t kAnyHead = UINT32_MAX, kAnyLabel = UINT32_MAX;  // not known, not given

enum class TransitionSystem : std::uint8_t { standard, swap, eager, hybrid };

// What an action does. The first three have no label.
enum class Move : std::uint8_t { shift, reduce, swap, left, right, root };
inline constexpr std::size_t kMoves = 6, kPlainMoves = 3;

// Actions are numbered: shift, reduce, swap, then left, right and root of each label, so that the numbers of
// known labels stay when labels are added. Search knows those that may be taken as columns, move by move.
class TreeShape {
 public:
  enum class Update : std::uint8_t { early, max };
  struct Options {
    TransitionSystem system = TransitionSystem::standard;
    std::size_t beam = 8;
    bool one_root = true;
    bool merge = false;
    Update update = Update::max;
  };

  // Throws std::invalid_argument.
  TreeShape(std::vector<std::string> labels, const Options& options);

  const std::vector<std::string>& label_names() const { return labels_; }
  std::uint32_t labels() const { return static_cast<std::uint32_t>(labels_.size()); }
  const Options& options() const { return options_; }
  TransitionSystem system() const { return options_.system; }
  std::uint32_t row_width() const { return static_cast<std::uint32_t>(kPlainMoves + 3 * labels_.size()); }
  std::size_t constants() const { return 0; }

  static Move move_of(std::uint32_t action) {
    return static_cast<Move>(action < kPlainMoves ? action : kPlainMoves + (action - kPlainMoves) % 3);
  }
  static std::uint32_t label_of(std::uint32_t action) {
    return action < kPlainMoves ? kAnyLabel : static_cast<std::uint32_t>((action - kPlainMoves) / 3);
  }
  static std::uint32_t action_of(Move move, std::uint32_t label = 0) {
    const auto number = static_cast<std::uint32_t>(move);
    return number < kPlainMoves ? number : number + 3 * label;
  }

  // Which actions may be taken, by number; at first all. Throws std::invalid_argument.
  void allow(std::span<const std::uint8_t> allowed);
  const std::vector<std::uint8_t>& allowed() const { return allowed_; }

  // Actions that may be taken, as columns: those of a move are neighbours.
  std::uint32_t columns() const { return static_cast<std::uint32_t>(actions_.size()); }
  std::uint32_t action_at(std::uint32_t column) const { return actions_[column]; }
  // By action; columns() for those that may not be taken.
  const std::vector<std::uint16_t>& column_of() const { return column_of_; }
  std::uint32_t begin(std::size_t move) const { return begin_[move]; }
  std::uint32_t end(std::size_t move) const { return begin_[move + 1]; }

 private:
  bool has(Move move) const;
  void number_columns();

  std::vector<std::string> labels_;
  Options options_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::uint32_t> actions_;
  std::vector<std::uint16_t> column_of_;
  std::uint32_t begin_[kMoves + 1] = {};
};

}  // namespace marginalia
