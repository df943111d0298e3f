// Which labels are right. Where training data know the label of a token its gold number is that label; where
// they only know some that it may be (or nothing), it is L + k, for the set k of labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace marginalia {

struct LabelSets {
  std::uint32_t labels = 0;           // L
  std::vector<std::uint8_t> allowed;  // [sets][L] 1: this one may be right

  std::size_t size() const { return labels == 0 ? 0 : allowed.size() / labels; }
};

// The right labels of one example.
class RightLabels {
 public:
  // Both must outlive it.
  RightLabels(const std::uint32_t* ids, std::size_t length, const LabelSets& sets)
      : ids_(ids), length_(length), sets_(&sets) {}

  std::size_t size() const { return length_; }
  const std::uint32_t* ids() const { return ids_; }

  // Does every token have one right label?
  bool complete() const {
    if (sets_->allowed.empty()) return true;
    return std::all_of(ids_, ids_ + length_, [&](std::uint32_t id) { return id < sets_->labels; });
  }
  bool is_set(std::size_t t) const { return !sets_->allowed.empty() && ids_[t] >= sets_->labels; }
  const std::uint8_t* set(std::size_t t) const {
    return &sets_->allowed[std::size_t{ids_[t] - sets_->labels} * sets_->labels];
  }
  bool allows(std::size_t t, std::uint32_t label) const {
    return is_set(t) ? set(t)[label] != 0 : ids_[t] == label;
  }
  template <class F>
  void for_labels(std::size_t t, F&& f) const {
    if (!is_set(t)) return f(ids_[t]);
    for (std::uint32_t label = 0; label < sets_->labels; ++label)
      if (set(t)[label] != 0) f(label);
  }
  // Do the data say something about the token's label? Not if more than half of all labels may be right.
  bool names(std::size_t t) const {
    return !is_set(t) || 2 * std::count(set(t), set(t) + sets_->labels, 1) <= sets_->labels;
  }
  // [L] 1 for each right label of a token; valid until the next call with the same `room`.
  const std::uint8_t* mask(std::size_t t, std::uint32_t labels, std::vector<std::uint8_t>& room) const {
    if (is_set(t)) return set(t);
    room.assign(labels, 0);
    room[ids_[t]] = 1;
    return room.data();
  }

 private:
  const std::uint32_t* ids_;
  std::size_t length_;
  const LabelSets* sets_;
};

}  // namespace marginalia
