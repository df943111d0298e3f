// Outputs that meet demands, for Python: the same methods for every model and every lattice.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "base/table.hpp"
#include "search/constrained.hpp"
#include "search/walks.hpp"

template <class Bound, class Program, class Space>
nb::tuple constrain(const Bound& bound, const Program& program, const marginalia::TokenTable& table,
                    const Input<std::int32_t>& labels, const Input<std::uint8_t>& chosen,
                    const marginalia::Rules& rules, const Input<std::uint32_t>& tokens,
                    const Input<std::uint32_t>& spans, const Input<std::uint32_t>& sentences, Space& space) {
  marginalia::ConstrainedLabels found;
  {
    nb::gil_scoped_release unlocked;
    const auto places = marginalia::places_of(table, view(tokens), view(spans), view(sentences));
    found = bound.model.constrain(program, table, view(labels), view(chosen), rules, places, space);
  }
  return nb::make_tuple(give(std::move(found.labels)), give(std::move(found.violations)),
                        give(std::move(found.exact)));
}

// The outputs of one sentence that meet demands, best first; keeps what it needs alive.
template <class Owned, class Walks>
class ConstrainedIterator {
 public:
  ConstrainedIterator(std::shared_ptr<Owned> owned, Walks walks, const marginalia::Labels& free,
                      const marginalia::Rules& rules, marginalia::Places places)
      : owned_(std::move(owned)),
        rules_(rules),
        places_(std::move(places)),
        walks_(walks),
        demands_(rules_, places_, walks_.length()),
        outputs_(walks_, demands_, free) {}

  std::uint32_t violations() const { return outputs_.best().violations; }
  bool exact() const { return outputs_.best().exact; }

  nb::tuple next() {
    std::optional<marginalia::Labels> output = outputs_.next();
    if (!output) throw nb::stop_iteration();
    const double score = walks_.score(*output);
    return nb::make_tuple(give(std::move(*output)), score);
  }

 private:
  std::shared_ptr<Owned> owned_;
  marginalia::Rules rules_;
  marginalia::Places places_;
  Walks walks_;
  marginalia::Demands demands_;
  marginalia::ConstrainedOutputs<Walks> outputs_;
};

// Rows of token and set, and of first token, last token and set, as those of one sentence.
inline marginalia::Places places_from(const Input<std::uint32_t>& tokens, const Input<std::uint32_t>& spans) {
  if (tokens.size() % 2 != 0 || spans.size() % 3 != 0)
    throw std::invalid_argument("constraints: the parts do not fit each other");
  marginalia::Places places;
  for (std::size_t i = 0; i < tokens.size(); i += 2)
    places.tokens.push_back({tokens.data()[i], tokens.data()[i + 1]});
  for (std::size_t i = 0; i < spans.size(); i += 3)
    places.spans.push_back({spans.data()[i], spans.data()[i + 1], spans.data()[i + 2]});
  return places;
}

template <class Iterator>
void bind_constrained(nb::module_& m, const char* name) {
  nb::class_<Iterator>(m, name, "Outputs that meet demands as well as can be, best first.")
      .def_prop_ro("violations", &Iterator::violations, "How often each of them breaks demands.")
      .def_prop_ro("exact", &Iterator::exact, "Whether the first is known to be the best.")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &Iterator::next);
}
