// SPDX-License-Identifier: Apache-2.0
#include "distributed/security/certificates.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distributed/security/pem_file.h"
#include "host_runtime/base/random.h"

// Bits of a serial number; X.509 allows 20 bytes, positive.
#define TFRT_CERTIFICATE_SERIAL_BITS 127

// Room for a path with its NUL.
#define TFRT_PEM_PATH_SIZE 4096

// Text of all names of a host, for OpenSSL: "DNS:" and a comma each.
#define TFRT_CERTIFICATE_NAMES_SIZE \
  (TFRT_CERTIFICATE_MAX_NAMES * (TFRT_CERTIFICATE_MAX_NAME_SIZE + 5))

// --- Names -----------------------------------------------------------------------

static bool certificate_is_address(const char* name) {
  unsigned char bytes[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

// A name becomes part of a path and of OpenSSL's configuration text: so letters, digits and
// little else, and no dot in front.
static bool certificate_is_name(const char* name) {
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

static tfrt_status_t certificate_check_validity(tfrt_certificate_validity_t validity) {
  if (validity.begins_s < validity.ends_s) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a certificate must end after it begins");
}

tfrt_status_t tfrt_certificates_check_request(const tfrt_certificate_request_t* request) {
  TFRT_RETURN_IF_ERROR(certificate_check_validity(request->validity));
  bool is_host = request->role == TFRT_CERTIFICATE_HOST;
  size_t most = is_host ? TFRT_CERTIFICATE_MAX_NAMES : 1;
  if (request->name_count < 1 || request->name_count > most) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a certificate of this kind has 1 to %zu names, not %zu", most,
                              request->name_count);
  }
  for (size_t i = 0; i < request->name_count; ++i) {
    const char* name = request->names[i];
    if (certificate_is_name(name) || certificate_is_address(name)) continue;
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
static void certificate_write_names(const tfrt_certificate_request_t* request,
                                    char out_text[TFRT_CERTIFICATE_NAMES_SIZE]) {
  size_t size = 0;
  for (size_t i = 0; i < request->name_count; ++i) {
    const char* name = request->names[i];
    size += (size_t)snprintf(out_text + size, TFRT_CERTIFICATE_NAMES_SIZE - size, "%s%s:%s",
                             i > 0 ? "," : "", certificate_is_address(name) ? "IP" : "DNS", name);
  }
}

// --- Building ----------------------------------------------------------------------

static bool certificate_set_serial(X509* certificate) {
  BIGNUM* number = BN_new();
  bool is_ok = number &&
               BN_rand(number, TFRT_CERTIFICATE_SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
               BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  return is_ok;
}

static bool certificate_set_subject(X509* certificate, const char* name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  size_t size = strlen(name);
  if (size > TFRT_CERTIFICATE_COMMON_NAME_SIZE) size = TFRT_CERTIFICATE_COMMON_NAME_SIZE;
  return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char*)name,
                                    (int)size, -1, 0);
}

static bool certificate_add_extension(X509* certificate, X509* issuer, int kind,
                                      const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  bool is_ok = extension && X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return is_ok;
}

// All but names, extensions and the signature.
static bool certificate_fill(X509* certificate, EVP_PKEY* key, const char* name,
                             tfrt_certificate_validity_t validity) {
  return X509_set_version(certificate, X509_VERSION_3) && certificate_set_serial(certificate) &&
         certificate_set_subject(certificate, name) &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), validity.begins_s) &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), validity.ends_s) &&
         X509_set_pubkey(certificate, key);
}

static bool certificate_extend_authority(X509* certificate) {
  return certificate_add_extension(certificate, certificate, NID_basic_constraints,
                                   "critical,CA:TRUE,pathlen:0") &&
         certificate_add_extension(certificate, certificate, NID_key_usage,
                                   "critical,keyCertSign,cRLSign") &&
         certificate_add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
}

static bool certificate_extend_member(X509* certificate, X509* issuer,
                                      const tfrt_certificate_request_t* request) {
  bool is_host = request->role == TFRT_CERTIFICATE_HOST;
  char names[TFRT_CERTIFICATE_NAMES_SIZE];
  certificate_write_names(request, names);
  return certificate_add_extension(certificate, issuer, NID_basic_constraints,
                                   "critical,CA:FALSE") &&
         certificate_add_extension(certificate, issuer, NID_key_usage,
                                   "critical,digitalSignature") &&
         certificate_add_extension(certificate, issuer, NID_ext_key_usage,
                                   is_host ? "serverAuth,clientAuth" : "clientAuth") &&
         certificate_add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         certificate_add_extension(certificate, issuer, NID_authority_key_identifier,
                                   "keyid:always") &&
         (!is_host || certificate_add_extension(certificate, issuer, NID_subject_alt_name, names));
}

// --- Files ---------------------------------------------------------------------------

