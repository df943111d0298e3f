#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "arrays.hpp"
#include "bind.hpp"
#include "constraints.hpp"
#include "frozen_model.hpp"
#include "output_features.hpp"
#include "ranked.hpp"
#include "rescored.hpp"
#include "search/chain/beam.hpp"
#include "search/chain/k_best.hpp"
#include "search/chain/model.hpp"

using namespace marginalia;

namespace {

using Mask = Input<std::uint8_t>;

ChainShape shape_of(std::uint32_t labels, int order, bool transitions, const Mask& start,
                    const Mask& transition, const Mask& end, bool ends, bool local, std::uint32_t beam) {
  const auto copy = [](const Mask& mask) {
    return std::vector<std::uint8_t>(mask.data(), mask.data() + mask.size());
  };
  ChainShape shape{labels, order, transitions, copy(start), copy(transition), copy(end), ends, local, beam};
  check(shape);
  return shape;
}

// Edge scores given as an array [T][L][L]: row t is those of token t.
struct GivenEdges final : EdgeWeights {
  std::vector<double> scores;
  void add_rows(std::span<const std::uint32_t> rows, std::size_t pairs, double* out) const override {
    for (const std::uint32_t row : rows)
      for (std::size_t i = 0; i < pairs; ++i) out[i] += scores[row * pairs + i];
  }
};

// A lattice that owns what its pointers point to (but for a model's weights), so that outputs can be asked
// for one by one. It is used under the interpreter's lock: a lattice is not for two threads.
struct OwnedLattice {
  ChainShape shape;
  ChainConstants constants;
  GivenEdges given;
  RuleScores rules;
  std::vector<std::uint32_t> edge_rows;
  std::vector<std::uint64_t> edge_end;
  Lattice lattice;

  OwnedLattice(ChainShape s, ChainConstants c) : shape(std::move(s)), constants(std::move(c)) {
    lattice.shape = &shape;
    lattice.constants = &constants;
  }
  OwnedLattice(const OwnedLattice&) = delete;
};

std::shared_ptr<OwnedLattice> make_lattice(const ChainShape& shape, const Input<double>& node,
                                           const Input<double>& edge, const Input<double>& constants) {
  if (constants.size() != shape.constants() || node.size() % shape.labels != 0)
    throw std::invalid_argument("lattice: scores do not fit the shape");
  if (edge.size() != 0 && edge.size() != node.size() * shape.labels)
    throw std::invalid_argument("lattice: edge scores do not fit the shape");
  auto owned = std::make_shared<OwnedLattice>(shape, ChainConstants(shape));
  for (std::size_t i = 0; i < constants.size(); ++i) owned->constants.set(shape, i, constants.data()[i]);
  Lattice& lattice = owned->lattice;
  lattice.begin(node.size() / shape.labels);
  lattice.node.assign(node.data(), node.data() + node.size());
  owned->given.scores.assign(edge.data(), edge.data() + edge.size());
  owned->edge_rows.resize(lattice.length);
  owned->edge_end.resize(lattice.length + 1);
  std::iota(owned->edge_rows.begin(), owned->edge_rows.end(), 0u);
  std::iota(owned->edge_end.begin(), owned->edge_end.end(), std::uint64_t{0});
  if (edge.size() != 0) lattice.set_edges(owned->given, owned->edge_rows, owned->edge_end);
  lattice.finish();
  return owned;
}

// The lattice of a sentence under a model, which must stay alive.
std::shared_ptr<OwnedLattice> model_lattice(const ChainModel& model, const FeatureExtractor& extractor,
                                            const TokenTable& table, std::size_t s,
                                            ChainModel::Space& space) {
  const Lattice& lattice = model.lattice(extractor, table, s, space);
  auto owned = std::make_shared<OwnedLattice>(*lattice.shape, *lattice.constants);
  owned->lattice.begin(lattice.length);
  owned->lattice.node = lattice.node;
  owned->edge_rows = space.edge_rows;
  owned->edge_end = space.edge_end;
  if (model.has_rules()) {
    owned->rules = space.rules;
    owned->rules.score(owned->lattice);
  } else if (extractor.has_edges()) {
    owned->lattice.set_edges(model.edge_weights(), owned->edge_rows, owned->edge_end);
  }
  owned->lattice.finish();
  return owned;
}

void check_labels(const OwnedLattice& owned, const Input<std::uint32_t>& labels) {
  if (labels.size() != owned.lattice.length) throw std::invalid_argument("labels do not fit the sentence");
  for (const std::uint32_t label : view(labels))
    if (label >= owned.shape.labels) throw std::invalid_argument("a label is out of range");
}

nb::tuple best_output(const OwnedLattice& owned) {
  ViterbiSpace space;
  ScoredLabels best;
  best_of(owned.lattice, space, best);
  return nb::make_tuple(give(std::move(best.output)), best.score);
}

nb::list k_best_outputs(const OwnedLattice& owned, std::size_t k) {
  ViterbiSpace space;
  nb::list found;
  for (ScoredLabels& one : k_best_of(owned.lattice, k, space))
    found.append(nb::make_tuple(give(std::move(one.output)), one.score));
  return found;
}

nb::dict lattice_marginals(const OwnedLattice& owned, bool edges, const std::string& method) {
  if (method != "auto" && method != "scaled" && method != "log")
    throw std::invalid_argument("marginals: the method must be auto, scaled or log");
  refuse_wide(owned.lattice);
  const std::size_t n = owned.shape.labels, length = owned.lattice.length;
  std::vector<double> node(length * n), edge(edges ? length * n * n : 0);
  const auto keep = [&](std::size_t t, const double* labels, const double* pairs) {
    std::copy_n(labels, n, &node[t * n]);
    if (edges && pairs != nullptr) std::copy_n(pairs, n * n, &edge[t * n * n]);
  };
  ForwardBackwardSpace space;
  double log_z = 0.0;
  if (method == "auto")
    log_z = forward_backward(owned.lattice, edges, space, keep);
  else if (method == "log")
    log_z = log_forward_backward(owned.lattice, edges, space, keep);
  else if (!scaled_forward_backward(owned.lattice, edges, space, keep, log_z))
    throw std::domain_error("scaled forward-backward came near underflow");
  nb::dict out;
  out["log_z"] = log_z;
  out["node"] = give(std::move(node), length, n);
  out["transition"] = give(std::move(space.transition), n, n);
  if (edges) out["edge"] = give(std::move(edge), length, n, n);
  if (!space.trigram.empty()) out["trigram"] = give(std::move(space.trigram), n + 1, n, n);
  return out;
}

// Outputs of a lattice, best first; keeps the lattice alive.
struct KBestIterator {
  std::shared_ptr<OwnedLattice> owned;
  std::optional<KBest> search;     // exactly, or ...
  std::vector<ScoredLabels> beam;  // ... by beam
  std::size_t given = 0;

