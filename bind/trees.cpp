#include "search/trees/trees.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "frozen_model.hpp"
#include "search/trees/model.hpp"
#include "search/trees/oracle.hpp"
#include "sources.hpp"
#include "structure.hpp"

using namespace marginalia;

namespace {

using BoundTrees = BoundModel<TreeModel>;
using TreeBatch = BoundBatch<Trees, TreeShape, TreeData>;

// text, attribute (-1: none) and place; without a place it is literal text.
using PieceFields = std::tuple<std::string, std::int64_t, std::string>;

void make_extractor(TreeExtractor* self, const std::vector<SourceFields>& sources,
                    const std::vector<std::vector<PieceFields>>& templates,
                    std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns,
                    const WordTables& words) {
  std::vector<std::vector<TreePiece>> made;
  for (const auto& fields : templates) {
    made.emplace_back();
    for (const auto& [text, source, anchor] : fields)
      made.back().push_back(
          {text, source < 0 ? TreePiece::kNoSource : static_cast<std::uint32_t>(source), anchor});
  }
  new (self) TreeExtractor(sources_of(sources, words), std::move(made), std::move(lists), columns);
}

template <class Value>
Value named(const std::string& name, const std::vector<std::pair<std::string, Value>>& known,
            const char* what) {
  for (const auto& [text, value] : known)
    if (text == name) return value;
  throw std::invalid_argument(std::string("trees: unknown ") + what + " " + name);
}

void make_shape(TreeShape* self, std::vector<std::string> labels, const std::string& system, std::size_t beam,
                bool one_root, bool merge, const std::string& update) {
  using Update = TreeShape::Update;
  TreeShape::Options options;
  options.system = named<TransitionSystem>(system,
                                           {{"arc-standard", TransitionSystem::standard},
                                            {"swap", TransitionSystem::swap},
                                            {"arc-eager", TransitionSystem::eager},
                                            {"arc-hybrid", TransitionSystem::hybrid}},
                                           "system");
  options.update =
      named<Update>(update, {{"early", Update::early}, {"max-violation", Update::max}}, "update");
  options.beam = beam;
  options.one_root = one_root;
  options.merge = merge;
  new (self) TreeShape(std::move(labels), options);
}

std::vector<std::uint32_t> known_or_not(const Input<std::int32_t>& numbers) {
  std::vector<std::uint32_t> made;
  for (const std::int32_t number : view(numbers))
    made.push_back(number < 0 ? kAnyHead : static_cast<std::uint32_t>(number));
  static_assert(kAnyHead == kAnyLabel);
  return made;
}

// A tree of heads and labels, of which those below 0 are not known.
TreeArcs arcs_of(const Input<std::int32_t>& heads, const Input<std::int32_t>& labels, std::size_t tokens,
                 std::uint32_t most_label) {
  TreeArcs arcs{known_or_not(heads), known_or_not(labels)};
  if (arcs.head.size() != tokens || arcs.label.size() != tokens)
    throw std::invalid_argument("trees: arcs disagree with the tokens");
  for (std::size_t t = 0; t < tokens; ++t)
    if ((arcs.head[t] != kAnyHead && arcs.head[t] > tokens) ||
        (arcs.label[t] != kAnyLabel && arcs.label[t] >= most_label))
      throw std::invalid_argument("trees: an arc is out of range");
  return arcs;
}

// First and last tokens, one behind the other.
std::vector<TokenSpan> spans_of(const Input<std::int32_t>& ends, std::size_t tokens) {
  std::vector<TokenSpan> spans;
  for (std::size_t k = 0; k + 1 < ends.size(); k += 2) {
    const std::int64_t first = ends.data()[k], last = ends.data()[k + 1];
    if (first < 1 || last < first || last > static_cast<std::int64_t>(tokens))
      throw std::invalid_argument("trees: a span is out of range");
    spans.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)});
  }
  return spans;
}

// Throws unless the actions are legal, one after another.
void check_actions(const TreeShape& shape, TreeStates& states, std::size_t length,
                   const std::vector<std::uint32_t>& actions) {
  states.begin(length, nullptr);
  std::uint32_t state = 0;
  for (const std::uint32_t action : actions) {
    const bool legal = action < shape.row_width() &&
                       (states.moves(states[state]) >> static_cast<unsigned>(TreeShape::move_of(action)) & 1);
    if (!legal) throw std::invalid_argument("trees: an action is not legal");
    state = states.apply(state, action);
  }
}

