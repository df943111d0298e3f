#include "weights/packing.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/range_coder.hpp"

namespace marginalia {

namespace {

constexpr std::uint32_t kMostContexts = 1u << 20;  // of one kind of symbols, with all their decisions

void require(bool fits, const char* what) {
  if (!fits) throw std::invalid_argument(what);
}

// Symbols below `size`, from the most significant bit on, each bit in the context of those before it; the
// lowest bits of very many symbols as they are. Contexts are numbers below `contexts`: neighbours share one
// if there are too many.
class Symbols {
 public:
  Symbols(std::uint32_t size, std::uint32_t contexts) {
    const int all = static_cast<int>(std::bit_width(size - 1));
    bits_ = std::min(all, kMostBits);
    plain_ = all - bits_;
    while ((contexts >> shift_) + 1u > kMostContexts >> bits_) ++shift_;
    models_.resize(((contexts >> shift_) + std::size_t{1}) << bits_);
  }

  template <class Coder>
  std::uint32_t code(Coder& coder, std::uint32_t value, std::uint32_t context) {
    AdaptiveBit* models = &models_[std::size_t{context >> shift_} << bits_];
    std::uint32_t node = 1;
    for (int i = bits_ - 1; i >= 0; --i)
      node =
          node << 1 | static_cast<std::uint32_t>(coder.bit(models[node], (value >> (i + plain_) & 1) != 0));
    const std::uint32_t upper = node - (1u << bits_);
    return plain_ == 0 ? upper : upper << plain_ | coder.number(value & ((1u << plain_) - 1), plain_);
  }

 private:
  static constexpr int kMostBits = 14;
  int bits_ = 0, plain_ = 0, shift_ = 0;
  std::vector<AdaptiveBit> models_;
};

// Numbers of any size: how many bits they have, then those below the first, of which two are learned.
class Numbers {
 public:
  template <class Coder>
  std::uint32_t code(Coder& coder, std::uint32_t value) {
    const std::uint32_t size = sizes_.code(coder, static_cast<std::uint32_t>(std::bit_width(value)), 0);
    require(size <= 32, "packed weights: a number is out of range");
    if (size < 2) return size;
    const int rest = static_cast<int>(size) - 1, learned = std::min(rest, 2), plain = rest - learned;
    const std::uint32_t below = value & static_cast<std::uint32_t>((std::uint64_t{1} << rest) - 1);
    const std::uint32_t upper = upper_.code(coder, below >> plain << (2 - learned), size);
    const std::uint32_t found = upper >> (2 - learned) << plain;
    return 1u << rest | found | coder.number(below & ((1u << plain) - 1), plain);
  }

 private:
  Symbols sizes_{64, 1}, upper_{4, 33};
};

// How many cells of a row are still to come, as a context.
constexpr std::uint32_t kRest = 4;
std::uint32_t rest_class(std::uint32_t rest) {
  return rest <= 1 ? 0 : rest <= 4 ? 1 : rest <= 16 ? 2 : 3;
}

// What follows which output in a row. With many outputs what comes before one says enough.
class Outputs {
 public:
  explicit Outputs(std::uint32_t width)
      : classes_(width <= 256 ? kRest : 1), symbols_(width, (width + 1) * classes_) {}

  // `before`: 1 + the output before, or 0.
  template <class Coder>
  std::uint32_t code(Coder& coder, std::uint32_t output, std::uint32_t before, std::uint32_t rest) {
    return symbols_.code(coder, output, before * classes_ + (classes_ == 1 ? 0 : rest_class(rest)));
  }

 private:
  std::uint32_t classes_;
  Symbols symbols_;
};

// Values of cells: sign by the output and the sign before, level by the output; with few outputs by the level
// before, too, which then says more.
class Values {
 public:
  Values(std::uint32_t width, const PackingShape& shape)
      : levels_(shape.levels),
        bits_(shape.bits),
        before_(width <= kFew ? levels_ + 1 : 1),
        signs_(2, width * 3),
        steps_(std::max(levels_, 1u), levels_ == 0 ? 1 : width * before_) {}

  void begin_row() { sign_ = level_ = 0; }

  template <class Coder>
  std::uint32_t code(Coder& coder, std::uint32_t value, std::uint32_t output) {
    if (levels_ == 0) return coder.number(value, bits_);
    const std::uint32_t negative = signs_.code(coder, value > levels_, output * 3 + sign_);
    const std::uint32_t given = value - 1 - (value > levels_ ? levels_ : 0);
    const std::uint32_t level = steps_.code(coder, given, output * before_ + (before_ == 1 ? 0 : level_));
    require(level < levels_, "packed weights: a weight is out of range");
    sign_ = 1 + negative;
    level_ = level + 1;
    return 1 + level + (negative != 0 ? levels_ : 0);
  }

