#include "weights/weight_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/simd.hpp"

namespace marginalia {

MARGINALIA_KERNEL
void add_dense(const Cell* __restrict cells, std::size_t size, double* __restrict scores) {
  for (std::size_t i = 0; i < size; ++i) scores[i] += static_cast<double>(cells[i].weight);
}

SparseRows SparseRows::compact() const {
  SparseRows result;
  result.rows.reserve(rows.size());
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    result.rows.push_back({static_cast<std::uint32_t>(result.cells.size()), rows[row].size});
    result.cells.insert(result.cells.end(), begin(row), end(row));
    std::sort(result.cells.end() - rows[row].size, result.cells.end(),
              [](const Cell& a, const Cell& b) { return a.output < b.output; });
  }
  return result;
}

WeightTable::WeightTable(std::uint32_t rows, std::uint32_t constants, Penalty penalty, bool variances,
                         bool log, bool provenance)
    : penalty_(penalty),
      has_variances_(variances),
      keeps_log_(log),
      keeps_provenance_(provenance),
      free_(33) {
  if (penalty.rate == 0.0) penalty_.kind = Penalty::Kind::none;
  log_rate_ = std::log1p(-penalty.rate);
  if (rows == 0) throw std::invalid_argument("weights: row 0 is missing");
  if (!(penalty.rate >= 0.0) || (penalty.kind == Penalty::Kind::l2 && penalty.rate >= 1.0))
    throw std::invalid_argument("weights: the penalty is out of range");
  table_.rows.resize(rows);
  table_.rows[0] = {0, constants};
  if (penalised()) caught_up_.resize(rows, 0.0);
  resize_cells(constants);
  for (std::uint32_t i = 0; i < constants; ++i) clear_cell(i, i);
}

double WeightTable::update(const Coordinate& at, double change, double step) {
  const std::size_t i = cell_of(at);
  const float before = table_.cells[i].weight;
  set_weight(at, i, static_cast<float>(before + change));
  totals_[i] += step * change;
  if (keeps_provenance_)  // what rounding left of the change, so that provenance sum to the weight
    provenance_.add(at.row, at.output, example_,
                    static_cast<double>(table_.cells[i].weight) - static_cast<double>(before), step * change);
  if (keeps_log_)
    log_.push_back({at.row, at.output, static_cast<std::uint32_t>(step), static_cast<float>(change)});
  return table_.cells[i].weight;
}

void WeightTable::make_room(const Coordinate& at, bool whole_row) {
  drop_copies();
  SparseRows::Row& row = row_at(at.row);
  if (!whole_row)
    cell_of(at);
  else if (row.size != at.outputs)
    enlarge(row, at.outputs, true);
}

double WeightTable::weight(const Coordinate& at) const {
  const std::size_t i = table_.place_of(at);
  return i == SIZE_MAX ? 0.0 : static_cast<double>(table_.cells[i].weight);
}

double WeightTable::variance(const Coordinate& at) const {
  const std::size_t i = table_.place_of(at);
  return i == SIZE_MAX ? 1.0 : static_cast<double>(variances_[i]);
}

void WeightTable::set_variance(const Coordinate& at, double variance) {
  variances_[cell_of(at)] = static_cast<float>(variance);
}

SparseRows::Row& WeightTable::row_at(std::uint32_t row) {
  if (row >= table_.rows.size()) {
    table_.rows.resize(std::size_t{row} + 1);
    if (penalised()) caught_up_.resize(table_.rows.size(), due_);
    if (table_.dense.width() != 0) table_.dense.resize(table_.rows.size());
  }
  return table_.rows[row];
}

std::size_t WeightTable::cell_of(const Coordinate& at) {
  const std::size_t found = table_.place_of(at);
  if (found != SIZE_MAX) return found;
  SparseRows::Row& row = row_at(at.row);
  if (row.size == 0 && penalised()) caught_up_[at.row] = due_;  // what was due before concerns no one here
  if (row.size == 0 || std::has_single_bit(row.size)) enlarge(row, at.outputs, false);
  if (row.size == at.outputs) return row.begin + at.output;
  const std::size_t i = row.begin + row.size++;
  clear_cell(i, at.output);
  return i;
}

void WeightTable::keep_copies(std::uint32_t outputs) {
  if (!may_copy_ || outputs == table_.dense.width() || outputs > DenseRows::kMostOutputs) return;
  table_.dense.begin(outputs, table_.rows.size());
  for (std::uint32_t row = 1; row < table_.rows.size(); ++row) copy_row(row);
}

