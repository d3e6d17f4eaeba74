// SPDX-License-Identifier: Apache-2.0
//
// gRPC's library, opened when the first transport is created. A program that is linked against it
// loads and relocates it and some fifty more at each start, which takes longer than all the rest of
// a small run on one host.
//
//   start of the process      first transport            the process's end
//         |  nothing                 |  dlopen, each name once    |  stays open
//
// Files of this room that call gRPC include this header; then the names of its functions stand for
// those that were found.
//
// Life: opened by tfrt_grpc_process_enter() (grpc_library.h), at most once per process; never
// closed.
//
// Thread rule: thread-safe; the functions once the library is open.
// Failure rule: NOT_FOUND, which says what the system's loader said and what to install.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_FUNCTIONS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_FUNCTIONS_H_

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/cpu.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include "host_runtime/base/status.h"

// Each function of the library that is called: X(name).
#define TFRT_GRPC_FUNCTIONS(X)                                  \
  X(gpr_cpu_num_cores)                                          \
  X(gpr_free)                                                   \
  X(gpr_inf_future)                                             \
  X(gpr_inf_past)                                               \
  X(gpr_log_severity_string)                                    \
  X(gpr_set_log_function)                                       \
  X(gpr_set_log_verbosity)                                      \
  X(gpr_time_from_nanos)                                        \
  X(grpc_byte_buffer_destroy)                                   \
  X(grpc_byte_buffer_length)                                    \
  X(grpc_byte_buffer_reader_destroy)                            \
  X(grpc_byte_buffer_reader_init)                               \
  X(grpc_byte_buffer_reader_peek)                               \
  X(grpc_byte_buffer_reader_readall)                            \
  X(grpc_call_cancel)                                           \
  X(grpc_call_cancel_with_status)                               \
  X(grpc_call_details_destroy)                                  \
  X(grpc_call_details_init)                                     \
  X(grpc_call_error_to_string)                                  \
  X(grpc_call_get_peer)                                         \
  X(grpc_call_ref)                                              \
  X(grpc_call_start_batch)                                      \
  X(grpc_call_unref)                                            \
  X(grpc_channel_check_connectivity_state)                      \
  X(grpc_channel_create)                                        \
  X(grpc_channel_create_call)                                   \
  X(grpc_channel_credentials_release)                           \
  X(grpc_channel_destroy)                                       \
  X(grpc_channel_watch_connectivity_state)                      \
  X(grpc_completion_queue_create_for_next)                      \
  X(grpc_completion_queue_destroy)                              \
  X(grpc_completion_queue_next)                                 \
  X(grpc_completion_queue_shutdown)                             \
  X(grpc_empty_slice)                                           \
  X(grpc_init)                                                  \
  X(grpc_insecure_credentials_create)                           \
  X(grpc_insecure_server_credentials_create)                    \
  X(grpc_is_initialized)                                        \
  X(grpc_lame_client_channel_create)                            \
  X(grpc_metadata_array_destroy)                                \
  X(grpc_metadata_array_init)                                   \
  X(grpc_raw_byte_buffer_create)                                \
  X(grpc_resource_quota_arg_vtable)                             \
  X(grpc_resource_quota_create)                                 \
  X(grpc_resource_quota_resize)                                 \
  X(grpc_resource_quota_unref)                                  \
  X(grpc_server_add_channel_from_fd)                            \
  X(grpc_server_add_http2_port)                                 \
  X(grpc_server_cancel_all_calls)                               \
  X(grpc_server_create)                                         \
  X(grpc_server_credentials_release)                            \
  X(grpc_server_destroy)                                        \
  X(grpc_server_register_completion_queue)                      \
  X(grpc_server_register_method)                                \
  X(grpc_server_request_call)                                   \
  X(grpc_server_request_registered_call)                        \
  X(grpc_server_shutdown_and_notify)                            \
  X(grpc_server_start)                                          \
  X(grpc_shutdown_blocking)                                     \
  X(grpc_slice_eq)                                              \
  X(grpc_slice_from_copied_buffer)                              \
  X(grpc_slice_from_copied_string)                              \
  X(grpc_slice_from_static_string)                              \
  X(grpc_slice_malloc)                                          \
  X(grpc_slice_new_with_user_data)                              \
  X(grpc_slice_str_cmp)                                         \
  X(grpc_slice_unref)                                           \
  X(grpc_tls_certificate_provider_file_watcher_create)          \
  X(grpc_tls_certificate_provider_release)                      \
  X(grpc_tls_certificate_verifier_host_name_create)             \
  X(grpc_tls_certificate_verifier_release)                      \
  X(grpc_tls_credentials_create)                                \
  X(grpc_tls_credentials_options_create)                        \
  X(grpc_tls_credentials_options_set_cert_request_type)         \
  X(grpc_tls_credentials_options_set_certificate_provider)      \
  X(grpc_tls_credentials_options_set_certificate_verifier)      \
  X(grpc_tls_credentials_options_set_verify_server_cert)        \
  X(grpc_tls_credentials_options_watch_identity_key_cert_pairs) \
  X(grpc_tls_credentials_options_watch_root_certs)              \
  X(grpc_tls_server_credentials_create)

