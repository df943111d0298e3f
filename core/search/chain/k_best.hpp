// The k best outputs of a lattice, exactly and lazily, best first.
//
// Forward Viterbi, then best-first search backwards with the forward scores as the exact heuristic. A path is
// its parent plus one sidetrack: a state where it leaves the best way back. The sidetracks open to all paths
// through a state form a heap that shares its parts with the heap of the state's best predecessor (after
// Eppstein 1998), so after O(T * L) for the first output each further one costs O(log k) and its own length.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "search/chain/lattice.hpp"
#include "search/labels.hpp"

namespace marginalia {

class KBest {
 public:
  explicit KBest(const Lattice& lattice);  // the lattice must outlive it

  // The next output's labels and score; nothing when there are no more legal outputs.
  std::optional<double> next(std::uint32_t* labels);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Alternative {
    double loss;  // of taking this predecessor instead of the best one
    std::uint32_t state;
  };
  struct Place {                            // a state at a token, with what was found out about it
    std::uint32_t best = kNone;             // best predecessor
    std::uint32_t heap = kNone;             // root of its sidetrack heap
    bool ready = false;                     // is `heap` known?
    std::vector<Alternative> alternatives;  // by rising loss
  };
  struct Sidetrack {  // node of a persistent leftist heap
    double loss;
    std::uint32_t t, state, rank;  // leaves (t, state) by its alternative number `rank`
    std::uint32_t left, right, depth;
  };
  struct Path {
    std::uint32_t parent;     // kNone: the best path
    std::uint32_t sidetrack;  // its last one
  };
  struct Candidate {
    double loss;
    std::uint64_t number;  // ties: first come, first served
    std::uint32_t parent, sidetrack;
    bool operator>(const Candidate& other) const {
      return loss != other.loss ? loss > other.loss : number > other.number;
    }
  };

  Place& place(std::size_t t, std::size_t state);
  Place& explored(std::size_t t, std::size_t state);
  std::uint32_t heap_of(std::size_t t, std::size_t state);
  std::uint32_t merged(std::uint32_t a, std::uint32_t b);
  void push(double loss, std::uint32_t parent, std::uint32_t sidetrack);
  void push_successors(const Candidate& popped, std::uint32_t path);
  double write(std::uint32_t path, std::uint32_t* labels);

  const Lattice& lattice_;
  std::size_t width_;
  std::vector<double> forward_;             // [T][states]
  std::vector<std::vector<Place>> places_;  // [T + 1]; the last has one state, the end
  std::vector<Sidetrack> sidetracks_;
  std::vector<Path> paths_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
  std::uint64_t pushed_ = 0;
  bool started_ = false;
};

// The best two outputs (fewer if there are fewer), as a margin learner asks for at every step: the second one
// leaves the best path once, so it is found without a heap.
std::vector<ScoredLabels> two_best(const Lattice& lattice, std::vector<double>& forward);

}  // namespace marginalia
