#include "weights/frozen.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "base/simd.hpp"

namespace marginalia {

namespace {

void require(bool fits, const char* what) {
  if (!fits) throw std::invalid_argument(what);
}

bool nonzero(const Cell& cell) {
  return cell.weight != 0.0f;
}

// Sorts the cells by output. Zeros go, unless the row is nearly full: then all outputs stand there, because a
// full row is added as a vector.
void tidy(std::vector<Cell>& cells, std::size_t outputs) {
  std::erase_if(cells, [](const Cell& c) { return !nonzero(c); });
  if (cells.size() * 2 > outputs) {
    std::vector<Cell> all(outputs);
    for (std::uint32_t o = 0; o < outputs; ++o) all[o] = {o, 0.0f};
    for (const Cell& cell : cells) all[cell.output] = cell;
    cells = std::move(all);
    return;
  }
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.output < b.output; });
}

// Rows with weights, by rising key.
std::vector<std::uint32_t> used_rows(const SparseRows& weights, const FeatureIndex& index,
                                     const std::vector<std::uint8_t>& kept) {
  std::vector<std::uint32_t> rows;
  const std::size_t all = std::min<std::size_t>(index.rows(), weights.rows.size());
  for (std::uint32_t row = 1; row < all; ++row)
    if (index.scope(row) != Scope::global &&  // those are kept by themselves
        ((!kept.empty() && kept[row] != 0) || std::any_of(weights.begin(row), weights.end(row), nonzero)))
      rows.push_back(row);
  std::sort(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return index.key(a) < index.key(b); });
  return rows;
}

}  // namespace

MARGINALIA_KERNEL
void add_dense(const float* __restrict weights, std::size_t size, double* __restrict scores) {
  for (std::size_t i = 0; i < size; ++i) scores[i] += static_cast<double>(weights[i]);
}

FrozenWeights::FrozenWeights(const FrozenArrays& arrays, std::uint64_t node_outputs,
                             std::uint64_t edge_outputs)
    : arrays_(arrays) {
  check_rows();
  std::size_t weights = 0, outputs = 0;
  const auto take = [](const auto& array, std::size_t& cells, std::size_t& size, const char*& bytes) {
    if (array.empty()) return;
    require(cells == 0, "weights: cells are there twice");
    cells = array.size();
    size = sizeof(array[0]);
    bytes = reinterpret_cast<const char*>(array.data());
  };
  take(arrays.weights, weights, weight_size_, weight_bytes_);
  take(arrays.halves, weights, weight_size_, weight_bytes_);
  take(arrays.codes, weights, weight_size_, weight_bytes_);
  take(arrays.narrow, outputs, output_size_, output_bytes_);
  take(arrays.gaps, outputs, output_size_, output_bytes_);
  take(arrays.wide, outputs, output_size_, output_bytes_);
  require(weights == outputs, "weights: cells disagree in number");
  is_plain_ = weight_size_ == sizeof(float) && output_size_ == sizeof(std::uint16_t) &&
              arrays.short_end.empty() && arrays.short_keys.empty();
  require(end(slots() - 1) == weights, "weights: rows and cells disagree");
  if (arrays.short_keys.empty()) {
    check_slots(arrays.keys);
    make_filter(arrays.keys);
  } else {
    check_slots(arrays.short_keys);
    make_filter(arrays.short_keys);
  }
  check_weights();
  check_cells(node_outputs, edge_outputs);
}

void FrozenWeights::add_other_row(std::uint32_t row, double* scores) const {
  for_cells(row,
            [scores](std::uint32_t output, float weight) { scores[output] += static_cast<double>(weight); });
}

template <class Key>
void FrozenWeights::check_slots(std::span<const Key> keys) const {
  require(keys.back() == 0, "weights: the table of keys has no end");
  Key previous = 0;
  std::size_t run = 0;  // first slot of the run of keys that we are in
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == 0) {
      run = i + 1;
      continue;
    }
    const std::uint64_t home = home_of(keys[i], arrays_.homes);
    require(keys[i] > previous && run <= home && home <= i, "weights: the keys are not in order");
    previous = keys[i];
  }
}

// Small enough to stay near the processor, and mostly empty unless there are many keys.
template <class Key>
void FrozenWeights::make_filter(std::span<const Key> keys) {
  constexpr int least = 0, most = 18;  // log2 of words
  const int words = std::clamp(static_cast<int>(std::bit_width(keys.size() / 8)), least, most);
  filter_shift_ = 32 - words;
  filter_.assign(std::size_t{1} << words, 0);
  for (const Key key : keys) {
    if (key == 0) continue;
    const std::uint32_t seen = sizeof(Key) == 8 ? short_key(key) : static_cast<std::uint32_t>(key);
    filter_[filter_word(seen)] |= marks_of(seen);
  }
}

