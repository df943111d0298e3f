#include "features/dropout.hpp"

#include "base/hash.hpp"

namespace marginalia {

namespace {

// Uniform in [0, 1).
double draw(std::uint64_t key, std::uint64_t which) {
  return static_cast<double>(scrambled(key + which * 0x9e3779b97f4a7c15ULL) >> 11) * 0x1p-53;
}

bool looks_at_hidden(const std::vector<FeatureExtractor::Read>& reads, std::size_t t, std::size_t length,
                     const Hidden& hidden) {
  for (const FeatureExtractor::Read& read : reads) {
    const std::size_t base = !read.absolute ? t : read.offset >= 0 ? 0 : length;
    const std::size_t at = base + static_cast<std::size_t>(read.offset);  // wraps around before the sentence
    if (at < length && hidden.value(at, read.column)) return true;
  }
  return false;
}

}  // namespace

Hidden::Hidden(const Dropout& dropout, std::uint64_t step)
    : dropout_(dropout),
      tokens_(scrambled(dropout.seed ^ scrambled(step))),
      values_(scrambled(scrambled(tokens_))),
      features_(scrambled(tokens_)) {}

bool Hidden::value(std::size_t token, std::uint32_t column) const {
  if (dropout_.input > 0.0 && draw(tokens_, token) < dropout_.input) return true;
  return dropout_.values > 0.0 && draw(values_, (std::uint64_t{token} << 32) + column) < dropout_.values;
}

bool Hidden::leaves_out(std::uint64_t which) const {
  return draw(features_, which) < dropout_.features;
}

void thin(const ExampleRows& examples, std::size_t i, const Dropout& dropout, std::uint64_t step,
          ExampleRows& out) {
  const Example x = example(examples, i);
  const Hidden hidden(dropout, step);
  const auto keep = [&](std::size_t t, std::uint32_t row, const auto& templates, std::uint64_t place) {
    if (hidden.feature(row)) return false;
    return !hidden.any_input() || !looks_at_hidden(examples.reads[templates[place]], t, x.length, hidden);
  };

  const auto copy = [&](const std::vector<std::uint64_t>& ends, const LargeVector<std::uint32_t>& rows,
                        const std::vector<std::uint16_t>& templates, std::vector<std::uint64_t>& out_ends,
                        const LargeVector<std::uint32_t>& out_rows, auto&& add) {
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
