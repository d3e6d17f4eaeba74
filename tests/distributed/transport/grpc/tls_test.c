// SPDX-License-Identifier: Apache-2.0
//
// The peers that TLS admits, and the errors of those that it refuses.
#include <stdio.h>
#include <string.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/file.h"
#include "tests/distributed/security/checked_certificate_folder.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define LIMIT_MS 20000

// Two clusters: the one that the tests are about, and one of strangers.
static tfrt_certificate_folder_t ours;
static tfrt_certificate_folder_t theirs;

static void set_up(void) {
  tfrt_certificate_folder_initialize(&ours);
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_HOST, "127.0.0.1", TFRT_A_DAY_S);
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_CLIENT, "client", TFRT_A_DAY_S);
  tfrt_certificate_folder_initialize(&theirs);
  tfrt_certificate_folder_issue(&theirs, TFRT_CERTIFICATE_HOST, "127.0.0.1", TFRT_A_DAY_S);
}

static void tear_down(void) {
  tfrt_certificate_folder_deinitialize(&ours);
  tfrt_certificate_folder_deinitialize(&theirs);
}

// --- Two ends ------------------------------------------------------------------

// The certificate that one end shows, and the names that it trusts. No |folder|: plain text.
typedef struct identity_s {
  tfrt_certificate_folder_t* folder;
  const char* name;
  tfrt_certificate_folder_t* trusted;  // NULL: |folder|
} identity_t;

static const identity_t kHost = {&ours, "127.0.0.1", NULL};
static const identity_t kClient = {&ours, "client", NULL};

static tfrt_transport_t* create_transport(const identity_t* identity) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  char authorities[128];
  if (identity->folder) {
    options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    options.credentials.files = tfrt_certificate_folder_files(identity->folder, identity->name);
    options.credentials.reload_s = 1;
    if (identity->trusted) {
      snprintf(authorities, sizeof(authorities), "%s/ca.pem", identity->trusted->path);
      options.credentials.files.authorities = authorities;
    }
  }
  tfrt_transport_t* transport;
  tfrt_status_t status = tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  return transport;
}

static void start_host(tfrt_endpoint_host_t* host, const identity_t* identity) {
  *host = (tfrt_endpoint_host_t){.is_echoing = true};
  tfrt_transport_t* transport = create_transport(identity);
  tfrt_endpoint_host_listen(host, transport, "127.0.0.1:0");
  tfrt_transport_release(transport);
}

// Dials |address| once: says "hello", and waits for the echo or the end, which is returned,
// with the words of the error in |out_words|.
static tfrt_transport_end_t try_dial(tfrt_transport_t* transport, const char* address,
                                     tfrt_status_code_t* out_code, char out_words[512]) {
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  tfrt_endpoint_dial(&endpoint, transport, address, TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
  tfrt_transport_connection_receive(endpoint.connection);
  if (tfrt_endpoint_write(&endpoint, "hello", 5) == TFRT_STATUS_OK) {
    tfrt_endpoint_wait_messages(&endpoint, 1);
    tfrt_transport_connection_close(endpoint.connection);
  }
  tfrt_transport_end_t end = tfrt_endpoint_wait_closed(&endpoint);
  *out_code = tfrt_status_code(endpoint.status);
  snprintf(out_words, 512, "%s", tfrt_status_message(endpoint.status));
  tfrt_endpoint_deinitialize(&endpoint);
  return end;
}

// One that was reset is dialled again, as sessions do, unless it was turned away.
static tfrt_transport_end_t dial(tfrt_transport_t* transport, const char* address,
                                 tfrt_status_code_t* out_code, char out_words[512]) {
  tfrt_transport_end_t end = TFRT_TRANSPORT_RESET;
  *out_code = TFRT_STATUS_OK;
  for (int i = 0; i < 100 && end == TFRT_TRANSPORT_RESET; ++i) {
    end = try_dial(transport, address, out_code, out_words);
    if (*out_code == TFRT_STATUS_UNAUTHENTICATED) break;
  }
  return end;
}

static void expect(const identity_t* listener, const identity_t* dialler, tfrt_transport_end_t end,
                   const char* words) {
  tfrt_endpoint_host_t host;
  start_host(&host, listener);
  tfrt_transport_t* transport = create_transport(dialler);
  tfrt_status_code_t code;
  char found[512];
  tfrt_transport_end_t found_end = dial(transport, host.address, &code, found);
  ck_assert_msg(found_end == end, "%d: %s", (int)found_end, found);
  bool is_in = end == TFRT_TRANSPORT_ENDED;
  ck_assert_int_eq(code, is_in ? TFRT_STATUS_OK : TFRT_STATUS_UNAUTHENTICATED);
  ck_assert_msg(strstr(found, words) != NULL, "%s", found);
  tfrt_transport_release(transport);
  size_t judged = host.judged_count;
  tfrt_endpoint_host_stop(&host);
  // Nothing of those who are not let in comes as far as the acceptor.
  ck_assert_uint_eq(judged, is_in ? 1 : 0);
}

// --- Who is let in ---------------------------------------------------------------

START_TEST(clients_and_hosts_of_the_cluster_are_let_in) {
  expect(&kHost, &kClient, TFRT_TRANSPORT_ENDED, "");
  expect(&kHost, &kHost, TFRT_TRANSPORT_ENDED, "");
}
END_TEST

START_TEST(a_dialler_of_another_authority_is_turned_away) {
  identity_t stranger = {&theirs, "127.0.0.1", &ours};
  expect(&kHost, &stranger, TFRT_TRANSPORT_RESET, "is not of the authority in");
}
END_TEST

START_TEST(a_dialler_turns_away_a_listener_of_another_authority) {
  identity_t stranger = {&theirs, "127.0.0.1", &ours};
  expect(&stranger, &kClient, TFRT_TRANSPORT_REJECTED, "is of another cluster's authority");
}
END_TEST

START_TEST(certificates_that_have_expired_do_not_count_on_either_side) {
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_HOST, "old", -TFRT_A_MINUTE_S);
  identity_t old = {&ours, "old", NULL};
  expect(&old, &kClient, TFRT_TRANSPORT_REJECTED, "or has expired");
  expect(&kHost, &old, TFRT_TRANSPORT_RESET, "old.pem does not count now: certificate has expired");
}
END_TEST

