#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the sentences in comments and pages that plain words would write another way.

    tests/layers/plain_words.py ROOT           compares with plain_words_limits.txt beside this file
    tests/layers/plain_words.py --list ROOT [FOLDER...]
                                               prints each, "path:line: [rule] the text"
    tests/layers/plain_words.py --limits ROOT  prints the counts as a new plain_words_limits.txt

A comment names the actor, the verb, the object and the condition. The rules find what hides the
actor or asks the reader to guess:
  noun-clause   a sentence begins with Who, Whoever, Whose, What or Of
  relative      whoever, whom, or "who" behind no noun ("for who waits", "to who asks")
  phrase        "let go of", "of which", "is told", "as ever", "so many", "all the same"
  long          a sentence of more than 40 words
  text          who, whoever or whom, or "let go of", in a string of the product's C code: a log line, an
                error or help

Each folder at the top has a limit for each rule; more than that is an error, and a limit may only
be lowered.
"""

import collections
import os
import re
import sys

import source_rules

PROSE_SUFFIXES = (".md",)
COMMENT_SUFFIXES = (".c", ".h", ".proto", ".py", ".sh", ".bzl")

NOUN_CLAUSE = re.compile(r"^(Who|Whoever|Whose|Whom|What|Whatever|Of)\b(?!.*\?$)")
RELATIVE = re.compile(r"\b(whoever|whom)\b|\b(for|to|by|from|of|with|that|than|and|or|but|if|as) who\b",
                      re.IGNORECASE)
PHRASE = re.compile(r"\b(let(s|ting)? go of|of which|is told|are told|was told|were told|as ever"
                    r"|so many|all the same)\b", re.IGNORECASE)
TEXT = re.compile(r"\b(who|whoever|whom|let(s|ting)? go of)\b", re.IGNORECASE)
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
MAXIMUM_WORDS = 40
CODE = re.compile(r"`[^`]*`")
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z(`\"|])")


def is_generated(path):
    """Pages that a program writes: their words stand in its source."""
    return path == "docs/kernels.md" or path.startswith("docs/kernels/")


def files(root):
    found = [path for path in source_rules.source_files(root) if path.endswith(COMMENT_SUFFIXES)]
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if name not in source_rules.SKIPPED_FOLDERS and
                      not (relative == "." and name.startswith("bazel-"))]
        for name in names:
            path = os.path.normpath(os.path.join(relative, name))
            if name.endswith(PROSE_SUFFIXES) and not is_generated(path):
                found.append(path)
    return sorted(found)


def comment_blocks(lines, mark):
    """(line, text) of each run of comment lines; an empty line ends one, and so does a line of a
    table, list or figure, which is indented by three spaces or more."""
    first, words = 0, []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        is_comment = text.startswith(mark) and not text.startswith("#!")
        body = text[len(mark):] if is_comment else ""
        if is_comment and body.strip() and not body.startswith("   "):
            if not words:
                first = number
            words.append(body.strip())
            continue
        if words:
            yield first, " ".join(words)
        words = []
        if not is_comment and mark == "//" and "  // " in line:
            yield number, line.split("  // ", 1)[1].strip()
    if words:
        yield first, " ".join(words)


def prose_blocks(lines):
    """(line, text) of each paragraph, list item and table cell of a page, without its code."""
    first, words, fenced = 0, [], False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("```"):
            fenced = not fenced
            text = ""
        if fenced or line.startswith("    ") or text.startswith("<!--"):
            text = ""
        if text.startswith("|"):
            for cell in text.strip("|").split("|"):
                yield number, cell.strip()
            text = ""
        starts_anew = re.match(r"([-*#]|\d+\.) ", text)
        if (not text or starts_anew) and words:
            yield first, " ".join(words)
            words = []
        if text:
            if not words:
                first = number
            words.append(re.sub(r"^([-*#]+|\d+\.) ", "", text))
    if words:
        yield first, " ".join(words)


def findings(path, text):
    """(line, rule, sentence) of each sentence of the file that breaks a rule."""
    lines = text.splitlines()
    if path.endswith(PROSE_SUFFIXES):
        blocks = prose_blocks(lines)
    else:
        blocks = comment_blocks(lines, "//" if path.endswith((".c", ".h", ".proto")) else "#")
    for line, block in blocks:
        for sentence in SENTENCE_END.split(CODE.sub("`x`", block)):
            sentence = sentence.strip(" *_")
            if NOUN_CLAUSE.match(sentence):
                yield line, "noun-clause", sentence
            if RELATIVE.search(sentence):
                yield line, "relative", sentence
            if PHRASE.search(sentence):
                yield line, "phrase", sentence
            if len(sentence.split()) > MAXIMUM_WORDS:
                yield line, "long", sentence
    yield from text_findings(path, text)


def text_findings(path, text):
    """(line, rule, string) of each string of the C code of the product that breaks the rule."""
    if not path.endswith((".c", ".h")) or path.startswith("tests/"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("//"):
            continue
        for string in STRING.findall(line):
            if TEXT.search(string):
                yield number, "text", string


def room_of(path):
    """The folder whose limit counts: the first of the path, or "." for files at the top."""
    return path.split("/")[0] if "/" in path else "."


def count_tree(root):
    counts = collections.Counter()
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for _, rule, _ in findings(path, file.read()):
                counts[room_of(path), rule] += 1
    return counts


def read_limits(path):
    limits = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                room, rule, limit = line.split()
                limits[room, rule] = int(limit)
    return limits


def compare(counts, limits):
    """The complaints, one a line."""
    for (room, rule), count in sorted(counts.items()):
        limit = limits.get((room, rule), 0)
        if count > limit:
            yield (f"{room}: {count} sentences against the rule {rule}, the limit is {limit}: "
                   f"see them with tests/layers/plain_words.py --list . {room}")


def list_tree(root, folders):
    for path in files(root):
        if folders and not any(path.startswith(folder) for folder in folders):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for line, rule, sentence in findings(path, file.read()):
                print(f"{path}:{line}: [{rule}] {sentence}")


def main(arguments):
    if len(arguments) > 2 and arguments[1] == "--list":
        list_tree(arguments[2], arguments[3:])
        return 0
    if len(arguments) == 3 and arguments[1] == "--limits":
        print("# SPDX-License-Identifier: Apache-2.0")
        print("# How many sentences below a folder may break a rule of plain_words.py: folder, rule,\n"
              "# limit. A limit may only be lowered.")
        for (room, rule), count in sorted(count_tree(arguments[2]).items()):
            print(room, rule, count)
        return 0
    if len(arguments) != 2 or not os.path.isdir(arguments[1]):
        print(f"usage: {arguments[0]} [--list|--limits] ROOT [FOLDER...]", file=sys.stderr)
        return 2
    limits = read_limits(os.path.join(os.path.dirname(__file__), "plain_words_limits.txt"))
    complaints = list(compare(count_tree(arguments[1]), limits))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