// Its functions, under their own names and with the types that its headers give them.
typedef struct tfrt_grpc_functions_s {
#define TFRT_GRPC_MEMBER(name) __typeof__(&name) name;
  TFRT_GRPC_FUNCTIONS(TFRT_GRPC_MEMBER)
#undef TFRT_GRPC_MEMBER
} tfrt_grpc_functions_t;

extern tfrt_grpc_functions_t tfrt_grpc_functions;

// Opens the library, unless it is open. Thread-safe.
tfrt_status_t tfrt_grpc_functions_open(void) TFRT_MUST_USE;

#ifndef TFRT_GRPC_FUNCTIONS_ARE_PLAIN
#define gpr_cpu_num_cores tfrt_grpc_functions.gpr_cpu_num_cores
#define gpr_free tfrt_grpc_functions.gpr_free
#define gpr_inf_future tfrt_grpc_functions.gpr_inf_future
#define gpr_inf_past tfrt_grpc_functions.gpr_inf_past
#define gpr_log_severity_string tfrt_grpc_functions.gpr_log_severity_string
#define gpr_set_log_function tfrt_grpc_functions.gpr_set_log_function
#define gpr_set_log_verbosity tfrt_grpc_functions.gpr_set_log_verbosity
#define gpr_time_from_nanos tfrt_grpc_functions.gpr_time_from_nanos
#define grpc_byte_buffer_destroy tfrt_grpc_functions.grpc_byte_buffer_destroy
#define grpc_byte_buffer_length tfrt_grpc_functions.grpc_byte_buffer_length
#define grpc_byte_buffer_reader_destroy tfrt_grpc_functions.grpc_byte_buffer_reader_destroy
#define grpc_byte_buffer_reader_init tfrt_grpc_functions.grpc_byte_buffer_reader_init
#define grpc_byte_buffer_reader_peek tfrt_grpc_functions.grpc_byte_buffer_reader_peek
#define grpc_byte_buffer_reader_readall tfrt_grpc_functions.grpc_byte_buffer_reader_readall
#define grpc_call_cancel tfrt_grpc_functions.grpc_call_cancel
#define grpc_call_cancel_with_status tfrt_grpc_functions.grpc_call_cancel_with_status
#define grpc_call_details_destroy tfrt_grpc_functions.grpc_call_details_destroy
#define grpc_call_details_init tfrt_grpc_functions.grpc_call_details_init
#define grpc_call_error_to_string tfrt_grpc_functions.grpc_call_error_to_string
#define grpc_call_get_peer tfrt_grpc_functions.grpc_call_get_peer
#define grpc_call_ref tfrt_grpc_functions.grpc_call_ref
#define grpc_call_start_batch tfrt_grpc_functions.grpc_call_start_batch
#define grpc_call_unref tfrt_grpc_functions.grpc_call_unref
#define grpc_channel_check_connectivity_state \
  tfrt_grpc_functions.grpc_channel_check_connectivity_state
#define grpc_channel_create tfrt_grpc_functions.grpc_channel_create
#define grpc_channel_create_call tfrt_grpc_functions.grpc_channel_create_call
#define grpc_channel_credentials_release tfrt_grpc_functions.grpc_channel_credentials_release
#define grpc_channel_destroy tfrt_grpc_functions.grpc_channel_destroy
#define grpc_channel_watch_connectivity_state \
  tfrt_grpc_functions.grpc_channel_watch_connectivity_state
#define grpc_completion_queue_create_for_next \
  tfrt_grpc_functions.grpc_completion_queue_create_for_next
#define grpc_completion_queue_destroy tfrt_grpc_functions.grpc_completion_queue_destroy
#define grpc_completion_queue_next tfrt_grpc_functions.grpc_completion_queue_next
#define grpc_completion_queue_shutdown tfrt_grpc_functions.grpc_completion_queue_shutdown
#define grpc_empty_slice tfrt_grpc_functions.grpc_empty_slice
#define grpc_init tfrt_grpc_functions.grpc_init
#define grpc_insecure_credentials_create tfrt_grpc_functions.grpc_insecure_credentials_create
#define grpc_insecure_server_credentials_create \
  tfrt_grpc_functions.grpc_insecure_server_credentials_create
