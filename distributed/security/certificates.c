// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/certificates.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distributed/security/pem_file.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/random.h"

// The longest common name that X.509 allows.
#define TFRT_CERTIFICATE_COMMON_NAME_SIZE 64

// Bits of a serial number; X.509 allows 20 bytes, positive.
#define TFRT_CERTIFICATE_SERIAL_BITS 127

// Text of all names of a host, for OpenSSL: "DNS:" and a comma each.
#define TFRT_CERTIFICATE_NAMES_SIZE \
  (TFRT_CERTIFICATE_MAX_NAMES * (TFRT_CERTIFICATE_MAX_NAME_SIZE + 5))

// --- Names -----------------------------------------------------------------------

static bool tfrt_certificate_is_address(const char* name) {
  unsigned char bytes[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

// A name becomes part of a path and of OpenSSL's configuration text: so letters, digits and
// little else, and no dot in front.
static bool tfrt_certificate_is_name(const char* name) {
  size_t size = strlen(name);
  if (size == 0 || size > TFRT_CERTIFICATE_MAX_NAME_SIZE || name[0] == '.' || name[0] == '-') {
    return false;
  }
  for (const char* c = name; *c; ++c) {
    bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    bool is_fit = is_letter || (*c >= '0' && *c <= '9') || *c == '-' || *c == '.' || *c == '_';
    if (!is_fit) return false;
  }
  return true;
}

static tfrt_status_t tfrt_certificate_check_validity(tfrt_certificate_validity_t validity) {
  if (validity.begins_s < validity.ends_s) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a certificate must end after it begins");
}

tfrt_status_t tfrt_certificates_check_request(const tfrt_certificate_request_t* request) {
  TFRT_RETURN_IF_ERROR(tfrt_certificate_check_validity(request->validity));
  bool is_host = request->role == TFRT_CERTIFICATE_HOST;
  size_t most = is_host ? TFRT_CERTIFICATE_MAX_NAMES : 1;
  if (request->name_count < 1 || request->name_count > most) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a certificate of this kind has 1 to %zu names, not %zu", most,
                              request->name_count);
  }
  for (size_t i = 0; i < request->name_count; ++i) {
    const char* name = request->names[i];
    if (tfrt_certificate_is_name(name) || tfrt_certificate_is_address(name)) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s' is no name of a host; write a DNS name or an IP address, "
                              "without port and brackets",
                              name);
  }
  const char* first = request->names[0];
  bool is_taken = strcmp(first, "ca") == 0 || (is_host && strcmp(first, "client") == 0);
  if (!is_taken) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a host can't be called '%s': the file %s.pem has another meaning",
                            first, first);
}

// Writes "DNS:a,IP:10.0.0.1" into |out_text|.
static void tfrt_certificate_write_names(const tfrt_certificate_request_t* request,
                                         char out_text[TFRT_CERTIFICATE_NAMES_SIZE]) {
  size_t size = 0;
  for (size_t i = 0; i < request->name_count; ++i) {
    const char* name = request->names[i];
    size +=
        (size_t)snprintf(out_text + size, TFRT_CERTIFICATE_NAMES_SIZE - size, "%s%s:%s",
                         i > 0 ? "," : "", tfrt_certificate_is_address(name) ? "IP" : "DNS", name);
  }
}

// --- Building ----------------------------------------------------------------------

static bool tfrt_certificate_set_serial(X509* certificate) {
  BIGNUM* number = BN_new();
  bool is_ok = number &&
               BN_rand(number, TFRT_CERTIFICATE_SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
               BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  return is_ok;
}

static bool tfrt_certificate_set_subject(X509* certificate, const char* name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  size_t size = strlen(name);
  if (size > TFRT_CERTIFICATE_COMMON_NAME_SIZE) size = TFRT_CERTIFICATE_COMMON_NAME_SIZE;
  return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char*)name,
                                    (int)size, -1, 0);
}

static bool tfrt_certificate_add_extension(X509* certificate, X509* issuer, int kind,
                                           const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  bool is_ok = extension && X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return is_ok;
}

