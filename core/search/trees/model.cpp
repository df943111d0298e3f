#include "search/trees/model.hpp"

#include <algorithm>

namespace marginalia {

TreeSearch& TreeModel::read(const TreeExtractor& extractor, const TokenTable& table, std::size_t s,
                            Space& space) const {
  if (space.owner != identity_ || space.extractor != &extractor) {
    space.owner = identity_;
    space.extractor = &extractor;
    space.search.emplace(extractor, shape_);
    space.merging.reset();
    if (shape_.options().merge) space.merging.emplace(extractor, shape_);
  }
  const std::size_t first = table.sentence[s], last = table.sentence[s + 1];
  if (last - first > kMostTreeTokens) throw std::invalid_argument("trees: a sentence is too long");
  extractor.read(table, first, last, identity_, space.extraction, space.search->scoring.x);
  space.search->scoring.begin();
  return *space.search;
}

std::vector<std::int32_t> TreeModel::best(const TreeExtractor& extractor, const TokenTable& table,
                                          Space& space) const {
  std::vector<std::int32_t> all;
  all.reserve(table.tokens());
  std::vector<std::uint32_t> arcs;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    TreeSearch& search = read(extractor, table, s, space);
    if (space.merging) {
      best_merged(space, arcs);
    } else {
      search.begin({});
      search.finish(Lookup{rows_});
      if (search.beam().empty()) throw std::invalid_argument("trees: no actions lead to a tree");
      search.states.arcs(search.beam()[0], arcs);
    }
    all.insert(all.end(), arcs.begin(), arcs.end());
  }
  return all;
}

void TreeModel::best_merged(Space& space, std::vector<std::uint32_t>& arcs) const {
  TreeSearch& search = *space.search;
  space.merging->begin(search.scoring, search.states);
  while (space.merging->advance(Lookup{rows_}))
    if (space.merging->beam().empty()) throw std::invalid_argument("trees: no actions lead to a tree");
  const std::vector<std::uint32_t> actions = space.merging->actions(space.merging->beam()[0]);
  search.states.begin(search.scoring.x.length, nullptr);
  std::uint32_t state = 0;
  for (const std::uint32_t action : actions) state = search.states.apply(state, action);
  search.states.arcs(state, arcs);
}

std::vector<ScoredTree> TreeModel::k_best(const TreeExtractor& extractor, const TokenTable& table,
                                          std::size_t s, std::size_t k, const GivenArcs* given,
                                          Space& space) const {
  TreeSearch& search = read(extractor, table, s, space);
  search.begin({given, nullptr});
  search.finish(Lookup{rows_});
  std::vector<ScoredTree> found;
  for (const std::uint32_t state : search.beam()) {
    if (found.size() == k) break;
    ScoredTree one;
    search.states.arcs(state, one.arcs);
    const auto same = [&](const ScoredTree& other) { return other.arcs == one.arcs; };
    if (std::any_of(found.begin(), found.end(), same)) continue;
    search.states.actions(state, one.actions);
    one.score = search.states[state].score;
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<std::int32_t> TreeModel::voted(const TreeExtractor& extractor, const TokenTable& table,
                                           const VoteLog& log, std::size_t k, Space& space) const {
  if (log.row_end.size() != weights_.slots() + 1)
    throw std::invalid_argument("votes: the log does not fit the weights");
  std::vector<std::int32_t> all;
  for (std::size_t s = 0; s < table.sentences(); ++s) {
    const std::vector<ScoredTree> found = k_best(extractor, table, s, k, nullptr, space);
    if (found.empty()) throw std::invalid_argument("trees: no actions lead to a tree");
    Ballot ballot(found.size());
    const auto add = [&](std::size_t of, std::size_t j, double sign) {
      features(found[of].actions, space,
               [&](std::uint32_t row, std::uint32_t action, auto&&...) { ballot.add(j, row, action, sign); });
    };
    for (std::size_t j = 1; j < found.size(); ++j) {
      add(j, j, 1.0);
      add(0, j, -1.0);
    }
    const ScoredTree& chosen = found.at(ballot.winner(log));
    all.insert(all.end(), chosen.arcs.begin(), chosen.arcs.end());
  }
  return all;
}

}  // namespace marginalia
