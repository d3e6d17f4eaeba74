// SPDX-License-Identifier: Apache-2.0
//
// The text of an error of a host that is lost: the thing that was done, and how its session ended.
#include <string.h>

#include "distributed/domain/domain.h"
#include "tests/support/test_main.h"

// The error of a host whose session ended with |kind|, for |reason|.
static void expect_text(tfrt_session_death_t kind, const char* reason, const char* right) {
  tfrt_peer_t peer = {.incarnation = 0x1001, .name = "n1", .address = "n1:1"};
  peer.death = (tfrt_peer_death_t){
      .reason = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "%s", reason), .kind = kind};
  tfrt_status_t status = tfrt_peer_lost_error(&peer, NULL, NULL, "while it ran @%s", "f");
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  ck_assert_str_eq(fields->message, right);
  ck_assert_uint_eq(fields->root_key, 0x1001);
  ck_assert_uint_eq(fields->cause_count, 1);
  ck_assert_str_eq(fields->causes[0], reason);
  tfrt_status_release(status);
  tfrt_status_release(peer.death.reason);
}

// The peer itself says why it gave the session up; the error repeats that.
static void expect_words(void) {
  const tfrt_status_fields_t fields = {.code = TFRT_STATUS_UNAVAILABLE,
                                       .message = "is dead: it heard nothing",
                                       .causes = {"it heard nothing"},
                                       .cause_count = 1};
  tfrt_peer_t peer = {.incarnation = 0x1001, .name = "n1", .address = "n1:1"};
  peer.death = (tfrt_peer_death_t){.reason = tfrt_status_create_from_fields(&fields),
                                   .kind = TFRT_SESSION_DEATH_BURIED};
  tfrt_status_t status = tfrt_peer_lost_error(&peer, NULL, NULL, "while it ran @%s", "f");
  ck_assert_str_eq(tfrt_status_message(status),
                   "lost a host (n1, n1:1) while it ran @f: it gave the session up: it heard "
                   "nothing");
  tfrt_status_release(status);
  tfrt_status_release(peer.death.reason);
}

#define LOST "lost a host (n1, n1:1) while it ran @f: "

START_TEST(a_loss_says_how_the_session_ended) {
  expect_text(TFRT_SESSION_DEATH_SILENCE, "is lost", LOST "no sign of life");
  expect_text(TFRT_SESSION_DEATH_GONE, "nobody listens", LOST "its process is gone");
  expect_text(TFRT_SESSION_DEATH_REPLACED, "is gone",
              LOST "its process is gone, and another one answers at its address");
  expect_text(TFRT_SESSION_DEATH_BURIED, "is dead", LOST "it gave the session up");
  expect_words();
  expect_text(TFRT_SESSION_DEATH_GOODBYE, "said so", LOST "it has shut down");
  expect_text(TFRT_SESSION_DEATH_CLOSED, "closed here", LOST "closed here");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("peer_loss");
  TCase* texts = tcase_create("texts");
  tcase_add_test(texts, a_loss_says_how_the_session_ended);
  suite_add_tcase(suite, texts);
  return suite;
}
