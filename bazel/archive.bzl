# SPDX-License-Identifier: Apache-2.0
"""One static library out of all the libraries that a target depends on."""

def _tfrt_static_archive_impl(ctx):
    archives = []
    for linker_input in ctx.attr.dep[CcInfo].linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                archives.append(archive)
    out = ctx.actions.declare_file(ctx.attr.archive)

    # ar's own language: the members of each archive, whatever they are called. The sections
    # that one compiler keeps for its own link-time optimisation are dropped: any compiler can link
    # the rest.
    script = "create %s\n%ssave\nend\n" % (
        out.path,
        "".join(["addlib %s\n" % archive.path for archive in archives]),
    )
    ctx.actions.run_shell(
        inputs = archives,
        outputs = [out],
        command = "printf '%s' \"$1\" | ar -M && ranlib \"$2\" && " +
                  "objcopy --remove-section='.gnu.lto_*' \"$2\"",
        arguments = [script, out.path],
        mnemonic = "MergeArchives",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]))]

tfrt_static_archive = rule(
    implementation = _tfrt_static_archive_impl,
    doc = "The archive `archive`, with all objects that `dep` links, but for system libraries.",
    attrs = {
        "archive": attr.string(mandatory = True),
        "dep": attr.label(mandatory = True, providers = [CcInfo]),
    },
)