void WeightTable::copy_row(std::uint32_t row) {
  for (const Cell* c = table_.begin(row); c != table_.end(row); ++c)
    if (c->output < table_.dense.width()) table_.dense.set(row, c->output, c->weight);  // else it has others
}

// Moves a full row to a place with room for one more cell, any row to one with room for all of them.
void WeightTable::enlarge(SparseRows::Row& row, std::uint32_t outputs, bool whole) {
  const SparseRows::Row old = row;
  const std::uint32_t capacity = std::max(1u, old.size * 2);
  const bool dense = whole || capacity > outputs / 2;
  row.begin = allocate(dense ? outputs : capacity);
  if (dense) {
    row.size = outputs;
    for (std::uint32_t o = 0; o < outputs; ++o) clear_cell(row.begin + o, o);
  }
  for (std::uint32_t k = 0; k < old.size; ++k) {
    const std::size_t from = old.begin + k, to = row.begin + (dense ? table_.cells[from].output : k);
    table_.cells[to] = table_.cells[from];
    totals_[to] = totals_[from];
    if (!paid_.empty()) paid_[to] = paid_[from];
    if (!variances_.empty()) variances_[to] = variances_[from];
  }
  if (std::has_single_bit(old.size))
    free_[static_cast<std::size_t>(std::bit_width(old.size))].push_back(old.begin);
}

std::uint32_t WeightTable::allocate(std::uint32_t capacity) {
  auto& reusable = free_[static_cast<std::size_t>(std::bit_width(capacity))];
  if (std::has_single_bit(capacity) && !reusable.empty()) {
    const std::uint32_t begin = reusable.back();
    reusable.pop_back();
    return begin;
  }
  const std::size_t begin = table_.cells.size();
  if (begin + capacity > UINT32_MAX) throw std::length_error("more than 4 billion weights");
  resize_cells(begin + capacity);
  return static_cast<std::uint32_t>(begin);
}

void WeightTable::resize_cells(std::size_t size) {
  table_.cells.resize(size);
  totals_.resize(size);
  const auto cumulative = {Penalty::Kind::cumulative, Penalty::Kind::signed_};
  if (std::find(cumulative.begin(), cumulative.end(), penalty_.kind) != cumulative.end()) paid_.resize(size);
  if (has_variances_) variances_.resize(size);
}

void WeightTable::clear_cell(std::size_t i, std::uint32_t output) {
  table_.cells[i] = {output, 0.0f};
  totals_[i] = 0.0;
  if (!paid_.empty()) paid_[i] = 0.0;
  if (!variances_.empty()) variances_[i] = 1.0f;
}

void WeightTable::charge(double scale) {
  const double rate = scale * penalty_.rate;
  if (penalty_.kind == Penalty::Kind::l2 && !(rate < 1.0))
    throw std::invalid_argument("weights: learning rate times l2 must be below 1");
  due_ += penalty_.kind != Penalty::Kind::l2 ? rate : scale == 1.0 ? log_rate_ : std::log1p(-rate);
}

void WeightTable::catch_up(std::uint32_t row, double steps) {
  if (!penalised() || row >= caught_up_.size() || caught_up_[row] == due_) return;
  const double since = due_ - caught_up_[row];
  caught_up_[row] = due_;
  const SparseRows::Row& r = table_.rows[row];
  if (penalty_.kind == Penalty::Kind::l2)
    shrink(r, since, steps);
  else
    clip(r, since, steps);
  if (row != 0) copy_row(row);
}

void WeightTable::catch_up_all(double steps) {
  if (!penalised()) return;
  for (std::uint32_t row = 0; row < table_.rows.size(); ++row) catch_up(row, steps);
}

// Both bring the totals along: mean * steps = weight * steps - total, and the sum of the weights after each
// of the k steps paid for, the last of them the one before `steps`, is known in closed form.
void WeightTable::shrink(const SparseRows::Row& row, double since, double steps) {
  const double k = std::round(since / log_rate_);
  const double left = std::exp(since), sum = (1.0 - penalty_.rate) * -std::expm1(since) / penalty_.rate;
  const double total = steps * left - (steps - k) - sum;  // for a weight of 1
  for (std::size_t i = row.begin; i < row.begin + row.size; ++i) {
    const double old = static_cast<double>(table_.cells[i].weight);
    table_.cells[i].weight = static_cast<float>(old * left);
    totals_[i] += old * total;
  }
}

