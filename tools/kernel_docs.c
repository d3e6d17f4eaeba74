// SPDX-License-Identifier: Apache-2.0
//
// Writes the reference of all kernels from the op tables: docs/kernels.md, the index, and a page
// for each dialect in docs/kernels/; or one page of kernel libraries that are loaded.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compiler/op_table/schema.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/executor/descriptor/assembly.h"
#include "tools/command_line/flags.h"
#include "tools/kernels/op_tables.h"
#include "tools/kernels/shared_libraries.h"

typedef struct page_s {
  tfrt_string_builder_t text;
} page_t;

static void append(page_t* page, const char* text) {
  tfrt_string_builder_append_text(&page->text, text);
}

static const char* use_text(tfrt_operand_use_t use) {
  switch (use) {
    case TFRT_OPERAND_AWAITED:
      return ", awaited";
    case TFRT_OPERAND_MUTATED:
      return ", written to";
    case TFRT_OPERAND_CONSUMED:
      return ", may be reused";
    case TFRT_OPERAND_PASSED:
      return ", handed on";
    case TFRT_OPERAND_DEMANDED:
      break;
  }
  return "";
}

static void append_operands(page_t* page, const tfrt_kernel_descriptor_t* op) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_operands(op);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_operand_descriptor_t* entry = &op->operands[i];
    tfrt_string_builder_append_format(&page->text,
                                      "%s`%s`%s: ", i ? "; " : "Operands: ", entry->name,
                                      i >= fixed_count ? "..." : "");
    tfrt_schema_append_type(&page->text, entry->type, "`");
    append(page, use_text(entry->use));
  }
  if (op->flags & TFRT_KERNEL_TRAILING_CHAIN) {
    append(page, op->operand_count ? "; and a chain, if given" : "Operands: a chain, if given");
  }
  if (op->operand_count || op->flags & TFRT_KERNEL_TRAILING_CHAIN) append(page, ".\n");
}

static void append_results(page_t* page, const tfrt_kernel_descriptor_t* op) {
  uint32_t fixed_count = tfrt_kernel_descriptor_fixed_results(op);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const tfrt_result_descriptor_t* entry = &op->results[i];
    uint32_t like = tfrt_kernel_descriptor_type_operand(op, entry->type);
    bool is_operands = like != UINT32_MAX;
    tfrt_string_builder_append_format(
        &page->text, "%s`%s`%s: %s", i ? "; " : "Results: ", entry->name,
        i >= fixed_count ? "..." : "", is_operands ? "the type of " : "");
    tfrt_schema_append_type(&page->text, is_operands ? op->operands[like].name : entry->type, "`");
  }
  if (op->flags & TFRT_KERNEL_RESULTS_AS_OPERANDS) append(page, ", the types of the operands");
  if (op->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT) {
    append(page,
           op->result_count ? "; and a chain, if asked for" : "Results: a chain, if asked for");
  }
  if (op->result_count || op->flags & TFRT_KERNEL_TRAILING_CHAIN_RESULT) append(page, ".\n");
}

// The name of each bit, in the order of the bits.
static const char* const effect_texts[] = {
    NULL,
    "output",
    "reads the file `path`",
    "writes the file `path`",
    "messages",
    "what the host, the request or the queue keeps",
    "everything",
    "those of its functions",
    NULL,
    "no order among equals",
};

static void append_effects(page_t* page, const tfrt_kernel_descriptor_t* op) {
  tfrt_kernel_effects_t effects = tfrt_kernel_descriptor_effects(op);
  const char* before = "Effects: ";
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(effect_texts); ++i) {
    if (!effect_texts[i] || !(effects >> i & 1)) continue;
    tfrt_string_builder_append_format(&page->text, "%s%s", before, effect_texts[i]);
    before = ", ";
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!tfrt_kernel_descriptor_list_has(op->orders, op->operands[i].name)) continue;
    bool is_variadic = i >= tfrt_kernel_descriptor_fixed_operands(op);
    tfrt_string_builder_append_format(
        &page->text, "%sthe order of what uses `%s`%s", before, op->operands[i].name,
        is_variadic ? " (but for those that `tfrt.reads` lists)" : "");
    before = ", ";
  }
  if (before[0] == ',') append(page, ".\n");
  if (op->shares) {
    tfrt_string_builder_append_format(&page->text, "The result is in the memory of `%s`.\n",
                                      op->shares);
  }
}

