// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/resource_context.h"

#include <stdatomic.h>
#include <string.h>

#include "tests/support/test_main.h"

static tfrt_resource_context_t context;
static char destroyed[8];
static atomic_int creations;

// A resource that writes down its end.
typedef struct letter_s {
  tfrt_resource_t base;
  char letter;
} letter_t;

static void destroy_letter(tfrt_resource_t* resource) {
  letter_t* letter = TFRT_CONTAINER_OF(resource, letter_t, base);
  strncat(destroyed, &letter->letter, 1);
}

static letter_t make_letter(const char* name) {
  return (letter_t){{.name = name, .destroy = destroy_letter}, name[0]};
}

static void set_up(void) {
  destroyed[0] = '\0';
  atomic_store(&creations, 0);
  tfrt_resource_context_initialize(&context);
}

START_TEST(resources_are_unique_by_name_and_end_newest_first) {
  letter_t a = make_letter("a");
  letter_t b = make_letter("b");
  letter_t other_a = make_letter("a");
  other_a.letter = 'x';
  ck_assert_ptr_null(tfrt_resource_context_find(&context, "a"));
  ck_assert_ptr_eq(tfrt_resource_context_add(&context, &a.base), &a.base);
  ck_assert_ptr_eq(tfrt_resource_context_add(&context, &b.base), &b.base);
  ck_assert_ptr_eq(tfrt_resource_context_add(&context, &other_a.base), &a.base);
  ck_assert_str_eq(destroyed, "x");
  ck_assert_ptr_eq(tfrt_resource_context_find(&context, "b"), &b.base);
  tfrt_resource_context_deinitialize(&context);
  ck_assert_str_eq(destroyed, "xba");
}
END_TEST

static tfrt_status_t create(void* letter, tfrt_resource_t** out_resource) {
  atomic_fetch_add(&creations, 1);
  *out_resource = &((letter_t*)letter)->base;
  return NULL;
}

static tfrt_status_t create_nothing(void* unused, tfrt_resource_t** out_resource) {
  (void)unused;
  (void)out_resource;
  atomic_fetch_add(&creations, 1);
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "not today");
}

START_TEST(a_resource_is_made_when_it_is_asked_for) {
  letter_t a = make_letter("a");
  tfrt_resource_t* resource = NULL;
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_null(tfrt_resource_context_get_or_create(&context, "a", create, &a, &resource));
    ck_assert_ptr_eq(resource, &a.base);
  }
  ck_assert_int_eq(atomic_load(&creations), 1);
  tfrt_resource_context_deinitialize(&context);
  ck_assert_str_eq(destroyed, "a");
}
END_TEST

START_TEST(what_could_not_be_made_is_tried_again) {
  letter_t a = make_letter("a");
  tfrt_resource_t* resource = &a.base;
  tfrt_status_t status =
      tfrt_resource_context_get_or_create(&context, "a", create_nothing, NULL, &resource);
  ck_assert_str_eq(tfrt_status_message(status), "not today");
  ck_assert_ptr_null(resource);
  tfrt_status_release(status);
  ck_assert_ptr_null(tfrt_resource_context_get_or_create(&context, "a", create, &a, &resource));
  ck_assert_ptr_eq(resource, &a.base);
  ck_assert_int_eq(atomic_load(&creations), 2);
  tfrt_resource_context_deinitialize(&context);
}
END_TEST

// Making one resource may need another.
static tfrt_status_t create_upon(void* letters, tfrt_resource_t** out_resource) {
  letter_t* both = letters;
  tfrt_resource_t* below = NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_resource_context_get_or_create(&context, "b", create, &both[1], &below));
  return create(&both[0], out_resource);
}

START_TEST(a_resource_outlives_those_that_were_made_from_it) {
  letter_t letters[] = {make_letter("a"), make_letter("b")};
  tfrt_resource_t* resource = NULL;
  ck_assert_ptr_null(
      tfrt_resource_context_get_or_create(&context, "a", create_upon, letters, &resource));
  tfrt_resource_context_deinitialize(&context);
  ck_assert_str_eq(destroyed, "ab");
}
END_TEST

enum { THREADS = 4, NAMES = 3, ROUNDS = 200 };
static const char* const names[NAMES] = {"a", "b", "c"};
static letter_t shared[NAMES];
static atomic_int wrong;

static void ask(void* unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS * NAMES; ++i) {
    tfrt_resource_t* resource = NULL;
    int which = i % NAMES;
    // The first attempt of all is refused, so that somebody who waits goes on.
    tfrt_status_t status = tfrt_resource_context_get_or_create(
        &context, names[which], i == 0 ? create_nothing : create, &shared[which], &resource);
    if (!status && resource != &shared[which].base) atomic_fetch_add(&wrong, 1);
    tfrt_status_release(status);
  }
}

START_TEST(threads_that_ask_at_once_get_the_same) {
  tfrt_thread_t threads[THREADS];
  for (int i = 0; i < NAMES; ++i) shared[i] = make_letter(names[i]);
  for (int i = 0; i < THREADS; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("ask", ask, NULL, &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(atomic_load(&wrong), 0);
  int made = atomic_load(&creations);
  ck_assert_int_ge(made, NAMES);
  ck_assert_int_le(made, NAMES + THREADS);
  tfrt_resource_context_deinitialize(&context);
  ck_assert_uint_eq(strlen(destroyed), NAMES);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("resource_context");
  TCase* cases = tcase_create("resource_context");
  tcase_add_checked_fixture(cases, set_up, NULL);
  tcase_add_test(cases, resources_are_unique_by_name_and_end_newest_first);
  tcase_add_test(cases, a_resource_is_made_when_it_is_asked_for);
  tcase_add_test(cases, what_could_not_be_made_is_tried_again);
  tcase_add_test(cases, a_resource_outlives_those_that_were_made_from_it);
  tcase_add_test(cases, threads_that_ask_at_once_get_the_same);
  suite_add_tcase(suite, cases);
  return suite;
}
