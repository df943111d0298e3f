// Global features of whole outputs: declared sets, documents, weights of finished models, and features of
// given outputs.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "arrays.hpp"
#include "bind.hpp"
#include "features/global_evaluator.hpp"
#include "features/index.hpp"
#include "search/rescoring.hpp"
#include "weights/weight_table.hpp"

using namespace marginalia;

namespace {

using Set = std::shared_ptr<const GlobalSet>;
using Types = std::shared_ptr<const MentionLabels>;

// A function of Python, called with the words and the mentions as (begin, end, type).
UserFeatures user_features(nb::callable function) {
  return [function](std::span<const std::string_view> words, std::span<const Mention> mentions,
                    std::vector<std::string>& names) {
    nb::gil_scoped_acquire locked;
    nb::list given, spans;
    for (const std::string_view word : words) given.append(nb::str(word.data(), word.size()));
    for (const Mention& one : mentions) spans.append(nb::make_tuple(one.begin, one.end, one.type));
    for (nb::handle name : nb::cast<nb::list>(function(given, spans)))
      names.push_back(nb::cast<std::string>(name));
  };
}

// Outputs of one document, one after another, as numbers of labels.
std::vector<ScoredLabels> outputs_of(const Input<std::int32_t>& ids, std::size_t length, std::size_t labels) {
  if (length == 0 || ids.size() % length != 0)
    throw std::invalid_argument("global features: the outputs do not fit the document");
  std::vector<ScoredLabels> found;
  for (std::size_t begin = 0; begin < ids.size(); begin += length) {
    found.emplace_back();
    for (const std::int32_t id : view(ids).subspan(begin, length)) {
      if (id < 0 || static_cast<std::size_t>(id) >= labels)
        throw std::invalid_argument("global features: a label is out of range");
      found.back().output.push_back(static_cast<std::uint32_t>(id));
    }
  }
  return found;
}

// All features of each output, by number of the evaluator. `counts` is scratch memory.
std::vector<std::vector<std::pair<std::uint32_t, double>>> features_of(GlobalEvaluator& evaluator,
                                                                       const GlobalTexts& texts,
                                                                       std::size_t i,
                                                                       const HypothesisList& outputs,
                                                                       FeatureCounts& counts) {
  std::vector<std::vector<std::pair<std::uint32_t, double>>> found;
  evaluator.begin(texts, i, outputs.first());
  HypothesisCursor cursor(outputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    cursor.move_to(k);
    const auto add = [&](std::uint32_t number, double count) { counts.add(number, count); };
    counts.clear();  // a copy would be as large as the number of features
    evaluator.first().for_each(add);
    if (k > 0) evaluator.difference(cursor.labels(), cursor.changed()).for_each(add);
    found.emplace_back();
    counts.for_each([&](std::uint32_t number, double count) { found.back().emplace_back(number, count); });
  }
  return found;
}

class Extractor {
 public:
  Extractor(Set set, Types labels)
      : set_(std::move(set)), labels_(std::move(labels)), evaluator_(*set_, *labels_) {}

  // Rows and counts of the features of each output of document i; those of output k end at ends[k].
  nb::tuple rows(const GlobalTexts& texts, std::size_t i, const Input<std::int32_t>& ids, FeatureIndex& index,
                 bool grow) {
    const std::vector<ScoredLabels> outputs = checked(texts, i, ids);
    std::vector<std::uint64_t> ends;
    std::vector<std::uint32_t> rows;
    std::vector<double> counts;
    {
      nb::gil_scoped_release unlocked;
      for (const auto& features : features_of(evaluator_, texts, i, listed(outputs), counts_)) {
        for (const auto& [number, count] : features)
          if (const std::uint32_t row = row_of(number, index, grow); row != kNoRow) {
            rows.push_back(row);
            counts.push_back(count);
          }
        ends.push_back(rows.size());
      }
    }
    return nb::make_tuple(give(std::move(ends)), give(std::move(rows)), give(std::move(counts)));
  }

