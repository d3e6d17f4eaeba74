// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/hash_table.h"

#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

typedef struct item_s {
  uint64_t key;
  tfrt_hash_node_t node;
} item_t;

static uint64_t hash_key(const void* key) { return tfrt_hash_u64(*(const uint64_t*)key); }
static uint64_t hash_badly(const void* key) { return *(const uint64_t*)key & 1; }
static bool equal_key(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, item_t, node)->key == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t vtable = {hash_key, equal_key};
static const tfrt_hash_table_vtable_t bad_vtable = {hash_badly, equal_key};

#define ITEM_COUNT 1000
static item_t items[ITEM_COUNT];

static void fill(tfrt_hash_table_t* table) {
  for (uint64_t i = 0; i < ITEM_COUNT; ++i) {
    items[i].key = i * 3;
    tfrt_hash_table_insert(table, &items[i].key, &items[i].node);
  }
}

static void check_all(const tfrt_hash_table_vtable_t* table_vtable, tfrt_allocator_t allocator) {
  tfrt_hash_table_t table;
  tfrt_hash_table_initialize(&table, table_vtable, allocator);
  fill(&table);
  ck_assert_uint_eq(tfrt_hash_table_count(&table), ITEM_COUNT);
  for (uint64_t key = 0; key < ITEM_COUNT * 3; ++key) {
    tfrt_hash_node_t* node = tfrt_hash_table_find(&table, &key);
    ck_assert_ptr_eq(node, key % 3 == 0 ? &items[key / 3].node : NULL);
  }
  for (uint64_t i = 0; i < ITEM_COUNT; i += 2) tfrt_hash_table_remove(&table, &items[i].node);
  for (uint64_t i = 1; i < ITEM_COUNT; i += 4) {
    tfrt_hash_table_remove(&table, &items[i].node);
    ck_assert_ptr_null(tfrt_hash_table_find(&table, &items[i].key));
  }
  ck_assert_uint_eq(tfrt_hash_table_count(&table), ITEM_COUNT / 4);
  ck_assert_ptr_null(tfrt_hash_table_find(&table, &items[0].key));
  ck_assert_ptr_eq(tfrt_hash_table_find(&table, &items[3].key), &items[3].node);
  tfrt_hash_table_deinitialize(&table);
}

START_TEST(what_is_inserted_is_found_until_it_is_removed) {
  check_all(&vtable, tfrt_allocator_system());
}
END_TEST

START_TEST(a_bad_hash_only_costs_time) { check_all(&bad_vtable, tfrt_allocator_system()); }
END_TEST

START_TEST(without_memory_to_grow_the_table_goes_on) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 300);
  check_all(&vtable, tfrt_counting_allocator_interface(&books));
  ck_assert_int_gt(tfrt_counting_allocator_counts(&books).total_count, 0);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

// Most are pushed where they were looked for; the others find a longer row of chains.
START_TEST(what_is_inserted_at_its_chain_is_found) {
  tfrt_hash_table_t table;
  tfrt_hash_table_initialize(&table, &vtable, tfrt_allocator_system());
  for (uint64_t i = 0; i < ITEM_COUNT; ++i) {
    items[i].key = i;
    uint64_t hash = hash_key(&i);
    tfrt_hash_node_t** chain = tfrt_hash_table_chain(&table, hash);
    tfrt_hash_table_insert_at(&table, chain, hash, &items[i].node);
  }
  ck_assert_uint_eq(tfrt_hash_table_count(&table), ITEM_COUNT);
  for (uint64_t i = 0; i < ITEM_COUNT; ++i) {
    ck_assert_ptr_eq(tfrt_hash_table_find(&table, &i), &items[i].node);
  }
  tfrt_hash_table_deinitialize(&table);
}
END_TEST

START_TEST(a_walk_meets_each_node_once_and_may_remove_it) {
  tfrt_hash_table_t table;
  tfrt_hash_table_initialize(&table, &vtable, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_hash_table_first(&table));
  fill(&table);
  uint64_t sum = 0;
  size_t count = 0;
  tfrt_hash_node_t* node = tfrt_hash_table_first(&table);
  while (node) {
    tfrt_hash_node_t* next = tfrt_hash_table_next(&table, node);
    sum += TFRT_CONTAINER_OF(node, item_t, node)->key;
    ++count;
    tfrt_hash_table_remove(&table, node);
    node = next;
  }
  ck_assert_uint_eq(count, ITEM_COUNT);
  ck_assert_uint_eq(sum, 3 * (ITEM_COUNT - 1) * ITEM_COUNT / 2);
  ck_assert_uint_eq(tfrt_hash_table_count(&table), 0);
  tfrt_hash_table_deinitialize(&table);
}
END_TEST

START_TEST(the_hash_of_bytes_depends_on_each_bit_and_on_the_size) {
  unsigned char bytes[37] = {0};
  uint64_t hash = tfrt_hash_bytes(bytes, sizeof bytes);
  for (size_t bit = 0; bit < sizeof bytes * 8; ++bit) {
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    ck_assert_uint_ne(tfrt_hash_bytes(bytes, sizeof bytes), hash);
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  for (size_t size = 0; size < sizeof bytes; ++size) {
    ck_assert_uint_ne(tfrt_hash_bytes(bytes, size), hash);
  }
  ck_assert_uint_ne(tfrt_hash_combine(1, 2), tfrt_hash_combine(2, 1));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("hash_table");
  tcase_add_test(tests, what_is_inserted_is_found_until_it_is_removed);
  tcase_add_test(tests, a_bad_hash_only_costs_time);
  tcase_add_test(tests, without_memory_to_grow_the_table_goes_on);
  tcase_add_test(tests, what_is_inserted_at_its_chain_is_found);
  tcase_add_test(tests, a_walk_meets_each_node_once_and_may_remove_it);
  tcase_add_test(tests, the_hash_of_bytes_depends_on_each_bit_and_on_the_size);
  Suite* suite = suite_create("hash_table");
  suite_add_tcase(suite, tests);
  return suite;
}
