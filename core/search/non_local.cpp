#include "search/non_local.hpp"

#include "search/chain/chain.hpp"
#include "search/segments/segments.hpp"

namespace marginalia {

namespace {

struct NoGlobal {
  template <class Sink>
  void operator()(std::size_t, const Labels&, Sink&&) const {}
};

}  // namespace

static_assert(Structure<NonLocal<Chain, NoGlobal>> && WithConstants<NonLocal<Chain, NoGlobal>>);
static_assert(Structure<NonLocal<Segments, NoGlobal>> && WithConstants<NonLocal<Segments, NoGlobal>>);
template class NonLocal<Chain, NoGlobal>;

}  // namespace marginalia