START_TEST(a_listener_must_have_the_name_that_was_dialled) {
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_HOST, "127.0.0.2", TFRT_A_DAY_S);
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_HOST, "elsewhere", TFRT_A_DAY_S);
  identity_t other_address = {&ours, "127.0.0.2", NULL};
  identity_t other_name = {&ours, "elsewhere", NULL};
  expect(&other_address, &kClient, TFRT_TRANSPORT_REJECTED, "is for other names");
  expect(&other_name, &kClient, TFRT_TRANSPORT_REJECTED, "is for other names");
}
END_TEST

START_TEST(a_client_certificate_is_none_to_listen_with) {
  expect(&kClient, &kClient, TFRT_TRANSPORT_REJECTED, "or is no host's");
}
END_TEST

START_TEST(ends_with_and_without_tls_say_so) {
  identity_t plain = {NULL, NULL, NULL};
  expect(&kHost, &plain, TFRT_TRANSPORT_RESET, "as one does that wants TLS (then give --tls-dir)");
  expect(&plain, &kClient, TFRT_TRANSPORT_REJECTED, "does not speak TLS; start it with --tls-dir");
}
END_TEST

START_TEST(bulk_connections_are_encrypted_and_judged_alike) {
  tfrt_endpoint_host_t host;
  start_host(&host, &kHost);
  identity_t stranger = {&theirs, "127.0.0.1", NULL};
  tfrt_transport_t* transport = create_transport(&stranger);
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  tfrt_endpoint_dial(&endpoint, transport, host.address, TFRT_TRANSPORT_BULK, NULL, LIMIT_MS);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&endpoint), TFRT_TRANSPORT_REJECTED);
  ck_assert_int_eq(tfrt_status_code(endpoint.status), TFRT_STATUS_UNAUTHENTICATED);
  tfrt_endpoint_deinitialize(&endpoint);
  tfrt_transport_release(transport);
  tfrt_endpoint_host_stop(&host);
}
END_TEST

// --- Files -----------------------------------------------------------------------

static void copy_over(const char* from, const char* to) {
  tfrt_file_contents_t contents;
  ck_assert_ptr_null(tfrt_file_read(from, tfrt_allocator_system(), &contents));
  ck_assert_ptr_null(tfrt_file_write(to, contents.data, contents.size));
  tfrt_file_contents_deinitialize(&contents);
}

START_TEST(files_that_change_count_for_new_connections) {
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_HOST, "elsewhere", TFRT_A_DAY_S);
  identity_t identity = {&ours, "elsewhere", NULL};
  tfrt_endpoint_host_t host;
  start_host(&host, &identity);
  tfrt_transport_t* transport = create_transport(&kClient);
  tfrt_status_code_t code;
  char words[512];
  ck_assert_int_eq(dial(transport, host.address, &code, words), TFRT_TRANSPORT_REJECTED);

  tfrt_certificate_folder_t good = ours;
  tfrt_certificate_files_t from = tfrt_certificate_folder_files(&good, "127.0.0.1");
  tfrt_certificate_files_t to = tfrt_certificate_folder_files(&ours, "elsewhere");
  copy_over(from.key, to.key);
  copy_over(from.certificate, to.certificate);
  tfrt_clock_t clock = tfrt_clock_system();
  int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(clock), TFRT_NANOSECONDS_PER_SECOND * 15);
  tfrt_transport_end_t end = TFRT_TRANSPORT_REJECTED;
  while (end != TFRT_TRANSPORT_ENDED && tfrt_clock_now_ns(clock) < deadline_ns) {
    end = try_dial(transport, host.address, &code, words);
  }
  ck_assert_msg(end == TFRT_TRANSPORT_ENDED, "%s", words);
  tfrt_transport_release(transport);
  tfrt_endpoint_host_stop(&host);
}
END_TEST

START_TEST(credentials_without_files_are_refused) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
  tfrt_transport_t* transport;
  tfrt_status_t status = tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_null(transport);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("tls");
  TCase* tests = tcase_create("tls");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, clients_and_hosts_of_the_cluster_are_let_in);
  tcase_add_test(tests, a_dialler_of_another_authority_is_turned_away);
  tcase_add_test(tests, a_dialler_turns_away_a_listener_of_another_authority);
  tcase_add_test(tests, certificates_that_have_expired_do_not_count_on_either_side);
  tcase_add_test(tests, a_listener_must_have_the_name_that_was_dialled);
  tcase_add_test(tests, a_client_certificate_is_none_to_listen_with);
  tcase_add_test(tests, ends_with_and_without_tls_say_so);
  tcase_add_test(tests, bulk_connections_are_encrypted_and_judged_alike);
  tcase_add_test(tests, files_that_change_count_for_new_connections);
  tcase_add_test(tests, credentials_without_files_are_refused);
  suite_add_tcase(suite, tests);
  return suite;
}
