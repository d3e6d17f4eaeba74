// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/credential_set.h"
#include "distributed/tuning/tuning.h"

#include <stdlib.h>
#include <string.h>

// A cipher suite of TLS 1.2 that can't be used unless both sides have a shared secret.
#define UNUSABLE_CIPHER_SUITE "PSK-AES256-GCM-SHA384"

// A provider that reads the files that |watch| has found good, on a thread of gRPC's (+1).
static grpc_tls_certificate_provider* create_provider(const tfrt_certificate_watch_t* watch) {
  tfrt_certificate_files_t copies = tfrt_certificate_watch_copies(watch);
  return grpc_tls_certificate_provider_file_watcher_create(
      copies.key, copies.certificate, copies.authorities, TFRT_TUNING_COPY_RELOAD_S);
}

// The options that both sides share (+1, taken over by the credentials made of them).
static grpc_tls_credentials_options* create_options(grpc_tls_certificate_provider* provider) {
  grpc_tls_credentials_options* options = grpc_tls_credentials_options_create();
  grpc_tls_credentials_options_set_certificate_provider(options, provider);
  grpc_tls_credentials_options_watch_root_certs(options);
  grpc_tls_credentials_options_watch_identity_key_cert_pairs(options);
  return options;
}

// The dialler compares the name in the certificate; gRPC does so without being asked, but this
// is not left to what it does without being asked.
static grpc_channel_credentials* create_channel_credentials(
    grpc_tls_certificate_provider* provider) {
  grpc_tls_credentials_options* options = create_options(provider);
  grpc_tls_certificate_verifier* verifier = grpc_tls_certificate_verifier_host_name_create();
  grpc_tls_credentials_options_set_certificate_verifier(options, verifier);
  grpc_tls_certificate_verifier_release(verifier);
  grpc_tls_credentials_options_set_verify_server_cert(options, 1);
  return grpc_tls_credentials_create(options);
}

static grpc_server_credentials* create_server_credentials(grpc_tls_certificate_provider* provider) {
  grpc_tls_credentials_options* options = create_options(provider);
  grpc_tls_credentials_options_set_cert_request_type(
      options, GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc_tls_server_credentials_create(options);
}

tfrt_status_t tfrt_grpc_credential_set_initialize(tfrt_grpc_credential_set_t* set,
                                                  const tfrt_grpc_credentials_t* credentials) {
  memset(set, 0, sizeof(*set));
  if (credentials->kind == TFRT_GRPC_CREDENTIALS_PLAIN_TEXT) {
    set->channel = grpc_insecure_credentials_create();
    set->server = grpc_insecure_server_credentials_create();
    return NULL;
  }
  const tfrt_certificate_files_t* files = &credentials->files;
  bool is_whole = files->authorities && files->certificate && files->key;
  if (credentials->kind != TFRT_GRPC_CREDENTIALS_TLS || !is_whole) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "credentials are plain text, or TLS with three files; these are of "
                              "kind %d",
                              (int)credentials->kind);
  }
  setenv("GRPC_SSL_CIPHER_SUITES", UNUSABLE_CIPHER_SUITE, 1);
  uint32_t reload_s =
      credentials->reload_s ? credentials->reload_s : (uint32_t)TFRT_GRPC_CREDENTIALS_RELOAD_S;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_watch_create(files, reload_s, &set->watch));
  grpc_tls_certificate_provider* provider = create_provider(set->watch);
  set->channel = create_channel_credentials(provider);
  set->server = create_server_credentials(provider);
  grpc_tls_certificate_provider_release(provider);
  set->is_encrypted = true;
  if (set->channel && set->server) return NULL;
  tfrt_grpc_credential_set_deinitialize(set);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "gRPC does not take %s, %s and %s",
                            files->authorities, files->certificate, files->key);
}

void tfrt_grpc_credential_set_deinitialize(tfrt_grpc_credential_set_t* set) {
  if (set->channel) grpc_channel_credentials_release(set->channel);
  if (set->server) grpc_server_credentials_release(set->server);
  // gRPC's thread may look once more; paths that are gone change nothing of what it has.
  tfrt_certificate_watch_destroy(set->watch);
  memset(set, 0, sizeof(*set));
}