  // By output: names of features with their counts.
  nb::list names(const GlobalTexts& texts, std::size_t i, const Input<std::int32_t>& ids) {
    nb::list found;
    for (const auto& features : features_of(evaluator_, texts, i, listed(checked(texts, i, ids)), counts_)) {
      nb::dict names;
      for (const auto& [number, count] : features)
        names[std::string(evaluator_.features().name(number)).c_str()] = count;
      found.append(names);
    }
    return found;
  }

 private:
  std::vector<ScoredLabels> checked(const GlobalTexts& texts, std::size_t i, const Input<std::int32_t>& ids) {
    if (i >= texts.size()) throw nb::index_error("no such document");
    return outputs_of(ids, texts.words(i).size(), labels_->labels());
  }
  std::uint32_t row_of(std::uint32_t number, FeatureIndex& index, bool grow) {
    const std::uint64_t key = evaluator_.features().key(number);
    const std::unique_lock alone(index.lock());
    if (!grow) return index.find(key);
    bool added = false;
    const std::uint32_t row = index.find_or_add(key, Scope::global, added);
    if (added) index.add_name(evaluator_.features().name(number));
    return row;
  }

  Set set_;
  Types labels_;
  GlobalEvaluator evaluator_;
  FeatureCounts counts_;
};

struct BoundGlobalModel {
  std::vector<nb::object> arrays;  // which the model looks into
  GlobalModel model;
};

std::vector<std::uint32_t> one_output(const Rescorer& rescorer, std::size_t i,
                                      const Input<std::int32_t>& ids) {
  if (i >= rescorer.documents()) throw nb::index_error("no such document");
  if (rescorer.length(i) == 0) return {};
  auto outputs = outputs_of(ids, rescorer.length(i), rescorer.model().labels().labels());
  if (outputs.size() != 1) throw std::invalid_argument("global features: expected one output");
  return std::move(outputs[0].output);
}

// The global features with weights, by rising key: keys, weights, joined names and where each ends.
nb::tuple global_weights(const SparseRows& weights, const FeatureIndex& index) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 1; row < std::min<std::size_t>(index.rows(), weights.rows.size()); ++row)
    if (index.scope(row) == Scope::global && weights.rows[row].size == 1 &&
        weights.begin(row)->weight != 0.0f)
      rows.push_back(row);
  std::sort(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return index.key(a) < index.key(b); });
  std::vector<std::uint64_t> keys;
  std::vector<float> values;
  std::vector<std::uint32_t> ends;
  std::string names;
  for (const std::uint32_t row : rows) {
    keys.push_back(index.key(row));
    values.push_back(weights.begin(row)->weight);
    names += index.name(row);
    ends.push_back(static_cast<std::uint32_t>(names.size()));
  }
  return nb::make_tuple(give(std::move(keys)), give(std::move(values)), nb::bytes(names.data(), names.size()),
                        give(std::move(ends)));
}

}  // namespace

