#include "search/words/words.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "constraints.hpp"
#include "frozen_model.hpp"
#include "output_features.hpp"
#include "ranked.hpp"
#include "search/words/model.hpp"
#include "segment_batch.hpp"

using namespace marginalia;

namespace {

using BoundWords = BoundModel<WordModel>;

// A sentence that was searched; whoever made it keeps model and extractor alive.
struct OwnedWords {
  const WordModel& model;
  std::unique_ptr<SearchedWords> words;
};

struct WordOutputs {
  std::shared_ptr<OwnedWords> owned;
  WordKBest<WordModel::Lookup> search;

  explicit WordOutputs(std::shared_ptr<OwnedWords> o)
      : owned(std::move(o)),
        search(owned->model.shape(), owned->words->search, owned->model.lookup(), owned->words->scores) {}
  nb::tuple next() {
    Labels output;
    const std::optional<double> score = search.next(output);
    if (!score) throw nb::stop_iteration();
    return nb::make_tuple(give(std::move(output)), *score);
  }
};

using ConstrainedWords = ConstrainedIterator<OwnedWords, WordPaths<WordModel::Lookup>>;

std::unique_ptr<ConstrainedWords> constrained_outputs(std::shared_ptr<OwnedWords> owned,
                                                      const ConstraintSet& constraint_set,
                                                      const Input<std::uint32_t>& tokens,
                                                      const Input<std::uint32_t>& spans) {
  if (constraint_set.labels != owned->model.shape().labels)
    throw std::invalid_argument("constraints: the constraint set does not fit the lattice");
  const auto paths = owned->model.paths(*owned->words);
  Labels free = owned->words->search.output(paths.length(), 0);
  return std::make_unique<ConstrainedWords>(std::move(owned), paths, free, constraint_set,
                                            placed_constraints_from(tokens, spans));
}

double score_output(OwnedWords& o, const Input<std::uint32_t>& labels) {
  const auto paths = o.model.paths(*o.words);
  if (labels.size() != paths.length()) throw std::invalid_argument("labels do not fit the sentence");
  return paths.score(Labels(labels.data(), labels.data() + labels.size()));
}

// log Z, P(label of a token) and P(word), among the outputs whose states the beam has kept.
nb::dict marginals_of(OwnedWords& o) {
  const WordShape& shape = o.model.shape();
  const WordProbabilities found =
      probabilities_of_words(shape, o.words->search, o.model.lookup(), o.words->scores, 1.0);
  const SegmentScores& p = found.words;
  std::vector<double> node(p.length * shape.labels), word;
  for (std::size_t b = 0; b < p.length; ++b)
    for (std::size_t tokens = 1; tokens <= p.most; ++tokens)
      for (std::size_t s = 0; s < shape.types(); ++s) {
        const double probability = tokens <= p.longest(b) ? p.at(b, tokens)[s] : 0.0;
        word.push_back(probability);
        for (std::size_t t = b; probability != 0.0 && t < b + tokens; ++t)
          node[t * shape.labels + (t == b ? shape.begin_label : shape.inside_label)[s]] += probability;
      }
  nb::dict out;
  out["log_z"] = found.log_z;
  out["node"] = give(std::move(node), p.length, std::size_t{shape.labels});
  out["segment"] = give(std::move(word), p.length, p.most, shape.types());
  return out;
}

nb::list features_of(const BoundWords& b, const SegmentExtractor& extractor, const TokenTable& table,
                     std::size_t s, const Input<std::uint32_t>& labels, WordModel::Space& space) {
  require_sentence(table, s);
  const Labels y(labels.data(), labels.data() + labels.size());
  nb::list list;
  for (const WordModel::LocatedFeature& f : b.model.features_of(extractor, table, s, y, space)) {
    const SegmentExtractor::Origin& from = f.origin;
    const bool of_token = extractor.is_of_token(from);
    const nb::object number = extractor.is_explicit() ? nb::none() : nb::cast(from.template_index);
    list.append(nb::make_tuple(of_token ? from.inner : from.begin, of_token ? from.inner : from.last,
                               from.inner, f.row, f.label, from.value(), number, f.texts));
  }
  return list;
}

void bind_learning(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<WordShape, SegmentShape>(m, "WordShape", "Types of words, and how they are searched.")
      .def(
          "__init__",
          [](WordShape* self, const Input<std::uint32_t>& inside, std::uint32_t most, bool transitions,
             bool ends, std::uint32_t beam, bool early) {
            new (self) WordShape(std::vector<std::uint32_t>(inside.data(), inside.data() + inside.size()),
                                 most, transitions, ends, beam, early);
          },
          nb::arg("inside").noconvert(), "most"_a, "transitions"_a, "ends"_a, "beam"_a, "early"_a);
  bind_segment_batch<Words, WordShape>(m, "WordBatch");
}

void bind_lattice(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<OwnedWords>(m, "WordLattice", "A sentence whose words were searched.")
      .def(
          "k_best", [](std::shared_ptr<OwnedWords> o) { return std::make_unique<WordOutputs>(std::move(o)); },
          nb::keep_alive<0, 1>(), "Iterates over (labels, score), best first.")
      .def("constrained", &constrained_outputs, "constraint_set"_a, nb::arg("tokens").noconvert(),
           nb::arg("spans").noconvert(), nb::keep_alive<0, 1>(),
           "Iterates over (labels, score) of the outputs that satisfy constraints as well as can be, best "
           "first.")
      .def("score", &score_output, nb::arg("labels").noconvert(),
           "Score of an output; -inf if it spells no words.")
      .def("marginals", &marginals_of);
  nb::class_<WordOutputs>(m, "WordKBest", "Outputs, best first.")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &WordOutputs::next);
  bind_constrained<ConstrainedWords>(m, "ConstrainedWords");
}

}  // namespace

void bind_words(nb::module_& m) {
  using namespace nb::literals;
  bind_learning(m);
  bind_lattice(m);
  nb::class_<WordModel::Space>(m, "WordSpace", "Scratch memory of one thread.").def(nb::init<>());
  auto model = bind_frozen_model<WordModel>(m, "WordModel", "A finished model of words.");
  bind_label_answers(model);
  bind_ranked(model);
  bind_output_features(model);
  model
      .def(nb::new_([](const WordShape& shape, const nb::dict& arrays) {
             return make_bound_model<WordModel>(shape, arrays, shape.labels, 0);
           }),
           "shape"_a, "arrays"_a)
      .def(
          "lattice",
          [](const BoundWords& b, const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
             WordModel::Space& space) {
            require_sentence(table, s);
            return std::make_shared<OwnedWords>(b.model, b.model.searched(extractor, table, s, space));
          },
          "extractor"_a, "table"_a, "sentence"_a, "space"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
          "One sentence, searched.")
      .def("features_of", &features_of, "extractor"_a, "table"_a, "sentence"_a, nb::arg("labels").noconvert(),
           "space"_a,
           "(first token, last token, token in turn, row, label, how often, template or None, texts of its "
           "pieces) of each known feature of an output.");
}
