# SPDX-License-Identifier: Apache-2.0
"""A text file as a string of a C library, for texts that are loaded at run time."""

load("//bazel:defs.bzl", "tfrt_cc_library")

def tfrt_embedded_text(name, src, symbol, **kwargs):
    """A library with `extern const char <symbol>[];`, which the user declares.

    Args:
      name: the library.
      src: the text file.
      symbol: the name of the string.
      **kwargs: of the library.
    """
    native.genrule(
        name = name + "_source",
        srcs = [src],
        outs = [name + ".c"],
        cmd = ("(echo 'extern const char %s[]; const char %s[] ='; " % (symbol, symbol) +
               "sed -e 's/\\\\/\\\\\\\\/g' -e 's/\"/\\\\\"/g' -e 's/^/\"/' -e 's/$$/\\\\n\"/' $<; " +
               "echo ';') > $@"),
        testonly = kwargs.get("testonly", False),
    )
    tfrt_cc_library(
        name = name,
        srcs = [name + ".c"],
        **kwargs
    )
