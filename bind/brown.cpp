#include "learn/brown.hpp"

#include "arrays.hpp"
#include "bind.hpp"

using namespace marginalia;

namespace {

void make(BrownClustering* self, const Input<std::uint64_t>& counts, const Input<std::uint32_t>& left,
          const Input<std::uint32_t>& right, const Input<std::uint64_t>& times, std::size_t clusters,
          std::size_t threads) {
  if (left.size() != right.size() || left.size() != times.size())
    throw std::invalid_argument("pairs of words disagree in number");
  std::vector<WordPair> pairs(left.size());
  for (std::size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {left.data()[i], right.data()[i], times.data()[i]};
  const nb::gil_scoped_release release;
  new (self) BrownClustering({counts.data(), counts.data() + counts.size()}, pairs, clusters, threads);
}

nb::ndarray<nb::numpy, std::uint32_t> merges_of(const BrownClustering& clustering) {
  std::vector<std::uint32_t> flat;
  for (const auto& [kept, gone] : clustering.merges()) flat.insert(flat.end(), {kept, gone});
  const std::size_t rows = clustering.merges().size();
  return give(std::move(flat), rows, std::size_t{2});
}

}  // namespace

void bind_brown(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<BrownClustering>(m, "BrownClustering",
                              "Words merged into clusters by the mutual information of neighbours.")
      .def("__init__", &make, nb::arg("counts").noconvert(), nb::arg("left").noconvert(),
           nb::arg("right").noconvert(), nb::arg("times").noconvert(), "clusters"_a, "threads"_a)
      .def("advance", &BrownClustering::advance, "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Take in so many more words, or merge so many of the last clusters; False when one is left.")
      .def("take_no_more", &BrownClustering::take_no_more, "Leave the remaining words without a cluster.")
      .def_prop_ro("taken", &BrownClustering::taken, "How many words were taken in.")
      .def_prop_ro("merges", &merges_of, nb::rv_policy::move,
                   "[merges, 2]: the first words of two clusters that were merged, the lower first.");
}
