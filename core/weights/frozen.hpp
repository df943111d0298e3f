// Weights of a finished model: read-only views of arrays that may be mapped from a file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.hpp"
#include "base/prefetch.hpp"
#include "features/index.hpp"
#include "weights/weight_table.hpp"

namespace marginalia {

// A table of slots, at most one key in each. A key's home is key * homes / 2^64, so homes rise with keys; the
// keys stand in rising order, each at its home or in the first free slot after it. A look-up therefore reads
// a few neighbouring slots. Slot s has the cells [row_end[s-1], row_end[s]): outputs, rising, with a weight
// beside each. Each array comes in one of several forms, and the others are empty: those of a shrunk model
// are smaller.
struct FrozenArrays {
  std::uint64_t homes = 1;
  std::span<const std::uint64_t> keys;        // [slots] 0 = empty; the last slot is empty ...
  std::span<const std::uint32_t> short_keys;  // ... or their upper halves
  std::span<const std::uint32_t> row_end;     // [slots] ...
  std::span<const std::uint16_t> short_end;   // ... or counted from the base of each block of slots
  std::span<const std::uint32_t> row_base;    // [blocks]
  std::span<const std::uint16_t> narrow;      // [cells] outputs ...
  std::span<const std::uint32_t> wide;        // ... or more of them ...
  std::span<const std::uint8_t> gaps;         // ... or how many outputs each one leaves out before it
  std::span<const float> weights;             // [cells] ...
  std::span<const std::int16_t> halves;       // ... or to be multiplied by `scale` ...
  std::span<const std::uint8_t> codes;        // ... or places in `codebook`
  std::span<const float> codebook;            // [256]
  float scale = 1.0f;
  std::span<const std::uint8_t> edge;  // [slots] 1: outputs are label pairs; empty if there are none such
  std::span<const std::uint8_t> edge_bits;  // ... or a bit for each slot
};

inline constexpr std::size_t kBlock = 64;  // slots

inline std::uint64_t home_of(std::uint64_t key, std::uint64_t homes) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(key) * homes >> 64);
}
inline std::uint64_t home_of(std::uint32_t key, std::uint64_t homes) {
  return key * homes >> 32;  // homes < 2^31
}

// What a shrunk model keeps of a key; never 0.
inline std::uint32_t short_key(std::uint64_t key) {
  const auto upper = static_cast<std::uint32_t>(key >> 32);
  return upper == 0 ? 1 : upper;
}

// scores[i] += weights[i]
void add_dense(const float* weights, std::size_t size, double* scores);

class FrozenWeights {
 public:
  // Throws std::invalid_argument unless the arrays are as described: nothing is checked later.
  // `node_outputs` and `edge_outputs` are the sizes of the output spaces.
  FrozenWeights(const FrozenArrays& arrays, std::uint64_t node_outputs, std::uint64_t edge_outputs);

  std::size_t slots() const { return arrays_.keys.size() + arrays_.short_keys.size(); }

  // What the table keeps of a key, what stands in a slot, and where the search for a key begins.
  std::uint64_t stored(std::uint64_t key) const { return arrays_.short_keys.empty() ? key : short_key(key); }
  std::uint64_t key_at(std::size_t slot) const {
    return arrays_.short_keys.empty() ? arrays_.keys[slot] : arrays_.short_keys[slot];
  }
  std::size_t home(std::uint64_t key) const {
    return arrays_.short_keys.empty() ? home_of(key, arrays_.homes) : home_of(short_key(key), arrays_.homes);
  }

  // A look-up waits for memory three times: the key, the row's bounds, its cells. Ask for each well ahead.
  // False: there is no such key.
  bool prefetch_key(std::uint64_t key) const {
    if (!may_have(key)) return false;
    prefetch_known(key);
    return true;
  }
  // For `may_have`, well ahead.
  void prefetch_filter(std::uint64_t key) const { prefetch(&filter_[filter_word(short_key(key))]); }
  // The same as `prefetch_key` for a key that may be there.
  void prefetch_known(std::uint64_t key) const {
    if (arrays_.short_keys.empty())
      prefetch(&arrays_.keys[home_of(key, arrays_.homes)]);
    else
      prefetch(&arrays_.short_keys[home_of(short_key(key), arrays_.homes)]);
  }
  // False: there is no such key, as is known of most that are not there without looking at the keys.
  bool may_have(std::uint64_t key) const {
    const std::uint64_t marks = marks_of(short_key(key));
    return (filter_[filter_word(short_key(key))] & marks) == marks;
  }
  void prefetch_row(std::uint32_t row) const {
    if (arrays_.short_end.empty())
      prefetch(&arrays_.row_end[row]);
    else
      prefetch(&arrays_.short_end[row]);
  }
  void prefetch_cells(std::uint32_t row) const {
    const std::size_t i = begin(row);
    prefetch(weight_bytes_ + i * weight_size_);
    prefetch(output_bytes_ + i * output_size_);
  }

  std::uint32_t find(std::uint64_t key) const {
    return arrays_.short_keys.empty() ? row_of(arrays_.keys, key)
                                      : row_of(arrays_.short_keys, short_key(key));
  }

  // The row of a feature that is of label pairs, or is not: outputs of other rows would not fit.
  std::uint32_t find(std::uint64_t key, bool edge) const {
    const std::uint32_t row = find(key);
    return row == kUnknownRow || is_edge(row) != edge ? kUnknownRow : row;
  }