void WeightTable::clip(const SparseRows::Row& row, double since, double steps) {
  const double rate = penalty_.rate, k = std::round(since / rate);
  for (std::size_t i = row.begin; i < row.begin + row.size; ++i) {
    const double old = static_cast<double>(table_.cells[i].weight), size = std::abs(old);
    if (old == 0.0) continue;
    double debt = 0.0;  // what it owed before these steps
    if (penalty_.kind == Penalty::Kind::cumulative) debt = due_ - since - paid_[i];
    if (penalty_.kind == Penalty::Kind::signed_) debt = due_ - since + (old > 0.0 ? paid_[i] : -paid_[i]);
    const double first = size - debt;
    const double left = static_cast<float>(std::max(0.0, first - since));  // what rounding keeps stays owed
    const double whole = left > 0.0 ? k : std::clamp(std::floor(first / rate), 0.0, k);  // left something
    const double sum = whole * (first - rate * (whole + 1.0) / 2.0);
    if (penalty_.kind == Penalty::Kind::cumulative) paid_[i] += size - left;
    if (penalty_.kind == Penalty::Kind::signed_) paid_[i] += old > 0.0 ? left - size : size - left;
    const double now = old < 0.0 ? -left : left;
    table_.cells[i].weight = static_cast<float>(now);
    totals_[i] += steps * now - (steps - k) * old - (old < 0.0 ? -sum : sum);
  }
}

SparseRows WeightTable::averaged(double steps) const {
  SparseRows result = table_;
  if (steps <= 0) return result;
  for (const SparseRows::Row& row : table_.rows)
    for (std::size_t i = row.begin; i < row.begin + row.size; ++i)
      result.cells[i].weight = static_cast<float>(table_.cells[i].weight - totals_[i] / steps);
  return result;
}

void WeightTable::forget_totals() {
  std::fill(totals_.begin(), totals_.end(), 0.0);
}

WeightTable::State WeightTable::state() const {
  State state;
  state.due = due_;
  std::vector<std::size_t> cells;  // of a row, by output: their order in memory depends on how they came
  for (const SparseRows::Row& row : table_.rows) {
    cells.resize(row.size);
    std::iota(cells.begin(), cells.end(), row.begin);
    std::sort(cells.begin(), cells.end(),
              [&](std::size_t a, std::size_t b) { return table_.cells[a].output < table_.cells[b].output; });
    for (const std::size_t i : cells) {
      const double paid = paid_.empty() ? 0.0 : paid_[i];
      const float variance = has_variances_ ? variances_[i] : 1.0f;
      if (table_.cells[i].weight == 0.0f && totals_[i] == 0.0 && paid == 0.0 && variance == 1.0f) continue;
      state.outputs.push_back(table_.cells[i].output);
      state.weights.push_back(table_.cells[i].weight);
      state.totals.push_back(totals_[i]);
      if (!paid_.empty()) state.paid.push_back(paid);
      if (has_variances_) state.variances.push_back(variance);
    }
    state.row_end.push_back(static_cast<std::uint32_t>(state.outputs.size()));
  }
  return state;
}

void WeightTable::restore(const Coordinate& at, float weight, double total, double paid, float variance) {
  const std::size_t i = cell_of(at);
  set_weight(at, i, weight);
  totals_[i] = total;
  if (keeps_provenance_) provenance_.add(at.row, at.output, kNoExample, static_cast<double>(weight), total);
  if (!paid_.empty()) paid_[i] = paid;
  if (has_variances_) variances_[i] = variance;
}

void WeightTable::restore_due(double due) {
  due_ = due;
  std::fill(caught_up_.begin(), caught_up_.end(), due);
}

namespace {

// The rows of several sets of weights beside each other. A set may lack the last rows: they are empty.
class RowsTogether {
 public:
  explicit RowsTogether(const std::vector<const SparseRows*>& all) : all_(all) {
    for (const SparseRows* one : all) rows_ = std::max(rows_, one->rows.size());
  }

  std::uint32_t rows() const { return static_cast<std::uint32_t>(rows_); }

  // Calls begin(), each(set, cell) for its cells in the order of the sets, and end(output); for all
  // outputs of the row, by rising output.
  template <class Begin, class Each, class End>
  void for_outputs(std::uint32_t row, Begin&& begin, Each&& each, End&& end) {
    gather(row);
    for (std::size_t i = 0; i < found_.size();) {
      const std::uint32_t output = found_[i].output;
      begin();
      for (; i < found_.size() && found_[i].output == output; ++i) each(found_[i].set, found_[i].cell);
      end(output);
    }
  }