void FrozenWeights::check_weights() const {
  const auto finite = [](float weight) { return std::isfinite(weight); };
  require(std::all_of(arrays_.weights.begin(), arrays_.weights.end(), finite),
          "weights: a weight is not finite");
  require(arrays_.codes.empty() || (arrays_.codebook.size() == 256 &&
                                    std::all_of(arrays_.codebook.begin(), arrays_.codebook.end(), finite)),
          "weights: the codebook is not one of 256 finite numbers");
  constexpr float most = 32768.0f;
  require(arrays_.halves.empty() || finite(arrays_.scale * most), "weights: the scale is out of range");
}

// Rows and slots fit each other, and rows follow one another.
void FrozenWeights::check_rows() const {
  const FrozenArrays& a = arrays_;
  const std::size_t all = slots();
  const auto is_one_of = [](const auto& one, const auto& other) { return one.empty() || other.empty(); };
  require(a.homes > 0 && a.homes < all && all < (std::size_t{1} << 31),
          "weights: the table has a wrong size");
  require(is_one_of(a.keys, a.short_keys) && is_one_of(a.row_end, a.short_end) &&
              a.row_end.size() + a.short_end.size() == all &&
              (a.short_end.empty() || a.row_base.size() == (all + kBlock - 1) / kBlock),
          "weights: rows disagree in number");
  require((a.edge.empty() || a.edge.size() == all) &&
              (a.edge_bits.empty() || a.edge_bits.size() == (all + 7) / 8),
          "weights: rows and scopes disagree");
  for (const std::uint32_t base : a.row_base)
    require(base <= UINT32_MAX - UINT16_MAX, "weights: rows and cells disagree");
  for (std::size_t row = 1; row < all; ++row) require(end(row - 1) <= end(row), "weights: rows overlap");
}

void FrozenWeights::check_cells(std::uint64_t node_outputs, std::uint64_t edge_outputs) const {
  for (std::uint32_t row = 0; row < slots(); ++row) {
    const std::uint64_t outputs = is_edge(row) ? edge_outputs : node_outputs;
    std::uint64_t least = 0;
    for (std::uint32_t i = begin(row); i < end(row); ++i) {
      const bool in_gaps = output_size_ == sizeof(std::uint8_t);
      const std::uint64_t output = in_gaps                ? least + arrays_.gaps[i]
                                   : arrays_.wide.empty() ? arrays_.narrow[i]
                                                          : arrays_.wide[i];
      require(output >= least, "weights: the outputs of a row are not sorted");
      least = output + 1;
    }
    require(least <= outputs, "weights: an output is out of range");
  }
}

FrozenStorage freeze(const SparseRows& weights, const FeatureIndex& index, std::uint32_t width,
                     const std::vector<std::uint8_t>& kept) {
  require(weights.rows.size() <= index.rows(), "weights: there are more rows than features");
  FrozenStorage out;
  const std::vector<std::uint32_t> rows = used_rows(weights, index, kept);
  out.homes = rows.size() + rows.size() / 2 + 1;
  const auto fill_to = [&](std::size_t slot) {  // empty slots have no cells
    out.keys.resize(slot, 0);
    out.rows.resize(slot, kNoRow);
    out.row_end.resize(slot, static_cast<std::uint32_t>(out.weights.size()));
  };
  std::vector<Cell> cells;
  for (const std::uint32_t row : rows) {
    const std::uint64_t key = index.key(row);
    fill_to(std::max<std::size_t>(home_of(key, out.homes), out.keys.size()));
    cells.assign(weights.begin(row), weights.end(row));
    const std::size_t outputs = index.scope(row) == Scope::edge ? std::size_t{width} * width : width;
    for (const Cell& cell : cells) require(cell.output < outputs, "weights: an output is out of range");
    tidy(cells, outputs);
    for (const Cell& cell : cells) {
      out.outputs.push_back(cell.output);
      out.weights.push_back(cell.weight);
    }
    out.keys.push_back(key);
    out.rows.push_back(row);
    out.row_end.push_back(static_cast<std::uint32_t>(out.weights.size()));
  }
  fill_to(std::max<std::size_t>(out.homes, out.keys.size()) + 1);
  const auto is_edge = [&](std::uint32_t row) { return row != kNoRow && index.scope(row) == Scope::edge; };
  if (std::any_of(out.rows.begin(), out.rows.end(), is_edge))
    for (const std::uint32_t row : out.rows) out.edge.push_back(is_edge(row) ? 1 : 0);
  return out;
}

}  // namespace marginalia
