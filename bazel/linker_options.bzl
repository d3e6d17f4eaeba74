# SPDX-License-Identifier: Apache-2.0
"""Options for the linker that are in a file, given to each program that links a target."""

def _tfrt_linker_options_impl(ctx):
    options = ctx.file.options
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        user_link_flags = depset(["-Wl,@" + options.path]),
        additional_inputs = depset([options]),
    )
    context = cc_common.create_linking_context(linker_inputs = depset([linker_input]))
    return [CcInfo(linking_context = context)]

tfrt_linker_options = rule(
    implementation = _tfrt_linker_options_impl,
    doc = "A dependency of libraries and programs that adds the options in the file `options`.",
    attrs = {"options": attr.label(allow_single_file = True, mandatory = True)},
)
