# SPDX-License-Identifier: Apache-2.0
"""The folder in which documents' commands run: what a reader has after a clone and a build."""

import shutil

LINKS = ("tests", "docs", "host", "python", "rtl", "scripts", "sim", "waves")


def furnish(folder, root, build):
    """Fills the folder."""
    (folder / "build").symlink_to(build)
    for name in LINKS:
        (folder / name).symlink_to(root / name)
    (folder / "nets").mkdir()
    shutil.copy(root / "tests/data/fashion_cnn.onnx", folder / "nets/resnet50.onnx")
    (folder / "bin").mkdir()
    viewer = folder / "bin" / "gtkwave"  # where there is no display
    viewer.write_text('#!/bin/sh\ntest -s "$1"\n')
    viewer.chmod(0o755)