void bind_global(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<GlobalSet>(m, "GlobalSet", "A declared set of global features.")
      .def(
          "__init__",
          [](GlobalSet* self, const std::vector<std::string>& lines,
             const std::vector<std::string>& lowercase, const std::vector<nb::callable>& functions) {
            std::vector<UserFeatures> own;
            for (const nb::callable& function : functions) own.push_back(user_features(function));
            new (self) GlobalSet(lines, lowercase, std::move(own));
          },
          "lines"_a, "lowercase"_a, "functions"_a);

  nb::class_<MentionLabels>(m, "MentionLabels", "How labels spell mentions.")
      .def(
          "__init__",
          [](MentionLabels* self, const std::vector<std::string>& types, const Input<std::uint32_t>& type,
             const Input<std::uint8_t>& joined) {
            new (self) MentionLabels(types, {type.data(), type.data() + type.size()},
                                     {joined.data(), joined.data() + joined.size()});
          },
          "types"_a, nb::arg("type").noconvert(), nb::arg("joined").noconvert());

  nb::class_<GlobalTexts>(m, "GlobalTexts", "The words of documents.")
      .def(nb::init<Set>(), "set"_a)
      .def("add", &GlobalTexts::add, "table"_a, "column"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Appends the sentences of a table, each a document.")
      .def("__len__", &GlobalTexts::size);

  nb::class_<Extractor>(m, "GlobalExtractor", "The global features of given outputs.")
      .def(nb::init<Set, Types>(), "set"_a, "labels"_a)
      .def("rows", &Extractor::rows, "texts"_a, "document"_a, nb::arg("outputs").noconvert(), "index"_a,
           "grow"_a,
           "Ends, rows and counts of the features of each output, given as label ids one after another.")
      .def("names", &Extractor::names, "texts"_a, "document"_a, nb::arg("outputs").noconvert(),
           "The same by name, a dict for each output.");

  nb::class_<BoundGlobalModel>(m, "GlobalModel", "The weights of global features.")
      .def(
          "__init__",
          [](BoundGlobalModel* self, Set set, Types labels, const Input<std::uint64_t>& keys,
             const Input<float>& weights, double scale) {
            GlobalModel model(std::move(set), std::move(labels), view(keys), view(weights), scale);
            new (self) BoundGlobalModel{{nb::cast(keys), nb::cast(weights)}, std::move(model)};
          },
          "set"_a, "labels"_a, nb::arg("keys").noconvert(), nb::arg("weights").noconvert(), "scale"_a = 1.0,
          nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def(
          "set_votes",
          [](BoundGlobalModel& self, const Input<std::uint32_t>& ends, const Input<std::uint32_t>& steps,
             const Input<float>& changes, std::uint32_t versions, double scale, std::size_t candidates) {
            self.model.set_votes({view(ends), view(steps), view(changes), versions, scale, candidates});
          },
          nb::arg("ends").noconvert(), nb::arg("steps").noconvert(), nb::arg("changes").noconvert(),
          "versions"_a, "scale"_a, "candidates"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>(), "Versions of the weights that vote on so many of the best outputs.");

  nb::class_<Rescorer>(m, "Rescorer", "Global features at work in one thread.")
      .def(
          "__init__", [](Rescorer* self, const BoundGlobalModel& model) { new (self) Rescorer(model.model); },
          "model"_a, nb::keep_alive<1, 2>())
      .def("read", &Rescorer::read, "table"_a, "column"_a, nb::call_guard<nb::gil_scoped_release>(),
           "The documents that are asked about from now on.")
      .def(
          "score",
          [](Rescorer& r, std::size_t i, const Input<std::int32_t>& ids) {
            return r.score(i, one_output(r, i, ids));
          },
          "document"_a, nb::arg("ids").noconvert(), "What global features add to the score of an output.")
      .def(
          "totals",
          [](Rescorer& r, std::size_t i, const Input<std::int32_t>& ids, const Input<double>& scores) {
            if (i >= r.documents()) throw nb::index_error("no such document");
            auto outputs = outputs_of(ids, r.length(i), r.model().labels().labels());
            if (outputs.size() != scores.size() || outputs.empty())
              throw std::invalid_argument("global features: expected a score for each output");
            for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].score = scores.data()[k];
            nb::gil_scoped_release unlocked;
            std::vector<double> totals = r.totals(i, listed(outputs));
            nb::gil_scoped_acquire locked;
            return give(std::move(totals));
          },
          "document"_a, nb::arg("outputs").noconvert(), nb::arg("scores").noconvert(),
          "Scores by all features of outputs with these local scores.")
      .def(
          "terms",
          [](Rescorer& r, std::size_t i, const Input<std::int32_t>& ids) {
            nb::list found;
            for (const Rescorer::Term& term : r.terms(i, one_output(r, i, ids)))
              found.append(nb::make_tuple(term.name, term.count, term.weight));
            return found;
          },
          "document"_a, nb::arg("ids").noconvert(),
          "Names, counts and weights of an output's global features.");

  m.def("global_families", [] {
    nb::list names;
    for (const char* name : kFamilies) names.append(name);
    return names;
  });
  m.def("global_key", [](const std::string& name) { return global_key(name); }, "name"_a);
  m.def("global_weights", &global_weights, "weights"_a, "index"_a,
        "Keys, weights, joined names and their ends, of global features by rising key.");
}
