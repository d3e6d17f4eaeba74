// SPDX-License-Identifier: Apache-2.0
//
// Writes docs/kernels.md, the reference page of all kernels, from the op tables; or the page of
// kernel libraries that are loaded.

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
  if (op->result_count) append(page, ".\n");
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

// What the words without a name of their own look like in a text.
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

// What the word |word| of a custom form looks like in a text.
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

static void append_page(page_t* page) {
  append(
      page,
      "# Kernels\n"
      "\n"
      "All ops with an entry in the op tables, from which `tools/kernel_docs` writes this page.\n"
      "Behind each name: what it does, how it is written, what it takes and gives. A kernel\n"
      "waits for the payloads of its operands, but for those that are only *awaited* (settled\n"
      "or not is all that counts) or *handed on* to a function (not waited for at all).\n"
      "Synchronous functions are those marked `tfrt.sync`; see `docs/executor.md`.\n");
  const tfrt_op_tables_t* tables = tfrt_all_op_tables();
  tfrt_string_view_t dialect = {NULL, 0};
  for (size_t t = 0; t < tables->count; ++t) append_table(page, &tables->tables[t], &dialect);
}

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

static const char* shared_libs = NULL;

static const tfrt_flag_t flags[] = {
    {.name = TFRT_SHARED_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &shared_libs,
     .value = TFRT_SHARED_LIBRARIES_VALUE,
     .help = "write the page of these kernel libraries instead"},
};

static const tfrt_flag_table_t table = {
    .usage = "kernel_docs [FLAGS] > kernels.md",
    .summary = "Writes the reference page of all kernels, in Markdown, to the standard output.",
    .footer =
        "Exit codes: 0 done; 1 a library can't be loaded, or nothing written; 2 usage.\n"
        "\n"
        "Example: kernel_docs --shared_libs=libmine.so > mine.md\n",
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
  if (status) return fail_take(status, 2);
  if (help) return 0;
  status = tfrt_op_tables_load_libraries(shared_libs);
  if (status) return fail_take(status, 1);
  page_t page;
  tfrt_string_builder_initialize(&page.text, tfrt_allocator_system());
  if (tfrt_shared_libraries_count() > 0) {
    append_library_page(&page);
  } else {
    append_page(&page);
  }
  bool ok = !page.text.failed && fputs(page.text.data, stdout) >= 0 && fflush(stdout) == 0;
  tfrt_string_builder_deinitialize(&page.text);
  return ok ? 0 : 1;
}