static void append_attributes(page_t* page, const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &op->attributes[i];
    tfrt_string_builder_append_format(&page->text, "%s`%s`: %s",
                                      i ? "; " : "Attributes: ", entry->name,
                                      tfrt_schema_attribute_kind_name(entry->kind));
    if (entry->default_value) {
      tfrt_string_builder_append_format(&page->text, ", `%s` if left out", entry->default_value);
    }
  }
  if (op->attribute_count) append(page, ".\n");
  if (op->flags & TFRT_KERNEL_CALL_OPTIONS) {
    bool has_hosts = (op->flags & TFRT_KERNEL_CALLS_HOSTS) != 0;
    tfrt_string_builder_append_format(
        &page->text, "Call options: %s`device`, `deadline_ms`, `pure`, `retries`.\n",
        has_hosts ? "" : "`host`, ");
  }
}

// The text of words that have no name of their own.
static const char* const word_texts[] = {
    [TFRT_ASSEMBLY_OPERANDS] = "operands",
    [TFRT_ASSEMBLY_COMMA_OPERANDS] = ", operands",
    [TFRT_ASSEMBLY_ARGS] = ", args(operands) : (types)",
    [TFRT_ASSEMBLY_TYPED_OPERANDS] = "operand : type, ...",
    [TFRT_ASSEMBLY_SETTINGS] = "name = value, ...",
    [TFRT_ASSEMBLY_ATTRIBUTE_DICTIONARY] = "{attributes}",
    [TFRT_ASSEMBLY_ATTRIBUTES] = "attributes {attributes}",
    [TFRT_ASSEMBLY_TYPES] = ": types",
    [TFRT_ASSEMBLY_FUNCTION] = ": (types) -> types",
    [TFRT_ASSEMBLY_SIGNATURE] = ": (types) -> (types)",
    [TFRT_ASSEMBLY_WHOLE_SIGNATURE] = ": (types) -> (types)",
    [TFRT_ASSEMBLY_OPERAND_TYPE] = "type",
    [TFRT_ASSEMBLY_RESULT_TYPES] = ": types",
    [TFRT_ASSEMBLY_REGIONS] = "{ ... }",
};

// Appends the text of the word |word| of a custom form.
static void append_word(page_t* page, const tfrt_assembly_word_t* word) {
  const char* before = "";
  const char* after = "";
  switch (word->kind) {
    case TFRT_ASSEMBLY_OPERAND:
      before = "%";
      break;
    case TFRT_ASSEMBLY_TYPED_ATTRIBUTE:
      after = " : type";
      break;
    case TFRT_ASSEMBLY_SYMBOL:
      before = "@";
      break;
    case TFRT_ASSEMBLY_SYMBOL_ARRAY:
      before = "[@";
      after = ", ...]";
      break;
    case TFRT_ASSEMBLY_ATTRIBUTE:
    case TFRT_ASSEMBLY_KEYWORD:
    case TFRT_ASSEMBLY_TEXT:
      break;
    default:
      append(page, word_texts[word->kind]);
      return;
  }
  tfrt_string_builder_append_format(&page->text, "%s%.*s%s", before,
                                    TFRT_STRING_VIEW_ARGUMENTS(word->name), after);
}

static void append_form(page_t* page, const tfrt_kernel_descriptor_t* op) {
  append(page, "\n    ");
  if (!op->assembly) {
    tfrt_string_builder_append_format(
        &page->text, "\"%s\"(operands) {attributes} : (types) -> types\n", op->name);
    return;
  }
  append(page, op->name);
  tfrt_assembly_t words;
  tfrt_assembly_word_t word;
  tfrt_assembly_begin(&words, op->assembly);
  bool tight = false;
  bool is_in = false;  // the word before
  while (tfrt_assembly_next(&words, &word)) {
    bool is_punctuation = tfrt_assembly_is_punctuation(&word);
    bool is_opening = is_punctuation && word.name.data[0] == '(';
    is_punctuation &= word.name.data[0] != ':';
    bool has_comma = word.kind == TFRT_ASSEMBLY_COMMA_OPERANDS || word.kind == TFRT_ASSEMBLY_ARGS;
    if ((is_opening && is_in) || (!tight && !is_punctuation && !has_comma)) append(page, " ");
    append_word(page, &word);
    tight = is_opening;
    is_in = word.kind == TFRT_ASSEMBLY_TEXT &&
            tfrt_string_view_equal(word.name, tfrt_string_view_of("in"));
  }
  append(page, "\n");
}