 private:
  struct CellOfSet {
    std::uint32_t output, set;
    std::size_t cell;
    bool operator<(const CellOfSet& other) const {
      return output != other.output ? output < other.output : set < other.set;
    }
  };

  void gather(std::uint32_t row) {
    found_.clear();
    for (std::uint32_t set = 0; set < all_.size(); ++set) {
      if (row >= all_[set]->rows.size()) continue;
      const SparseRows::Row& r = all_[set]->rows[row];
      for (std::size_t i = r.begin; i < r.begin + std::size_t{r.size}; ++i)
        found_.push_back({all_[set]->cells[i].output, set, i});
    }
    std::sort(found_.begin(), found_.end());
  }

  const std::vector<const SparseRows*>& all_;
  std::size_t rows_ = 0;
  std::vector<CellOfSet> found_;
};

// A set of weights made output by output: `value(sum, count)` of the sum of factor * weight (factors may be
// missing: 1) and of the number of weights that are not zero.
template <class Value>
SparseRows combined(const std::vector<const SparseRows*>& all, const std::vector<double>& factors,
                    Value&& value) {
  RowsTogether together(all);
  SparseRows result;
  result.rows.resize(together.rows());
  double sum = 0.0;
  std::size_t count = 0;
  for (std::uint32_t row = 0; row < together.rows(); ++row) {
    const std::size_t begin = result.cells.size();
    together.for_outputs(
        row, [&] { sum = 0.0, count = 0; },
        [&](std::uint32_t set, std::size_t cell) {
          const double weight = static_cast<double>(all[set]->cells[cell].weight);
          sum += factors.empty() ? weight : factors[set] * weight;
          count += weight != 0.0;
        },
        [&](std::uint32_t output) {
          result.cells.push_back({output, static_cast<float>(value(sum, count))});
        });
    result.rows[row] = {static_cast<std::uint32_t>(begin),
                        static_cast<std::uint32_t>(result.cells.size() - begin)};
  }
  return result;
}

}  // namespace

WeightTable WeightTable::mixed(const std::vector<const WeightTable*>& tables,
                               const std::function<std::uint32_t(std::uint32_t)>& outputs_of) {
  const WeightTable& first = *tables.front();
  std::vector<const SparseRows*> all;
  for (const WeightTable* table : tables) {
    if (table->table_.rows[0].size != first.table_.rows[0].size)
      throw std::invalid_argument("weights: tables of different sizes cannot be mixed");
    all.push_back(&table->table_);
  }
  RowsTogether together(all);
  WeightTable result(together.rows(), first.table_.rows[0].size, first.penalty_, first.has_variances_);
  const double share = 1.0 / static_cast<double>(tables.size());
  for (const WeightTable* table : tables) result.due_ += table->due_ * share;  // so payments never exceed it
  std::array<double, 4> sum;  // weight, total, paid, 1 - variance
  for (std::uint32_t row = 0; row < together.rows(); ++row)
    together.for_outputs(
        row, [&] { sum.fill(0.0); },
        [&](std::uint32_t set, std::size_t i) {
          const WeightTable& table = *tables[set];
          sum[0] += static_cast<double>(table.table_.cells[i].weight);
          sum[1] += table.totals_[i];
          if (!table.paid_.empty()) sum[2] += table.paid_[i];
          if (table.has_variances_) sum[3] += 1.0 - static_cast<double>(table.variances_[i]);
        },
        [&](std::uint32_t output) {
          result.restore({row, output, outputs_of(row)}, static_cast<float>(sum[0] * share), sum[1] * share,
                         sum[2] * share, static_cast<float>(1.0 - sum[3] * share));
        });
  std::fill(result.caught_up_.begin(), result.caught_up_.end(), result.due_);
  return result;
}

SparseRows mean_of(const std::vector<const SparseRows*>& all, bool nonzero) {
  return combined(all, {}, [&](double sum, std::size_t count) {
    return sum / static_cast<double>(nonzero ? std::max<std::size_t>(count, 1) : all.size());
  });
}

SparseRows sum_of(const std::vector<const SparseRows*>& all, const std::vector<double>& factors) {
  return combined(all, factors, [](double sum, std::size_t) { return sum; });
}

}  // namespace marginalia
