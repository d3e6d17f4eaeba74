// SPDX-License-Identifier: Apache-2.0

#include "tools/translation/diagnostic_verifier.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/number_text.h"

#define COMMENT "expected-"
#define PATTERN "-re"

// One comment. Sorted by file, by the line that it is about, and by its place.
typedef struct tfrt_expectation_s {
  const char* file;
  const char* kind;
  const char* text;
  uint32_t line;  // 0: no place
  uint32_t comment_line;
  uint32_t comment_column;
  bool is_pattern;
  bool is_met;
} expectation_t;

// A comment that was found in a line, before its line is known.
typedef struct comment_s {
  const char* kind;
  tfrt_string_view_t place;  // behind the @; empty: none
  tfrt_string_view_t text;
  uint32_t column;
  bool is_pattern;
} comment_t;

// A text while its comments are gathered.
typedef struct gathering_s {
  const char* file;
  uint32_t line;         // the one that is read
  uint32_t plain_line;   // the last one without a comment
  size_t pending_below;  // expectations, the last ones, that wait for the next plain line
} gathering_t;

void tfrt_diagnostic_verifier_initialize(tfrt_diagnostic_verifier_t* verifier, bool reads_files,
                                         tfrt_allocator_t allocator) {
  *verifier = (tfrt_diagnostic_verifier_t){.allocator = allocator, .reads_files = reads_files};
  tfrt_arena_initialize(&verifier->arena, allocator);
  tfrt_string_builder_initialize(&verifier->report, allocator);
}

void tfrt_diagnostic_verifier_deinitialize(tfrt_diagnostic_verifier_t* verifier) {
  tfrt_allocator_free(verifier->allocator, verifier->expectations,
                      verifier->expectation_capacity * sizeof(*verifier->expectations));
  tfrt_allocator_free(verifier->allocator, (void*)verifier->files,
                      verifier->file_capacity * sizeof(*verifier->files));
  tfrt_string_builder_deinitialize(&verifier->report);
  tfrt_arena_deinitialize(&verifier->arena);
}

// Makes room for one more element of |size| bytes behind the |count| ones of |*in_out_list|.
static bool reserve(tfrt_diagnostic_verifier_t* verifier, void** in_out_list, size_t count,
                    size_t* in_out_capacity, size_t size) {
  if (count < *in_out_capacity) return true;
  size_t capacity = *in_out_capacity ? 2 * *in_out_capacity : 16;
  void* grown = tfrt_allocator_reallocate(verifier->allocator, *in_out_list,
                                          *in_out_capacity * size, capacity * size);
  if (!grown) {
    verifier->failed = true;
    return false;
  }
  *in_out_list = grown;
  *in_out_capacity = capacity;
  return true;
}

// --- Comments -----------------------------------------------------------------------------

static const char* const kinds[] = {"error", "warning", "note", "remark"};

// Reads a comment that begins behind "expected-" at |begin| of |line|, which ends behind "}}".
static bool read_comment(tfrt_string_view_t line, size_t begin, comment_t* out_comment) {
  tfrt_string_view_t rest = tfrt_string_view_make(line.data + begin, line.size - begin);
  *out_comment = (comment_t){.column = (uint32_t)(begin - strlen(COMMENT)) + 1};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kinds); ++i) {
    size_t size = strlen(kinds[i]);
    if (rest.size < size || memcmp(rest.data, kinds[i], size) != 0) continue;
    out_comment->kind = kinds[i];
    rest = tfrt_string_view_make(rest.data + size, rest.size - size);
    break;
  }
  if (!out_comment->kind) return false;
  size_t at = strlen(PATTERN);
  out_comment->is_pattern = rest.size >= at && memcmp(rest.data, PATTERN, at) == 0;
  if (!out_comment->is_pattern) at = 0;
  while (at < rest.size && rest.data[at] == ' ') ++at;
  if (at < rest.size && rest.data[at] == '@') {
    size_t end = at + 1;
    while (end < rest.size && rest.data[end] != ' ' && rest.data[end] != '{') ++end;
    out_comment->place = tfrt_string_view_make(rest.data + at + 1, end - at - 1);
    at = end;
  }
  while (at < rest.size && rest.data[at] == ' ') ++at;
  if (rest.size - at < 4 || memcmp(rest.data + at, "{{", 2) != 0) return false;
  out_comment->text = tfrt_string_view_make(rest.data + at + 2, rest.size - at - 4);
  return true;
}