nb::list ranked(const BoundTrees& b, const TreeExtractor& extractor, const TokenTable& table, std::size_t s,
                std::size_t k, const Input<std::int32_t>& heads, const Input<std::int32_t>& labels,
                const Input<std::int32_t>& spans, TreeModel::Space& space) {
  require_sentence(table, s);
  std::vector<ScoredTree> found;
  const std::size_t length = table.sentence[s + 1] - table.sentence[s];
  std::optional<GivenArcs> given;
  if (heads.size() != 0 || labels.size() != 0)
    given.emplace(arcs_of(heads, labels, length, b.model.shape().labels()), spans_of(spans, length));
  {
    nb::gil_scoped_release unlocked;
    found = b.model.k_best(extractor, table, s, k, given ? &*given : nullptr, space);
  }
  nb::list out;
  for (ScoredTree& one : found)
    out.append(nb::make_tuple(give(std::vector<std::int32_t>(one.arcs.begin(), one.arcs.end())),
                              give(std::move(one.actions)), one.score));
  return out;
}

// The features of actions that have weights: step, row, action, template, weight, texts of the name's pieces,
// and the arc that the action makes (head, dependent; -1: none).
nb::list terms(const BoundTrees& b, const TreeExtractor& extractor, const TokenTable& table, std::size_t s,
               const Input<std::uint32_t>& actions, TreeModel::Space& space) {
  require_sentence(table, s);
  const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
  TreeSearch& search = b.model.read(extractor, table, s, space);
  const std::vector<std::string> texts = extractor.texts(table, first, last, space.extraction);
  const auto text_at = [&](std::size_t token, std::uint32_t source) -> const std::string& {
    return texts[token * extractor.sources() + source];
  };
  const std::vector<std::uint32_t> taken(actions.data(), actions.data() + actions.size());
  check_actions(b.model.shape(), search.states, last - first, taken);
  nb::list out;
  b.model.features(
      taken, space,
      [&](std::uint32_t row, std::uint32_t action, std::uint32_t t, const std::vector<std::uint32_t>& fields,
          std::size_t step, const NewArc& arc) {
        const double weight = b.model.weight(row, action);
        if (weight == 0.0) return;
        const bool none = arc.head == kAnyHead;
        out.append(nb::make_tuple(
            step, row, action, t, weight,
            extractor.piece_texts(t, fields.data(), last - first, search.states.names(), text_at),
            none ? -1 : static_cast<int>(arc.head), none ? -1 : static_cast<int>(arc.dependent)));
      });
  return out;
}

void bind_parts(nb::module_& m) {
  using namespace nb::literals;
  m.attr("MOST_TREE_LABELS") = kMostTreeLabels;
  nb::class_<TreeExtractor>(m, "TreeExtractor", "Templates over configurations, ready to run over tables.")
      .def("__init__", &make_extractor, "sources"_a, "templates"_a, "lists"_a, "columns"_a,
           "word_tables"_a = WordTables());
  nb::class_<TreeShape>(m, "TreeShape", "A transition system with its labels, and how search goes.")
      .def("__init__", &make_shape, "labels"_a, "system"_a, "beam"_a, "one_root"_a, "merge"_a, "update"_a)
      .def(
          "allow", [](TreeShape& shape, const Input<std::uint8_t>& allowed) { shape.allow(view(allowed)); },
          nb::arg("allowed").noconvert(), "Which actions may be taken, by number.")
      .def_prop_ro(
          "allowed", [](const TreeShape& s) { return give(std::vector<std::uint8_t>(s.allowed())); },
          nb::rv_policy::move, "Which actions may be taken, by number.")
      .def_prop_ro("row_width", &TreeShape::row_width, "Outputs of a feature's row: actions.")
      .def_prop_ro("constants", &TreeShape::constants, "Number of weights in row 0.")
      .def(
          "oracle",
          [](const TreeShape& shape, const Input<std::int32_t>& heads, const Input<std::int32_t>& labels) {
            TreeStates states(shape);
            const TreeArcs tree = arcs_of(heads, labels, heads.size(), shape.labels());
            if (!tree.complete()) throw std::invalid_argument("trees: an arc is not known");
            check_tree(tree, shape.options().one_root);
            return give(oracle(shape, tree, states));
          },
          nb::arg("heads").noconvert(), nb::arg("labels").noconvert(), "The actions that make a tree.");
  m.def(
      "projectivised",
      [](const Input<std::int32_t>& heads) {
        TreeArcs tree = arcs_of(heads, heads, heads.size(), UINT32_MAX);
        if (!tree.complete()) throw std::invalid_argument("trees: an arc is not known");
        check_tree(tree, false);
        const std::vector<std::uint32_t> found = projectivised(std::move(tree)).head;
        return give(std::vector<std::int32_t>(found.begin(), found.end()));
      },
      nb::arg("heads").noconvert(), "Heads with arcs lifted until none crosses another.");
  nb::class_<TreeExamples>(m, "TreeExamples", "Sentences as values of tokens, with their trees.")
      .def(nb::init<bool>(), "keep_texts"_a)
      .def_prop_ro("sentences", &TreeExamples::sentences)
      .def_prop_ro("tokens", &TreeExamples::tokens)
      .def_prop_ro(
          "starts", [](const TreeExamples& e) { return give(std::vector<std::uint32_t>(e.sentence)); },
          nb::rv_policy::move)
      .def(
          "add", [](TreeExamples& e, const TreeExtractor& p, const TokenTable& t) { e.add(p, t); },
          "extractor"_a, "table"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "set_gold",
          [](TreeExamples& e, const TreeShape& shape, const Input<std::int32_t>& heads,
             const Input<std::int32_t>& labels) { return e.set_gold(shape, view(heads), view(labels)); },
          "shape"_a, nb::arg("heads").noconvert(), nb::arg("labels").noconvert(),
          "The right arcs, of which those below 0 are not known; returns how many had to be lifted.")
      .def(
          "seen_actions",
          [](const TreeExamples& e, const TreeShape& shape) { return give(e.seen_actions(shape)); },
          "shape"_a, "By number: 1 for actions that make right arcs.");
}

