#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrays.hpp"
#include "bind.hpp"
#include "search/vote.hpp"
#include "weights/frozen.hpp"

using namespace marginalia;

namespace {

// Names of the given training rows, joined, with the end of each.
nb::tuple joined_names(const FeatureIndex& index, const std::vector<std::uint32_t>& rows) {
  std::string text;
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t row : rows) {
    text += index.name(row);  // of an empty slot: nothing
    if (text.size() > UINT32_MAX)
      throw std::length_error("feature names take more than 4 GiB: set names=off");
    ends.push_back(static_cast<std::uint32_t>(text.size()));
  }
  return nb::make_tuple(nb::bytes(text.data(), text.size()), give(std::move(ends)));
}

// What examples have of weights, as it was when it was asked for.
struct Provenance {
  std::vector<ProvenanceEntry> all;
};

nb::tuple flat_provenance(const Provenance& provenance) {
  std::vector<std::uint32_t> rows, outputs, examples;
  std::vector<double> parts;
  for (const ProvenanceEntry& entry : provenance.all) {
    rows.push_back(entry.row);
    outputs.push_back(entry.output);
    examples.push_back(entry.example);
    parts.push_back(entry.part);
  }
  return nb::make_tuple(give(std::move(rows)), give(std::move(outputs)), give(std::move(examples)),
                        give(std::move(parts)));
}

// Row by row of a model, and one more for the constants: the training rows.
std::vector<std::uint32_t> rows_and_constants(std::vector<std::uint32_t> rows) {
  // Row 0, which stands for empty slots, is that of the constants.
  for (std::uint32_t& row : rows) row = row == kNoRow ? UINT32_MAX : row;
  rows.push_back(kConstantRow);
  return rows;
}

void add_votes(const WeightTable& voters, std::span<const std::uint32_t> rows, std::uint32_t versions,
               nb::dict& out) {
  VoteStorage votes(voters.log(), rows, versions);
  out["vote_row_end"] = give(std::move(votes.row_end));
  out["vote_outputs"] = give(std::move(votes.outputs));
  out["vote_change_end"] = give(std::move(votes.change_end));
  out["vote_steps"] = give(std::move(votes.steps));
  out["vote_changes"] = give(std::move(votes.changes));
  out["vote_versions"] = give(std::vector<std::uint32_t>{versions});
}

void add_provenance(const Provenance& provenance, std::span<const std::uint32_t> rows, std::size_t most,
                    std::uint32_t examples, nb::dict& out) {
  ProvenanceStorage kept(provenance.all, rows, most, examples);
  out["lesson_row_end"] = give(std::move(kept.row_end));
  out["lesson_outputs"] = give(std::move(kept.outputs));
  out["lesson_end"] = give(std::move(kept.end));
  out["lesson_examples"] = give(std::move(kept.examples));
  out["lesson_parts"] = give(std::move(kept.parts));
  out["lesson_rest"] = give(std::move(kept.rest));
}

// The arrays of a model; with a table that keeps its log, the votes too, and with provenance the provenance:
// rows as those of the model, and one more for the constants.
nb::dict frozen(const SparseRows& weights, const FeatureIndex& index, std::uint32_t width,
                const WeightTable* voters, std::uint32_t versions, const Provenance* provenance,
                std::size_t most, std::uint32_t examples, std::uint32_t known) {
  std::vector<std::uint8_t> kept;
  if (known > 0) {
    kept.resize(weights.rows.size());
    std::fill_n(kept.begin(), std::min<std::size_t>(known, kept.size()), std::uint8_t{1});
  }
  if (voters != nullptr) {
    kept.resize(std::max(kept.size(), voters->current().rows.size()));
    for (const WeightTable::Change& c : voters->log()) kept[c.row] = 1;
  }
  FrozenStorage f = freeze(weights, index, width, kept);
  nb::dict out;
  const std::vector<std::uint32_t> rows = rows_and_constants(f.rows);
  if (voters != nullptr) add_votes(*voters, rows, versions, out);
  if (provenance != nullptr) add_provenance(*provenance, rows, most, examples, out);
  if (index.keeps_names()) {
    const nb::tuple names = joined_names(index, f.rows);
    out["names"] = names[0];
    out["name_end"] = names[1];
  }
  out["homes"] = give(std::vector<std::uint64_t>{f.homes});
  out["keys"] = give(std::move(f.keys));
  out["row_end"] = give(std::move(f.row_end));
  out["outputs"] = give(std::move(f.outputs));
  out["weights"] = give(std::move(f.weights));
  if (!f.edge.empty()) out["edge"] = give(std::move(f.edge));
  return out;
}

