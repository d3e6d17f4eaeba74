// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/certificate_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "distributed/security/pem_file.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/number_text.h"

// --- Describing --------------------------------------------------------------------

static void certificate_append_common_name(const X509_NAME* name, tfrt_string_builder_t* out) {
  char text[TFRT_CERTIFICATE_COMMON_NAME_SIZE + 1] = "";
  X509_NAME_get_text_by_NID(name, NID_commonName, text, sizeof(text));
  for (char* c = text; *c; ++c) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
  tfrt_string_builder_append_text(out, text);
}

static void certificate_append_name(const GENERAL_NAME* name, tfrt_string_builder_t* out) {
  int kind = 0;
  const ASN1_STRING* value = GENERAL_NAME_get0_value(name, &kind);
  char text[INET6_ADDRSTRLEN] = "?";
  if (kind == GEN_IPADD) {
    int family = ASN1_STRING_length(value) == sizeof(struct in_addr) ? AF_INET : AF_INET6;
    bool is_fit = family == AF_INET || ASN1_STRING_length(value) == sizeof(struct in6_addr);
    if (is_fit) inet_ntop(family, ASN1_STRING_get0_data(value), text, sizeof(text));
    tfrt_string_builder_append_text(out, text);
  } else if (kind == GEN_DNS) {
    tfrt_string_view_t view = tfrt_string_view_make((const char*)ASN1_STRING_get0_data(value),
                                                    (size_t)ASN1_STRING_length(value));
    for (size_t i = 0; i < view.size; ++i) {
      bool is_text = view.data[i] >= ' ' && view.data[i] <= '~';
      tfrt_string_builder_append_char(out, is_text ? view.data[i] : '?');
    }
  } else {
    tfrt_string_builder_append_text(out, "?");
  }
}

static void certificate_append_names(X509* certificate, tfrt_string_builder_t* out) {
  GENERAL_NAMES* names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); ++i) {
    certificate_append_name(sk_GENERAL_NAME_value(names, i), out);
    tfrt_string_builder_append_char(out, '\0');
  }
  GENERAL_NAMES_free(names);
}

static int64_t certificate_seconds(const ASN1_TIME* time) {
  struct tm tm = {0};
  return ASN1_TIME_to_tm(time, &tm) ? (int64_t)timegm(&tm) : 0;
}

tfrt_status_t tfrt_certificate_description_read(const char* path, int64_t now_s,
                                                tfrt_certificate_description_t* out_description) {
  X509* certificate;
  TFRT_RETURN_IF_ERROR(tfrt_pem_read_certificate(path, &certificate));
  tfrt_certificate_description_t* to = out_description;
  tfrt_string_builder_initialize(&to->names, tfrt_allocator_system());
  tfrt_string_builder_initialize(&to->issuer, tfrt_allocator_system());
  bool is_host = (X509_get_extended_key_usage(certificate) & XKU_SSL_SERVER) != 0;
  to->kind = X509_check_ca(certificate) != 0 ? "authority" : is_host ? "host" : "client";
  if (strcmp(to->kind, "host") == 0) {
    certificate_append_names(certificate, &to->names);
  } else {
    certificate_append_common_name(X509_get_subject_name(certificate), &to->names);
    tfrt_string_builder_append_char(&to->names, '\0');
  }
  certificate_append_common_name(X509_get_issuer_name(certificate), &to->issuer);
  time_t now = (time_t)now_s;
  to->ends_s = certificate_seconds(X509_get0_notAfter(certificate));
  to->is_over = X509_cmp_time(X509_get0_notAfter(certificate), &now) < 0;
  X509_free(certificate);
  if (!to->names.failed && !to->issuer.failed) return NULL;
  tfrt_certificate_description_deinitialize(to);
  return tfrt_status_out_of_memory();
}

void tfrt_certificate_description_deinitialize(tfrt_certificate_description_t* description) {
  tfrt_string_builder_deinitialize(&description->names);
  tfrt_string_builder_deinitialize(&description->issuer);
}

tfrt_status_t tfrt_certificates_describe(const char* path, int64_t now_s,
                                         tfrt_string_builder_t* out) {
  tfrt_certificate_description_t description;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_description_read(path, now_s, &description));
  bool is_authority = strcmp(description.kind, "authority") == 0;
  tfrt_string_builder_append_format(out, "%s ", is_authority ? "authority of" : description.kind);
  tfrt_string_view_t names = tfrt_string_builder_view(&description.names);
  for (size_t i = 0; i < names.size; i += strlen(names.data + i) + 1) {
    tfrt_string_builder_append_format(out, "%s%s", i > 0 ? ", " : "", names.data + i);
  }
  if (!is_authority) {
    tfrt_string_builder_append_format(out, "; of %s",
                                      tfrt_string_builder_text(&description.issuer));
  }
  char until[TFRT_NUMBER_TEXT_DATE_SIZE];
  tfrt_string_builder_append_format(out, "; %s %s UTC", description.is_over ? "EXPIRED" : "until",
                                    tfrt_number_text_date(description.ends_s, ' ', until));
  if (!is_authority && description.ends_s - now_s < TFRT_CERTIFICATE_WARNING_S) {
    tfrt_string_builder_append_text(out, "; RENEW it: `tfrt certs renew`");
  }
  tfrt_certificate_description_deinitialize(&description);
  return NULL;
}

// --- Checking files ---------------------------------------------------------

static tfrt_status_t certificate_explain(const tfrt_certificate_files_t* files,
                                         tfrt_certificate_role_t role, int64_t now_s, int error) {
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

static tfrt_status_t certificate_verify(const tfrt_certificate_files_t* files,
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
      status = certificate_explain(files, role, now_s, X509_STORE_CTX_get_error(context));
    }
    X509_STORE_CTX_cleanup(context);
  }
  X509_STORE_CTX_free(context);
  return status;
}

// Reads |files|: |*out_certificate| and |*out_store| are +1, or NULL after an error.
static tfrt_status_t certificate_read(const tfrt_certificate_files_t* files, X509_STORE** out_store,
                                      X509** out_certificate) {
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
  TFRT_RETURN_IF_ERROR(certificate_read(files, &store, &certificate));
  tfrt_status_t status = certificate_verify(files, role, now_s, store, certificate);
  X509_free(certificate);
  X509_STORE_free(store);
  return status;
}

tfrt_status_t tfrt_certificate_check_form(const tfrt_certificate_files_t* files) {
  X509_STORE* store;
  X509* certificate;
  TFRT_RETURN_IF_ERROR(certificate_read(files, &store, &certificate));
  X509_free(certificate);
  X509_STORE_free(store);
  return NULL;
}
