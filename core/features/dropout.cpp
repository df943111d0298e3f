#include "features/dropout.hpp"

#include "base/hash.hpp"

namespace marginalia {

namespace {

// Uniform in [0, 1).
double draw(std::uint64_t key, std::uint64_t which) {
  return static_cast<double>(scrambled(key + which * 0x9e3779b97f4a7c15ULL) >> 11) * 0x1p-53;
}

bool looks_at_hidden(const std::vector<Program::Read>& reads, std::size_t t,
                     const std::vector<std::uint8_t>& hidden) {
  for (const Program::Read& read : reads) {
    const std::size_t base = !read.absolute ? t : read.offset >= 0 ? 0 : hidden.size();
    const std::size_t at = base + static_cast<std::size_t>(read.offset);  // wraps around before the sentence
    if (at < hidden.size() && hidden[at] != 0) return true;
  }
  return false;
}

std::uint64_t key_of_step(const Dropout& dropout, std::uint64_t step) {
  return scrambled(dropout.seed ^ scrambled(step));
}

}  // namespace

std::vector<std::uint8_t> hidden_tokens(const Dropout& dropout, std::uint64_t step, std::size_t length) {
  const std::uint64_t key = key_of_step(dropout, step);
  std::vector<std::uint8_t> hidden(dropout.input > 0.0 ? length : 0);
  for (std::size_t t = 0; t < hidden.size(); ++t) hidden[t] = draw(key, t) < dropout.input;
  return hidden;
}

bool leaves_out(const Dropout& dropout, std::uint64_t step, std::uint64_t which) {
  return dropout.features > 0.0 && draw(scrambled(key_of_step(dropout, step)), which) < dropout.features;
}

void thin(const Examples& examples, std::size_t i, const Dropout& dropout, std::uint64_t step,
          Examples& out) {
  const Example x = example(examples, i);
  const std::vector<std::uint8_t> hidden = hidden_tokens(dropout, step, x.length);
  const auto keep = [&](std::size_t t, std::uint32_t row, const auto& templates, std::uint64_t place) {
    if (leaves_out(dropout, step, row)) return false;
    return hidden.empty() || !looks_at_hidden(examples.reads[templates[place]], t, hidden);
  };

  const auto copy = [&](const std::vector<std::uint64_t>& ends, const std::vector<std::uint32_t>& rows,
                        const std::vector<std::uint16_t>& templates, std::vector<std::uint64_t>& out_ends,
                        const std::vector<std::uint32_t>& out_rows, auto&& add) {
    out_ends.assign(1, 0);
    for (std::size_t t = 0; t < x.length && ends.size() > 1; ++t) {
      for (std::uint64_t at = ends[x.first + t]; at < ends[x.first + t + 1]; ++at)
        if (keep(t, rows[at], templates, at)) add(at);
      out_ends.push_back(out_rows.size());
    }
  };
  out.node_rows.clear();
  out.node_values.clear();
  out.edge_rows.clear();
  copy(examples.node_end, examples.node_rows, examples.node_templates, out.node_end, out.node_rows,
       [&](std::uint64_t at) {
         out.add_node(examples.node_rows[at], static_cast<float>(examples.node_value(at)));
       });
  copy(examples.edge_end, examples.edge_rows, examples.edge_templates, out.edge_end, out.edge_rows,
       [&](std::uint64_t at) { out.edge_rows.push_back(examples.edge_rows[at]); });
  out.sentence = {0, static_cast<std::uint32_t>(x.length)};
  out.gold.assign(x.gold(), x.gold() + x.length);  // its sets stay behind: whoever asks looks in `examples`
}

}  // namespace marginalia
