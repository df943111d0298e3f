#include "bind.hpp"

NB_MODULE(_core, m) {
  // The command line leaves what is left over to the end of the process (cli/__init__.py): no leak to report.
  nb::set_leak_warnings(false);
  m.doc() = "Native core of marginalia: tables of tokens, features, weights, search and learning.";
  bind_table(m);
  bind_schemes(m);
  bind_lists(m);
  bind_attributes(m);
  bind_phrases(m);
  bind_word_table(m);
  bind_features(m);
  bind_weights(m);
  bind_packing(m);
  bind_constraints(m);
  bind_search(m);
  bind_segments(m);
  bind_single(m);
  bind_learn(m);
  bind_brown(m);
  bind_global(m);
  bind_non_local(m);
  bind_candidates(m);
  bind_rules(m);
  bind_trees(m);
  bind_words(m);
}
