// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_tree.h"

static tfrt_collective_tree_t make(uint32_t position, uint32_t parent, uint32_t size) {
  uint32_t rest = size - 1;
  return (tfrt_collective_tree_t){
      .position = position,
      .parent = parent,
      .size = size,
      .child_count = rest < TFRT_COLLECTIVE_TREE_CHILDREN ? rest : TFRT_COLLECTIVE_TREE_CHILDREN};
}

uint32_t tfrt_collective_tree_child(const tfrt_collective_tree_t* tree, uint32_t index) {
  uint32_t rest = tree->size - 1;
  if (rest == 0) return tree->position + 1;
  return tree->position + 1 + (uint32_t)((uint64_t)index * rest / tree->child_count);
}

tfrt_collective_tree_t tfrt_collective_tree_find(uint32_t count, uint32_t position) {
  tfrt_collective_tree_t tree = make(0, 0, count);
  while (tree.position != position) {
    uint32_t index = 0;
    while (tfrt_collective_tree_child(&tree, index + 1) <= position) ++index;
    uint32_t begin = tfrt_collective_tree_child(&tree, index);
    tree = make(begin, tree.position, tfrt_collective_tree_child(&tree, index + 1) - begin);
  }
  return tree;
}