  explicit KBestIterator(std::shared_ptr<OwnedLattice> o) : owned(std::move(o)) {
    if (owned->shape.beam == 0)
      search.emplace(owned->lattice);
    else
      beam = beam_search(owned->lattice, owned->shape.beam);
  }

  nb::tuple next() {
    if (!search) {
      if (given == beam.size()) throw nb::stop_iteration();
      ScoredLabels& next = beam[given++];
      return nb::make_tuple(give(std::move(next.output)), next.score);
    }
    std::vector<std::uint32_t> labels(owned->lattice.length);
    const std::optional<double> score = search->next(labels.data());
    if (!score) throw nb::stop_iteration();
    return nb::make_tuple(give(std::move(labels)), *score);
  }
};

using ConstrainedChains = ConstrainedIterator<OwnedLattice, ChainPaths>;

std::unique_ptr<ConstrainedChains> constrained_outputs(std::shared_ptr<OwnedLattice> owned,
                                                       const ConstraintSet& constraint_set,
                                                       const Input<std::uint32_t>& tokens,
                                                       const Input<std::uint32_t>& spans) {
  if (constraint_set.labels != owned->shape.labels)
    throw std::invalid_argument("constraints: the constraint set does not fit the lattice");
  refuse_wide(owned->lattice);
  ViterbiSpace space;
  ScoredLabels best;
  best_of(owned->lattice, space, best);
  const ChainPaths paths{owned->lattice};
  return std::make_unique<ConstrainedChains>(std::move(owned), paths, best.output, constraint_set,
                                             placed_constraints_from(tokens, spans));
}

using BoundChain = BoundModel<ChainModel>;

nb::list features_of(const BoundChain& b, const FeatureExtractor& extractor, const TokenTable& table,
                     std::size_t s, ChainModel::Space& space) {
  require_sentence(table, s);
  const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
  nb::list found;
  b.model.for_features(extractor, table, s, space, [&](const Feature& f) {
    const nb::object number = extractor.is_explicit() ? nb::none() : nb::cast(f.template_index);
    const auto texts = extractor.texts_of(f, table, space.extraction, first, last);
    found.append(nb::make_tuple(f.token, f.edge, f.row, f.value, number, texts));
  });
  return found;
}

BoundChain* make_model(const ChainShape& shape, const nb::dict& arrays) {
  return make_bound_model<ChainModel>(shape, arrays, shape.labels,
                                      std::uint64_t{shape.labels} * shape.labels);
}

}  // namespace

