// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/certificate_check.h"

#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

#include "distributed/security/pem_file.h"

static tfrt_status_t tfrt_certificate_explain(const tfrt_certificate_files_t* files,
                                              tfrt_certificate_role_t role, int64_t now_s,
                                              int error) {
  if (error == X509_V_ERR_INVALID_PURPOSE) {
    return tfrt_status_create(TFRT_STATUS_UNAUTHENTICATED,
                              "%s is no certificate for a %s; `tfrt certs show` tells what it is",
                              files->certificate,
                              role == TFRT_CERTIFICATE_HOST ? "host" : "client");
  }
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_status_t status = tfrt_certificates_describe(files->certificate, now_s, &text);
  const char* shown = status ? "unreadable" : tfrt_string_builder_text(&text);
  tfrt_status_release(status);
  bool is_about_time =
      error == X509_V_ERR_CERT_HAS_EXPIRED || error == X509_V_ERR_CERT_NOT_YET_VALID;
  status = is_about_time
               ? tfrt_status_create(TFRT_STATUS_UNAUTHENTICATED,
                                    "%s does not count now: %s (%s); make a new one with `tfrt "
                                    "certs add`, or set this machine's clock",
                                    files->certificate, X509_verify_cert_error_string(error), shown)
               : tfrt_status_create(TFRT_STATUS_UNAUTHENTICATED,
                                    "%s (%s) is not of the authority in %s: %s; copy both from "
                                    "the folder that `tfrt certs init` made",
                                    files->certificate, shown, files->authorities,
                                    X509_verify_cert_error_string(error));
  tfrt_string_builder_deinitialize(&text);
  return status;
}

static tfrt_status_t tfrt_certificate_verify(const tfrt_certificate_files_t* files,
                                             tfrt_certificate_role_t role, int64_t now_s,
                                             X509_STORE* store, X509* certificate) {
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  if (!context) return tfrt_status_out_of_memory();
  tfrt_status_t status = NULL;
  // A host is asked for both: it dials, too.
  const int purposes[] = {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER};
  int count = role == TFRT_CERTIFICATE_HOST ? 2 : 1;
  for (int i = 0; !status && i < count; ++i) {
    bool is_ready = X509_STORE_CTX_init(context, store, certificate, NULL) == 1 &&
                    X509_STORE_CTX_set_purpose(context, purposes[i]) == 1;
    if (!is_ready) {
      status = tfrt_pem_openssl_error("can't check a certificate");
      break;
    }
    X509_STORE_CTX_set_time(context, 0, (time_t)now_s);
    if (X509_verify_cert(context) != 1) {
      status = tfrt_certificate_explain(files, role, now_s, X509_STORE_CTX_get_error(context));
    }
    X509_STORE_CTX_cleanup(context);
  }
  X509_STORE_CTX_free(context);
  return status;
}

// Reads |files|: |*out_certificate| and |*out_store| are +1, or NULL after an error.
static tfrt_status_t tfrt_certificate_read(const tfrt_certificate_files_t* files,
                                           X509_STORE** out_store, X509** out_certificate) {
  *out_store = NULL;
  *out_certificate = NULL;
  EVP_PKEY* key = NULL;
  tfrt_status_t status = tfrt_pem_read_authorities(files->authorities, out_store);
  if (!status) status = tfrt_pem_read_certificate(files->certificate, out_certificate);
  if (!status) status = tfrt_pem_read_key(files->key, &key);
  if (!status && X509_check_private_key(*out_certificate, key) != 1) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s is not the key of %s; copy both together", files->key,
                                files->certificate);
  }
  EVP_PKEY_free(key);
  if (!status) return NULL;
  X509_free(*out_certificate);
  X509_STORE_free(*out_store);
  *out_certificate = NULL;
  *out_store = NULL;
  return status;
}

tfrt_status_t tfrt_certificate_check(const tfrt_certificate_files_t* files,
                                     tfrt_certificate_role_t role, int64_t now_s) {
  X509_STORE* store;
  X509* certificate;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_read(files, &store, &certificate));
  tfrt_status_t status = tfrt_certificate_verify(files, role, now_s, store, certificate);
  X509_free(certificate);
  X509_STORE_free(store);
  return status;
}

tfrt_status_t tfrt_certificate_check_form(const tfrt_certificate_files_t* files) {
  X509_STORE* store;
  X509* certificate;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_read(files, &store, &certificate));
  X509_free(certificate);
  X509_STORE_free(store);
  return NULL;
}
