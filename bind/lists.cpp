// Python lists of tokens as tables, and label ids as tuples of strings: many sentences in one call.
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "bind.hpp"

using marginalia::TokenTable;

namespace {

// A list or a tuple; nothing else is looked into, because of what its iteration may do.
class Values {
 public:
  Values() = default;
  explicit Values(PyObject* object) : object_(object), is_list_(PyList_CheckExact(object)) {}

  static bool can_be(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }
  std::size_t size() const {
    return static_cast<std::size_t>(is_list_ ? PyList_Size(object_) : PyTuple_Size(object_));
  }
  PyObject* at(std::size_t i) const {  // borrowed
    const auto place = static_cast<Py_ssize_t>(i);
    return is_list_ ? PyList_GetItem(object_, place) : PyTuple_GetItem(object_, place);
  }

 private:
  PyObject* object_ = nullptr;
  bool is_list_ = false;
};

// The columns of a sentence: a list of tokens, or a dictionary from names to lists of the same length. False
// if it is anything else.
bool find_columns(PyObject* sentence, const nb::tuple& names, std::vector<Values>& columns) {
  columns.clear();
  if (Values::can_be(sentence)) {
    columns.emplace_back(sentence);
    return names.size() == 1;
  }
  if (!PyDict_CheckExact(sentence)) return false;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(sentence, &place, &key, &value) != 0;)
    if (!Values::can_be(value)) return false;
  for (const nb::handle name : names) {
    PyObject* found = PyDict_GetItemWithError(sentence, name.ptr());
    if (found == nullptr) {
      PyErr_Clear();
      return false;
    }
    columns.emplace_back(found);
    if (columns.back().size() != columns.front().size()) return false;
  }
  return !columns.empty();
}

bool add_field(TokenTable& table, PyObject* value, char separator) {
  if (value == nullptr || !PyUnicode_Check(value)) return false;
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(value, &size);
  if (data == nullptr) {
    PyErr_Clear();
    return false;
  }
  table.begin.push_back(static_cast<std::uint32_t>(table.text.size()));
  table.length.push_back(static_cast<std::uint32_t>(size));
  table.text.append(data, static_cast<std::size_t>(size));
  table.text += separator;
  return true;
}

std::optional<TokenTable> pack_lists(const nb::list& sentences, std::size_t first, std::size_t last,
                                     const nb::tuple& names) {
  if (first > last || last > sentences.size()) throw nb::index_error("sentences outside of the list");
  TokenTable table;
  table.columns = static_cast<std::uint32_t>(names.size());
  std::vector<Values> columns;
  std::uint32_t line = 1;
  for (std::size_t s = first; s < last; ++s) {
    PyObject* sentence = PyList_GetItem(sentences.ptr(), static_cast<Py_ssize_t>(s));
    if (!find_columns(sentence, names, columns)) return std::nullopt;
    const std::size_t length = columns.front().size();
    for (std::size_t t = 0; t < length; ++t) {
      for (const Values& column : columns)
        if (!add_field(table, column.at(t), &column == &columns.back() ? '\n' : '\t')) return std::nullopt;
      table.line.push_back(line++);
    }
    table.text += '\n';
    ++line;
    if (table.text.size() > UINT32_MAX) return std::nullopt;
    table.sentence.push_back(static_cast<std::uint32_t>(table.line.size()));
    table.document.push_back(static_cast<std::uint32_t>(s));
  }
  return table;
}

nb::list label_tuples(const nb::tuple& names, const Input<std::int32_t>& ids,
                      const Input<std::uint32_t>& starts) {
  if (starts.size() == 0 || starts.data()[starts.size() - 1] > ids.size())
    throw std::invalid_argument("labels: the sentences do not fit");
  std::vector<PyObject*> label;
  for (const nb::handle name : names) label.push_back(name.ptr());
  nb::list found;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::size_t first = starts.data()[s], last = starts.data()[s + 1];
    if (first > last) throw std::invalid_argument("labels: the sentences do not fit");
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(last - first)));
    if (!tuple.is_valid()) throw nb::python_error();
    for (std::size_t t = first; t < last; ++t) {
      const auto id = static_cast<std::size_t>(ids.data()[t]);
      if (id >= label.size()) throw nb::index_error("a label is out of range");
      Py_INCREF(label[id]);
      PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(t - first), label[id]);  // takes the reference
    }
    found.append(tuple);
  }
  return found;
}

}  // namespace

void bind_lists(nb::module_& m) {
  using namespace nb::literals;
  m.def("pack_lists", &pack_lists, "sentences"_a, "first"_a, "last"_a, "columns"_a,
        "A table of some sentences, each a list of tokens or a dictionary of such lists by the names of "
        "columns, and each a document of its own; None if one of them is anything else.");
  m.def("label_tuples", &label_tuples, "names"_a, nb::arg("ids").noconvert(), nb::arg("starts").noconvert(),
        "The names of label ids as a tuple for each sentence.");
}
