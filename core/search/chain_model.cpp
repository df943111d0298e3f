#include "search/chain_model.hpp"

#include <cmath>

#include "search/chain_claims.hpp"

namespace marginalia {

namespace {

constexpr std::size_t kMostKeptLabels = 64;  // vectors of more are mostly zeros, and rows are shorter

}  // namespace

void ChainModel::resolve(std::vector<Feature>& features, Space& space) const {
  Program::resolve(features, space.extraction, [&](const Feature& f) {
    const std::uint32_t row = weights().find(f.key);
    if (row == kUnknownRow || weights().is_edge(row) != f.edge) return kUnknownRow;  // outputs would not fit
    weights().prefetch_row(row);
    return row;
  });
}

bool ChainModel::keeps_sums(const Program& program) const {
  return !program.groups().groups.empty() && shape().labels <= kMostKeptLabels;
}

// The places of the sums of the groups at some tokens, and what they would have to hold.
void ChainModel::find_sums(const Program& program, std::size_t begin, std::size_t end, Space& space) const {
  space.places.clear();
  space.keys.clear();
  const auto& groups = program.groups().groups;
  for (std::size_t at = begin; at < end; ++at) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      space.keys.push_back(program.group_key(groups[g], space.extraction, at));
      space.places.push_back(space.cache.place(g, space.keys.back()));
      prefetch(space.places.back());
    }
  }
}

void ChainModel::fill_sum(const Program& program, const TemplateGroup& group, std::size_t length,
                          std::size_t at, double* place, Space& space) const {
  double* vector = ScoreCache::vector(place);
  program.features(space.extraction, length, at, at + 1, group.templates, space.group_features,
                   [&](std::uint64_t key) { weights().prefetch_key(key); });
  resolve(space.group_features, space);
  for (const Feature& f : space.group_features) weights().prefetch_cells(f.row);
  for (const Feature& f : space.group_features) weights().add_row(f.row, shape().labels, vector);
  if (!space.group_features.empty()) ScoreCache::set_filled(place);
}

void ChainModel::add_sums(const Program& program, std::size_t length, std::size_t begin, std::size_t end,
                          Space& space) const {
  const auto& groups = program.groups().groups;
  const std::size_t n = shape().labels;
  const bool known = Program::keys_of(space.extraction) != nullptr;
  std::size_t i = 0;
  for (std::size_t at = begin; at < end; ++at) {
    space.vectors.clear();
    for (std::size_t g = 0; g < groups.size(); ++g, ++i) {
      double* place = space.places[i];
      if (!known || !ScoreCache::holds(place, space.keys[i])) {
        space.cache.start(place, space.keys[i]);
        fill_sum(program, groups[g], length, at, place, space);
      }
      if (ScoreCache::is_filled(place)) space.vectors.push_back(ScoreCache::vector(place));
    }
    sum_vectors(space.vectors.data(), space.vectors.size(), n, &space.lattice.node[at * n]);
  }
}

Lattice& ChainModel::lattice(const Program& program, const TokenTable& table, std::size_t s,
                             Space& space) const {
  const std::size_t first = table.sentence[s], length = table.sentence[s + 1] - first, n = shape().labels;
  Lattice& lattice = space.lattice;
  lattice.shape = &shape();
  lattice.constants = &constants();
  lattice.begin(length);
  space.edge_rows.clear();
  space.edge_end.assign(1, 0);
  const auto end_tokens_before = [&](std::size_t t) {
    while (space.edge_end.size() <= t) space.edge_end.push_back(space.edge_rows.size());
  };
  const auto add = [&](const Feature& f) {
    if (!f.edge) {
      weights().add_row(f.row, static_cast<double>(f.value), n, &lattice.node[f.token * n]);
      return;
    }
    end_tokens_before(f.token);
    space.edge_rows.push_back(f.row);
  };
  if (keeps_sums(program))
    add_grouped(program, table, first, length, space, add);
  else
    for_features(program, table, s, space, add);
  end_tokens_before(length);
  if (program.has_edges()) lattice.set_edges(edge_weights_, space.edge_rows, space.edge_end);
  return lattice;
}

// The sums of groups first, then the features of the other templates.
template <class F>
void ChainModel::add_grouped(const Program& program, const TokenTable& table, std::size_t first,
                             std::size_t length, Space& space, F&& add) const {
  program.read(table, first, first + length, identity(), space.extraction);
  const Identity& keys_of = Program::keys_of(space.extraction);
  if (space.cache_of != identity() || space.keys_of != keys_of) {
    space.cache.reset(program.groups().groups.size(), shape().labels);
    space.cache_of = identity();
    space.keys_of = keys_of;
  }
  for (std::size_t begin = 0; begin < length; begin += kTokens) {
    const std::size_t end = std::min(length, begin + kTokens);
    program.features(space.extraction, length, begin, end, program.groups().others, space.features,
                     [&](std::uint64_t key) { weights().prefetch_key(key); });
    find_sums(program, begin, end, space);
    resolve(space.features, space);
    add_sums(program, length, begin, end, space);
    use_features(space, add);
  }
}

double ChainModel::probability(const Spelling& spelling, const Labels& y, Claims& claims,
                               std::span<double> tokens, double factor, const ChainConstants& scaled,
                               Space& space) {
  Lattice& scores = space.lattice;
  if (factor != 1.0) scores.scale(factor, scaled);
  const double log_z = claim_probabilities(scores, spelling, claims, y, tokens, space.probabilities);
  return std::exp(path_score(scores, y.data()) - log_z);
}

std::vector<OutputFeature> ChainModel::differing_features(const Program& program, const TokenTable& table,
                                                          std::size_t s, const Labels& y, const Labels& z,
                                                          Space& space) const {
  const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
  const std::uint32_t n = shape().labels;
  std::vector<OutputFeature> found;
  for_features(program, table, s, space, [&](const Feature& f) {
    const std::uint32_t t = f.token;
    if (f.edge && t == 0) return;
    const auto output = [&](const Labels& labels) {
      return f.edge ? labels[t - 1] * n + labels[t] : labels[t];
    };
    if (output(y) == output(z)) return;
    const double weight = weight_of(weights(), f.row, output(y));
    if (weight == 0.0) return;
    found.push_back({f.edge ? t - 1 : t, t, t, f.row, output(y), f.template_index,
                     static_cast<double>(f.value), weight,
                     program.texts_of(f, table, space.extraction, first, last)});
  });
  return found;
}

}  // namespace marginalia