// All but names, extensions and the signature.
static bool tfrt_certificate_fill(X509* certificate, EVP_PKEY* key, const char* name,
                                  tfrt_certificate_validity_t validity) {
  return X509_set_version(certificate, X509_VERSION_3) &&
         tfrt_certificate_set_serial(certificate) &&
         tfrt_certificate_set_subject(certificate, name) &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), validity.begins_s) &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), validity.ends_s) &&
         X509_set_pubkey(certificate, key);
}

static bool tfrt_certificate_extend_authority(X509* certificate) {
  return tfrt_certificate_add_extension(certificate, certificate, NID_basic_constraints,
                                        "critical,CA:TRUE,pathlen:0") &&
         tfrt_certificate_add_extension(certificate, certificate, NID_key_usage,
                                        "critical,keyCertSign,cRLSign") &&
         tfrt_certificate_add_extension(certificate, certificate, NID_subject_key_identifier,
                                        "hash");
}

static bool tfrt_certificate_extend_member(X509* certificate, X509* issuer,
                                           const tfrt_certificate_request_t* request) {
  bool is_host = request->role == TFRT_CERTIFICATE_HOST;
  char names[TFRT_CERTIFICATE_NAMES_SIZE];
  tfrt_certificate_write_names(request, names);
  return tfrt_certificate_add_extension(certificate, issuer, NID_basic_constraints,
                                        "critical,CA:FALSE") &&
         tfrt_certificate_add_extension(certificate, issuer, NID_key_usage,
                                        "critical,digitalSignature") &&
         tfrt_certificate_add_extension(certificate, issuer, NID_ext_key_usage,
                                        is_host ? "serverAuth,clientAuth" : "clientAuth") &&
         tfrt_certificate_add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         tfrt_certificate_add_extension(certificate, issuer, NID_authority_key_identifier,
                                        "keyid:always") &&
         (!is_host ||
          tfrt_certificate_add_extension(certificate, issuer, NID_subject_alt_name, names));
}

// --- Files -------------------------------------------------------------------------

tfrt_status_t tfrt_certificates_check_absent(const char* directory, const char* name) {
  static const char* const kSuffixes[] = {".key", ".pem"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kSuffixes); ++i) {
    char path[TFRT_PEM_PATH_SIZE];
    struct stat found;
    TFRT_RETURN_IF_ERROR(tfrt_pem_path(directory, name, kSuffixes[i], path));
    // A link that leads nowhere takes the name, too.
    if (lstat(path, &found) != 0) continue;
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "%s exists already and is not replaced; move it away first", path);
  }
  return NULL;
}

// The key first: a certificate is never there without it. And no key stays that belongs to no
// certificate: the next attempt would find its name taken.
static tfrt_status_t tfrt_certificate_write_pair(const char* directory, const char* name,
                                                 X509* certificate, EVP_PKEY* key) {
  char key_path[TFRT_PEM_PATH_SIZE];
  char path[TFRT_PEM_PATH_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_certificates_check_absent(directory, name));
  TFRT_RETURN_IF_ERROR(tfrt_pem_path(directory, name, ".key", key_path));
  TFRT_RETURN_IF_ERROR(tfrt_pem_path(directory, name, ".pem", path));
  TFRT_RETURN_IF_ERROR(tfrt_pem_write_key(key_path, key));
  tfrt_status_t status = tfrt_pem_write_certificate(path, certificate);
  if (status) unlink(key_path);
  return status;
}

// --- The authority -----------------------------------------------------------------

static tfrt_status_t tfrt_certificate_make_directory(const char* directory) {
  if (mkdir(directory, S_IRWXU) == 0 || errno == EEXIST) return NULL;
  return tfrt_status_create(errno == EACCES ? TFRT_STATUS_PERMISSION_DENIED : TFRT_STATUS_NOT_FOUND,
                            "can't make the folder %s: %s", directory, strerror(errno));
}

