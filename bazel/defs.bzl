# SPDX-License-Identifier: Apache-2.0
"""The project's build rules: the native ones with one set of compiler options.

    tfrt_cc_library   a library of one or a few nouns
    tfrt_cc_binary    a program
    tfrt_cc_test      a test program on libcheck; one source defines tfrt_test_suite()
    tfrt_script_test  an executable script as a test
    tfrt_fuzz_test    a fuzz target: its corpus replayed as a test, and a libFuzzer program

Attributes that are not named here mean what they mean in the native rule. A library has a
BUILD target of its own where something may depend on it alone; its visibility states the layer
rule (docs: tests/layers/BUILD).
"""

# Warnings are errors with gcc 12 and clang 14. Symbols are hidden until one is exported by name,
# so that a shared library's surface is chosen and not leaked.
TFRT_COPTS = [
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wmissing-prototypes",
    "-Wstrict-prototypes",
    "-Wwrite-strings",
    "-Wvla",
    "-fvisibility=hidden",
    "-fno-omit-frame-pointer",
    "-fno-common",
]

def tfrt_cc_library(name, copts = [], **kwargs):
    """A cc_library with the project's compiler options.

    It is only ever linked into something: without linkstatic, Bazel would make a shared library of
    it, too, wherever all targets are built.
    """
    kwargs.setdefault("linkstatic", True)
    native.cc_library(
        name = name,
        copts = TFRT_COPTS + copts,
        **kwargs
    )

def tfrt_cc_binary(name, copts = [], **kwargs):
    """A cc_binary with the project's compiler options."""
    native.cc_binary(
        name = name,
        copts = TFRT_COPTS + copts,
        **kwargs
    )

def tfrt_cc_test(name, deps = [], copts = [], size = "small", **kwargs):
    """A test program on libcheck (tests/support/test_main.h says what its source defines).

    Give it tags = ["concurrent"] where more than one thread runs: those tests are also run under
    ThreadSanitizer. The time limit follows from `size` and grows with each sanitizer (.bazelrc).
    """
    kwargs.setdefault("visibility", ["//tests:__subpackages__"])
    native.cc_test(
        name = name,
        size = size,
        copts = TFRT_COPTS + copts,
        deps = deps + ["//tests/support:test_main"],
        **kwargs
    )

def tfrt_script_test(name, src, size = "small", **kwargs):
    """A test that is an executable script with its interpreter in the first line.

    Python scripts start with "#!/usr/bin/python3", the interpreter that sees Debian's modules.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = [src],
        **kwargs
    )

def tfrt_fuzz_test(name, srcs, corpus, deps = [], copts = [], size = "small", tags = [], **kwargs):
    """A fuzz target (tests/support/fuzz_target.h), as a test and as a libFuzzer program.

    `name` replays every file of `corpus` and fails at the first crash, or when there is no file.
    `name`_fuzzer is the libFuzzer program: built by hand, with --config=fuzz only.
    """
    native.filegroup(
        name = name + "_corpus",
        testonly = True,
        srcs = corpus,
    )
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = ["$(rootpaths :%s_corpus)" % name],
        copts = TFRT_COPTS + copts,
        data = [":%s_corpus" % name],
        tags = tags,
        deps = deps + ["//tests/support:fuzz_replay_main"],
        **kwargs
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = srcs,
        copts = TFRT_COPTS + copts,
        linkopts = ["-fsanitize=fuzzer"],
        tags = tags + ["manual"],
        deps = deps + ["//tests/support:fuzz_target"],
    )
