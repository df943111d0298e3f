#include "table_state.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/items.hpp"

namespace {

using marginalia::Items;
using marginalia::TokenTable;

constexpr std::size_t kParts = 11, kItemParts = 6;

template <class T>
nb::bytes bytes_of_array(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

nb::bytes bytes_of_text(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

template <class T>
std::vector<T> array_of(nb::handle part) {
  const auto bytes = nb::cast<nb::bytes>(part);
  if (bytes.size() % sizeof(T) != 0) throw std::invalid_argument("an array of the table is cut off");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.c_str(), bytes.size());
  return values;
}

std::string text_of(nb::handle part) {
  const auto bytes = nb::cast<nb::bytes>(part);
  return std::string(bytes.c_str(), bytes.size());
}

nb::object state_of_items(const Items* items) {
  if (items == nullptr) return nb::none();
  return nb::make_tuple(bytes_of_array(items->end), bytes_of_array(items->names),
                        bytes_of_array(items->values), bytes_of_text(items->text),
                        bytes_of_array(items->text_end), bytes_of_array(items->keys));
}

std::shared_ptr<const Items> items_of_state(nb::handle part) {
  if (part.is_none()) return nullptr;
  const auto state = nb::cast<nb::tuple>(part);
  if (state.size() != kItemParts) throw std::invalid_argument("the attributes of the table are incomplete");
  Items items;
  items.end = array_of<std::uint64_t>(state[0]);
  items.names = array_of<std::uint32_t>(state[1]);
  items.values = array_of<float>(state[2]);
  items.text = text_of(state[3]);
  items.text_end = array_of<std::uint64_t>(state[4]);
  items.keys = array_of<std::uint64_t>(state[5]);
  return std::make_shared<const Items>(std::move(items));
}

void check(const TokenTable& table) {
  const std::size_t fields = table.tokens() * table.columns;
  bool fits = table.begin.size() == fields && table.length.size() == fields && !table.sentence.empty() &&
              table.sentence.back() == table.tokens() && table.document.size() == table.sentences();
  for (std::size_t i = 0; fits && i < fields; ++i)
    fits = std::size_t{table.begin[i]} + table.length[i] <= table.text.size();
  if (!fits) throw std::invalid_argument("the parts of the table do not fit each other");
}

}  // namespace

nb::tuple state_of(const TokenTable& table) {
  return nb::make_tuple(bytes_of_text(table.text), table.columns, bytes_of_array(table.begin),
                        bytes_of_array(table.length), bytes_of_array(table.sentence),
                        bytes_of_array(table.line), bytes_of_array(table.document),
                        bytes_of_array(table.mark), table.line_breaks, bytes_of_array(table.comments),
                        state_of_items(table.items.get()));
}

TokenTable table_of(const nb::tuple& state) {
  if (state.size() != kParts) throw std::invalid_argument("the table is incomplete");
  TokenTable table;
  table.text = text_of(state[0]);
  table.columns = nb::cast<std::uint32_t>(state[1]);
  table.begin = array_of<std::uint32_t>(state[2]);
  table.length = array_of<std::uint32_t>(state[3]);
  table.sentence = array_of<std::uint32_t>(state[4]);
  table.line = array_of<std::uint32_t>(state[5]);
  table.document = array_of<std::uint32_t>(state[6]);
  table.mark = array_of<std::uint32_t>(state[7]);
  table.line_breaks = nb::cast<std::uint32_t>(state[8]);
  table.comments = array_of<marginalia::Comment>(state[9]);
  table.items = items_of_state(state[10]);
  check(table);
  return table;
}
