// SPDX-License-Identifier: Apache-2.0
//
// The tree along which the members of a large group tell each other what they know: what all know
// comes together at the first member, and goes back. So n members send 2 (n - 1) messages, where
// rounds take n log2 n.
//
// The part of a member are the positions from its own on. Behind it the rest of its part is cut
// into at most TFRT_COLLECTIVE_TREE_CHILDREN parts, which are as equal as can be; the first member
// of each is its child.
//
//   0 | 1 2 3 | 4 5 6 | 7 8 9       of 10 members, with at most 3 children
//       `-2-3   `-5-6   `-8-9       0 has the children 1, 4, 7, and 1 has 2 and 3
//
// Thread rule: pure functions and values.
#ifndef TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_TREE_H_
#define TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_TREE_H_

#include <stdint.h>

// The most children of a member. Two levels below the first member hold 272 others, three
// the 1,023 that a job may have.
#define TFRT_COLLECTIVE_TREE_CHILDREN 16u

// One member in the tree.
typedef struct tfrt_collective_tree_s {
  uint32_t position;
  uint32_t parent;  // position; the member's own: it is the first one
  uint32_t size;    // of its part
  uint32_t child_count;
} tfrt_collective_tree_t;

// The member |position| in the tree of |count| members. Thread-safe.
tfrt_collective_tree_t tfrt_collective_tree_find(uint32_t count, uint32_t position);

// The position of the child |index| in |tree|, which is where its part begins; for |child_count|,
// where the part of |tree| ends. Thread-safe.
uint32_t tfrt_collective_tree_child(const tfrt_collective_tree_t* tree, uint32_t index);

#endif  // TFRT_KERNELS_DISTRIBUTED_COLLECTIVE_TREE_H_