// Finds the comment of |line|. There is one at most: it ends where the line does.
static bool find_comment(tfrt_string_view_t line, comment_t* out_comment) {
  while (line.size && strchr(" \t\r", line.data[line.size - 1])) --line.size;
  if (line.size < 4 || memcmp(line.data + line.size - 2, "}}", 2) != 0) return false;
  size_t size = strlen(COMMENT);
  for (size_t i = 0; i + size < line.size; ++i) {
    if (memcmp(line.data + i, COMMENT, size) != 0) continue;
    if (read_comment(line, i + size, out_comment)) return true;
  }
  return false;
}

// Sets |*out_line| to the line that |comment| is about, as far as that is known; false if its
// place says nothing.
static bool find_line(const gathering_t* gathering, const comment_t* comment, uint32_t* out_line) {
  tfrt_string_view_t place = comment->place;
  *out_line = gathering->line;
  if (!place.size) return true;
  if (tfrt_string_view_equal(place, tfrt_string_view_of("unknown"))) {
    *out_line = 0;
    return true;
  }
  if (tfrt_string_view_equal(place, tfrt_string_view_of("above"))) {
    *out_line = gathering->plain_line;
    return true;
  }
  if (tfrt_string_view_equal(place, tfrt_string_view_of("below"))) return true;
  uint64_t distance = 0;
  tfrt_string_view_t digits = tfrt_string_view_make(place.data + 1, place.size - 1);
  if (!tfrt_number_text_parse_u64(digits, &distance) || distance > UINT32_MAX / 2) return false;
  if (place.data[0] == '+') *out_line += (uint32_t)distance;
  if (place.data[0] == '-' && distance < *out_line) *out_line -= (uint32_t)distance;
  return place.data[0] == '+' || place.data[0] == '-';
}

// Appends |text| to |pattern| so that it stands for itself.
static void append_literal(tfrt_string_view_t text, tfrt_string_builder_t* pattern) {
  for (size_t i = 0; i < text.size; ++i) {
    if (strchr("\\^$.[]|()*+?{}", text.data[i])) tfrt_string_builder_append_text(pattern, "\\");
    tfrt_string_builder_append_view(pattern, tfrt_string_view_make(text.data + i, 1));
  }
}

// The position of |mark| in |text| from |begin| on, or the end of |text|.
static size_t find_mark(tfrt_string_view_t text, size_t begin, const char* mark) {
  for (size_t i = begin; i + 1 < text.size; ++i) {
    if (text.data[i] == mark[0] && text.data[i + 1] == mark[1]) return i;
  }
  return text.size;
}

// Appends the regular expression that |text| means to |pattern|: all but what {{...}} in it
// holds stands for itself.
static void append_pattern(tfrt_string_view_t text, tfrt_string_builder_t* pattern) {
  for (size_t at = 0; at < text.size;) {
    size_t open = find_mark(text, at, "{{");
    append_literal(tfrt_string_view_make(text.data + at, open - at), pattern);
    if (open == text.size) return;
    size_t close = find_mark(text, open + 2, "}}");
    tfrt_string_builder_append_format(pattern, "(%.*s)", (int)(close - open - 2),
                                      text.data + open + 2);
    at = close + 2;
  }
}

// Copies the text of |comment|; that of a pattern as a regular expression. Sets |*out_text| to
// NULL when memory is out. Returns false if the pattern is none, and tells that.
static bool copy_text(tfrt_diagnostic_verifier_t* verifier, const gathering_t* gathering,
                      const comment_t* comment, const char** out_text) {
  *out_text = NULL;
  if (!comment->is_pattern) {
    *out_text = tfrt_arena_copy_string(&verifier->arena, comment->text);
    return true;
  }
  tfrt_string_builder_t pattern;
  tfrt_string_builder_initialize(&pattern, verifier->allocator);
  append_pattern(comment->text, &pattern);
  regex_t expression;
  int code = pattern.failed ? 0
                            : regcomp(&expression, tfrt_string_builder_text(&pattern),
                                      REG_EXTENDED | REG_NOSUB);
  if (code == 0 && !pattern.failed) {
    regfree(&expression);
    *out_text = tfrt_arena_copy_string(&verifier->arena, tfrt_string_builder_view(&pattern));
  } else if (code != 0) {
    char reason[128];
    regerror(code, &expression, reason, sizeof(reason));
    tfrt_string_builder_append_format(
        &verifier->report, "%s:%" PRIu32 ":%" PRIu32 ": error: '%.*s' is no pattern: %s\n",
        gathering->file, gathering->line, comment->column,
        TFRT_STRING_VIEW_ARGUMENTS(comment->text), reason);
    verifier->failed = true;
  }
  tfrt_string_builder_deinitialize(&pattern);
  return code == 0;
}

