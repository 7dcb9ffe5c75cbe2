"""T-PascalVOC of real images: what is kept, how balanced, how fast, and the same bytes again.

    python benchmarks/pascalvoc.py [FOLDER]

FOLDER is in VOC's layout; by default voc2012_seg632 in $CTAN_DATA or ../shared/data. Everything is
computed twice, from nothing, in folders of its own: by one process, then by two. Writes
docs/figures/pascalvoc.png and, after each compactness, benchmarks/results/pascalvoc.json.
"""

import hashlib
import json
import os
import platform
import resource
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ctan.datasets import draw_pascal_voc, pascal_voc
from ctan.datasets.pascalvoc_figure import CLASSES
from ctan.datasets.pascalvoc_folder import find_pairs, read_pair
from ctan.datasets.superpixels import MARGIN, segment

HERE = Path(__file__).parent
PICTURE = "2007_001825"
WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
VOC = ("JPEGImages", "SegmentationClass")


def load():
    return [round(value, 2) for value in os.getloadavg()]


def cpu_seconds():
    """Of this process and of those that it has started and seen end."""
    return sum(sum(resource.getrusage(who)[:2]) for who in WHO)


def made(folder, cache, compactness, processes):
    """A run from nothing, and what it took."""
    before, cpu, start = load(), cpu_seconds(), time.perf_counter()
    result = pascal_voc(folder, compactness=compactness, cache=cache, processes=processes)
    seconds = time.perf_counter() - start
    took = {
        "processes": processes,
        "seconds": round(seconds, 1),
        "images_per_second": round(len(result.found) / seconds, 2),
        # What an idle machine would show for each core: other work takes time, not CPU time.
        "images_per_cpu_second": round(len(result.found) / (cpu_seconds() - cpu), 2),
        "load_before": before,
        "load_after": load(),
    }
    return result, took


def digest(result):
    total = hashlib.sha256(repr(result.images).encode())
    stream = result.stream
    for column in (stream.src, stream.dst, stream.t, stream.msg, stream.x, stream.y, stream.graph):
        total.update(f"{column.dtype} {column.shape}".encode())
        total.update(column.tobytes())
    for part in result.split:
        total.update(part.tobytes())
    return total.hexdigest()


def files(cache):
    """A checksum over all kept files."""
    total = hashlib.sha256()
    for file in sorted(cache.rglob("*.npz")):
        total.update(file.relative_to(cache).as_posix().encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def balance(result):
    """Events of each class, in each part."""
    stream = result.stream
    counts = {}
    for part, graphs in zip(("train", "val", "test"), result.split, strict=True):
        y = stream.y[np.isin(stream.graph, graphs)]
        counts[part] = {name: int((y == i).sum()) for i, name in enumerate(CLASSES)}
        counts[part]["no class (all void)"] = int((y == -1).sum())
    return counts


def one_run_for_each_grid(folder, compactness, images=12):
    """CPU seconds of SLIC on some images: as it is, and by trying every number of segments."""
    from skimage.segmentation import slic

    pictures = [read_pair(pair)[0] for pair in find_pairs(folder, *VOC, "shares")[:images]]
    start = time.process_time()
    for picture in pictures:
        segment(picture, compactness)
    as_it_is = time.process_time() - start
    start, runs = time.process_time(), 0
    for picture in pictures:
        wanted = 500 + MARGIN
        while True:
            runs += 1
            labels = slic(
                picture.astype(np.float32) / 255,
                n_segments=wanted,
                compactness=compactness,
                start_label=0,
            )
            if labels.max() < 500:
                break
            wanted -= 1
    return {
        "images": images,
        "cpu_seconds": round(as_it_is, 2),
        "cpu_seconds_trying_every_number": round(time.process_time() - start, 2),
        "slic_runs_trying_every_number": runs,
    }


def of_compactness(folder, compactness):
    with tempfile.TemporaryDirectory() as name:
        one, two = Path(name) / "one", Path(name) / "two"
        first, took_first = made(folder, one, compactness, processes=1)
        second, took_second = made(folder, two, compactness, processes=2)
        start = time.perf_counter()
        cached = pascal_voc(folder, compactness=compactness, cache=one)
        from_cache = time.perf_counter() - start
        shares = pascal_voc(folder, compactness=compactness, cache=one, split="shares")
        whole = pascal_voc(
            folder, compactness=compactness, cache=one, split="shares", whole_batches=256
        )
        coord8 = pascal_voc(folder, compactness=compactness, cache=one, adjacency="coord8")
        majority = pascal_voc(folder, compactness=compactness, cache=one, label="majority")
        stream = first.stream
        return {
            "images": len(first.found),
            "graphs_kept": len(first.images),
            "share_kept": round(len(first.images) / len(first.found), 4),
            "nodes_per_graph": stream.num_nodes // len(first.images),
            "events": len(stream),
            "nodes": stream.num_nodes,
            "superpixels": {
                "min": int(first.found.min()),
                "quartiles": np.percentile(first.found, [25, 50, 75]).tolist(),
                "max": int(first.found.max()),
                "mean": round(float(first.found.mean()), 1),
            },
            "superpixels_no_walk_reaches": first.unreached,
            "coord8_superpixels_no_walk_reaches": coord8.unreached,
            "coord8_graphs_kept": len(coord8.images),
            "graphs_by_lists": [len(part) for part in first.split],
            "graphs_by_shares": [len(part) for part in shares.split],
            "graphs_in_whole_batches_of_256_by_shares": len(whole.images),
            "label_differs_from_majority": round(float((stream.y != majority.stream.y).mean()), 4),
            "events_by_class": balance(first),
            "sha256_of_the_stream": [digest(run) for run in (first, second, cached)],
            "sha256_of_kept_files": [files(one), files(two)],
            "same_bytes": digest(first) == digest(second) == digest(cached)
            and files(one) == files(two),
            "from_nothing": [took_first, took_second],
            "from_cache_seconds": round(from_cache, 2),
            "one_slic_run_for_each_grid": one_run_for_each_grid(folder, compactness),
        }


def main():
    data = Path(os.environ.get("CTAN_DATA") or HERE.parents[1] / "shared" / "data")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else data / "voc2012_seg632"
    cores = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}"
    report = {
        "folder": folder.name,
        "machine": f"{platform.machine()}, {cores} cores, shared with other work",
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scikit-image", "pillow")},
        },
        "compactness": {},
    }
    figure = HERE.parent / "docs" / "figures" / "pascalvoc.png"
    figure.parent.mkdir(parents=True, exist_ok=True)
    draw_pascal_voc(folder, PICTURE).savefig(figure)
    out = HERE / "results" / "pascalvoc.json"
    out.parent.mkdir(exist_ok=True)
    for compactness in (10, 30):
        report["compactness"][str(compactness)] = of_compactness(folder, compactness)
        out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
