#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "bind.hpp"
#include "constraints.hpp"
#include "features/segment_examples.hpp"
#include "frozen_model.hpp"
#include "output_features.hpp"
#include "ranked.hpp"
#include "rescored.hpp"
#include "search/segments/model.hpp"
#include "sources.hpp"

using namespace marginalia;

namespace {

// text, source, offset, anchor, values before and after the sentence; without an anchor it is literal text.
using PieceFields = std::tuple<std::string, std::uint32_t, std::int32_t, std::string,
                               std::vector<std::string>, std::vector<std::string>>;

Anchor anchor_named(const std::string& name) {
  static const std::vector<std::pair<std::string, Anchor>> anchors = {
      {"", Anchor::none},
      {"token", Anchor::token},
      {"b", Anchor::begin},
      {"e", Anchor::end},
      {"i", Anchor::inside},
      {"j", Anchor::within},
      {"whole", Anchor::whole},
      {"length", Anchor::length},
      {"p", Anchor::previous_begin},
      {"previous", Anchor::previous_whole},
      {"previous-length", Anchor::previous_length}};
  for (const auto& [known, anchor] : anchors)
    if (known == name) return anchor;
  throw std::invalid_argument("extractor: unknown anchor " + name);
}

void make_extractor(SegmentExtractor* self, const std::vector<SourceFields>& sources,
                    const std::vector<std::vector<PieceFields>>& templates,
                    std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns,
                    const WordTables& words, const std::vector<std::uint32_t>& before) {
  std::vector<SegmentTemplate> made;
  for (const auto& fields : templates) {
    made.emplace_back();
    for (const auto& [text, source, offset, anchor, before, after] : fields)
      made.back().push_back({anchor_named(anchor), text, source, offset, before, after});
  }
  new (self) SegmentExtractor(sources_of(sources, words), std::move(made), std::move(lists), columns, before);
}

// (token or None, name) of each feature of a segment, where the token is given for features of tokens.
nb::list names_of(const SegmentExtractor& extractor, const TokenTable& table, std::size_t s,
                  std::size_t begin, std::size_t last) {
  require_sentence(table, s);
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first;
  if (begin > last || last >= length) throw nb::index_error("no such segment");
  ExtractionSpace space;
  SegmentValues x;
  extractor.read(table, first, first + length, nullptr, space, x);
  const std::vector<std::string> texts = extractor.texts(table, first, first + length, space);
  nb::list names;
  extractor.for_segment(x, begin, last, [&](std::uint64_t key, const SegmentExtractor::Origin& origin) {
    const auto text_at = [&](std::size_t token, std::uint32_t source) -> const std::string& {
      return texts[token * extractor.sources() + source];
    };
    const std::string name = origin.item != nullptr ? std::string(table.items->name(origin.item->name))
                                                    : extractor.name(origin, length, text_at);
    if (key_of(hash_of(name).hash, false) != key)
      throw std::logic_error("the key of feature " + name + " is not the hash of its name");
    names.append(nb::make_tuple(extractor.is_of_token(origin) ? nb::cast(origin.inner) : nb::none(), name));
  });
  return names;
}

std::size_t set_gold(SegmentExamples& examples, const Input<std::int32_t>& gold, const SegmentShape& shape,
                     const Sets& allowed) {
  LabelSets sets = sets_of(allowed, shape.labels);
  std::vector<std::uint32_t> ids = gold_of(gold, examples.tokens(), shape.labels, sets);
  std::size_t cut = 0;
  for (std::size_t i = 0; i < examples.sentences(); ++i) {
    std::uint32_t* own = ids.data() + examples.sentence[i];
    const std::size_t length = examples.length(i);
    const bool complete = RightLabels(own, length, sets).complete();
    cut += complete ? cut_long_segments(shape, own, length) : allow_cuts(shape, own, length, sets);
  }
  examples.gold = std::move(ids);
  examples.sets = std::move(sets);
  return cut;
}

// The scores of a sentence, with all that is needed to search in them.
struct OwnedScores {
  SegmentShape shape;
  SegmentConstants constants;
  SegmentScores scores;
};

std::shared_ptr<OwnedScores> make_scores(const SegmentShape& shape, const Input<double>& segments,
                                         std::size_t length, const Input<double>& constants) {
  auto owned = std::make_shared<OwnedScores>(shape, SegmentConstants(shape));
  owned->scores.begin(shape, length, 0, length);
  const std::size_t most = owned->scores.most, types = shape.types();
  if (segments.size() != length * most * types || constants.size() != shape.constants())
    throw std::invalid_argument("segments: scores do not fit the shape");
  for (const auto* scores : {&segments, &constants})
    if (!std::all_of(scores->data(), scores->data() + scores->size(),
                     [](double x) { return std::isfinite(x); }))
      throw std::invalid_argument("segments: a score is not finite");
  for (std::size_t at = 0; at < constants.size(); ++at) owned->constants.set(shape, at, constants.data()[at]);
  for (std::size_t b = 0; b < length; ++b)
    for (std::size_t tokens = 1; tokens <= owned->scores.longest(b); ++tokens)
      for (std::size_t s = 0; s < types; ++s)
        if (tokens == 1 || shape.inside_label[s] != kNoLabel)
          owned->scores.at(b, tokens)[s] = segments.data()[(b * most + tokens - 1) * types + s];
  return owned;
}

ScoredLabels best_scored(const OwnedScores& o) {
  SegmentViterbi viterbi;
  viterbi.begin(o.shape, o.constants, o.scores.length);
  viterbi.go_on(o.scores);
  ScoredLabels best;
  best.score = viterbi.finish(best.output);
  return best;
}

nb::tuple best_output(const OwnedScores& o) {
  ScoredLabels best = best_scored(o);
  return nb::make_tuple(give(std::move(best.output)), best.score);
}

double score_output(const OwnedScores& o, const Input<std::uint32_t>& labels) {
  if (labels.size() != o.scores.length) throw std::invalid_argument("labels do not fit the sentence");
  return score_of(o.shape, o.constants, o.scores, Labels(labels.data(), labels.data() + labels.size()));
}

// log Z, P(label of a token), P(segment) and the expected neighbours.
nb::dict marginals_of(const OwnedScores& o) {
  SegmentScores p = o.scores;
  SegmentExpectations expected = segment_probabilities(o.shape, o.constants, p);
  const std::size_t types = o.shape.types(), length = p.length;
  std::vector<double> node(length * o.shape.labels), segment(length * p.most * types);
  for (std::size_t b = 0; b < length; ++b)
    for (std::size_t tokens = 1; tokens <= p.longest(b); ++tokens)
      for (std::size_t s = 0; s < types; ++s) {
        const double probability = p.at(b, tokens)[s];
        segment[(b * p.most + tokens - 1) * types + s] = probability;
        if (probability == 0.0) continue;
        node[b * o.shape.labels + o.shape.begin_label[s]] += probability;
        for (std::size_t t = b + 1; t < b + tokens; ++t)
          node[t * o.shape.labels + o.shape.inside_label[s]] += probability;
      }
  nb::dict out;
  out["log_z"] = expected.log_z;
  out["node"] = give(std::move(node), length, std::size_t{o.shape.labels});
  out["segment"] = give(std::move(segment), length, p.most, types);
  out["start"] = give(std::move(expected.start));
  out["end"] = give(std::move(expected.end));
  out["transition"] = give(std::move(expected.transition), types, types);
  return out;
}

// Outputs, best first; keeps the scores alive.
struct SegmentKBestIterator {
  std::shared_ptr<OwnedScores> owned;
  SegmentKBest search;