nb::tuple cells_of(const SparseRows& weights, std::uint32_t row) {
  if (row >= weights.rows.size()) throw nb::index_error("no such row");
  std::vector<std::uint32_t> outputs;
  std::vector<float> values;
  for (const Cell* c = weights.begin(row); c != weights.end(row); ++c) {
    outputs.push_back(c->output);
    values.push_back(c->weight);
  }
  return nb::make_tuple(give(std::move(outputs)), give(std::move(values)));
}

Penalty penalty_of(const std::string& kind, double rate) {
  using Kind = Penalty::Kind;
  if (kind == "none") return {};
  if (kind == "l2") return {Kind::l2, rate};
  if (kind == "l1") return {Kind::l1, rate};
  if (kind == "l1-cumulative") return {Kind::cumulative, rate};
  if (kind == "l1-signed") return {Kind::signed_, rate};
  throw std::invalid_argument("weights: unknown penalty " + kind);
}

void make_table(WeightTable* self, std::uint32_t rows, std::uint32_t constants, const std::string& penalty,
                double rate, bool variances, bool log, bool provenance) {
  new (self) WeightTable(rows, constants, penalty_of(penalty, rate), variances, log, provenance);
}

// The size of each row's output space: `width` for features of the structure's outputs, squared for those of
// neighbouring ones.
auto outputs_of(const FeatureIndex& index, std::uint32_t width, std::uint32_t constants) {
  return [&index, width, constants](std::uint32_t row) {
    if (row == kConstantRow) return constants;
    return index.scope(row) == Scope::edge ? width * width : width;
  };
}

WeightTable mixed(const std::vector<const WeightTable*>& tables, const FeatureIndex& index,
                  std::uint32_t width) {
  if (tables.empty()) throw std::invalid_argument("weights: there is nothing to mix");
  for (const WeightTable* table : tables)
    if (table->current().rows.size() > index.rows())
      throw std::invalid_argument("weights: rows and features disagree");
  const std::uint32_t constants = tables[0]->current().rows[kConstantRow].size;
  nb::gil_scoped_release unlocked;
  return WeightTable::mixed(tables, outputs_of(index, width, constants));
}

SparseRows mean(const std::vector<const SparseRows*>& all, bool nonzero) {
  if (all.empty()) throw std::invalid_argument("weights: there is nothing to average");
  nb::gil_scoped_release unlocked;
  return mean_of(all, nonzero);
}

SparseRows sum(const std::vector<const SparseRows*>& all, const std::vector<double>& factors) {
  if (all.empty() || factors.size() != all.size())
    throw std::invalid_argument("weights: expected a factor for each set to be summed");
  nb::gil_scoped_release unlocked;
  return sum_of(all, factors);
}

nb::dict state_of(const WeightTable& weights) {
  WeightTable::State state = weights.state();
  nb::dict out;
  out["row_end"] = give(std::move(state.row_end));
  out["outputs"] = give(std::move(state.outputs));
  out["weights"] = give(std::move(state.weights));
  out["totals"] = give(std::move(state.totals));
  if (!state.paid.empty()) out["paid"] = give(std::move(state.paid));
  if (!state.variances.empty()) out["variances"] = give(std::move(state.variances));
  out["due"] = give(std::vector<double>{state.due});
  if (weights.keeps_log()) {
    std::vector<std::uint32_t> places;  // row, output, step
    std::vector<float> changes;
    for (const WeightTable::Change& c : weights.log()) {
      places.insert(places.end(), {c.row, c.output, c.step});
      changes.push_back(c.change);
    }
    out["log_places"] = give(std::move(places));
    out["log_changes"] = give(std::move(changes));
  }
  return out;
}

