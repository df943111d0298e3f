#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "features/example_rows.hpp"
#include "sources.hpp"

using namespace marginalia;

namespace {

using PieceFields = std::tuple<std::string, std::int64_t, std::int32_t, bool, std::vector<std::string>,
                               std::vector<std::string>>;
using TemplateFields = std::pair<bool, std::vector<PieceFields>>;

Template template_of(const TemplateFields& fields) {
  Template result{fields.first ? Scope::edge : Scope::node, {}};
  for (const auto& [text, source, offset, absolute, before, after] : fields.second)
    result.pieces.push_back({source < 0, text, static_cast<std::uint32_t>(source < 0 ? 0 : source), offset,
                             absolute, before, after});
  return result;
}

void make_extractor(FeatureExtractor* self, const std::vector<SourceFields>& sources,
                    const std::vector<TemplateFields>& templates,
                    std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns,
                    const WordTables& words) {
  std::vector<Template> made_templates;
  for (const auto& fields : templates) made_templates.push_back(template_of(fields));
  new (self)
      FeatureExtractor(sources_of(sources, words), std::move(made_templates), std::move(lists), columns);
}

// (function, argument, column) of a piece; a literal is ("", text, 0).
using BagFields = std::tuple<std::string, std::string, std::uint32_t>;

BagPiece bag_piece_of(const BagFields& fields) {
  auto [function, argument, column] = fields;
  BagPiece piece;
  if (function.empty()) {
    piece.text = argument;
    return piece;
  }
  piece.column = column;
  if (function == "number") {
    piece.kind = BagPiece::Kind::number;
    piece.divisor = argument.empty() ? 1.0 : std::stod(argument);
    return piece;
  }
  piece.lower = function.starts_with("lower-");
  const std::string bag = piece.lower ? function.substr(6) : function;
  if (bag != "ngrams" && bag != "chars") {
    piece.lower = false;
    piece.kind = BagPiece::Kind::column;
    piece.attribute = {function_named(function), argument};
    return piece;
  }
  piece.kind = bag == "ngrams" ? BagPiece::Kind::words : BagPiece::Kind::characters;
  piece.n = static_cast<std::uint32_t>(std::stoul(argument));
  return piece;
}

FeatureExtractor bags_of(const std::vector<std::vector<BagFields>>& templates, std::uint32_t columns) {
  std::vector<BagTemplate> made;
  for (const auto& fields : templates) {
    made.emplace_back();
    for (const auto& one : fields) made.back().push_back(bag_piece_of(one));
  }
  return FeatureExtractor::of_bags(std::move(made), columns);
}

// All features of a table as (edge, name) per token: what the key hashes stand for.
nb::list names_of(const FeatureExtractor& extractor, const TokenTable& table) {
  nb::list tokens;
  ExtractionSpace space;
  std::vector<Feature> features;
  std::string name;
  for (std::size_t t = 0; t < table.tokens(); ++t) tokens.append(nb::list());
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
    extractor.read(table, first, last, nullptr, space);
    extractor.features(space, last - first, 0, last - first, features, [](std::uint64_t) {});
    for (const Feature& f : features) {
      extractor.name_of(f, table, space, first, last, name);
      if (key_of(hash_of(name).hash, f.edge) != f.key)
        throw std::logic_error("the key of feature " + name + " is not the hash of its name");
      nb::cast<nb::list>(tokens[first + f.token]).append(nb::make_tuple(f.edge, name));
    }
  }
  return tokens;
}

void seed(FeatureIndex& index, const Input<std::uint64_t>& keys, const Input<std::uint8_t>& edges,
          const nb::bytes& names, const Input<std::uint32_t>& name_ends) {
  if (edges.size() != keys.size() || (name_ends.size() != 0 && name_ends.size() != keys.size()))
    throw std::invalid_argument("features: the parts disagree in number");
  const std::string_view text(names.c_str(), names.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    bool added = false;
    const std::uint32_t row =
        index.find_or_add(keys.data()[i], edges.data()[i] != 0 ? Scope::edge : Scope::node, added);
    if (!added || keys.data()[i] == 0) throw std::invalid_argument("features: a key is there twice");
    const std::size_t begin = i == 0 || name_ends.size() == 0 ? 0 : name_ends.data()[i - 1];
    const std::size_t end = name_ends.size() == 0 ? 0 : name_ends.data()[i];
    if (begin > end || end > text.size()) throw std::invalid_argument("features: the names do not fit");
    index.add_name(text.substr(begin, end - begin));
    index.keep(row);
  }
}

// The keys of features with these names; name i ends at ends[i] of the text.
nb::ndarray<nb::numpy, std::uint64_t> keys_of(const nb::bytes& names, const Input<std::uint64_t>& ends,
                                              const Input<std::uint8_t>& edges) {
  if (edges.size() != ends.size()) throw std::invalid_argument("features: the parts disagree in number");
  const std::string_view text(names.c_str(), names.size());
  std::vector<std::uint64_t> keys;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::uint64_t end = ends.data()[i];
    if (begin > end || end > text.size()) throw std::invalid_argument("features: the names do not fit");
    keys.push_back(key_of(hash_of(text.substr(begin, end - begin)).hash, edges.data()[i] != 0));
    begin = end;
  }
  return give(std::move(keys));
}

void set_gold(ExampleRows& examples, const Input<std::int32_t>& gold, std::uint32_t labels,
              const Sets& allowed) {
  LabelSets sets = sets_of(allowed, labels);
  examples.gold = gold_of(gold, examples.tokens(), labels, sets);
  examples.sets = std::move(sets);
}

}  // namespace

