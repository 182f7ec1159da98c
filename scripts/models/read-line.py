#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a line of text from a photo by PP-OCRv4 in int8 on the simulated accelerator.

Detection finds the line, the direction network says whether it stands on its head, recognition (SVTR) reads it. The
networks are those that scripts/models/trained.sh fetches, quantized by gemm64 with ranges from lines of other words. Without an
image the script draws one: a line on grey paper, tilted, blurred and noisy. Each network's outputs are compared with
ONNX Runtime's of the same quantized file; what they lead to, box, direction and text, must be the same, and
recognition's bytes.

Runs in the environment of scripts/setup/venv.sh, with the Python module on PYTHONPATH:

    PYTHONPATH=build/python build/venv/bin/python scripts/models/read-line.py --text "Hello, World!"

Exit: 0 the text is ONNX Runtime's, and the one that was drawn; 1 not so, or a package could not be fetched; 2 bad usage.
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/trained"
CALIBRATION = ("The quick brown fox jumps over it", "PACK MY BOX with 5 dozen jugs", "Jackdaws love 1,234.56 quartz?",
               "Sphinx; of black: quartz (judge) #7")
HEIGHT, WIDTH = 160, 640  # of a drawn photo
PAPER, INK = (235, 232, 225), (40, 40, 48)


def photo(text, seed=1, turned=False):
    """A line of text on paper, not quite straight, and the box in which it is."""
    import numpy
    from PIL import Image, ImageDraw, ImageFilter, ImageFont

    random = numpy.random.default_rng(seed)
    font = ImageFont.load_default(30)
    image = Image.new("RGB", (max(WIDTH, int(font.getlength(text)) + 128), HEIGHT), PAPER)
    place = 40 + int(random.integers(0, 20)), 50 + int(random.integers(0, 20))
    draw = ImageDraw.Draw(image)
    draw.text(place, text, font=font, fill=INK)
    left, top, right, bottom = draw.textbbox(place, text, font=font)
    image = image.rotate(180.5 if turned else 0.5, resample=Image.Resampling.BICUBIC, fillcolor=PAPER)
    values = numpy.asarray(image.filter(ImageFilter.GaussianBlur(0.7)), numpy.float32)
    values = values * numpy.linspace(1, 0.75, image.width)[:, None] + random.normal(0, 6, values.shape)
    return Image.fromarray(values.clip(0, 255).astype(numpy.uint8)), (left - 8, top - 6, right + 8, bottom + 6)


def pixels(image, mean, deviation):
    """[1, 3, height, width], blue first, as PP-OCR's networks were trained."""
    import numpy

    values = numpy.asarray(image, numpy.float32)[..., ::-1] / 255
    values = (values - numpy.array(mean)) / numpy.array(deviation)
    return numpy.ascontiguousarray(values.transpose(2, 0, 1)[None], numpy.float32)