void count_features(const TreeBatch& batch) {
  nb::gil_scoped_release unlocked;
  SparseRows none;
  none.rows.resize(1);
  Trees trees(batch.shape(), batch.data(), none);
  for (std::size_t i = 0; i < trees.size(); ++i) trees.count_features(i);
}

void bind_learning(nb::module_& m) {
  using namespace nb::literals;
  bind_batch<TreeBatch>(m, "TreeBatch")
      .def(
          "__init__",
          [](TreeBatch* self, const TreeShape& shape, const TreeExtractor& extractor,
             const TreeExamples& examples, FeatureIndex& index, bool open) {
            if (open && index.keeps_names() && !examples.keeps_texts())
              throw std::invalid_argument("names of new features need examples that keep their texts");
            new (self) TreeBatch(shape, TreeData{extractor, examples, index, open});
          },
          "shape"_a, "extractor"_a, "examples"_a, "index"_a, "open"_a, nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def("count_features", &count_features,
           "Gives the features of the gold outputs rows of the index, and counts them.");
}

void bind_model(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<TreeModel::Space>(m, "TreeSpace", "Scratch memory of one thread.")
      .def(nb::init<>())
      .def_prop_ro(
          "merged",
          [](const TreeModel::Space& space) {
            return space.merging ? std::pair(space.merging->merged(), space.merging->made())
                                 : std::pair(std::uint64_t{0}, std::uint64_t{0});
          },
          "How many states were one with another, and of how many that were to be kept.");
  auto model = bind_frozen_model<TreeModel>(m, "TreeModel", "A finished model of dependency trees.");
  model
      .def(nb::new_([](const TreeShape& shape, const nb::dict& arrays) {
             return make_bound_model<TreeModel>(shape, arrays, shape.row_width(), 0);
           }),
           "shape"_a, "arrays"_a)
      .def("ranked", &ranked, "extractor"_a, "table"_a, "sentence"_a, "k"_a, nb::arg("heads").noconvert(),
           nb::arg("labels").noconvert(), nb::arg("spans").noconvert(), "space"_a,
           "(arcs, actions, score) of the trees of the final beam, best first, each once. Given heads and "
           "labels (below 0: not given; empty arrays: nothing is given) are kept, and of given spans (first "
           "and last tokens from 1 on, one behind the other) exactly one token has its head outside.")
      .def("terms", &terms, "extractor"_a, "table"_a, "sentence"_a, nb::arg("actions").noconvert(), "space"_a,
           "(step, row, action, template, weight, texts of its pieces, head, dependent) of each feature of "
           "actions that has a weight.");
}

}  // namespace

void bind_trees(nb::module_& m) {
  bind_parts(m);
  bind_learning(m);
  bind_model(m);
}