// Writes |directory|/|name||suffix| into |out_path|. INVALID_ARGUMENT if it is too long.
//
static tfrt_status_t pem_path(const char* directory, const char* name, const char* suffix,
                              char out_path[TFRT_PEM_PATH_SIZE]) {
  int size = snprintf(out_path, TFRT_PEM_PATH_SIZE, "%s/%s%s", directory, name, suffix);
  if (size > 0 && size < TFRT_PEM_PATH_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the path %.64s... is too long",
                            directory);
}

static tfrt_status_t pem_system_error(const char* path, int error) {
  tfrt_status_code_t code = error == EEXIST                     ? TFRT_STATUS_ALREADY_EXISTS
                            : error == ENOTDIR                  ? TFRT_STATUS_INVALID_ARGUMENT
                            : error == ENOENT                   ? TFRT_STATUS_NOT_FOUND
                            : error == EACCES || error == EROFS ? TFRT_STATUS_PERMISSION_DENIED
                            : error == ENOSPC                   ? TFRT_STATUS_RESOURCE_EXHAUSTED
                                                                : TFRT_STATUS_UNKNOWN;
  if (error == EEXIST) {
    return tfrt_status_create(code, "%s exists already and is not replaced; move it away first",
                              path);
  }
  return tfrt_status_create(code, "can't write %s: %s", path, strerror(error));
}

// Returns 0 or the system's error.
static int pem_fill_file(int descriptor, const char* data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    data += written;
    size -= (size_t)written;
  }
  return fsync(descriptor) == 0 ? 0 : errno;
}

// A new file under another name (which mkostemp() makes readable for its owner alone) is
// linked to |path|, which fails if that name is taken, or, if it |replaces| what is there, moved.
static tfrt_status_t pem_write_data(const char* path, const char* data, size_t size,
                                    bool replaces) {
  char temporary[TFRT_PEM_PATH_SIZE + 8];
  snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
  int descriptor = mkostemp(temporary, O_CLOEXEC);
  if (descriptor < 0) return pem_system_error(path, errno);
  int error = pem_fill_file(descriptor, data, size);
  close(descriptor);
  if (error == 0 && (replaces ? rename(temporary, path) : link(temporary, path)) != 0) {
    error = errno;
  }
  if (error != 0 || !replaces) unlink(temporary);
  return error == 0 ? NULL : pem_system_error(path, error);
}

// Writes |certificate|, or else |key|, to the file |path|: a new one, or, if it |replaces| one, in
// its place; a reader finds the one or the other, whole.
static tfrt_status_t pem_write(const char* path, X509* certificate, EVP_PKEY* key, bool replaces) {
  BIO* bio = BIO_new(BIO_s_mem());
  if (!bio) return tfrt_status_out_of_memory();
  int is_ok = certificate ? PEM_write_bio_X509(bio, certificate)
                          : PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
  char* data = NULL;
  long size = BIO_get_mem_data(bio, &data);
  tfrt_status_t status = is_ok ? pem_write_data(path, data, (size_t)size, replaces)
                               : tfrt_pem_openssl_error("can't write PEM");
  if (size > 0) OPENSSL_cleanse(data, (size_t)size);
  BIO_free(bio);
  return status;
}

tfrt_status_t tfrt_certificates_check_absent(const char* directory, const char* name) {
  static const char* const kSuffixes[] = {".key", ".pem"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kSuffixes); ++i) {
    char path[TFRT_PEM_PATH_SIZE];
    struct stat found;
    TFRT_RETURN_IF_ERROR(pem_path(directory, name, kSuffixes[i], path));
    // A link that leads nowhere takes the name, too.
    if (lstat(path, &found) != 0) continue;
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "%s exists already and is not replaced; move it away first", path);
  }
  return NULL;
}

// The key first: a certificate is never there without it. And no key stays that belongs to no
// certificate: the next attempt would find its name taken.
static tfrt_status_t certificate_write_pair(const char* directory, const char* name,
                                            X509* certificate, EVP_PKEY* key) {
  char key_path[TFRT_PEM_PATH_SIZE];
  char path[TFRT_PEM_PATH_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_certificates_check_absent(directory, name));
  TFRT_RETURN_IF_ERROR(pem_path(directory, name, ".key", key_path));
  TFRT_RETURN_IF_ERROR(pem_path(directory, name, ".pem", path));
  TFRT_RETURN_IF_ERROR(pem_write(key_path, NULL, key, false));
  tfrt_status_t status = pem_write(path, certificate, NULL, false);
  if (status) unlink(key_path);
  return status;
}

// --- The authority -----------------------------------------------------------------

static tfrt_status_t certificate_make_directory(const char* directory) {
  if (mkdir(directory, S_IRWXU) == 0 || errno == EEXIST) return NULL;
  return tfrt_status_create(errno == EACCES ? TFRT_STATUS_PERMISSION_DENIED : TFRT_STATUS_NOT_FOUND,
                            "can't make the folder %s: %s", directory, strerror(errno));
}

