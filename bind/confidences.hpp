// The probabilities of outputs, for Python: the same method for every model.
#pragma once

#include "arrays.hpp"
#include "base/table.hpp"
#include "search/claims.hpp"

template <class Bound, class Program, class Space>
nb::tuple confidences(const Bound& bound, const Program& program, const marginalia::TokenTable& table,
                      const Input<std::int32_t>& labels, const Input<std::uint32_t>& sentences,
                      const marginalia::Spelling& spelling, double factor, Space& space) {
  marginalia::Confidences found;
  {
    nb::gil_scoped_release unlocked;
    found = bound.model.confidences(program, table, view(labels), view(sentences), spelling, factor, space);
  }
  return nb::make_tuple(give(std::move(found.token)), give(std::move(found.span)),
                        give(std::move(found.span_begin)), give(std::move(found.span_end)),
                        give(std::move(found.output)));
}
