#include "base/token_table.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "base/ranked_text.hpp"
#include "base/segmented.hpp"
#include "bind.hpp"
#include "items.hpp"
#include "table_state.hpp"

namespace {

using marginalia::TokenTable;
using Ids = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using View = nb::ndarray<nb::numpy, const std::uint32_t, nb::ndim<1>>;

Ids give(std::vector<std::int32_t> values) {
  auto owned = std::make_unique<std::vector<std::int32_t>>(std::move(values));
  const std::int32_t* data = owned->data();
  const std::size_t size = owned->size();
  nb::capsule owner(owned.release(),
                    [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  return Ids(data, {size}, owner);
}

// A read-only view of one of the table's arrays; the array keeps the table alive.
template <std::vector<std::uint32_t> TokenTable::* Member>
View view(nb::handle self) {
  const auto& values = nb::cast<const TokenTable&>(self).*Member;
  return View(values.data(), {values.size()}, self);
}

nb::str text(std::string_view s) {
  return nb::str(s.data(), s.size());
}

// A ParseError reaches Python as ValueError(message, line, column).
[[noreturn]] void raise_located(const marginalia::ParseError& error) {
  PyErr_SetObject(PyExc_ValueError, nb::make_tuple(error.what(), error.line, error.column).ptr());
  throw nb::python_error();
}

TokenTable parse_columns(nb::bytes data, std::uint32_t first_line, std::uint32_t first_document,
                         std::uint32_t columns, bool tabs_only, const std::string& comment,
                         bool comment_anywhere) {
  const marginalia::ParseOptions options{first_line, first_document, columns,
                                         tabs_only,  comment,        comment_anywhere};
  try {
    std::string copy(data.c_str(), data.size());
    nb::gil_scoped_release unlocked;
    return marginalia::parse_columns(std::move(copy), options);
  } catch (const marginalia::ParseError& error) {
    raise_located(error);
  }
}

TokenTable parse_items(nb::bytes data, std::uint32_t first_line) {
  try {
    std::string copy(data.c_str(), data.size());
    nb::gil_scoped_release unlocked;
    return marginalia::parse_items(std::move(copy), first_line);
  } catch (const marginalia::ParseError& error) {
    raise_located(error);
  }
}

TokenTable parse_segmented(nb::bytes data, std::uint32_t first_line, std::uint32_t first_document,
                           bool blank_lines, const std::string& tag_separator) {
  try {
    const std::string copy(data.c_str(), data.size());
    nb::gil_scoped_release unlocked;
    return marginalia::parse_segmented(copy, {first_line, first_document, blank_lines, tag_separator});
  } catch (const marginalia::ParseError& error) {
    raise_located(error);
  }
}

TokenTable from_columns(const std::vector<nb::list>& columns, const std::vector<std::uint32_t>& lengths,
                        const std::vector<std::uint32_t>& documents, const std::optional<nb::list>& items) {
  std::size_t tokens = 0;
  for (const std::uint32_t length : lengths) tokens += length;
  if (columns.empty() && tokens > 0) throw std::invalid_argument("found no columns, expected at least one");
  std::vector<std::vector<std::string_view>> fields(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].size() != tokens)
      throw std::invalid_argument("found " + std::to_string(columns[c].size()) + " values in column " +
                                  std::to_string(c) + ", expected " + std::to_string(tokens));
    fields[c].reserve(tokens);
    for (nb::handle value : columns[c]) fields[c].push_back(bytes_of(value));
  }
  TokenTable table = marginalia::pack(fields, lengths, documents);
  if (items) table.items = std::make_shared<const marginalia::Items>(items_of(*items, lengths));
  return table;
}

nb::list column_slice(const TokenTable& table, std::size_t column, std::size_t first, std::size_t last) {
  if (column >= table.columns || first > last || last > table.tokens())
    throw nb::index_error("column or tokens outside of the table");
  nb::list values;
  for (std::size_t token = first; token < last; ++token) values.append(text(table.field(token, column)));
  return values;
}

// Line and character of a field.
nb::tuple place(const TokenTable& table, std::size_t token, std::size_t column) {
  if (column >= table.columns || token >= table.tokens())
    throw nb::index_error("column or token outside of the table");
  return nb::make_tuple(table.line[token], marginalia::character_column(table, token, column));
}

nb::list comments(const TokenTable& table) {
  nb::list found;
  for (const auto& comment : table.comments)
    found.append(nb::make_tuple(comment.sentence, text({table.text.data() + comment.begin, comment.length})));
  return found;
}

nb::tuple distinct(const TokenTable& table, std::uint32_t column) {
  marginalia::Distinct found;
  {
    nb::gil_scoped_release unlocked;
    found = marginalia::distinct(table, column);
  }
  nb::list values;
  for (const std::string_view value : found.values) values.append(text(value));
  return nb::make_tuple(values, give(std::move(found.ids)));
}

Ids intern_column(const TokenTable& table, std::uint32_t column, const std::vector<std::string>& vocabulary) {
  std::vector<std::int32_t> ids;
  {
    nb::gil_scoped_release unlocked;
    ids = marginalia::intern_column(table, column, vocabulary);
  }
  return give(std::move(ids));
}

using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::bytes render(const TokenTable& table, const std::vector<std::string>& labels, const Ids& ids,
                 std::optional<char> separator, const std::optional<Numbers>& numbers,
                 const std::optional<Ids>& before) {
  std::string out;
  const std::span<const double> values =
      numbers ? std::span<const double>(numbers->data(), numbers->size()) : std::span<const double>();
  {
    nb::gil_scoped_release unlocked;
    std::vector<marginalia::NamedColumn> columns;
    if (before) columns.push_back({labels, {before->data(), before->size()}});
    columns.push_back({labels, {ids.data(), ids.size()}});
    out = marginalia::render(table, values, numbers ? numbers->shape(1) : 0, columns,
                             separator.value_or(table.separator()));
  }
  return nb::bytes(out.data(), out.size());
}

using Ranks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RankNumbers = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Units = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::bytes render_ranked(const TokenTable& table, const std::vector<std::string>& labels, const Ranks& ids,
                        const Numbers& scores, const std::optional<Numbers>& probabilities,
                        const std::optional<RankNumbers>& numbers, const Units& units,
                        std::uint32_t first_line) {
  const std::size_t ranks = ids.shape(0), tokens = ids.shape(1), all = scores.shape(1);
  const std::size_t width = numbers ? numbers->shape(2) : 0;
  if (scores.shape(0) != ranks ||
      (probabilities && (probabilities->shape(0) != ranks || probabilities->shape(1) != all)) ||
      (numbers && (numbers->shape(0) != ranks || numbers->shape(1) != tokens)))
    throw std::invalid_argument("ranked outputs do not fit each other");
  std::string out;
  {
    nb::gil_scoped_release unlocked;
    std::vector<std::string> texts;
    std::vector<marginalia::RankedUnits> of_units;
    for (std::size_t r = 0; r < ranks; ++r) {
      const marginalia::NamedColumn column{labels, {ids.data() + r * tokens, tokens}};
      std::span<const double> values;
      if (numbers) values = {numbers->data() + r * tokens * width, tokens * width};
      texts.push_back(marginalia::render(table, values, width, {&column, 1}, table.separator()));
      of_units.push_back({{scores.data() + r * all, all}, {}});
      if (probabilities) of_units.back().probabilities = {probabilities->data() + r * all, all};
    }
    out = marginalia::ranked_text(table, first_line, {units.data(), units.size()}, texts, of_units);
  }
  return nb::bytes(out.data(), out.size());
}

nb::bytes replaced(const TokenTable& table, std::uint32_t column, const std::vector<std::string>& labels,
                   const Ids& ids) {
  std::string out;
  {
    nb::gil_scoped_release unlocked;
    out = marginalia::replace_column(table, column, labels, {ids.data(), ids.size()});
  }
  return nb::bytes(out.data(), out.size());
}

nb::bytes render_segmented(const TokenTable& table, const marginalia::SchemeLabels& labels, const Ids& ids,
                           const std::vector<std::string>& tags) {
  std::string out;
  {
    nb::gil_scoped_release unlocked;
    out = marginalia::render_segmented(table, labels, {ids.data(), ids.size()}, tags);
  }
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_table(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<TokenTable>(m, "TokenTable", "Tokens of many sentences: rows of text fields.")
      .def_prop_ro(
          "columns", [](const TokenTable& t) { return t.columns; }, "Fields per token.")
      .def_prop_ro(
          "text", [](const TokenTable& t) { return nb::bytes(t.text.data(), t.text.size()); },
          "The bytes that were read.")
      .def_prop_ro("tokens", &TokenTable::tokens, "Number of tokens.")
      .def_prop_ro("sentences", &TokenTable::sentences, "Number of sentences.")
      .def_prop_ro(
          "line_breaks", [](const TokenTable& t) { return t.line_breaks; },
          "Number of lines that end in the text.")
      .def_prop_ro("comments", &comments, "Comment lines as (sentence, text).")
      .def_prop_ro("sentence_starts", &view<&TokenTable::sentence>,
                   "First token of each sentence, then the number of tokens.")
      .def_prop_ro("lines", &view<&TokenTable::line>, "Line number of each token.")
      .def_prop_ro("documents", &view<&TokenTable::document>, "Document number of each sentence.")
      .def_prop_ro(
          "marks", [](const TokenTable& t) { return t.mark.size(); }, "Number of -DOCSTART- lines.")
      .def(
          "column", [](const TokenTable& t, std::size_t c) { return column_slice(t, c, 0, t.tokens()); },
          "column"_a, "All values of a column.")
      .def("column_slice", &column_slice, "column"_a, "first"_a, "last"_a,
           "A column's values of some tokens.")
      .def("place", &place, "token"_a, "column"_a, "Line and character at which a field starts.")
      .def("distinct", &distinct, "column"_a,
           "A column's values by first appearance, and their ids per token.")
      .def("intern_column", &intern_column, "column"_a, "vocabulary"_a,
           "Ids of a column's values; -1 if unknown.")
      .def("render", &render, "labels"_a, "ids"_a.noconvert(), "separator"_a = nb::none(),
           "numbers"_a.noconvert() = nb::none(), "before"_a.noconvert() = nb::none(),
           "The text with more fields per token line: numbers, labels[before], labels[ids].")
      .def("render_ranked", &render_ranked, "labels"_a, "ids"_a.noconvert(), "scores"_a.noconvert(),
           "probabilities"_a.noconvert().none(), "numbers"_a.noconvert().none(), "units"_a.noconvert(),
           "first_line"_a,
           "The text with the lines of each unit as often as it has outputs: ids [ranks, tokens], scores and "
           "probabilities [ranks, units], numbers [ranks, tokens, width], first tokens of units.")
      .def("replace_column", &replaced, "column"_a, "labels"_a, "ids"_a.noconvert(),
           "The text with other values in a column.")
      .def("render_segmented", &render_segmented, "labels"_a, "ids"_a.noconvert(), "tags"_a,
           "The characters in the first column with blanks between the words that labels[ids] spell, and "
           "behind "
           "each what is the tag of its first label.")
      .def_prop_ro(
          "has_attributes", [](const TokenTable& t) { return t.items != nullptr; },
          "Whether tokens have explicit attributes.")
      .def_prop_ro("attribute_bytes", &bytes_of_items, "All explicit attributes, for a fingerprint.")
      .def("attributes", &attributes_of, "first"_a, "last"_a,
           "The explicit attributes of some tokens, as dictionaries from names to values.")
      .def("concatenate_documents", &marginalia::concatenate_documents,
           "A table with one sentence per document.")
      .def(
          "as_items",
          [](const TokenTable& t, const std::vector<std::uint32_t>& lines) {
            return marginalia::as_items(t, lines);
          },
          "lines"_a = std::vector<std::uint32_t>(),
          "The tokens of the table, each a sentence of its own, read in these lines.")
      .def("__getstate__", &state_of, nb::sig("def __getstate__(self) -> tuple[Any, ...]"))
      .def(
          "__setstate__",
          [](TokenTable& table, const nb::tuple& state) { new (&table) TokenTable(table_of(state)); },
          nb::sig("def __setstate__(self, state: tuple[Any, ...], /) -> None"));
  m.def("parse_columns", &parse_columns, "text"_a, nb::kw_only(), "first_line"_a = 1, "first_document"_a = 0,
        "columns"_a = 0, "tabs_only"_a = false, "comment"_a = "#", "comment_anywhere"_a = false,
        "Read a column file; raises ValueError(message, line, column).");
  m.def("parse_items", &parse_items, "text"_a, nb::kw_only(), "first_line"_a = 1,
        "Read an item file of CRFsuite; raises ValueError(message, line, column).");
  m.def("parse_segmented", &parse_segmented, "text"_a, nb::kw_only(), "first_line"_a = 1,
        "first_document"_a = 0, "blank_lines"_a = false, "tag_separator"_a = "",
        "Read words between blanks as characters with labels; raises ValueError(message, line, column).");
  m.def(
      "from_columns", &from_columns, "columns"_a, "lengths"_a, "documents"_a = std::vector<std::uint32_t>(),
      "items"_a = nb::none(),
      "A table of lists of strings, one per column; `documents` says which one each sentence is of, `items` "
      "has the explicit attributes of each token.");
}
