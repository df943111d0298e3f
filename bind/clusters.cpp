#include "features/clusters.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "arrays.hpp"
#include "bind.hpp"

using namespace marginalia;

namespace {

void make(WordClusters* self, const std::vector<std::string_view>& paths,
          const std::vector<std::string_view>& words, const Input<std::uint64_t>& counts, bool any_case) {
  if (paths.size() != words.size() || counts.size() != words.size())
    throw std::invalid_argument("clusters: paths, words and counts disagree in number");
  std::vector<WordClusters::Word> made;
  for (std::size_t i = 0; i < words.size(); ++i) made.push_back({paths[i], words[i], counts.data()[i]});
  new (self) WordClusters(made, any_case);
}

std::shared_ptr<const WordClusters> from_entries(const Input<std::uint64_t>& entries,
                                                 const std::vector<std::string>& paths, bool any_case) {
  return std::make_shared<const WordClusters>(
      std::vector<std::uint64_t>(entries.data(), entries.data() + entries.size()), paths, any_case);
}

std::optional<std::string> path_of(const WordClusters& clusters, std::string_view word) {
  const std::string* found = clusters.path_of(word);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace

void bind_clusters(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<WordClusters>(m, "WordClusters", "Words with the paths of their clusters, as hashes.")
      .def("__init__", &make, "paths"_a, "words"_a, nb::arg("counts").noconvert(), "any_case"_a)
      .def_static("from_entries", &from_entries, nb::arg("entries").noconvert(), "paths"_a, "any_case"_a)
      .def("path", &path_of, "word"_a, "The path of a word, or None.")
      .def_prop_ro("any_case", &WordClusters::any_case)
      .def_prop_ro("paths", &WordClusters::paths, "Distinct paths, by their numbers in entries.")
      .def_prop_ro(
          "entries", [](const WordClusters& c) { return give(std::vector<std::uint64_t>(c.entries())); },
          nb::rv_policy::move, "Hashes of words in 48 bits, numbers of their paths in 16; sorted.");
  m.def(
      "check_path_bits", [](std::string_view argument) { path_bits(argument); }, "argument"_a,
      "Raise ValueError unless a prefix of a path can have so many bits.");
}