def for_detection(image):
    """Sides that 32 divides, the longer one of at most 960."""
    scale = min(1, 960 / max(image.size))
    sides = [max(32, round(side * scale / 32) * 32) for side in image.size]
    return pixels(image.resize(sides), (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def of_height_48(line):
    """A line's pixels, 48 high, for recognition."""
    return pixels(line.resize((max(8, round(line.width * 48 / line.height)), 48)), (0.5,) * 3, (0.5,) * 3)


def for_direction(line):
    """The line's beginning, 192 wide, with nothing after a short one."""
    import numpy

    values = of_height_48(line)[..., :192]
    return numpy.pad(values, ((0, 0), (0, 0), (0, 0), (0, 192 - values.shape[3])))


def box(shares, size):
    """Left, top, right and bottom of all that is likely text, in an image of this size; None where nothing is."""
    import numpy

    rows, columns = numpy.where(shares[0, 0] > 0.3)
    if not len(rows):
        return None
    left, top, right, bottom = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
    width, height = right - left, bottom - top
    grow = 1.6 * width * height / (2 * (width + height))  # detection is trained to find a line's core
    across, down = size[0] / shares.shape[3], size[1] / shares.shape[2]
    return (max(0, int((left - grow) * across)), max(0, int((top - grow) * down)),
            min(size[0], int((right + grow) * across)), min(size[1], int((bottom + grow) * down)))


def stands_on_its_head(shares):
    """Of a line, for certain enough."""
    return bool(shares[0, 1] > 0.9)


def decode(shares, characters):
    """The likeliest character of each place; of equal neighbours one, without the blank between (CTC)."""
    best = shares[0].argmax(axis=-1)
    kept = [number for place, number in enumerate(best) if number and (place == 0 or number != best[place - 1])]
    return "".join(characters[number] for number in kept).strip()


class Network:
    """A quantized network on the device, compared with ONNX Runtime."""

    def __init__(self, gemm64, name, calibration, device, operators):
        import onnx
        import onnxruntime

        path, quantized = FOLDER / f"{name}.onnx", FOLDER / f"{name}.line.onnx"
        gemm64.quantize(path, quantized, calibration, op_types_to_quantize=operators)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.device = gemm64.InferenceSession(quantized, device=device)
        self.other = onnxruntime.InferenceSession(str(quantized), options, providers=["CPUExecutionProvider"])
        self.facts = {fact.key: fact.value for fact in onnx.load(path).metadata_props}
        self.cycles = 0

    def run(self, what, x, read):
        """What `read` makes of the device's outputs, whether it is what it makes of ONNX Runtime's, and whether these
        are the same bytes."""
        import numpy

        have, want = self.device.run(None, {"x": x})[0], self.other.run(None, {"x": x})[0]
        total = self.device.report["total"]
        self.cycles = total["cycles"]
        found, wanted = read(have), read(want)
        equal = have.tobytes() == want.tobytes()
        apart = "the same bytes" if equal else f"within {float(numpy.abs(have - want).max()):.1e}"
        print(f"{what:12} {self.cycles:10,} cycles, predicted {total['predicted_cycles']:,}; "
              f"{100 * total['device_share']:.0f} % of MACs on the device; ONNX Runtime: {apart}"
              + ("" if found == wanted else f", BUT {wanted}"), flush=True)
        return found, found == wanted, equal


def read_line(gemm64, image, device):
    """The text, None where there is none, and whether all was as ONNX Runtime has it."""
    import numpy

    photos = [photo(text, seed) for seed, text in enumerate(CALIBRATION, 9)]
    drawn = numpy.concatenate([for_detection(one) for one, _ in photos])
    detection = Network(gemm64, "ch_PP-OCRv4_det_infer", drawn, device, ["Conv"])
    place, right, _ = detection.run("detection", for_detection(image), lambda shares: box(shares, image.size))
    if place is None:
        return None, right
    line = image.crop(place)
    lines = [one.crop(where).resize((560, 48)) for one, where in photos]
    both = [for_direction(one) for line in lines for one in (line, line.rotate(180))]
    direction = Network(gemm64, "ch_ppocr_mobile_v2.0_cls_infer", numpy.concatenate(both), device, [])
    turned, same, _ = direction.run("direction", for_direction(line), stands_on_its_head)
    if turned:
        line = line.rotate(180)
    recognition = Network(gemm64, "ch_PP-OCRv4_rec_infer", numpy.concatenate([of_height_48(one) for one in lines]),
                          device, [])
    characters = ["", *recognition.facts["character"].splitlines(), " "]
    text, too, equal = recognition.run("recognition", of_height_48(line), lambda shares: decode(shares, characters))
    print(f"{'all':12} {detection.cycles + direction.cycles + recognition.cycles:10,} cycles")
    return text, right and same and too and equal


def opened(path):
    """An image file's pixels."""
    from PIL import Image

    with Image.open(path) as image:
        return image.convert("RGB")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("image", nargs="?", metavar="IMAGE", type=pathlib.Path, help="a photo of one line of text")
    parser.add_argument("--text", default="Weights stand still, sums move on.", help="what is drawn without an image")
    parser.add_argument("--turned", action="store_true", help="draws it on its head")
    parser.add_argument("--device", choices=("rtl", "tlm"), default="rtl", help="(default rtl)")
    options = parser.parse_args(arguments)
    if not options.image and not options.text.strip():
        print("read-line: --text has no character", file=sys.stderr)
        return 2
    try:
        import gemm64
        import numpy  # noqa: F401
        import onnxruntime  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        print(f"read-line: {error}: see --help", file=sys.stderr)
        return 2
    try:
        image = opened(options.image) if options.image else photo(options.text, turned=options.turned)[0]
    except OSError as error:
        print(f"read-line: {options.image}: {error}", file=sys.stderr)
        return 2
    if subprocess.run([ROOT / "scripts/models/trained.sh", "--fetch"], check=False).returncode:  # which said why
        return 1
    if not options.image:
        image.save(FOLDER / "line.png")
        print(f"drawn: {options.text}  ({FOLDER.relative_to(ROOT)}/line.png)")
    text, right = read_line(gemm64, image, options.device)
    print(f"read:  {text}" if text else "there is no text")
    if not options.image and text != options.text:
        print("MISMATCH: another text was drawn")
        return 1
    verified = "the text is ONNX Runtime's, and every byte of recognition" if text else "ONNX Runtime finds none, too"
    print(f"VERIFIED: {verified}" if right else "MISMATCH: ONNX Runtime has something else")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
