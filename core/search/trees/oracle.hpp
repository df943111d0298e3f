// From trees to the actions that make them.
#pragma once

#include <cstdint>
#include <vector>

#include "search/trees/states.hpp"

namespace marginalia {

// Throws std::invalid_argument unless the heads make a tree (with one root, if that is asked for).
void check_tree(const TreeArcs& tree, bool one_root);

bool is_projective(const TreeArcs& tree);

// The tree with arcs that cross others lifted: shortest first, a token's head becomes the head of that one
// until no arc crosses another. Labels stay.
TreeArcs projectivised(TreeArcs tree);

// The actions that make a tree: a projective one, unless the system swaps. They must be allowed by the shape.
std::vector<std::uint32_t> oracle(const TreeShape& shape, const TreeArcs& tree, TreeStates& states);

}  // namespace marginalia