 private:
  static constexpr std::uint32_t kFew = 16;
  std::uint32_t levels_;
  int bits_;
  std::uint32_t before_;
  Symbols signs_, steps_;
  std::uint32_t sign_ = 0, level_ = 0;
};

// The format, for both directions: the rows are written, or filled with what is read.
template <class Coder>
class Packing {
 public:
  Packing(Coder& coder, const PackingShape& shape)
      : coder_(coder),
        shape_(shape),
        single_(shape.width),
        first_(shape.has_edges ? shape.width : 1),
        second_(shape.has_edges ? shape.width : 1),
        values_(shape.width, shape),
        edge_values_(shape.has_edges ? shape.width : 1, shape) {}

  void code(RowList& rows) {
    std::uint64_t key = 0, cell = 0;
    for (std::uint32_t row = 0; row < shape_.rows; ++row) {
      if constexpr (Coder::kReads) grow_rows(rows);
      key += std::uint64_t{1} + keys_.code(coder_, static_cast<std::uint32_t>(rows.keys[row] - key - 1));
      require(key <= UINT32_MAX, "packed weights: a key is out of range");
      rows.keys[row] = static_cast<std::uint32_t>(key);
      if (shape_.has_edges) rows.edge[row] = coder_.bit(edge_, rows.edge[row] != 0);
      const std::uint32_t size = 1 + sizes_.code(coder_, rows.sizes[row] - 1);
      require(size != 0 && size <= shape_.cells - cell, "packed weights: rows and cells disagree");
      rows.sizes[row] = size;
      if constexpr (Coder::kReads) grow_cells(rows, size);
      if (rows.edge[row] != 0)
        code_pairs(&rows.outputs[cell], &rows.values[cell], size);
      else
        code_singles(&rows.outputs[cell], &rows.values[cell], size);
      cell += size;
    }
    require(cell == shape_.cells, "packed weights: rows and cells disagree");
  }

 private:
  // What a file says of its size is not believed: room is made for what was read.
  void grow_rows(RowList& rows) {
    require(!coder_.is_behind_end(), "packed weights: there are too few bytes");
    rows.keys.push_back(0);
    rows.sizes.push_back(0);
    rows.edge.push_back(0);
  }
  static void grow_cells(RowList& rows, std::uint32_t size) {
    rows.outputs.resize(rows.outputs.size() + size);
    rows.values.resize(rows.values.size() + size);
  }

  void code_singles(std::uint32_t* outputs, std::uint32_t* values, std::uint32_t size) {
    values_.begin_row();
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t output = single_.code(coder_, outputs[i], before, size - i);
      require(output >= before && output < shape_.width, "packed weights: an output is out of range");
      outputs[i] = output;
      values[i] = values_.code(coder_, values[i], output);
      before = output + 1;
    }
  }

  void code_pairs(std::uint32_t* outputs, std::uint32_t* values, std::uint32_t size) {
    edge_values_.begin_row();
    std::uint32_t before = 0, least = 0;  // the first of the pair before + 1; what the second is at least
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t first = first_.code(coder_, outputs[i] / shape_.width, before, size - i);
      if (first + 1 != before) least = 0;
      const std::uint32_t second = second_.code(coder_, outputs[i] % shape_.width, least, size - i);
      require(first + 1 >= before && first < shape_.width && second >= least && second < shape_.width,
              "packed weights: an output is out of range");
      outputs[i] = first * shape_.width + second;
      values[i] = edge_values_.code(coder_, values[i], second);
      before = first + 1;
      least = second + 1;
    }
  }

  Coder& coder_;
  const PackingShape& shape_;
  Numbers keys_, sizes_;
  AdaptiveBit edge_;
  Outputs single_, first_, second_;
  Values values_, edge_values_;
};

void check(const PackingShape& shape) {
  require(shape.width > 0 && shape.width < 1u << 30 && shape.levels < 1u << 15 && shape.bits > 0 &&
              shape.bits <= 32 && (!shape.has_edges || shape.width < 1u << 15),
          "packed weights: sizes are out of range");
}

}  // namespace

std::vector<std::uint8_t> pack(RowList rows, const PackingShape& shape) {
  check(shape);
  require(rows.keys.size() == shape.rows && rows.sizes.size() == shape.rows &&
              rows.edge.size() == shape.rows && rows.outputs.size() == shape.cells &&
              rows.values.size() == shape.cells,
          "weights to pack: rows and cells disagree");
  const std::uint64_t width = shape.width, outputs = shape.has_edges ? width * width : width;
  for (const std::uint32_t output : rows.outputs)
    require(output < outputs, "weights to pack: an output is out of range");
  for (const std::uint32_t value : rows.values)
    require(shape.levels == 0 ? shape.bits == 32 || value >> shape.bits == 0
                              : value > 0 && value <= 2 * shape.levels,
            "weights to pack: a weight is out of range");
  RangeEncoder coder;
  Packing<RangeEncoder>(coder, shape).code(rows);
  return coder.finish();
}

RowList unpack(std::span<const std::uint8_t> bytes, const PackingShape& shape) {
  check(shape);
  RowList rows;
  RangeDecoder coder(bytes);
  Packing<RangeDecoder>(coder, shape).code(rows);
  require(coder.is_at_end(), "packed weights: there are too few bytes, or too many");
  return rows;
}

}  // namespace marginalia