#define grpc_is_initialized tfrt_grpc_functions.grpc_is_initialized
#define grpc_lame_client_channel_create tfrt_grpc_functions.grpc_lame_client_channel_create
#define grpc_metadata_array_destroy tfrt_grpc_functions.grpc_metadata_array_destroy
#define grpc_metadata_array_init tfrt_grpc_functions.grpc_metadata_array_init
#define grpc_raw_byte_buffer_create tfrt_grpc_functions.grpc_raw_byte_buffer_create
#define grpc_resource_quota_arg_vtable tfrt_grpc_functions.grpc_resource_quota_arg_vtable
#define grpc_resource_quota_create tfrt_grpc_functions.grpc_resource_quota_create
#define grpc_resource_quota_resize tfrt_grpc_functions.grpc_resource_quota_resize
#define grpc_resource_quota_unref tfrt_grpc_functions.grpc_resource_quota_unref
#define grpc_server_add_channel_from_fd tfrt_grpc_functions.grpc_server_add_channel_from_fd
#define grpc_server_add_http2_port tfrt_grpc_functions.grpc_server_add_http2_port
#define grpc_server_cancel_all_calls tfrt_grpc_functions.grpc_server_cancel_all_calls
#define grpc_server_create tfrt_grpc_functions.grpc_server_create
#define grpc_server_credentials_release tfrt_grpc_functions.grpc_server_credentials_release
#define grpc_server_destroy tfrt_grpc_functions.grpc_server_destroy
#define grpc_server_register_completion_queue \
  tfrt_grpc_functions.grpc_server_register_completion_queue
#define grpc_server_register_method tfrt_grpc_functions.grpc_server_register_method
#define grpc_server_request_call tfrt_grpc_functions.grpc_server_request_call
#define grpc_server_request_registered_call tfrt_grpc_functions.grpc_server_request_registered_call
#define grpc_server_shutdown_and_notify tfrt_grpc_functions.grpc_server_shutdown_and_notify
#define grpc_server_start tfrt_grpc_functions.grpc_server_start
#define grpc_shutdown_blocking tfrt_grpc_functions.grpc_shutdown_blocking
#define grpc_slice_eq tfrt_grpc_functions.grpc_slice_eq
#define grpc_slice_from_copied_buffer tfrt_grpc_functions.grpc_slice_from_copied_buffer
#define grpc_slice_from_copied_string tfrt_grpc_functions.grpc_slice_from_copied_string
#define grpc_slice_from_static_string tfrt_grpc_functions.grpc_slice_from_static_string
#define grpc_slice_malloc tfrt_grpc_functions.grpc_slice_malloc
#define grpc_slice_new_with_user_data tfrt_grpc_functions.grpc_slice_new_with_user_data
#define grpc_slice_str_cmp tfrt_grpc_functions.grpc_slice_str_cmp
#define grpc_slice_unref tfrt_grpc_functions.grpc_slice_unref
#define grpc_tls_certificate_provider_file_watcher_create \
  tfrt_grpc_functions.grpc_tls_certificate_provider_file_watcher_create
#define grpc_tls_certificate_provider_release \
  tfrt_grpc_functions.grpc_tls_certificate_provider_release
#define grpc_tls_certificate_verifier_host_name_create \
  tfrt_grpc_functions.grpc_tls_certificate_verifier_host_name_create
#define grpc_tls_certificate_verifier_release \
  tfrt_grpc_functions.grpc_tls_certificate_verifier_release
#define grpc_tls_credentials_create tfrt_grpc_functions.grpc_tls_credentials_create
#define grpc_tls_credentials_options_create tfrt_grpc_functions.grpc_tls_credentials_options_create
#define grpc_tls_credentials_options_set_cert_request_type \
  tfrt_grpc_functions.grpc_tls_credentials_options_set_cert_request_type
#define grpc_tls_credentials_options_set_certificate_provider \
  tfrt_grpc_functions.grpc_tls_credentials_options_set_certificate_provider
#define grpc_tls_credentials_options_set_certificate_verifier \
  tfrt_grpc_functions.grpc_tls_credentials_options_set_certificate_verifier
#define grpc_tls_credentials_options_set_verify_server_cert \
  tfrt_grpc_functions.grpc_tls_credentials_options_set_verify_server_cert
#define grpc_tls_credentials_options_watch_identity_key_cert_pairs \
  tfrt_grpc_functions.grpc_tls_credentials_options_watch_identity_key_cert_pairs
#define grpc_tls_credentials_options_watch_root_certs \
  tfrt_grpc_functions.grpc_tls_credentials_options_watch_root_certs
#define grpc_tls_server_credentials_create tfrt_grpc_functions.grpc_tls_server_credentials_create
#endif

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_FUNCTIONS_H_
