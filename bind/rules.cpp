#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "learn/rule_table.hpp"
#include "search/chain/decoding.hpp"
#include "search/chain/rule_scores.hpp"
#include "search/single/single.hpp"
#include "structure.hpp"

using namespace marginalia;

namespace {

// The rules of a table in training, ready to be used on examples.
struct TrainedRules {
  RuleTrie trie;
  std::vector<std::uint32_t> atom_of;  // by row; kUnknownRow: none
  std::uint32_t neighbours;
  bool backwards;
};

TrainedRules rules_of(const RuleTable& table, const FeatureIndex& index,
                      const std::vector<std::string>& labels, std::uint32_t neighbours, bool backwards) {
  const RuleTable::Arrays& arrays = table.arrays();
  std::vector<std::uint32_t> rows;
  for (const std::uint64_t key : arrays.keys) rows.push_back(index.find(key));
  RuleTrie trie({arrays.keys, arrays.end, arrays.atoms}, rows, label_atom_keys(labels, neighbours, backwards),
                static_cast<std::uint32_t>(labels.size()));
  std::vector<std::uint32_t> atom_of;
  for (std::uint32_t row = 0; row < index.rows(); ++row) atom_of.push_back(trie.atom(index.key(row)));
  return {std::move(trie), std::move(atom_of), neighbours, backwards};
}

// Calls f(token) for each token of an example, with its atoms in `atoms`.
template <class F>
void for_atoms(const TrainedRules& rules, const Example& x, std::vector<std::uint32_t>& atoms, F&& f) {
  for (std::size_t t = 0; t < x.length; ++t) {
    atoms.clear();
    x.for_node_rows(t, [&](std::uint32_t row, double value) {
      const std::uint32_t atom = row < rules.atom_of.size() ? rules.atom_of[row] : kUnknownRow;
      if (atom != kUnknownRow && value != 0.0) atoms.push_back(atom);
    });
    f(t);
  }
}

void check(const TrainedRules& rules, const ExampleRows& examples, const SparseRows& weights,
           std::uint32_t labels, std::size_t first, std::size_t last) {
  if (first > last || last > examples.sentences()) throw std::invalid_argument("examples out of range");
  if (labels != rules.trie.labels() || weights.rows.size() < rules.atom_of.size())
    throw std::invalid_argument("the weights do not fit the rules");
}

nb::ndarray<nb::numpy, std::int32_t> best_labels(const TrainedRules& rules, const ChainShape& shape,
                                                 const ExampleRows& examples, const SparseRows& weights,
                                                 std::size_t first, std::size_t last) {
  check(rules, examples, weights, shape.labels, first, last);
  check_neighbours(shape, rules.neighbours);
  std::vector<std::int32_t> labels;
  {
    nb::gil_scoped_release unlocked;
    const ChainConstants constants(shape);
    Lattice lattice;
    lattice.shape = &shape;
    lattice.constants = &constants;
    RuleScores scores;
    ViterbiSpace space;
    ScoredLabels best;
    std::vector<std::uint32_t> atoms;
    for (std::size_t i = first; i < last; ++i) {
      const Example x = example(examples, i);
      lattice.begin(x.length);
      scores.begin(x.length, shape.labels, rules.neighbours, rules.backwards);
      for_atoms(rules, x, atoms, [&](std::size_t) { scores.add_token(rules.trie, weights, atoms); });
      scores.score(lattice);
      lattice.finish();
      best_of(lattice, space, best);
      append(best.output, labels);
    }
  }
  return give(std::move(labels));
}

nb::ndarray<nb::numpy, std::int32_t> best_classes_of(const TrainedRules& rules, const SingleShape& shape,
                                                     const ExampleRows& examples, const SparseRows& weights,
                                                     std::size_t first, std::size_t last) {
  check(rules, examples, weights, shape.labels, first, last);
  std::vector<std::int32_t> classes;
  {
    nb::gil_scoped_release unlocked;
    std::vector<std::uint32_t> atoms;
    ClassScores scores;
    for (std::size_t i = first; i < last; ++i)
      for_atoms(rules, example(examples, i), atoms, [&](std::size_t) {
        scores.assign(shape.labels, 0.0);
        sort_unique(atoms);
        rules.trie.for_matching(
            atoms, [&](std::uint32_t row) { weights.add_row(row, shape.labels, scores.data()); },
            [](const LabelRule&) {});
        for (double& score : scores) score = score_of_rules(score);
        classes.push_back(static_cast<std::int32_t>(best_class(scores).output));
      });
  }
  return give(std::move(classes));
}

nb::dict cells_of(const RuleTable& table) {
  RuleTable::Cells cells = table.cells();
  nb::dict out;
  out["rows"] = give(std::move(cells.rows));
  out["outputs"] = give(std::move(cells.outputs));
  out["weights"] = give(std::move(cells.weights));
  return out;
}

nb::dict arrays_of(const RuleTable& table) {
  RuleTable::Arrays arrays = table.arrays();
  nb::dict out;
  out["rule.keys"] = give(std::move(arrays.keys));
  out["rule.end"] = give(std::move(arrays.end));
  out["rule.atoms"] = give(std::move(arrays.atoms));
  out["rule.support"] = give(std::move(arrays.support));
  out["rule.gain"] = give(std::move(arrays.gain));
  return out;
}

// (codes of the atoms, confidence) of each rule, in the order of learning.
nb::list rules_in_order(const RuleLearner& learner) {
  nb::list rules;
  for (std::size_t r = 0; r < learner.size(); ++r) {
    nb::list codes;
    for (const std::uint32_t atom : learner.atoms_of(r)) codes.append(learner.samples().code(atom));
    rules.append(nb::make_tuple(codes, learner.confidence(r)));
  }
  return rules;
}

void bind_learner(nb::module_& m) {
  using namespace nb::literals;
  m.attr("LABEL_CODE") = kLabelCode;
  nb::class_<RuleSamples>(m, "RuleSamples", "Tokens or items as sets of atoms.")
      .def_static(
          "needs", [] { return names_of(Tiers(Tier::tokens)); },
          "The tiers of the contract that rules need of a structure.")
      .def(
          "__init__",
          [](RuleSamples* self, std::uint32_t labels, std::uint32_t neighbours, bool backwards) {
            if (neighbours > kMostAsked)
              throw std::invalid_argument("rules: labels of more than three neighbours");
            new (self) RuleSamples(Neighbours{labels, neighbours, backwards});
          },
          "labels"_a, "neighbours"_a, "backwards"_a)
      .def(
          "add",
          [](RuleSamples& s, const ExampleRows& examples, const Input<double>& sample_weights) {
            nb::gil_scoped_release unlocked;
            s.add(examples, view(sample_weights));
          },
          "examples"_a, nb::arg("sample_weights").noconvert(), "Adds examples with their gold labels.")
      .def("finish", &RuleSamples::finish, "least"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Numbers the atoms that at least so many samples have.")
      .def("__len__", &RuleSamples::size)
      .def_prop_ro("atoms", &RuleSamples::atoms, "How many there are.")
      .def_prop_ro("weight", &RuleSamples::total, "Of all samples.");
  nb::class_<RuleLearner>(m, "RuleLearner", "Boosted rules of one label against the rest.")
      .def(
          "__init__",
          [](RuleLearner* self, const RuleSamples& samples, std::uint32_t label, std::size_t rules_per_round,
             std::size_t width, std::size_t size, std::size_t buckets, bool by_weight, double smoothing,
             double tolerance) {
            if (rules_per_round == 0 || size == 0 || size > kMostAtoms || buckets == 0 || !(smoothing > 0.0))
              throw std::invalid_argument("rules: an option is out of range");
            const RuleOptions options{rules_per_round, width, size, buckets, by_weight, smoothing, tolerance};
            new (self) RuleLearner(samples, label, options);
          },
          "samples"_a, "label"_a, "rules_per_round"_a = 10, "width"_a = 10, "size"_a = 2, "buckets"_a = 100,
          "by_weight"_a = true, "smoothing"_a = 1.0, "tolerance"_a = 0.0, nb::keep_alive<1, 2>())
      .def("run", &RuleLearner::run, "rounds"_a, "most"_a, nb::call_guard<nb::gil_scoped_release>(),
           "So many rounds, or until there are `most` rules; the number of rules.")
      .def("__len__", &RuleLearner::size)
      .def_prop_ro("done", &RuleLearner::done, "Nothing is left to learn.")
      .def_prop_ro("default", &RuleLearner::default_confidence)
      .def_prop_ro("loss", &RuleLearner::loss, "The sum of the weights of all samples.")
      .def_prop_ro(
          "gains",
          [](const RuleLearner& learner) {
            std::vector<double> gains;
            for (std::size_t r = 0; r < learner.size(); ++r) gains.push_back(learner.gain(r));
            return gains;
          },
          "By how much each rule made the loss smaller, in the order of learning.")
      .def_prop_ro("rules", &rules_in_order, "(codes of atoms, confidence), in the order of learning.");
}

}  // namespace

void bind_rules(nb::module_& m) {
  using namespace nb::literals;
  bind_learner(m);
  nb::class_<RuleTable>(m, "RuleTable", "Rules of all labels as rows of an index.")
      .def(nb::init<const RuleSamples&, FeatureIndex&, std::vector<std::string>>(), "samples"_a, "index"_a,
           "labels"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("take", &RuleTable::take, "learner"_a, "Adds the rules that are new.")
      .def_prop_ro("cells", &cells_of, "Rows, outputs and weights of all confidences.")
      .def_prop_ro("arrays", &arrays_of, "Rules as a model file keeps them.");
  nb::class_<TrainedRules>(m, "TrainedRules", "Rules in training, ready to be used.")
      .def(nb::new_(&rules_of), "table"_a, "index"_a, "labels"_a, "neighbours"_a, "backwards"_a)
      .def("best", &best_labels, "shape"_a, "examples"_a, "weights"_a, "first"_a, "last"_a,
           "The best labels of the examples [first, last).")
      .def("best", &best_classes_of, "shape"_a, "examples"_a, "weights"_a, "first"_a, "last"_a);
}
