#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that plain_words.py finds each kind of sentence that it is there for, and no others."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import plain_words  # noqa: E402  (found by the line above)


def rules(path, text):
    return [(line, rule) for line, rule, _ in plain_words.findings(path, text)]


class PlainWordsTest(unittest.TestCase):
    def test_a_plain_comment_passes(self):
        text = ("// The caller releases |value| after its last use. What does it cost?\n"
                "int x;  // in microseconds\n")
        self.assertEqual(rules("a/b.c", text), [])

    def test_a_sentence_that_begins_with_a_noun_clause(self):
        self.assertEqual(rules("a/b.h", "// What the books say.\nint x;\n"), [(1, "noun-clause")])
        self.assertEqual(rules("a/b.c", "int x;  // Who waits.\n"), [(1, "noun-clause")])
        self.assertEqual(rules("a/b.c", "// Fine here.\n// Of those, none.\n"), [(1, "noun-clause")])

    def test_a_pronoun_without_a_noun(self):
        self.assertEqual(rules("a/b.py", "# Room for who asks next.\n"), [(1, "relative")])
        self.assertEqual(rules("a.md", "It goes to whoever waits.\n"), [(1, "relative")])

    def test_phrases_also_across_lines(self):
        self.assertEqual(rules("a/b.c", "// The list is let\n// go of at the end.\n"),
                         [(1, "phrase")])
        self.assertEqual(rules("a.md", "| a | as ever |\n"), [(1, "phrase")])

    def test_a_long_sentence(self):
        self.assertEqual(rules("a.md", "word " * 40 + "\n"), [])
        self.assertEqual(rules("a.md", "word " * 41 + "\n"), [(1, "long")])

    def test_code_and_strings_are_no_prose(self):
        self.assertEqual(rules("a.md", "    Who waits\n\n```\nWho waits\n```\n\nA `for who` is code.\n"),
                         [])
        self.assertEqual(rules("a/b.c", 'const char* text = "as ever";\n'), [])

    def test_the_texts_of_the_product(self):
        text = 'f("refused who dialled: %s",\n  "\\"fine\\"");\n// "who" in a comment\n'
        self.assertEqual(rules("tools/b.c", text), [(1, "text")])
        self.assertEqual(rules("tests/b.c", text), [])

    def test_more_than_the_limit_is_an_error_and_less_is_none(self):
        limits = {("tools", "long"): 2}
        self.assertEqual(list(plain_words.compare({("tools", "long"): 2}, limits)), [])
        self.assertEqual(len(list(plain_words.compare({("tools", "long"): 3}, limits))), 1)
        self.assertEqual(len(list(plain_words.compare({("docs", "long"): 1}, limits))), 1)


if __name__ == "__main__":
    unittest.main()