static void add_expectation(tfrt_diagnostic_verifier_t* verifier, gathering_t* gathering,
                            const comment_t* comment) {
  expectation_t expectation = {.file = gathering->file,
                               .kind = comment->kind,
                               .comment_line = gathering->line,
                               .comment_column = comment->column,
                               .is_pattern = comment->is_pattern};
  if (!find_line(gathering, comment, &expectation.line)) {
    tfrt_string_builder_append_format(&verifier->report,
                                      "%s:%" PRIu32 ":%" PRIu32
                                      ": error: '@%.*s' is no line: use @+N, @-N, "
                                      "@above, @below or @unknown\n",
                                      gathering->file, gathering->line, comment->column,
                                      TFRT_STRING_VIEW_ARGUMENTS(comment->place));
    verifier->failed = true;
    return;
  }
  if (!copy_text(verifier, gathering, comment, &expectation.text)) return;
  if (!expectation.text) verifier->failed = true;
  if (!expectation.text ||
      !reserve(verifier, (void**)&verifier->expectations, verifier->expectation_count,
               &verifier->expectation_capacity, sizeof(expectation))) {
    return;
  }
  verifier->expectations[verifier->expectation_count++] = expectation;
  verifier->is_sorted = false;
}

// Lets the expectations that wait for a plain line be about |gathering|'s.
static void settle_below(tfrt_diagnostic_verifier_t* verifier, gathering_t* gathering) {
  size_t first = verifier->expectation_count - gathering->pending_below;
  for (size_t i = first; i < verifier->expectation_count; ++i) {
    verifier->expectations[i].line = gathering->line;
  }
  gathering->pending_below = 0;
}

static void gather_line(tfrt_diagnostic_verifier_t* verifier, gathering_t* gathering,
                        tfrt_string_view_t line) {
  comment_t comment;
  if (!find_comment(line, &comment)) {
    settle_below(verifier, gathering);
    gathering->plain_line = gathering->line;
    return;
  }
  size_t count = verifier->expectation_count;
  add_expectation(verifier, gathering, &comment);
  bool is_below = tfrt_string_view_equal(comment.place, tfrt_string_view_of("below"));
  if (verifier->expectation_count == count) return;
  // Those that wait stay the last ones.
  if (is_below) {
    ++gathering->pending_below;
  } else if (gathering->pending_below) {
    size_t first = count - gathering->pending_below;
    expectation_t added = verifier->expectations[count];
    memmove(&verifier->expectations[first + 1], &verifier->expectations[first],
            gathering->pending_below * sizeof(added));
    verifier->expectations[first] = added;
  }
}

void tfrt_diagnostic_verifier_add_text(tfrt_diagnostic_verifier_t* verifier, const char* file,
                                       tfrt_string_view_t text, uint32_t first_line) {
  gathering_t gathering = {.line = first_line, .plain_line = first_line};
  gathering.file = tfrt_arena_copy_string(&verifier->arena, tfrt_string_view_of(file));
  if (!gathering.file || !reserve(verifier, (void**)&verifier->files, verifier->file_count,
                                  &verifier->file_capacity, sizeof(*verifier->files))) {
    verifier->failed = true;
    return;
  }
  verifier->files[verifier->file_count++] = gathering.file;
  for (size_t begin = 0; begin < text.size; ++gathering.line) {
    const char* newline = memchr(text.data + begin, '\n', text.size - begin);
    size_t end = newline ? (size_t)(newline - text.data) : text.size;
    gather_line(verifier, &gathering, tfrt_string_view_make(text.data + begin, end - begin));
    begin = end + 1;
  }
}

// --- Diagnostics ------------------------------------------------------------------------------

static int compare_expectations(const void* a, const void* b) {
  const expectation_t* left = a;
  const expectation_t* right = b;
  int order = strcmp(left->file, right->file);
  if (order != 0) return order;
  if (left->line != right->line) return left->line < right->line ? -1 : 1;
  if (left->comment_line == right->comment_line) return 0;
  return left->comment_line < right->comment_line ? -1 : 1;
}

