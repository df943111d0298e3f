#include "items.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace marginalia;

namespace {

constexpr int kMostNested = 50;

bool is_text(nb::handle value) {
  return PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
}

std::string_view text_of(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return bytes_of(value);
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value.ptr(), &data, &size) != 0) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

std::string kind_of(nb::handle value) {
  return std::string(bytes_of(nb::object(value.type().attr("__name__"))));
}

bool is_group(nb::handle value) {
  return PyDict_Check(value.ptr()) || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) ||
         PyAnySet_Check(value.ptr());
}

// Flattens the attributes of tokens: names inside of groups follow the group's name and a colon.
class Flattening {
 public:
  explicit Flattening(ItemsBuilder& out) : out_(out) {}

  void token(nb::handle item) {
    name_.clear();
    if (!is_group(item))
      throw std::invalid_argument(
          "found " + kind_of(item) +
          " as the attributes of a token, expected a list of strings or a dictionary");
    group(item, 0);
    out_.end_token();
  }

 private:
  void group(nb::handle item, int depth) {
    if (depth > kMostNested) throw std::invalid_argument("found attributes nested more than 50 deep");
    if (PyDict_Check(item.ptr()))
      dictionary(item, depth);
    else
      names(item);
  }

  void dictionary(nb::handle item, int depth) {
    const std::size_t before = name_.size();
    for (const auto [key, value] : nb::borrow<nb::dict>(item)) {
      append(key, "a key");
      if (is_text(value)) {
        name_ += ':';
        append(value, "a value");
        out_.add(name_, 1.0);
      } else if (is_group(value)) {
        name_ += ':';
        group(value, depth + 1);
      } else {
        out_.add(name_, number(value));
      }
      name_.resize(before);
    }
  }

  // In a set names stand in no order, so they are sorted: the same input must give the same model.
  void names(nb::handle item) {
    const std::size_t before = name_.size();
    std::vector<std::string> sorted;
    for (const nb::handle one : item) {
      append(one, "an attribute");
      if (PyAnySet_Check(item.ptr()))
        sorted.push_back(name_);
      else
        out_.add(name_, 1.0);
      name_.resize(before);
    }
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& name : sorted) out_.add(name, 1.0);
  }

  void append(nb::handle text, const char* what) {
    if (!is_text(text))
      throw std::invalid_argument("found " + kind_of(text) + " as " + what + ", expected a string");
    name_ += text_of(text);
  }

  double number(nb::handle value) const {
    const double result = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() == nullptr) return result;
    PyErr_Clear();
    throw std::invalid_argument("found " + kind_of(value) + " as the value of '" + name_ +
                                "', expected a string, a number, True, False, or a group of attributes");
  }

  ItemsBuilder& out_;
  std::string name_;
};

}  // namespace

std::string_view bytes_of(nb::handle string) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(string.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

Items items_of(const nb::list& items, const std::vector<std::uint32_t>& lengths) {
  ItemsBuilder builder;
  Flattening flattening(builder);
  std::size_t at = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    for (std::size_t t = 0; t < lengths[s]; ++t, ++at) {
      if (at == items.size()) throw std::invalid_argument("found attributes of too few tokens");
      try {
        flattening.token(nb::object(items[at]));
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(error.what()) + " (token " + std::to_string(t + 1) +
                                    " of sequence " + std::to_string(s + 1) + ")");
      }
    }
  }
  if (at != items.size()) throw std::invalid_argument("found attributes of too many tokens");
  return builder.take();
}

nb::list attributes_of(const TokenTable& table, std::size_t first, std::size_t last) {
  if (table.items == nullptr || first > last || last >= table.items->end.size())
    throw nb::index_error("there are no attributes of such tokens");
  const Items& items = *table.items;
  nb::list tokens;
  for (std::size_t t = first; t < last; ++t) {
    nb::dict token;
    for (std::uint64_t i = items.end[t]; i < items.end[t + 1]; ++i) {
      const std::string_view name = items.name(items.names[i]);
      const nb::str key(name.data(), name.size());
      const double before = token.contains(key) ? nb::cast<double>(token[key]) : 0.0;
      token[key] = before + static_cast<double>(items.value(i));
    }
    tokens.append(token);
  }
  return tokens;
}

nb::bytes bytes_of_items(const TokenTable& table) {
  std::string all;
  if (table.items != nullptr) {
    const auto append = [&](const auto& values) {
      all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
    };
    append(table.items->end);
    append(table.items->names);
    append(table.items->values);
    append(table.items->text_end);
    all += table.items->text;
  }
  return nb::bytes(all.data(), all.size());
}
