// Outputs that satisfy constraints, for Python: the same methods for every model and every lattice.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "base/token_table.hpp"
#include "search/chain/paths.hpp"
#include "search/constrained.hpp"

template <class Bound, class Extractor, class Space>
nb::tuple constrain(const Bound& bound, const Extractor& extractor, const marginalia::TokenTable& table,
                    const Input<std::int32_t>& labels, const Input<std::uint8_t>& chosen,
                    const marginalia::ConstraintSet& constraint_set, const Input<std::uint32_t>& tokens,
                    const Input<std::uint32_t>& spans, const Input<std::uint32_t>& sentences, Space& space) {
  marginalia::ConstrainedLabels found;
  {
    nb::gil_scoped_release unlocked;
    const auto placed = marginalia::placed_constraints_of(table, view(tokens), view(spans), view(sentences));
    found =
        bound.model.constrain(extractor, table, view(labels), view(chosen), constraint_set, placed, space);
  }
  return nb::make_tuple(give(std::move(found.labels)), give(std::move(found.violations)),
                        give(std::move(found.exact)));
}

// The outputs of one sentence that satisfy constraints, best first; keeps what it needs alive.
template <class Owned, class Paths>
class ConstrainedIterator {
 public:
  ConstrainedIterator(std::shared_ptr<Owned> owned, Paths paths, const marginalia::Labels& free,
                      const marginalia::ConstraintSet& constraint_set, marginalia::PlacedConstraints placed)
      : owned_(std::move(owned)),
        constraint_set_(constraint_set),
        placed_(std::move(placed)),
        paths_(paths),
        constraints_(constraint_set_, placed_, paths_.length()),
        outputs_(paths_, constraints_, free) {}

  std::uint32_t violations() const { return outputs_.best().violations; }
  bool exact() const { return outputs_.best().exact; }

  nb::tuple next() {
    std::optional<marginalia::Labels> output = outputs_.next();
    if (!output) throw nb::stop_iteration();
    const double score = paths_.score(*output);
    return nb::make_tuple(give(std::move(*output)), score);
  }

 private:
  std::shared_ptr<Owned> owned_;
  marginalia::ConstraintSet constraint_set_;
  marginalia::PlacedConstraints placed_;
  Paths paths_;
  marginalia::OutputConstraints constraints_;
  marginalia::ConstrainedOutputs<Paths> outputs_;
};

// Rows of token and set, and of first token, last token and set, as those of one sentence.
inline marginalia::PlacedConstraints placed_constraints_from(const Input<std::uint32_t>& tokens,
                                                             const Input<std::uint32_t>& spans) {
  if (tokens.size() % 2 != 0 || spans.size() % 3 != 0)
    throw std::invalid_argument("constraints: the parts do not fit each other");
  marginalia::PlacedConstraints placed;
  for (std::size_t i = 0; i < tokens.size(); i += 2)
    placed.tokens.push_back({tokens.data()[i], tokens.data()[i + 1]});
  for (std::size_t i = 0; i < spans.size(); i += 3)
    placed.spans.push_back({spans.data()[i], spans.data()[i + 1], spans.data()[i + 2]});
  return placed;
}

template <class Iterator>
void bind_constrained(nb::module_& m, const char* name) {
  nb::class_<Iterator>(m, name, "Outputs that satisfy constraints as well as can be, best first.")
      .def_prop_ro("violations", &Iterator::violations, "How often each of them breaks constraints.")
      .def_prop_ro("exact", &Iterator::exact, "Whether the first is known to be the best.")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &Iterator::next);
}