tfrt_status_t tfrt_certificates_create_authority(const char* directory,
                                                 tfrt_certificate_validity_t validity) {
  TFRT_RETURN_IF_ERROR(tfrt_certificate_check_validity(validity));
  TFRT_RETURN_IF_ERROR(tfrt_certificate_make_directory(directory));
  uint32_t number = 0;
  tfrt_random_entropy(&number, sizeof(number));
  char name[TFRT_CERTIFICATE_COMMON_NAME_SIZE];
  // A name of its own, so that errors tell one cluster's authority from another's.
  snprintf(name, sizeof(name), "tfrt cluster %08x", number);
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  bool is_ok = key && certificate && tfrt_certificate_fill(certificate, key, name, validity) &&
               X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) &&
               tfrt_certificate_extend_authority(certificate) &&
               X509_sign(certificate, key, EVP_sha256()) > 0;
  tfrt_status_t status = is_ok ? tfrt_certificate_write_pair(directory, "ca", certificate, key)
                               : tfrt_pem_openssl_error("can't make an authority");
  X509_free(certificate);
  EVP_PKEY_free(key);
  return status;
}

// --- Hosts and clients -------------------------------------------------------------

// The authority of a folder, with its key.
typedef struct tfrt_certificate_signer_s {
  X509* certificate;
  EVP_PKEY* key;
} tfrt_certificate_signer_t;

static void tfrt_certificate_signer_deinitialize(tfrt_certificate_signer_t* signer) {
  EVP_PKEY_free(signer->key);
  X509_free(signer->certificate);
}

// Must be deinitialised unless this fails.
static tfrt_status_t tfrt_certificate_signer_read(const char* directory,
                                                  tfrt_certificate_signer_t* out_signer) {
  char path[TFRT_PEM_PATH_SIZE];
  *out_signer = (tfrt_certificate_signer_t){.certificate = NULL};
  TFRT_RETURN_IF_ERROR(tfrt_pem_path(directory, "ca", ".pem", path));
  TFRT_RETURN_IF_ERROR(tfrt_pem_read_certificate(path, &out_signer->certificate));
  tfrt_status_t status = tfrt_pem_path(directory, "ca", ".key", path);
  if (!status) status = tfrt_pem_read_key(path, &out_signer->key);
  if (!status && X509_check_private_key(out_signer->certificate, out_signer->key) != 1) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s is not the key of the ca.pem beside it", path);
  }
  if (status) tfrt_certificate_signer_deinitialize(out_signer);
  return status;
}

// A new certificate (+1) for the owner of |key|, as |request| says; NULL is OpenSSL's error.
static X509* tfrt_certificate_sign(const tfrt_certificate_signer_t* signer, EVP_PKEY* key,
                                   const tfrt_certificate_request_t* request) {
  X509* certificate = X509_new();
  bool is_ok = key && certificate &&
               tfrt_certificate_fill(certificate, key, request->names[0], request->validity) &&
               X509_set_issuer_name(certificate, X509_get_subject_name(signer->certificate)) &&
               tfrt_certificate_extend_member(certificate, signer->certificate, request) &&
               X509_sign(certificate, signer->key, EVP_sha256()) > 0;
  if (is_ok) return certificate;
  X509_free(certificate);
  return NULL;
}

tfrt_status_t tfrt_certificates_issue(const char* directory,
                                      const tfrt_certificate_request_t* request) {
  TFRT_RETURN_IF_ERROR(tfrt_certificates_check_request(request));
  tfrt_certificate_signer_t signer;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_signer_read(directory, &signer));
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = tfrt_certificate_sign(&signer, key, request);
  tfrt_status_t status =
      certificate ? tfrt_certificate_write_pair(directory, request->names[0], certificate, key)
                  : tfrt_pem_openssl_error("can't make a certificate");
  X509_free(certificate);
  EVP_PKEY_free(key);
  tfrt_certificate_signer_deinitialize(&signer);
  return status;
}

// --- Describing --------------------------------------------------------------------

static void tfrt_certificate_append_common_name(const X509_NAME* name, tfrt_string_builder_t* out) {
  char text[TFRT_CERTIFICATE_COMMON_NAME_SIZE + 1] = "";
  X509_NAME_get_text_by_NID(name, NID_commonName, text, sizeof(text));
  for (char* c = text; *c; ++c) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
  tfrt_string_builder_append_text(out, text);
}

