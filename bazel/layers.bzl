# SPDX-License-Identifier: Apache-2.0
"""Tests on the graph of dependencies: what a target may not reach, and what it must."""

def _label_test(name, sources, prefixes, expected, message, tags):
    # A folder's own package or one below it: //kernels:x, //kernels/basic:x, @grpc//:grpc.
    pattern = "^(%s)[/:]" % "|".join(prefixes)
    native.genquery(
        name = name + "_labels",
        testonly = True,
        expression = "filter('%s', deps(set(%s)))" % (pattern, " ".join(sources)),
        scope = sources,
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/layers:assert_labels.sh"],
        args = ["$(rootpath :%s_labels)" % name, expected, "'%s'" % message],
        data = [":%s_labels" % name],
        tags = tags + ["no-sanitizer"],
    )

def tfrt_no_dependency_test(name, sources, forbidden, tags = []):
    """Fails if one of `sources` depends, directly or not, on a target under a `forbidden` folder.

    Args:
      name: the test.
      sources: labels; a room's aggregate target covers the room.
      forbidden: folders such as "//kernels", and libraries such as "@grpc".
      tags: of the test.
    """
    _label_test(
        name,
        sources,
        forbidden,
        "empty",
        "%s may not depend on these (tests/layers/BUILD has the rule):" % " ".join(sources),
        tags,
    )

def tfrt_dependency_test(name, sources, required, tags = []):
    """Fails unless one of `sources` depends on a target under one of the `required` folders.

    It shows that the other test would see a dependency if there were one.
    """
    _label_test(
        name,
        sources,
        required,
        "some",
        "%s depends on nothing under: %s" % (" ".join(sources), " ".join(required)),
        tags,
    )
