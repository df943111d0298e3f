#include "features/word_table.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "arrays.hpp"
#include "bind.hpp"
#include "features/word_functions.hpp"

using namespace marginalia;

namespace {

void make(WordTable* self, const std::vector<std::string_view>& texts,
          const std::vector<std::string_view>& words, const Input<std::uint64_t>& counts, bool any_case) {
  if (texts.size() != words.size() || counts.size() != words.size())
    throw std::invalid_argument("a table of words: texts, words and counts disagree in number");
  std::vector<WordTable::Word> made;
  for (std::size_t i = 0; i < words.size(); ++i) made.push_back({texts[i], words[i], counts.data()[i]});
  new (self) WordTable(made, any_case);
}

std::shared_ptr<const WordTable> from_entries(const Input<std::uint64_t>& entries,
                                              const std::vector<std::string>& texts, bool any_case) {
  return std::make_shared<const WordTable>(
      std::vector<std::uint64_t>(entries.data(), entries.data() + entries.size()), texts, any_case);
}

std::optional<std::string> text_of(const WordTable& table, std::string_view word) {
  const std::string* found = table.text_of(word);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace

void bind_word_table(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<WordTable>(m, "WordTable",
                        "Words with the paths of their clusters or their entries in a lexicon; as hashes.")
      .def("__init__", &make, "texts"_a, "words"_a, nb::arg("counts").noconvert(), "any_case"_a)
      .def_static("from_entries", &from_entries, nb::arg("entries").noconvert(), "texts"_a, "any_case"_a)
      .def("text", &text_of, "word"_a, "The path or the entry of a word, or None.")
      .def_prop_ro("any_case", &WordTable::any_case)
      .def_prop_ro("texts", &WordTable::texts, "Distinct texts, by their numbers in entries.")
      .def_prop_ro(
          "entries", [](const WordTable& c) { return give(std::vector<std::uint64_t>(c.entries())); },
          nb::rv_policy::move, "Hashes of words in 48 bits, numbers of their texts in 16; sorted.");
  m.def(
      "check_path_bits", [](std::string_view argument) { path_bits(argument); }, "argument"_a,
      "Raise ValueError unless a prefix of a path can have so many bits.");
}