static void tfrt_certificate_append_name(const GENERAL_NAME* name, tfrt_string_builder_t* out) {
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

static void tfrt_certificate_append_names(X509* certificate, tfrt_string_builder_t* out) {
  GENERAL_NAMES* names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); ++i) {
    tfrt_certificate_append_name(sk_GENERAL_NAME_value(names, i), out);
    tfrt_string_builder_append_char(out, '\0');
  }
  GENERAL_NAMES_free(names);
}

static int64_t tfrt_certificate_seconds(const ASN1_TIME* time) {
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
    tfrt_certificate_append_names(certificate, &to->names);
  } else {
    tfrt_certificate_append_common_name(X509_get_subject_name(certificate), &to->names);
    tfrt_string_builder_append_char(&to->names, '\0');
  }
  tfrt_certificate_append_common_name(X509_get_issuer_name(certificate), &to->issuer);
  time_t now = (time_t)now_s;
  to->ends_s = tfrt_certificate_seconds(X509_get0_notAfter(certificate));
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

// --- Renewing ----------------------------------------------------------------------

// Fills |out_request| with what |description| says; the names are borrowed, and pointers to them
// are put into |names|.
static tfrt_status_t tfrt_certificate_request_of(const char* path,
                                                 const tfrt_certificate_description_t* description,
                                                 const char* names[TFRT_CERTIFICATE_MAX_NAMES],
                                                 tfrt_certificate_request_t* out_request) {
  bool is_host = strcmp(description->kind, "host") == 0;
  if (!is_host && strcmp(description->kind, "client") != 0) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s is an authority's; only those of hosts and clients are renewed",
                              path);
  }
  tfrt_string_view_t all = tfrt_string_builder_view(&description->names);
  size_t count = 0;
  for (size_t i = 0; i < all.size && count < TFRT_CERTIFICATE_MAX_NAMES; ++count) {
    names[count] = all.data + i;
    i += strlen(all.data + i) + 1;
  }
  out_request->role = is_host ? TFRT_CERTIFICATE_HOST : TFRT_CERTIFICATE_CLIENT;
  out_request->names = names;
  out_request->name_count = count;
  tfrt_status_t status = tfrt_certificates_check_request(out_request);
  return status ? tfrt_status_take_annotate(status, "%s", path) : NULL;
}

// Renews |old|, which is the file |path|, as |request| says.
static tfrt_status_t tfrt_certificate_renew_with(const tfrt_certificate_signer_t* signer,
                                                 const char* path, X509* old,
                                                 const tfrt_certificate_request_t* request) {
  // A certificate that was signed by somebody else would get this authority's word for its names.
  if (X509_verify(old, X509_get0_pubkey(signer->certificate)) != 1) {
    ERR_clear_error();
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s is not of the authority beside it", path);
  }
  X509* certificate = tfrt_certificate_sign(signer, X509_get0_pubkey(old), request);
  tfrt_status_t status = certificate ? tfrt_pem_replace_certificate(path, certificate)
                                     : tfrt_pem_openssl_error("can't make a certificate");
  X509_free(certificate);
  return status;
}

tfrt_status_t tfrt_certificates_renew(const char* directory, const char* name,
                                      tfrt_certificate_validity_t validity) {
  char path[TFRT_PEM_PATH_SIZE];
  const char* names[TFRT_CERTIFICATE_MAX_NAMES];
  tfrt_certificate_request_t request = {.validity = validity};
  tfrt_certificate_description_t description;
  tfrt_certificate_signer_t signer = {.certificate = NULL};
  X509* old = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_pem_path(directory, name, ".pem", path));
  TFRT_RETURN_IF_ERROR(tfrt_certificate_description_read(path, validity.begins_s, &description));
  tfrt_status_t status = tfrt_certificate_request_of(path, &description, names, &request);
  if (!status) status = tfrt_pem_read_certificate(path, &old);
  if (!status) status = tfrt_certificate_signer_read(directory, &signer);
  if (!status) {
    status = tfrt_certificate_renew_with(&signer, path, old, &request);
    tfrt_certificate_signer_deinitialize(&signer);
  }
  X509_free(old);
  tfrt_certificate_description_deinitialize(&description);
  return status;
}

// --- Checking files ---------------------------------------------------------

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