void bind_features(nb::module_& m) {
  using namespace nb::literals;
  // An error in an item's text is one of the data.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ItemError& error) {
      const nb::object type = nb::module_::import_("marginalia.errors").attr("DataError");
      const nb::object line = error.line == 0 ? nb::none() : nb::cast(error.line);
      PyErr_SetObject(type.ptr(), type(error.what(), nb::arg("line") = line).ptr());
    }
  });
  nb::class_<FeatureExtractor>(m, "FeatureExtractor", "Templates, ready to run over token tables.")
      .def("__init__", &make_extractor, "sources"_a, "templates"_a, "lists"_a, "columns"_a,
           "word_tables"_a = WordTables())
      .def_static("of_items", &FeatureExtractor::of_items, "columns"_a,
                  "Features are the tables' explicit attributes.")
      .def_static(
          "of_bags", &bags_of, "templates"_a, "columns"_a,
          "Templates over items, as lists of (function, argument, column); a literal is (\"\", text, 0).")
      .def_prop_ro("has_edges", &FeatureExtractor::has_edges)
      .def("names", &names_of, "table"_a, "(edge, name) of every feature of every token.");

  m.def("feature_keys", &keys_of, "names"_a, nb::arg("ends").noconvert(), nb::arg("edges").noconvert(),
        "The keys of features, by their names: name i ends at ends[i].");

  nb::class_<FeatureIndex>(m, "FeatureIndex", "Features met in training, numbered.")
      .def(nb::init<bool>(), "keep_names"_a)
      .def("__len__", [](const FeatureIndex& index) { return index.rows() - 1; })
      .def(
          "name",
          [](const FeatureIndex& index, std::uint32_t row) {
            if (row >= index.rows()) throw nb::index_error("no such row");
            return nb::bytes(index.name(row).data(), index.name(row).size());
          },
          "row"_a)
      .def("seed", &seed, nb::arg("keys").noconvert(), nb::arg("edges").noconvert(), "names"_a,
           nb::arg("name_ends").noconvert(), "Adds features that are never cut, in this order.")
      .def_prop_ro(
          "keys",
          [](const FeatureIndex& index) {
            std::vector<std::uint64_t> keys;
            for (std::uint32_t row = 1; row < index.rows(); ++row) keys.push_back(index.key(row));
            return give(std::move(keys));
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "edges",
          [](const FeatureIndex& index) {
            std::vector<std::uint8_t> edges;
            for (std::uint32_t row = 1; row < index.rows(); ++row)
              edges.push_back(index.scope(row) == Scope::edge);
            return give(std::move(edges));
          },
          nb::rv_policy::move)
      .def_prop_ro("keeps_names", &FeatureIndex::keeps_names)
      .def(
          "count",
          [](FeatureIndex& index, const FeatureExtractor& extractor, const TokenTable& table) {
            count_only(extractor, table, index);
          },
          "extractor"_a, "table"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "cut",
          [](FeatureIndex& index, std::uint32_t least, const std::vector<ExampleRows*>& examples) {
            const auto renumbered = index.cut(least);
            for (ExampleRows* e : examples) renumber(*e, renumbered);
          },
          "least"_a, "examples"_a, "Drops features counted fewer than `least` times.");

  nb::class_<ExampleRows>(m, "ExampleRows", "Sentences as feature rows.")
      .def(
          "__init__",
          [](ExampleRows* self, bool keep_templates) {
            new (self) ExampleRows();
            self->keeps_templates = keep_templates;
          },
          "keep_templates"_a = false)
      .def_prop_ro("sentences", &ExampleRows::sentences)
      .def_prop_ro("tokens", &ExampleRows::tokens)
      .def(
          "rows",
          [](const ExampleRows& e, std::size_t token) {
            if (token >= e.tokens()) throw nb::index_error("no such token");
            std::vector<std::pair<std::uint32_t, double>> found;
            for (std::uint64_t i = e.node_end[token]; i < e.node_end[token + 1]; ++i)
              found.emplace_back(e.node_rows[i], e.node_value(i));
            return found;
          },
          "token"_a, "The rows of a token's node features, each with how often it has it.")
      .def_prop_ro(
          "starts", [](const ExampleRows& e) { return give(std::vector<std::uint32_t>(e.sentence)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "gold", [](const ExampleRows& e) { return give(std::vector<std::uint32_t>(e.gold)); },
          nb::rv_policy::move)
      .def("reserve", &reserve, "extractor"_a, "tokens"_a, "Room for so many tokens.")
      .def(
          "add_growing",
          [](ExampleRows& e, const FeatureExtractor& p, const TokenTable& t, FeatureIndex& i) {
            extract_growing(p, t, i, e);
          },
          "extractor"_a, "table"_a, "index"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "add_known",
          [](ExampleRows& e, const FeatureExtractor& p, const TokenTable& t, const FeatureIndex& i) {
            extract_known(p, t, i, e);
          },
          "extractor"_a, "table"_a, "index"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro(
          "sets", [](const ExampleRows& e) { return give_sets(e.sets); }, nb::rv_policy::move,
          "[sets, labels]: gold numbers from the number of labels on stand for these.")
      .def("set_gold", &set_gold, nb::arg("gold").noconvert(), "labels"_a,
           nb::arg("sets").noconvert() = nb::none(),
           "Gold labels; -1 - k stands for set k of [sets][labels], any of which may be right.");
}