void bind_search(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Spelling>(m, "Spelling", "How labels spell spans.")
      .def(
          "__init__",
          [](Spelling* self, const Input<std::uint32_t>& type, const Mask& inside, const Mask& relation,
             const Mask& prefix) {
            const auto copy = [](const auto& a) { return std::vector(a.data(), a.data() + a.size()); };
            new (self) Spelling(copy(type), copy(inside), copy(relation), copy(prefix));
          },
          nb::arg("type").noconvert(), nb::arg("inside").noconvert(), nb::arg("relation").noconvert(),
          nb::arg("prefix").noconvert());

  nb::class_<ChainShape>(m, "ChainShape", "Labels, order and legal transitions of a chain.")
      .def(nb::new_(&shape_of), "labels"_a, "order"_a, "transitions"_a, nb::arg("start").noconvert(),
           nb::arg("transition").noconvert(), nb::arg("end").noconvert(), "ends"_a, "local"_a = false,
           "beam"_a = 0)
      .def_ro("labels", &ChainShape::labels)
      .def_ro("order", &ChainShape::order)
      .def_ro("transitions", &ChainShape::transitions)
      .def_prop_ro("row_width", &ChainShape::row_width, "Outputs of a feature's row.")
      .def_prop_ro("constants", &ChainShape::constants, "Number of weights in row 0.");

  nb::class_<OwnedLattice>(m, "Lattice", "Scores of one sentence.")
      .def(nb::new_(&make_lattice), "shape"_a, nb::arg("node").noconvert(), nb::arg("edge").noconvert(),
           nb::arg("constants").noconvert())
      .def_prop_ro(
          "node",
          [](const OwnedLattice& l) {
            return give(std::vector<double>(l.lattice.node), l.lattice.length, std::size_t{l.shape.labels});
          },
          nb::rv_policy::move)
      .def("best", &best_output, "Best labels and their score.")
      .def("best_k", &k_best_outputs, "k"_a, "The k best at once, as learners ask for them.")
      .def(
          "k_best",
          [](std::shared_ptr<OwnedLattice> l) { return std::make_unique<KBestIterator>(std::move(l)); },
          nb::keep_alive<0, 1>(),
          "Iterates over (labels, score), best first, without end but that of the legal outputs.")
      .def("constrained", &constrained_outputs, "constraint_set"_a, nb::arg("tokens").noconvert(),
           nb::arg("spans").noconvert(), nb::keep_alive<0, 1>(),
           "Iterates over (labels, score) of the outputs that satisfy constraints as well as can be, best "
           "first.")
      .def(
          "score",
          [](const OwnedLattice& l, const Input<std::uint32_t>& labels) {
            check_labels(l, labels);
            return path_score(l.lattice, labels.data());
          },
          nb::arg("labels").noconvert(), "Score of an output; -inf if it is not legal.")
      .def(
          "local_normalisers",
          [](const OwnedLattice& l, const Input<std::uint32_t>& labels) {
            check_labels(l, labels);
            return give(local_normalisers(l.lattice, labels.data()));
          },
          nb::arg("labels").noconvert(), nb::rv_policy::move,
          "The log of what the choice of each label of an output is divided by; 0 if the shape is not local.")
      .def(
          "allow",
          [](OwnedLattice& l, std::size_t t, const Input<std::uint8_t>& allowed) {
            if (t >= l.lattice.length || allowed.size() != l.shape.labels)
              throw std::invalid_argument("allowed labels do not fit the sentence");
            l.lattice.allow(t, view(allowed));
          },
          "token"_a, nb::arg("allowed").noconvert(), "From now on only some labels of a token are legal.")
      .def("marginals", &lattice_marginals, "edges"_a = false, "method"_a = "auto");

  nb::class_<KBestIterator>(m, "KBest", "Outputs, best first.")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &KBestIterator::next);

  bind_constrained<ConstrainedChains>(m, "ConstrainedChains");

  nb::class_<ChainModel::Space>(m, "ChainSpace", "Scratch memory of one thread.").def(nb::init<>());

  auto model = bind_frozen_model<ChainModel>(m, "ChainModel", "A finished chain model.");
  bind_label_answers(model);
  bind_ranked(model);
  bind_rescored(model);
  bind_output_features(model);
  bind_rule_use(model);
  model.def(nb::new_(&make_model), "shape"_a, "arrays"_a)
      .def(
          "lattice",
          [](const BoundChain& b, const FeatureExtractor& extractor, const TokenTable& table, std::size_t s,
             ChainModel::Space& space) {
            require_sentence(table, s);
            return model_lattice(b.model, extractor, table, s, space);
          },
          "extractor"_a, "table"_a, "sentence"_a, "space"_a, nb::keep_alive<0, 1>(),
          "Scores of one sentence.")
      .def("features", &features_of, "extractor"_a, "table"_a, "sentence"_a, "space"_a,
           "(token, edge, row, how often, template or None, texts of its pieces) of each known feature.");
}
