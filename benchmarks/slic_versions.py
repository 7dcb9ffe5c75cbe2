"""Does the version of scikit-image, or another JPEG compression, change what T-PascalVOC keeps?

    python benchmarks/slic_versions.py [FOLDER] [--quality 90]

Counts the superpixels of every tenth image as T-PascalVOC does, with the scikit-image that is
installed, and adds the counts to benchmarks/results/slic_versions.json. It needs nothing of ctan
and runs on Python 3.8, so that an environment of its own can hold an older version:

    python3.8 -m venv /tmp/old && /tmp/old/bin/pip install 'scikit-image==0.18.3' pillow
    /tmp/old/bin/python benchmarks/slic_versions.py
"""

import argparse
import io
import json
import os
from pathlib import Path

import numpy as np
import skimage
from PIL import Image
from skimage.segmentation import slic
from skimage.util import regular_grid

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "slic_versions.json"
LIMITS = {10: 434, 30: 474}  # nodes of a graph
EVERY = 10
COLOURS = {"multichannel": True} if skimage.__version__ < "0.19" else {"channel_axis": -1}


def opened(path, quality):
    """An image in [0, 1]; with a quality, once more through JPEG."""
    picture = Image.open(path).convert("RGB")
    if quality:
        again = io.BytesIO()
        picture.save(again, "JPEG", quality=quality)
        picture = Image.open(again)
    return np.asarray(picture).astype(np.float32) / 255


def superpixels(image, compactness, most=500):
    """How many there are when at most `most` are left."""
    wanted, last = most + 50, None
    while True:
        grid = regular_grid((1, *image.shape[:2]), wanted)  # many numbers share one grid of seeds
        if grid != last:
            last = grid
            labels = slic(
                image, n_segments=wanted, compactness=compactness, start_label=0, **COLOURS
            )
            count = len(np.unique(labels))
            if count <= most:
                return count
        wanted -= 1


def main():
    data = Path(os.environ.get("CTAN_DATA") or HERE.parents[1] / "shared" / "data")
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=data / "voc2012_seg632")
    parser.add_argument("--quality", type=int)
    given = parser.parse_args()
    files = sorted((given.folder / "JPEGImages").glob("*.jpg"))[::EVERY]
    records = json.loads(OUT.read_text()) if OUT.exists() else {}
    name = "scikit-image " + skimage.__version__
    name += f", JPEG quality {given.quality}" if given.quality else ""
    record = {"images": len(files)}
    for compactness, limit in LIMITS.items():
        counts = [superpixels(opened(file, given.quality), compactness) for file in files]
        record[str(compactness)] = {
            "mean": round(float(np.mean(counts)), 1),
            "kept": sum(count >= limit for count in counts),
            "counts": " ".join(map(str, counts)),
        }
    OUT.write_text(json.dumps({**records, name: record}, indent=1) + "\n")
    print(name, {c: (r["mean"], r["kept"]) for c, r in record.items() if c != "images"})


if __name__ == "__main__":
    main()
