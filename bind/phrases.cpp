#include "features/phrases.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "arrays.hpp"
#include "bind.hpp"
#include "features/phrase_book.hpp"

using namespace marginalia;

namespace {

using Phrases = nb::typed<nb::sequence, nb::object>;

void add_words(std::string_view text, TokenSequences& made) {
  for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(' ', begin), text.size());
    if (end > begin) made.tokens.push_back(text.substr(begin, end - begin));
  }
}

// Views of the strings of phrases, which must outlive them: texts with blanks between tokens, or tokens.
TokenSequences sequences_of(const nb::sequence& phrases) {
  TokenSequences made;
  for (nb::handle phrase : phrases) {
    if (nb::isinstance<nb::str>(phrase))
      add_words(nb::cast<std::string_view>(phrase), made);
    else
      for (nb::handle token : phrase) made.tokens.push_back(nb::cast<std::string_view>(token));
    made.ends.push_back(made.tokens.size());
  }
  return made;
}

template <class Made>
void make(Made* self, const Phrases& phrases, bool ignore_case) {
  const TokenSequences views = sequences_of(phrases);
  const nb::gil_scoped_release release;
  new (self) Made(views, ignore_case);
}

using Numbers = nb::ndarray<nb::numpy, std::uint32_t>;

std::tuple<Numbers, Numbers, Numbers> longest(const PhraseBook& book, const TokenTable& table,
                                              std::uint32_t column) {
  std::vector<std::uint32_t> begins, ends, phrases;
  {
    const nb::gil_scoped_release release;
    for (const PhraseBook::Match& match : book.longest(table, column)) {
      begins.push_back(match.begin);
      ends.push_back(match.end);
      phrases.push_back(match.phrase);
    }
  }
  return {give(std::move(begins)), give(std::move(ends)), give(std::move(phrases))};
}

}  // namespace

void bind_phrases(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PhraseSet>(m, "PhraseSet", "A list of phrases, as hashes.")
      .def(
          "__init__", [](PhraseSet* self, const Phrases& phrases) { make(self, phrases, true); }, "phrases"_a)
      .def_static(
          "from_states",
          [](const Input<std::uint64_t>& s) {
            return std::make_shared<const PhraseSet>(
                std::vector<std::uint64_t>(s.data(), s.data() + s.size()));
          },
          nb::arg("states").noconvert())
      .def(
          "matches",
          [](const PhraseSet& p, const std::vector<std::string>& tokens) {
            std::vector<std::uint8_t> found;
            p.match({tokens.begin(), tokens.end()}, found);
            return give(std::move(found));
          },
          "tokens"_a, "Longest matches from left to right: 1 at the first token, 2 inside, 0 elsewhere.")
      .def("thinned", &PhraseSet::thinned, "share"_a, "seed"_a, "Without about this share of the phrases.")
      .def_prop_ro(
          "states", [](const PhraseSet& p) { return give(std::vector<std::uint64_t>(p.states())); },
          nb::rv_policy::move);

  nb::class_<PhraseBook>(m, "PhraseBook", "Phrases with numbers, to be found in text.")
      .def("__init__", &make<PhraseBook>, "phrases"_a, "ignore_case"_a)
      .def_prop_ro("bytes", &PhraseBook::bytes, "Memory that it takes.")
      .def_prop_ro(
          "numbers", [](const PhraseBook& b) { return give(std::vector<std::uint32_t>(b.numbers())); },
          nb::rv_policy::move, "By phrase: the number of the first one that is the same.")
      .def("longest", &longest, "table"_a, "column"_a,
           "First tokens, ends and numbers of the longest matches in a table; they do not overlap.");
}