// Weight k goes to rows[k] and outputs[k]. `totals`, `paid` and `variances` may be empty.
void restore(WeightTable& weights, const FeatureIndex& index, std::uint32_t width,
             const Input<std::uint32_t>& rows, const Input<std::uint32_t>& outputs,
             const Input<float>& values, const Input<double>& totals, const Input<double>& paid,
             const Input<float>& variances, double due) {
  const std::uint32_t constants = weights.current().rows[kConstantRow].size;
  const auto sizes = outputs_of(index, width, constants);
  const auto fits = [&](std::size_t size) { return size == 0 || size == rows.size(); };
  if (outputs.size() != rows.size() || values.size() != rows.size() || !fits(totals.size()) ||
      !fits(paid.size()) || !fits(variances.size()))
    throw std::invalid_argument("weights: the parts of a state disagree in number");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::uint32_t row = rows.data()[k], output = outputs.data()[k];
    if (row >= index.rows() || output >= sizes(row))
      throw std::invalid_argument("weights: a place is out of range");
    if (!std::isfinite(values.data()[k]) || (totals.size() && !std::isfinite(totals.data()[k])) ||
        (paid.size() && !std::isfinite(paid.data()[k])) ||
        (variances.size() && !std::isfinite(variances.data()[k])) || !std::isfinite(due))
      throw std::invalid_argument("weights: a number of the state is not finite");
    weights.restore({row, output, sizes(row)}, values.data()[k], totals.size() ? totals.data()[k] : 0.0,
                    paid.size() ? paid.data()[k] : 0.0, variances.size() ? variances.data()[k] : 1.0f);
  }
  weights.restore_due(due);
}

void restore_log(WeightTable& weights, const Input<std::uint32_t>& places, const Input<float>& changes) {
  if (places.size() != 3 * changes.size()) throw std::invalid_argument("weights: the log is incomplete");
  std::vector<WeightTable::Change> log;
  for (std::size_t k = 0; k < changes.size(); ++k) {
    const std::uint32_t* at = places.data() + 3 * k;
    if (at[0] >= weights.current().rows.size())
      throw std::invalid_argument("weights: no such row in the log");
    log.push_back({at[0], at[1], at[2], changes.data()[k]});
  }
  weights.restore_log(std::move(log));
}