static void append_op(page_t* page, const tfrt_kernel_descriptor_t* op) {
  tfrt_string_builder_append_format(&page->text, "\n### %s\n\n%s\n", op->name, op->summary);
  append_form(page, op);
  append(page, "\n");
  append_operands(page, op);
  append_results(page, op);
  append_effects(page, op);
  append_attributes(page, op);
  if (op->flags & TFRT_KERNEL_SYNC_TOO) append(page, "Also in synchronous functions.\n");
  if (op->flags & TFRT_KERNEL_SYNC_ONLY) append(page, "Only in synchronous functions.\n");
}

// The part of |name| before its first dot.
static tfrt_string_view_t dialect_of(const char* name) {
  return tfrt_string_view_make(name, strcspn(name, "."));
}

// The ops of |table|, each dialect under a heading of its own.
static void append_table(page_t* page, const tfrt_kernel_table_t* table,
                         tfrt_string_view_t* dialect) {
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* op = &table->descriptors[i];
    if (i == 0 || !tfrt_string_view_equal(*dialect, dialect_of(op->name))) {
      *dialect = dialect_of(op->name);
      tfrt_string_builder_append_format(&page->text, "\n## Dialect `%.*s`\n",
                                        TFRT_STRING_VIEW_ARGUMENTS(*dialect));
    }
    append_op(page, op);
  }
}

// --- The dialects of the product ---------------------------------------------

enum { MAXIMUM_DIALECTS = 64 };

// The dialects, in the order of their first op, and how many ops each has.
typedef struct dialects_s {
  tfrt_string_view_t names[MAXIMUM_DIALECTS];
  size_t op_counts[MAXIMUM_DIALECTS];
  size_t count;
} dialects_t;

// Returns false if there are more dialects than there is room for.
static bool count_op(dialects_t* dialects, tfrt_string_view_t name) {
  size_t i = 0;
  while (i < dialects->count && !tfrt_string_view_equal(dialects->names[i], name)) ++i;
  if (i == MAXIMUM_DIALECTS) return false;
  if (i == dialects->count) dialects->names[dialects->count++] = name;
  ++dialects->op_counts[i];
  return true;
}

static bool count_dialects(dialects_t* out_dialects) {
  *out_dialects = (dialects_t){.count = 0};
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  for (size_t t = 0; t < tables->count; ++t) {
    for (size_t i = 0; i < tables->tables[t].count; ++i) {
      const tfrt_kernel_descriptor_t* op = &tables->tables[t].descriptors[i];
      // These are MLIR's own, and no kernels.
      if (op->flags & TFRT_KERNEL_LANGUAGE) continue;
      if (!count_op(out_dialects, dialect_of(op->name))) return false;
    }
  }
  return true;
}

static void append_index(page_t* page, const dialects_t* dialects) {
  append(
      page,
      "# Kernels\n"
      "\n"
      "`tools/kernel_docs` writes this page, and one page for each dialect, from the op tables.\n"
      "A page says of each op what it does, how it is written, what it takes and gives. A kernel\n"
      "waits for the payloads of its operands, but not for those that are only *awaited* (settled\n"
      "or not is all that counts) or *handed on* to a function (not waited for at all).\n"
      "Synchronous functions are those marked `tfrt.sync`; see `docs/executor.md`.\n"
      "\n"
      "| dialect | ops |\n"
      "| --- | --- |\n");
  for (size_t i = 0; i < dialects->count; ++i) {
    tfrt_string_view_t name = dialects->names[i];
    tfrt_string_builder_append_format(&page->text, "| [%.*s](kernels/%.*s.md) | %zu |\n",
                                      TFRT_STRING_VIEW_ARGUMENTS(name),
                                      TFRT_STRING_VIEW_ARGUMENTS(name), dialects->op_counts[i]);
  }
}

static void append_dialect(page_t* page, tfrt_string_view_t dialect) {
  tfrt_string_builder_append_format(&page->text,
                                    "# Dialect `%.*s`\n\n[All dialects](../kernels.md); the index "
                                    "says how to read this page.\n\n## Ops\n",
                                    TFRT_STRING_VIEW_ARGUMENTS(dialect));
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  for (size_t t = 0; t < tables->count; ++t) {
    for (size_t i = 0; i < tables->tables[t].count; ++i) {
      const tfrt_kernel_descriptor_t* op = &tables->tables[t].descriptors[i];
      if (op->flags & TFRT_KERNEL_LANGUAGE) continue;
      if (tfrt_string_view_equal(dialect_of(op->name), dialect)) append_op(page, op);
    }
  }
}

