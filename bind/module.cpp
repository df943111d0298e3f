#include "bind.hpp"

namespace {

#if defined(__clang__)
#define MARGINALIA_COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define MARGINALIA_COMPILER "GCC " __VERSION__
#elif defined(_MSC_VER)
#define MARGINALIA_TEXT_OF(x) #x
#define MARGINALIA_TEXT(x) MARGINALIA_TEXT_OF(x)
#define MARGINALIA_COMPILER "MSVC " MARGINALIA_TEXT(_MSC_VER)
#else
#define MARGINALIA_COMPILER "another compiler"
#endif
#ifdef __SANITIZE_ADDRESS__
constexpr const char* kBuild = MARGINALIA_COMPILER ", with sanitizers";
#else
constexpr const char* kBuild = MARGINALIA_COMPILER;
#endif

}  // namespace

NB_MODULE(_core, m) {
  // The command line leaves what is left over to the end of the process (cli/__init__.py): no leak to report.
  nb::set_leak_warnings(false);
  m.doc() = "Native core of marginalia: tables of tokens, features, weights, search and learning.";
  m.def("build", [] { return kBuild; }, "The compiler that made the core, and how.");
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
