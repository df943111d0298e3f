#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "base/random.hpp"
#include "base/vector.hpp"
#include "bind.hpp"
#include "costs.hpp"
#include "learn/lbfgs.hpp"
#include "search/chain/chain.hpp"
#include "search/single/single.hpp"
#include "segment_batch.hpp"
#include "structure.hpp"

using namespace marginalia;

namespace {

PassiveAggressiveRule::Kind kind_of(const std::string& name) {
  using Kind = PassiveAggressiveRule::Kind;
  if (name == "0") return Kind::hard;
  if (name == "I") return Kind::linear;
  if (name == "II") return Kind::squared;
  throw std::invalid_argument("passive-aggressive: the kind must be 0, I or II");
}

std::vector<double> copied(const Input<double>& array) {
  return {array.data(), array.data() + array.size()};
}

Lbfgs* resumed(const Input<double>& point, const Input<double>& gradient, double value, double length,
               double trials, const std::vector<Input<double>>& steps,
               const std::vector<Input<double>>& changes, std::size_t memory, double l1) {
  Lbfgs::State state{
      copied(point), copied(gradient), {}, {}, value, length, static_cast<std::size_t>(trials)};
  for (const auto& step : steps) state.steps.push_back(copied(step));
  for (const auto& change : changes) state.changes.push_back(copied(change));
  return new Lbfgs(std::move(state), memory, l1);
}

nb::dict state_of(const Lbfgs& optimiser) {
  Lbfgs::State state = optimiser.state();
  nb::list steps, changes;
  for (auto& step : state.steps) steps.append(give(std::move(step)));
  for (auto& change : state.changes) changes.append(give(std::move(change)));
  nb::dict out;
  out["point"] = give(std::move(state.point));
  out["gradient"] = give(std::move(state.gradient));
  out["value"] = state.value;
  out["length"] = state.length;
  out["trials"] = state.trials;
  out["steps"] = steps;
  out["changes"] = changes;
  return out;
}

}  // namespace

void bind_learn(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "permutation", [](std::uint32_t n, std::uint64_t seed) { return give(permutation(n, seed)); }, "n"_a,
      "seed"_a, "A shuffled range, the same everywhere for the same seed.");

  m.def(
      "dot",
      [](const Input<double>& a, const Input<double>& b) {
        if (a.size() != b.size()) throw std::invalid_argument("vectors of different sizes");
        return dot(a.data(), b.data(), a.size());
      },
      nb::arg("a").noconvert(), nb::arg("b").noconvert(), "A sum in a fixed order: equal on every machine.");

  m.def(
      "tiers",
      [] {
        nb::dict tiers;
        for (const TierText& tier : kTiers) tiers[tier.name] = tier.what;
        return nb::typed<nb::dict, nb::str, nb::str>(tiers);
      },
      "The tiers of the contract by name, and what a structure that has one offers.");

  nb::class_<UpdateRule>(m, "UpdateRule", "What an online learner does at an example.")
      .def_prop_ro(
          "needs",
          [](const UpdateRule& rule) {
            return names_of(std::visit([](const auto& one) { return one.needs(); }, rule));
          },
          "The tiers of the contract that it needs of a structure.")
      .def_static("perceptron", [] { return UpdateRule(PerceptronRule{}); })
      .def_static(
          "margin", [](double margin) { return UpdateRule(MarginRule{margin}); }, "margin"_a)
      .def_static(
          "passive_aggressive",
          [](const std::string& kind, double c) {
            return UpdateRule(PassiveAggressiveRule{kind_of(kind), c});
          },
          "kind"_a, "c"_a)
      .def_static(
          "arow", [](double r) { return UpdateRule(ArowRule{r}); }, "r"_a)
      .def_static(
          "correction",
          [](double margin, bool local) {
            CorrectionRule rule;
            rule.margin = margin;
            rule.local = local;
            return UpdateRule(rule);
          },
          "margin"_a, "local"_a = false)
      .def_static(
          "gradient",
          [](double rate, double decay, double examples, bool local) {
            return UpdateRule(GradientRule{rate, decay, examples, local});
          },
          "rate"_a, "decay"_a, "examples"_a, "local"_a);

  using ChainBatch = BoundBatch<Chain, ChainShape, ChainData>;
  bind_batch<ChainBatch>(m, "ChainBatch")
      .def(
          "__init__",
          [](ChainBatch* self, const ChainShape& shape, const ExampleRows& examples, const Costs& costs) {
            new (self) ChainBatch(shape, ChainData{examples, costs_of(costs, shape.labels)});
          },
          "shape"_a, "examples"_a, nb::arg("costs").noconvert() = nb::none(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>());

  using SingleBatch = BoundBatch<Single, SingleShape, LabelData>;
  bind_batch<SingleBatch>(m, "SingleBatch")
      .def(
          "__init__",
          [](SingleBatch* self, const SingleShape& shape, const ExampleRows& examples, const Costs& costs) {
            if (shape.labels == 0) throw std::invalid_argument("found no classes, expected at least one");
            if (examples.tokens() != examples.sentences())
              throw std::invalid_argument("an item is a sentence of one token");
            new (self) SingleBatch(shape, LabelData{examples, costs_of(costs, shape.labels)});
          },
          "shape"_a, "examples"_a, nb::arg("costs").noconvert() = nb::none(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>());

  bind_segment_batch<Segments, SegmentShape>(m, "SegmentBatch");

  nb::class_<Lbfgs>(m, "Lbfgs", "Minimises a function plus l1 * |x|; the caller evaluates it.")
      .def(
          "__init__",
          [](Lbfgs* self, const Input<double>& start, std::size_t memory, double l1) {
            new (self) Lbfgs(copied(start), memory, l1);
          },
          nb::arg("start").noconvert(), "memory"_a, "l1"_a)
      .def_static("resumed", &resumed, nb::arg("point").noconvert(), nb::arg("gradient").noconvert(),
                  "value"_a, "length"_a, "trials"_a, "steps"_a, "changes"_a, "memory"_a, "l1"_a)
      .def_prop_ro(
          "x", [](const Lbfgs& o) { return give(std::vector<double>(o.x())); }, nb::rv_policy::move)
      .def_prop_ro(
          "best", [](const Lbfgs& o) { return give(std::vector<double>(o.best())); }, nb::rv_policy::move)
      .def_prop_ro("value", &Lbfgs::value)
      .def_prop_ro("gradient_norm", &Lbfgs::gradient_norm)
      .def(
          "update",
          [](Lbfgs& o, double value, const Input<double>& gradient) {
            const std::vector<double> copy = copied(gradient);
            nb::gil_scoped_release unlocked;
            switch (o.update(value, copy)) {
              case Lbfgs::Status::evaluate:
                return "evaluate";
              case Lbfgs::Status::stepped:
                return "stepped";
              default:
                return "stuck";
            }
          },
          "value"_a, nb::arg("gradient").noconvert(),
          "The value and gradient at x: 'evaluate' again, 'stepped' or 'stuck'.")
      .def("state", &state_of);
}