// All rows of the table, for votes among training outputs.
VoteStorage votes_of(const WeightTable& weights, std::uint32_t versions) {
  std::vector<std::uint32_t> rows(weights.current().rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  return VoteStorage(weights.log(), rows, versions);
}

void set_weights(SparseRows& rows, const Input<double>& values) {
  if (values.size() != rows.cells.size()) throw std::invalid_argument("weights: there are not so many");
  for (std::size_t i = 0; i < rows.cells.size(); ++i)
    rows.cells[i].weight = static_cast<float>(values.data()[i]);
  rows.dense.clear();
}

nb::ndarray<nb::numpy, double> weights_of(const SparseRows& rows) {
  std::vector<double> values;
  values.reserve(rows.cells.size());
  for (const Cell& cell : rows.cells) values.push_back(static_cast<double>(cell.weight));
  return give(std::move(values));
}

// (outputs, weights, where each row ends) of all rows, one after another.
nb::tuple flat(const SparseRows& rows) {
  std::vector<std::uint32_t> outputs, ends;
  std::vector<float> values;
  for (std::uint32_t row = 0; row < rows.rows.size(); ++row) {
    for (const Cell* c = rows.begin(row); c != rows.end(row); ++c) {
      outputs.push_back(c->output);
      values.push_back(c->weight);
    }
    ends.push_back(static_cast<std::uint32_t>(outputs.size()));
  }
  return nb::make_tuple(give(std::move(outputs)), give(std::move(values)), give(std::move(ends)));
}

// Summed from small to large: rows may have come in another order.
double norm_of(const SparseRows& rows) {
  std::vector<double> squares;
  for (std::uint32_t row = 0; row < rows.rows.size(); ++row)
    for (const Cell* c = rows.begin(row); c != rows.end(row); ++c)
      squares.push_back(static_cast<double>(c->weight) * static_cast<double>(c->weight));
  std::sort(squares.begin(), squares.end());
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

}  // namespace

void bind_weights(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SparseRows>(m, "SparseRows", "Weights to score with; row 0 holds the structure's constants.")
      .def("cells", &cells_of, "row"_a, "Outputs and weights of a row.")
      .def("freeze", &frozen, "index"_a, "width"_a, "voters"_a.none() = nb::none(), "versions"_a = 0,
           "provenance"_a.none() = nb::none(), "most"_a = 0, "examples"_a = 0, "known"_a = 0,
           "The arrays of a finished model, without what is zero (but for the first rows, so many, which "
           "stay); "
           "of the provenance at most so many of a weight (0: all), out of so many examples.")
      .def("flat", &flat, "Outputs and weights of all rows, and where each row ends.")
      .def("copy", [](const SparseRows& rows) { return rows; })
      .def("compact", &SparseRows::compact, "Rows without gaps.")
      .def("__len__", [](const SparseRows& rows) { return rows.cells.size(); })
      .def_prop_rw("weights", &weights_of, &set_weights, nb::for_getter(nb::rv_policy::move),
                   nb::for_setter(nb::arg("values").noconvert()), "All weights, as one vector.")
      .def_prop_ro("norm", &norm_of)
      .def_static("mean", &mean, "all"_a, "nonzero"_a,
                  "The mean of each weight, or of those that are not zero.")
      .def_static("sum", &sum, "all"_a, "factors"_a, "The sum of each weight, each set times its factor.");
  nb::class_<VoteStorage>(m, "Votes", "All changes of weights, by weight.");
  nb::class_<Provenance>(m, "Provenance", "What each example has of each weight.")
      .def("flat", &flat_provenance, "Rows, outputs, examples and parts, by row, output and example.");
  nb::class_<WeightTable>(m, "WeightTable", "Weights to learn.")
      .def("__init__", &make_table, "rows"_a, "constants"_a, "penalty"_a = "none", "rate"_a = 0.0,
           "variances"_a = false, "log"_a = false, "provenance"_a = false)
      .def_prop_ro("current", &WeightTable::current, nb::rv_policy::reference_internal)
      .def("catch_up", &WeightTable::catch_up_all, "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Takes all penalties that fell due.")
      .def("averaged", &WeightTable::averaged, "steps"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("forget_totals", &WeightTable::forget_totals)
      .def("clone", [](const WeightTable& w) { return w; })
      .def_static("mixed", &mixed, "tables"_a, "index"_a, "width"_a,
                  "A table with the means of these tables' weights.")
      .def("state", &state_of, "All that further learning depends on.")
      .def(
          "provenance", [](WeightTable& w, double steps) { return Provenance{w.provenance(steps)}; },
          "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
          "What each example has of each weight; of their mean after each of so many steps, if not 0.")
      .def("votes", &votes_of, "versions"_a, "The log of changes, by weight.")
      .def("restore_log", &restore_log, nb::arg("places").noconvert(), nb::arg("changes").noconvert())
      .def("restore", &restore, "index"_a, "width"_a, nb::arg("rows").noconvert(),
           nb::arg("outputs").noconvert(), nb::arg("weights").noconvert(), nb::arg("totals").noconvert(),
           nb::arg("paid").noconvert(), nb::arg("variances").noconvert(), "due"_a,
           "Sets weights of a fresh table.");
}