  SegmentKBestIterator(std::shared_ptr<OwnedScores> o, std::size_t k)
      : owned(std::move(o)), search(owned->shape, owned->constants, owned->scores, k) {}

  nb::tuple next() {
    Labels output;
    const std::optional<double> score = search.next(output);
    if (!score) throw nb::stop_iteration();
    return nb::make_tuple(give(std::move(output)), *score);
  }
};

using ConstrainedSegments = ConstrainedIterator<OwnedScores, SegmentPaths>;

std::unique_ptr<ConstrainedSegments> constrained_outputs(std::shared_ptr<OwnedScores> owned,
                                                         const ConstraintSet& constraint_set,
                                                         const Input<std::uint32_t>& tokens,
                                                         const Input<std::uint32_t>& spans) {
  if (constraint_set.labels != owned->shape.labels)
    throw std::invalid_argument("constraints: the constraint set does not fit the lattice");
  const SegmentPaths paths{owned->shape, owned->constants, owned->scores};
  Labels free = best_scored(*owned).output;
  return std::make_unique<ConstrainedSegments>(std::move(owned), paths, free, constraint_set,
                                               placed_constraints_from(tokens, spans));
}

using BoundSegments = BoundModel<SegmentModel>;

nb::list features_of(const BoundSegments& b, const SegmentExtractor& extractor, const TokenTable& table,
                     std::size_t s, const Input<std::uint32_t>& labels, SegmentModel::Space& space) {
  require_sentence(table, s);
  nb::list list;
  const Labels y(labels.data(), labels.data() + labels.size());
  for (const SegmentModel::LocatedFeature& f : b.model.features_of(extractor, table, s, y, space)) {
    const SegmentExtractor::Origin& from = f.origin;
    const bool of_token = extractor.is_of_token(from);
    const nb::object number = extractor.is_explicit() ? nb::none() : nb::cast(from.template_index);
    list.append(nb::make_tuple(of_token ? from.inner : from.begin, of_token ? from.inner : from.last,
                               from.inner, f.row, f.label, from.value(), number, f.texts));
  }
  return list;
}

BoundSegments* make_model(const SegmentShape& shape, const nb::dict& arrays) {
  return make_bound_model<SegmentModel>(shape, arrays, shape.labels, 0);
}

void bind_shape_and_features(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SegmentExtractor>(m, "SegmentExtractor",
                               "Templates over segments, ready to run over token tables.")
      .def("__init__", &make_extractor, "sources"_a, "templates"_a, "lists"_a, "columns"_a,
           "word_tables"_a = WordTables(), "before"_a = std::vector<std::uint32_t>())
      .def_prop_ro("has_neighbours", &SegmentExtractor::has_neighbours,
                   "Are there templates of neighbouring segments?")
      .def_static("of_items", &SegmentExtractor::of_items, "columns"_a,
                  "Features are the tables' explicit attributes.")
      .def("names", &names_of, "table"_a, "sentence"_a, "begin"_a, "last"_a,
           "(token or None, name) of every feature of a segment.");

  nb::class_<SegmentShape>(m, "SegmentShape", "Types of segments, and the longest ones.")
      .def(
          "__init__",
          [](SegmentShape* self, const Input<std::uint32_t>& inside, std::uint32_t most, bool transitions,
             bool ends) {
            new (self) SegmentShape(std::vector<std::uint32_t>(inside.data(), inside.data() + inside.size()),
                                    most, transitions, ends);
          },
          nb::arg("inside").noconvert(), "most"_a, "transitions"_a, "ends"_a)
      .def_ro("labels", &SegmentShape::labels)
      .def_ro("most", &SegmentShape::most)
      .def_prop_ro("types", &SegmentShape::types)
      .def_prop_ro("row_width", &SegmentShape::row_width, "Outputs of a feature's row.")
      .def_prop_ro("constants", &SegmentShape::constants, "Number of weights in row 0.");

  nb::class_<SegmentExamples>(m, "SegmentExamples", "Sentences as values of tokens.")
      .def(nb::init<bool>(), "keep_texts"_a)
      .def_prop_ro("sentences", &SegmentExamples::sentences)
      .def_prop_ro("tokens", &SegmentExamples::tokens)
      .def_prop_ro(
          "starts", [](const SegmentExamples& e) { return give(std::vector<std::uint32_t>(e.sentence)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "gold", [](const SegmentExamples& e) { return give(std::vector<std::uint32_t>(e.gold)); },
          nb::rv_policy::move)
      .def(
          "add", [](SegmentExamples& e, const SegmentExtractor& p, const TokenTable& t) { e.add(p, t); },
          "extractor"_a, "table"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro(
          "sets", [](const SegmentExamples& e) { return give_sets(e.sets); }, nb::rv_policy::move,
          "[sets, labels]: gold numbers from the number of labels on stand for these.")
      .def("set_gold", &set_gold, nb::arg("gold").noconvert(), "shape"_a,
           nb::arg("sets").noconvert() = nb::none(),
           "Gold labels; -1 - k stands for set k of [sets][labels], any of which may be right. Returns how "
           "many segments were longer than the shape allows and had to be cut.");
}

void bind_scores(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<OwnedScores>(m, "SegmentLattice", "Scores of all segments of one sentence.")
      .def(nb::new_(&make_scores), "shape"_a, nb::arg("segments").noconvert(), "length"_a,
           nb::arg("constants").noconvert())
      .def("best", &best_output, "Best labels and their score.")
      .def(
          "k_best",
          [](std::shared_ptr<OwnedScores> o, std::optional<std::size_t> k) {
            return std::make_unique<SegmentKBestIterator>(std::move(o), k.value_or(SIZE_MAX));
          },
          "k"_a = nb::none(), "Iterates over (labels, score), best first, at most k if it is given.")
      .def("constrained", &constrained_outputs, "constraint_set"_a, nb::arg("tokens").noconvert(),
           nb::arg("spans").noconvert(),
           "Iterates over (labels, score) of the outputs that satisfy constraints as well as can be, best "
           "first.")
      .def("score", &score_output, nb::arg("labels").noconvert(),
           "Score of an output; -inf if it spells no segments.")
      .def(
          "allow",
          [](OwnedScores& o, std::size_t t, const Input<std::uint8_t>& allowed) {
            if (t >= o.scores.length || allowed.size() != o.shape.labels)
              throw std::invalid_argument("allowed labels do not fit the sentence");
            o.scores.allow(o.shape, t, view(allowed));
          },
          "token"_a, nb::arg("allowed").noconvert(), "From now on only some labels of a token are legal.")
      .def("marginals", &marginals_of);

  nb::class_<SegmentKBestIterator>(m, "SegmentKBest", "Outputs, best first.")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &SegmentKBestIterator::next);
  bind_constrained<ConstrainedSegments>(m, "ConstrainedSegments");
}

void bind_model(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SegmentModel::Space>(m, "SegmentSpace", "Scratch memory of one thread.").def(nb::init<>());

  auto model = bind_frozen_model<SegmentModel>(m, "SegmentModel", "A finished model of segments.");
  bind_label_answers(model);
  bind_ranked(model);
  bind_rescored(model);
  bind_output_features(model);
  model.def(nb::new_(&make_model), "shape"_a, "arrays"_a)
      .def(
          "lattice",
          [](const BoundSegments& b, const SegmentExtractor& extractor, const TokenTable& table,
             std::size_t s, SegmentModel::Space& space) {
            require_sentence(table, s);
            const SegmentScores& scores = b.model.scores(extractor, table, s, space);
            return std::make_shared<OwnedScores>(b.model.shape(), b.model.constants(), scores);
          },
          "extractor"_a, "table"_a, "sentence"_a, "space"_a, "Scores of one sentence.")
      .def("features_of", &features_of, "extractor"_a, "table"_a, "sentence"_a, nb::arg("labels").noconvert(),
           "space"_a,
           "(first token, last token, token in turn, row, label, how often, template or None, texts of its "
           "pieces) of each known feature of an output.");
}

}  // namespace

void bind_segments(nb::module_& m) {
  bind_shape_and_features(m);
  bind_scores(m);
  bind_model(m);
}