// Writes |page| to the file |folder|/|subfolder||name|.md, and empties it.
static tfrt_status_t write_page(page_t* page, const char* folder, const char* subfolder,
                                tfrt_string_view_t name) {
  tfrt_string_builder_t path;
  tfrt_string_builder_initialize(&path, tfrt_allocator_system());
  tfrt_string_builder_append_format(&path, "%s/%s%.*s.md", folder, subfolder,
                                    TFRT_STRING_VIEW_ARGUMENTS(name));
  tfrt_status_t status = tfrt_string_builder_status(&path);
  if (!status) status = tfrt_string_builder_status(&page->text);
  if (!status) status = tfrt_file_write(path.data, page->text.data, page->text.size);
  tfrt_string_builder_deinitialize(&path);
  tfrt_string_builder_clear(&page->text);
  return status;
}

// Writes the index to |folder|/kernels.md and a page for each dialect to |folder|/kernels/.
static tfrt_status_t write_pages(page_t* page, const char* folder) {
  dialects_t dialects;
  if (!count_dialects(&dialects)) {
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "there are more than %d dialects",
                              MAXIMUM_DIALECTS);
  }
  append_index(page, &dialects);
  tfrt_status_t status = write_page(page, folder, "", tfrt_string_view_of("kernels"));
  for (size_t i = 0; !status && i < dialects.count; ++i) {
    append_dialect(page, dialects.names[i]);
    status = write_page(page, folder, "kernels/", dialects.names[i]);
  }
  return status;
}

// --- The program -------------------------------------------------------------

// The page of the kernel libraries that were loaded.
static void append_library_page(page_t* page) {
  append(page,
         "# Kernels of libraries\n"
         "\n"
         "What the op tables of the libraries say; `docs/kernels.md` explains how to read it.\n");
  tfrt_string_view_t dialect = {NULL, 0};
  for (size_t i = 0; i < tfrt_shared_libraries_count(); ++i) {
    append_table(page, &tfrt_shared_libraries_get(i)->library->ops, &dialect);
  }
}

static tfrt_status_t print_library_page(page_t* page) {
  append_library_page(page);
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(&page->text));
  if (fputs(page->text.data, stdout) < 0 || fflush(stdout) != 0) {
    return tfrt_status_create(TFRT_STATUS_UNKNOWN, "can't write to the standard output: %s",
                              strerror(errno));
  }
  return NULL;
}

static const char* shared_libs = NULL;
static const char* folder = NULL;

static const tfrt_flag_t flags[] = {
    {.name = TFRT_SHARED_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &shared_libs,
     .value = TFRT_SHARED_LIBRARIES_VALUE,
     .help = "print one page of the kernels of these libraries"},
    {.name = "folder",
     .kind = TFRT_FLAG_TEXT,
     .storage = &folder,
     .value = "DIR",
     .help = "write kernels.md and kernels/DIALECT.md there, of the product's kernels; both "
             "folders exist already"},
};

static const tfrt_flag_table_t table = {
    .usage = "kernel_docs --folder=DIR | kernel_docs --shared_libs=FILE,... > page.md",
    .summary = "Writes the reference pages of all kernels, or of those of libraries, in Markdown.",
    .footer =
        "Exit codes: 0 done; 1 a library can't be loaded, or nothing written; 2 usage.\n"
        "\n"
        "Examples: kernel_docs --folder=docs\n"
        "          kernel_docs --shared_libs=libmine.so > mine.md\n",
    .flags = flags,
    .flag_count = TFRT_ARRAY_SIZE(flags),
};

static int fail_take(tfrt_status_t status, int exit_code) {
  fprintf(stderr, "kernel_docs: error: %s\n", tfrt_status_message(status));
  tfrt_status_release(status);
  return exit_code;
}

int main(int argument_count, char** arguments) {
  tfrt_flag_list_t rest;
  bool help = false;
  tfrt_status_t status = tfrt_flags_parse(&table, argument_count - 1, arguments + 1, &rest, &help);
  if (!status && !help && rest.count > 0) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' is no flag", rest.values[0]);
  }
  if (!status && !help && !folder == !shared_libs) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "either --folder or --shared_libs says which pages are meant");
  }
  if (status) return fail_take(status, 2);
  if (help) return 0;
  status = tfrt_op_tables_load_libraries(shared_libs);
  if (status) return fail_take(status, 1);
  page_t page;
  tfrt_string_builder_initialize(&page.text, tfrt_allocator_system());
  status = folder ? write_pages(&page, folder) : print_library_page(&page);
  tfrt_string_builder_deinitialize(&page.text);
  return status ? fail_take(status, 1) : 0;
}
