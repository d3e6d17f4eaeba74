# SPDX-License-Identifier: Apache-2.0
"""Tests that start workers and talk to them as a user does."""

load("//bazel:defs.bzl", "tfrt_script_test")

def tfrt_cluster_test(name, args = [], data = []):
    """`name`.py, over cluster.py, with the programs of a cluster as its first arguments.

    Args:
      name: of the test and of its script.
      args: what the script gets behind the paths of `tfrt` and `tfrt_worker`.
      data: what it reads besides them.
    """
    tfrt_script_test(
        name = name,
        size = "medium",
        src = name + ".py",
        args = [
            "$(rootpath //tools:tfrt)",
            "$(rootpath //tools:tfrt_worker)",
        ] + args,
        data = [
            "cluster.py",
            "//tools:tfrt",
            "//tools:tfrt_worker",
        ] + data,
        tags = ["concurrent"],
    )