  bool is_edge(std::uint32_t row) const {
    if (!arrays_.edge.empty()) return arrays_.edge[row] != 0;
    return !arrays_.edge_bits.empty() && (arrays_.edge_bits[row / 8] >> row % 8 & 1) != 0;
  }

  // scores[output] += weight, for all outputs of the row; `outputs` is the size of its output space.
  void add_row(std::uint32_t row, std::size_t outputs, double* scores) const {
    if (!is_plain_) return add_other_row(row, scores);
    const std::uint32_t first = row == 0 ? 0 : arrays_.row_end[row - 1], last = arrays_.row_end[row];
    const float* weights = arrays_.weights.data();
    if (last - first == outputs)  // distinct and sorted, so these are all of them
      add_dense(weights + first, outputs, scores);
    else
      for (std::uint32_t i = first; i < last; ++i) scores[arrays_.narrow[i]] += weights[i];
  }

  // scores[output] += scale * weight
  void add_row(std::uint32_t row, double scale, std::size_t outputs, double* scores) const {
    if (scale == 1.0) return add_row(row, outputs, scores);
    for_cells(row, [&](std::uint32_t output, float weight) {
      scores[output] += scale * static_cast<double>(weight);
    });
  }

  // Calls f(output, weight) for the cells of a row.
  template <class F>
  void for_cells(std::uint32_t row, F&& f) const {
    if (!is_plain_) return for_other_cells(row, f);
    const std::uint32_t last = arrays_.row_end[row];
    for (std::uint32_t i = row == 0 ? 0 : arrays_.row_end[row - 1]; i < last; ++i)
      f(std::uint32_t{arrays_.narrow[i]}, arrays_.weights[i]);
  }

 private:
  template <class F>
  void for_other_cells(std::uint32_t row, F&& f) const {
    const std::uint32_t first = begin(row), last = end(row);
    with_weights([&](auto&& weight) {
      if (output_size_ == sizeof(std::uint16_t)) {
        for (std::uint32_t i = first; i < last; ++i) f(std::uint32_t{arrays_.narrow[i]}, weight(i));
      } else if (output_size_ == sizeof(std::uint8_t)) {
        std::uint32_t next = 0;
        for (std::uint32_t i = first; i < last; ++i, ++next) f(next += arrays_.gaps[i], weight(i));
      } else {
        for (std::uint32_t i = first; i < last; ++i) f(arrays_.wide[i], weight(i));
      }
    });
  }

  std::uint32_t end(std::size_t row) const {
    if (arrays_.short_end.empty()) return arrays_.row_end[row];
    return arrays_.row_base[row / kBlock] + arrays_.short_end[row];
  }
  std::uint32_t begin(std::uint32_t row) const { return row == 0 ? 0 : end(row - 1); }

  template <class Key>
  std::uint32_t row_of(std::span<const Key> keys, Key key) const {
    std::size_t i = home_of(key, arrays_.homes);
    while (keys[i] != 0 && keys[i] < key) ++i;
    return keys[i] == key ? static_cast<std::uint32_t>(i) : kUnknownRow;
  }

  // Which kind of array there is does not change from cell to cell: the choice stands outside of loops.
  template <class F>
  void with_weights(F&& f) const {
    if (weight_size_ == sizeof(float))
      f([weights = arrays_.weights.data()](std::size_t i) { return weights[i]; });
    else if (weight_size_ == sizeof(std::int16_t))
      f([halves = arrays_.halves.data(), scale = arrays_.scale](std::size_t i) {
        return static_cast<float>(halves[i]) * scale;
      });
    else
      f([codes = arrays_.codes.data(), book = arrays_.codebook.data()](std::size_t i) {
        return book[codes[i]];
      });
  }

  // Where a key is in the filter: the word and its bits there, of the highest digits on.
  std::size_t filter_word(std::uint32_t key) const { return std::uint64_t{key} >> filter_shift_; }
  std::uint64_t marks_of(std::uint32_t key) const {
    return std::uint64_t{1} << (key >> (filter_shift_ - 6) & 63) | std::uint64_t{1}
                                                                       << (key >> (filter_shift_ - 12) & 63);
  }

  template <class Key>
  void check_slots(std::span<const Key> keys) const;
  template <class Key>
  void make_filter(std::span<const Key> keys);
  void add_other_row(std::uint32_t row, double* scores) const;
  void check_rows() const;
  void check_weights() const;
  void check_cells(std::uint64_t node_outputs, std::uint64_t edge_outputs) const;

  FrozenArrays arrays_;
  LargeVector<std::uint64_t> filter_;  // by range of keys: two bits for each key that there is
  int filter_shift_ = 0;
  std::size_t weight_size_ = sizeof(float), output_size_ = sizeof(std::uint16_t);
  bool is_plain_ =
      false;  // no array is in a smaller form, and outputs are narrow: the common case, kept quick
  const char* weight_bytes_ = nullptr;
  const char* output_bytes_ = nullptr;
};

// The arrays of a frozen model, made from trained weights: all-zero rows and (but for nearly
// full rows) zero cells are left out.
struct FrozenStorage {
  std::uint64_t homes = 1;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> row_end, outputs;
  std::vector<float> weights;
  std::vector<std::uint8_t> edge;
  std::vector<std::uint32_t> rows;  // [slots] the training row each came from; kNoRow: empty
};
FrozenStorage freeze(const SparseRows& weights, const FeatureIndex& index, std::uint32_t width,
                     const std::vector<std::uint8_t>& kept = {});

}  // namespace marginalia
