// What every binding file shares: one `bind_*` function per core folder.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_table(nb::module_& m);
void bind_schemes(nb::module_& m);
void bind_lists(nb::module_& m);
void bind_attributes(nb::module_& m);
void bind_phrases(nb::module_& m);
void bind_word_table(nb::module_& m);
void bind_features(nb::module_& m);
void bind_weights(nb::module_& m);
void bind_packing(nb::module_& m);
void bind_constraints(nb::module_& m);
void bind_search(nb::module_& m);
void bind_segments(nb::module_& m);
void bind_single(nb::module_& m);
void bind_learn(nb::module_& m);
void bind_brown(nb::module_& m);
void bind_global(nb::module_& m);
void bind_non_local(nb::module_& m);
void bind_candidates(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_words(nb::module_& m);
void bind_rules(nb::module_& m);