tfrt_status_t tfrt_certificates_create_authority(const char* directory,
                                                 tfrt_certificate_validity_t validity) {
  TFRT_RETURN_IF_ERROR(certificate_check_validity(validity));
  TFRT_RETURN_IF_ERROR(certificate_make_directory(directory));
  uint32_t number = 0;
  tfrt_random_entropy(&number, sizeof(number));
  char name[TFRT_CERTIFICATE_COMMON_NAME_SIZE];
  // A name of its own, so that errors tell one cluster's authority from another's.
  snprintf(name, sizeof(name), "tfrt cluster %08x", number);
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  bool is_ok = key && certificate && certificate_fill(certificate, key, name, validity) &&
               X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) &&
               certificate_extend_authority(certificate) &&
               X509_sign(certificate, key, EVP_sha256()) > 0;
  tfrt_status_t status = is_ok ? certificate_write_pair(directory, "ca", certificate, key)
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

static void certificate_signer_deinitialize(tfrt_certificate_signer_t* signer) {
  EVP_PKEY_free(signer->key);
  X509_free(signer->certificate);
}

// Must be deinitialised unless this fails.
static tfrt_status_t certificate_signer_read(const char* directory,
                                             tfrt_certificate_signer_t* out_signer) {
  char path[TFRT_PEM_PATH_SIZE];
  *out_signer = (tfrt_certificate_signer_t){.certificate = NULL};
  TFRT_RETURN_IF_ERROR(pem_path(directory, "ca", ".pem", path));
  TFRT_RETURN_IF_ERROR(tfrt_pem_read_certificate(path, &out_signer->certificate));
  tfrt_status_t status = pem_path(directory, "ca", ".key", path);
  if (!status) status = tfrt_pem_read_key(path, &out_signer->key);
  if (!status && X509_check_private_key(out_signer->certificate, out_signer->key) != 1) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "%s is not the key of the ca.pem beside it", path);
  }
  if (status) certificate_signer_deinitialize(out_signer);
  return status;
}

// A new certificate (+1) for the owner of |key|, as |request| says; NULL is OpenSSL's error.
static X509* certificate_sign(const tfrt_certificate_signer_t* signer, EVP_PKEY* key,
                              const tfrt_certificate_request_t* request) {
  X509* certificate = X509_new();
  bool is_ok = key && certificate &&
               certificate_fill(certificate, key, request->names[0], request->validity) &&
               X509_set_issuer_name(certificate, X509_get_subject_name(signer->certificate)) &&
               certificate_extend_member(certificate, signer->certificate, request) &&
               X509_sign(certificate, signer->key, EVP_sha256()) > 0;
  if (is_ok) return certificate;
  X509_free(certificate);
  return NULL;
}

tfrt_status_t tfrt_certificates_issue(const char* directory,
                                      const tfrt_certificate_request_t* request) {
  TFRT_RETURN_IF_ERROR(tfrt_certificates_check_request(request));
  tfrt_certificate_signer_t signer;
  TFRT_RETURN_IF_ERROR(certificate_signer_read(directory, &signer));
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = certificate_sign(&signer, key, request);
  tfrt_status_t status =
      certificate ? certificate_write_pair(directory, request->names[0], certificate, key)
                  : tfrt_pem_openssl_error("can't make a certificate");
  X509_free(certificate);
  EVP_PKEY_free(key);
  certificate_signer_deinitialize(&signer);
  return status;
}

// --- Renewing ----------------------------------------------------------------------

// Fills |out_request| with what |description| says; the names are borrowed, and pointers to them
// are put into |names|.
static tfrt_status_t certificate_request_of(const char* path,
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
static tfrt_status_t certificate_renew_with(const tfrt_certificate_signer_t* signer,
                                            const char* path, X509* old,
                                            const tfrt_certificate_request_t* request) {
  // A certificate that was signed by somebody else would get this authority's word for its names.
  if (X509_verify(old, X509_get0_pubkey(signer->certificate)) != 1) {
    ERR_clear_error();
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                              "%s is not of the authority beside it", path);
  }
  X509* certificate = certificate_sign(signer, X509_get0_pubkey(old), request);
  tfrt_status_t status = certificate ? pem_write(path, certificate, NULL, true)
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
  TFRT_RETURN_IF_ERROR(pem_path(directory, name, ".pem", path));
  TFRT_RETURN_IF_ERROR(tfrt_certificate_description_read(path, validity.begins_s, &description));
  tfrt_status_t status = certificate_request_of(path, &description, names, &request);
  if (!status) status = tfrt_pem_read_certificate(path, &old);
  if (!status) status = certificate_signer_read(directory, &signer);
  if (!status) {
    status = certificate_renew_with(&signer, path, old, &request);
    certificate_signer_deinitialize(&signer);
  }
  X509_free(old);
  tfrt_certificate_description_deinitialize(&description);
  return status;
}
