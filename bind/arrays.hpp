// Arrays across the boundary: views come in without conversion, fresh arrays go out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Input<T>& array) {
  return {array.data(), array.size()};
}

// A numpy array that owns what was a vector.
template <class T, class... Sizes>
nb::ndarray<nb::numpy, T> give(std::vector<T> values, Sizes... sizes) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if constexpr (sizeof...(sizes) == 0)
    return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner);
  else
    return nb::ndarray<nb::numpy, T>(owned->data(), {static_cast<std::size_t>(sizes)...}, owner);
}
