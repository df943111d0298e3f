#include "model_arrays.hpp"

#include <nanobind/stl/string.h>

using namespace marginalia;

namespace {

template <class T>
void take(const nb::dict& arrays, const char* name, std::span<const T>& out, ModelArrays& result) {
  if (!arrays.contains(name)) throw std::invalid_argument(std::string("model: array missing: ") + name);
  nb::object array = arrays[name];
  Input<T> typed;
  if (!nb::try_cast(array, typed, false) || !typed.is_valid() ||
      reinterpret_cast<std::uintptr_t>(typed.data()) % alignof(T) != 0)
    throw nb::type_error((std::string("model: array of a wrong kind: ") + name).c_str());
  out = view(typed);
  result.kept.push_back(std::move(array));
}

// Takes the array if it is of this type.
template <class T>
bool take_if(const nb::dict& arrays, const char* name, std::span<const T>& out, ModelArrays& result) {
  Input<T> typed;
  if (!arrays.contains(name) || !nb::try_cast(nb::object(arrays[name]), typed, false)) return false;
  take(arrays, name, out, result);
  return true;
}

template <class T>
T take_one(const nb::dict& arrays, const char* name, ModelArrays& result) {
  std::span<const T> numbers;
  take(arrays, name, numbers, result);
  if (numbers.size() != 1) throw std::invalid_argument(std::string(name) + " is not one number");
  return numbers[0];
}

void take_votes(const nb::dict& arrays, ModelArrays& result) {
  VoteLog& votes = result.votes;
  take(arrays, "vote_row_end", votes.row_end, result);
  take(arrays, "vote_outputs", votes.outputs, result);
  take(arrays, "vote_change_end", votes.change_end, result);
  take(arrays, "vote_steps", votes.steps, result);
  take(arrays, "vote_changes", votes.changes, result);
  votes.versions = take_one<std::uint32_t>(arrays, "vote_versions", result);
  votes.check();
}

// Shrunk models have smaller types.
void take_weights(const nb::dict& arrays, ModelArrays& result) {
  FrozenArrays& a = result.weights;
  if (take_if(arrays, "weights", a.halves, result))
    a.scale = take_one<float>(arrays, "scale", result);
  else if (take_if(arrays, "weights", a.codes, result))
    take(arrays, "codebook", a.codebook, result);
  else
    take(arrays, "weights", a.weights, result);
}

}  // namespace

ModelArrays take_arrays(const nb::dict& arrays) {
  ModelArrays result;
  FrozenArrays& a = result.weights;
  if (!take_if(arrays, "keys", a.short_keys, result)) take(arrays, "keys", a.keys, result);
  a.homes = take_one<std::uint64_t>(arrays, "homes", result);
  if (take_if(arrays, "row_end", a.short_end, result))
    take(arrays, "row_base", a.row_base, result);
  else
    take(arrays, "row_end", a.row_end, result);
  if (arrays.contains("wide"))
    take(arrays, "wide", a.wide, result);
  else if (arrays.contains("gaps"))
    take(arrays, "gaps", a.gaps, result);
  else
    take(arrays, "narrow", a.narrow, result);
  take_weights(arrays, result);
  if (arrays.contains("edge")) take(arrays, "edge", a.short_keys.empty() ? a.edge : a.edge_bits, result);
  take(arrays, "constant_at", result.constant_at, result);
  take(arrays, "constants", result.constants, result);
  if (arrays.contains("vote_steps") || arrays.contains("vote_versions")) take_votes(arrays, result);
  return result;
}
