#include "search/constraints.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "constraints.hpp"
#include "search/token_violations.hpp"

using namespace marginalia;

namespace {

using Sets = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using CountFields = std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint32_t>>;
using PairFields = std::pair<std::uint32_t, std::uint32_t>;

std::vector<ConstraintSet::Pair> pairs_of(const std::vector<PairFields>& fields) {
  std::vector<ConstraintSet::Pair> pairs;
  for (const auto& [first, second] : fields) pairs.push_back({first, second});
  return pairs;
}

void make_constraint_set(ConstraintSet* self, std::size_t labels, const Input<std::uint8_t>& relation,
                         const Sets& sets, std::vector<std::uint32_t> everywhere,
                         const std::vector<CountFields>& counts, const std::vector<PairFields>& orders,
                         const std::vector<PairFields>& neighbours) {
  ConstraintSet constraint_set;
  constraint_set.labels = labels;
  constraint_set.relation.assign(relation.data(), relation.data() + relation.size());
  for (std::size_t i = 0; i < sets.shape(0); ++i) {
    const std::uint8_t* row = sets.data() + i * sets.shape(1);
    constraint_set.sets.emplace_back(row, row + sets.shape(1));
  }
  constraint_set.everywhere = std::move(everywhere);
  for (const auto& [set, least, most] : counts)
    constraint_set.counts.push_back({set, least, most.value_or(kNoLimit)});
  constraint_set.orders = pairs_of(orders);
  constraint_set.neighbours = pairs_of(neighbours);
  constraint_set.check();
  new (self) ConstraintSet(std::move(constraint_set));
}

// [labels] How often each label of an output of one token breaks constraints on it.
nb::ndarray<nb::numpy, std::uint32_t> class_violations(const ConstraintSet& constraint_set,
                                                       const Input<std::uint32_t>& tokens,
                                                       const Input<std::uint32_t>& spans) {
  return give(violations_of_one(constraint_set, placed_constraints_from(tokens, spans)));
}

}  // namespace

void bind_constraints(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ConstraintSet>(m, "ConstraintSet", "Constraints on outputs, as sets of contexts of tokens.")
      .def("__init__", &make_constraint_set, "labels"_a, nb::arg("relation").noconvert(),
           nb::arg("sets").noconvert(), "everywhere"_a, "counts"_a, "orders"_a, "neighbours"_a)
      .def("violations_of_one", &class_violations, nb::arg("tokens").noconvert(),
           nb::arg("spans").noconvert(),
           "How often each label breaks them in an output of one token, with rows of token and set, and of "
           "first token, last token and set.");
}
