// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/collective_tree.h"

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

// The parts of the children of |tree| are behind it, one behind the other, and fill its part; each
// child says the same. Returns the number of levels.
static uint32_t check(uint32_t count, const tfrt_collective_tree_t* tree) {
  uint32_t levels = 0;
  uint32_t next = tree->position + 1;
  ck_assert_uint_le(tree->child_count, TFRT_COLLECTIVE_TREE_CHILDREN);
  for (uint32_t i = 0; i < tree->child_count; ++i) {
    ck_assert_uint_eq(tfrt_collective_tree_child(tree, i), next);
    tfrt_collective_tree_t child = tfrt_collective_tree_find(count, next);
    ck_assert_uint_eq(child.position, next);
    ck_assert_uint_eq(child.parent, tree->position);
    uint32_t below = check(count, &child);
    if (below > levels) levels = below;
    next += child.size;
  }
  ck_assert_uint_eq(next, tree->position + tree->size);
  ck_assert_uint_eq(tfrt_collective_tree_child(tree, tree->child_count), next);
  return levels + 1;
}

START_TEST(each_member_is_in_the_tree_once) {
  static const uint32_t counts[] = {1, 2, 3, 9, 16, 17, 18, 19, 20, 33, 34, 128, 273, 274, 1024};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(counts); ++i) {
    const uint32_t count = counts[i];
    tfrt_collective_tree_t first = tfrt_collective_tree_find(count, 0);
    ck_assert_uint_eq(first.parent, 0);
    ck_assert_uint_eq(first.size, count);
    uint32_t levels = check(count, &first);
    ck_assert_uint_eq(levels, count == 1 ? 1 : count <= 17 ? 2 : count <= 273 ? 3 : 4);
  }
}
END_TEST

START_TEST(parts_are_as_equal_as_can_be) {
  tfrt_collective_tree_t first = tfrt_collective_tree_find(128, 0);
  ck_assert_uint_eq(first.child_count, 16);
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t size =
        tfrt_collective_tree_child(&first, i + 1) - tfrt_collective_tree_child(&first, i);
    ck_assert_uint_ge(size, 7);
    ck_assert_uint_le(size, 8);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tree = tcase_create("tree");
  tcase_add_test(tree, each_member_is_in_the_tree_once);
  tcase_add_test(tree, parts_are_as_equal_as_can_be);
  Suite* suite = suite_create("collective tree");
  suite_add_tcase(suite, tree);
  return suite;
}