static bool knows_file(const tfrt_diagnostic_verifier_t* verifier, const char* file) {
  for (size_t i = 0; i < verifier->file_count; ++i) {
    if (strcmp(verifier->files[i], file) == 0) return true;
  }
  return false;
}

// A file that can't be read has no comments, and so nothing in it is expected.
static void read_file(tfrt_diagnostic_verifier_t* verifier, const char* file) {
  tfrt_file_contents_t contents;
  tfrt_status_t status = tfrt_file_read(file, verifier->allocator, &contents);
  if (status) {
    tfrt_status_release(status);
    tfrt_diagnostic_verifier_add_text(verifier, file, tfrt_string_view_make("", 0), 1);
    return;
  }
  tfrt_string_view_t text = tfrt_string_view_make((const char*)contents.data, contents.size);
  tfrt_diagnostic_verifier_add_text(verifier, file, text, 1);
  tfrt_file_contents_deinitialize(&contents);
}

// The first expectation that is not before |key|.
static size_t lower_bound(const tfrt_diagnostic_verifier_t* verifier, const expectation_t* key) {
  size_t low = 0;
  size_t high = verifier->expectation_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_expectations(&verifier->expectations[middle], key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool text_fits(const expectation_t* expectation, const char* message) {
  if (!expectation->is_pattern) return strstr(message, expectation->text) != NULL;
  regex_t expression;
  if (regcomp(&expression, expectation->text, REG_EXTENDED | REG_NOSUB) != 0) return false;
  bool fits = regexec(&expression, message, 0, NULL, 0) == 0;
  regfree(&expression);
  return fits;
}

// Finds what asks for the diagnostic, and counts it as met.
static bool meet(tfrt_diagnostic_verifier_t* verifier, const char* kind, const char* file,
                 uint32_t line, const char* message) {
  if (!verifier->is_sorted && verifier->expectation_count) {
    qsort(verifier->expectations, verifier->expectation_count, sizeof(expectation_t),
          compare_expectations);
  }
  verifier->is_sorted = true;
  expectation_t key = {.file = file, .line = line};
  for (size_t i = lower_bound(verifier, &key); i < verifier->expectation_count; ++i) {
    expectation_t* expectation = &verifier->expectations[i];
    if (strcmp(expectation->file, file) != 0 || expectation->line != line) return false;
    if (expectation->is_met || strcmp(expectation->kind, kind) != 0) continue;
    if (!text_fits(expectation, message)) continue;
    expectation->is_met = true;
    return true;
  }
  return false;
}

bool tfrt_diagnostic_verifier_check(tfrt_diagnostic_verifier_t* verifier, const char* kind,
                                    const char* file, uint32_t line, uint32_t column,
                                    const char* message) {
  bool has_place = file && line;
  if (has_place && verifier->reads_files && !knows_file(verifier, file)) read_file(verifier, file);
  bool is_expected = has_place && meet(verifier, kind, file, line, message);
  // Without a place, the comment may be in any text.
  for (size_t i = 0; !has_place && !is_expected && i < verifier->file_count; ++i) {
    is_expected = meet(verifier, kind, verifier->files[i], 0, message);
  }
  if (is_expected) return true;
  verifier->failed = true;
  if (file) tfrt_string_builder_append_format(&verifier->report, "%s:", file);
  if (has_place) {
    tfrt_string_builder_append_format(&verifier->report, "%" PRIu32 ":%" PRIu32 ":", line, column);
  }
  tfrt_string_builder_append_format(&verifier->report, "%serror: unexpected %s: %s\n",
                                    file ? " " : "", kind, message);
  return false;
}

bool tfrt_diagnostic_verifier_finish(tfrt_diagnostic_verifier_t* verifier,
                                     tfrt_string_builder_t* report) {
  tfrt_string_builder_append_view(report, tfrt_string_builder_view(&verifier->report));
  bool ok = !verifier->failed && !verifier->report.failed;
  for (size_t i = 0; i < verifier->expectation_count; ++i) {
    const expectation_t* expectation = &verifier->expectations[i];
    if (expectation->is_met) continue;
    tfrt_string_builder_append_format(
        report, "%s:%" PRIu32 ":%" PRIu32 ": error: expected %s \"%s\" was not produced\n",
        expectation->file, expectation->comment_line, expectation->comment_column,
        expectation->kind, expectation->text);
    ok = false;
  }
  if (!ok && !report->size) {
    tfrt_string_builder_append_text(report, "error: out of memory for expected diagnostics\n");
  }
  return ok;
}
