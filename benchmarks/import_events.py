"""How long a long CSV file takes to become a store, at what rate, and in how much memory.

    python benchmarks/import_events.py --events 20000000
    python benchmarks/import_events.py --events 20000000 --shuffled
    python benchmarks/import_events.py --events 20000000 --named

Each import runs in a process of its own, so that its peak memory is its own. Three numbers are
given: the peak resident set, which counts pages of mapped files that the system may take back at
any time; the peak of anonymous memory, which it may not; and the peak resident set as the kernel
keeps it (VmHWM), which no sampling can miss. An import starts no other processes, so these are all
there is. Each record is kept, by its kind of file, in benchmarks/results/import_events.json.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

OUT = Path(__file__).parent / "results" / "import_events.json"
KEPT = ("VmHWM", "VmRSS", "RssAnon")  # of /proc/self/status


def write_csv(path, events, users=1_000_000, items=50_000, features=2, shuffled=False, named=False):
    """Users meet items, some far more often than others, over three years of seconds."""
    rng = np.random.default_rng(0)
    step, done, started = 1_000_000, 0, 1_600_000_000
    with path.open("wb") as file:
        while done < events:
            n = min(step, events - done)
            src = np.minimum(rng.pareto(1.0, n) * 1000, users - 1).astype(np.int64)
            dst = users + np.minimum(rng.pareto(1.0, n) * 100, items - 1).astype(np.int64)
            t = started + (done + np.arange(n)) * 94_608_000 // events
            if shuffled:
                t = rng.permutation(t) + rng.integers(-10_000_000, 10_000_000, n)
            columns = {"src": src, "dst": dst, "t": t}
            if named:
                for name in ("src", "dst"):
                    text = pa.array(columns[name]).cast(pa.string())
                    columns[name] = pa.compute.binary_join_element_wise("node-", text, "")
            columns |= {f"f{i}": rng.random(n).round(4) for i in range(features)}
            table = pa.table(columns)
            options = pyarrow.csv.WriteOptions(include_header=not done, quoting_style="none")
            pyarrow.csv.write_csv(table, file, options)
            done += n


def measure(path, store, sort):
    """Import in this process and print what it took."""
    from ctan.events import import_events
    from ctan.history import store_index

    peak = dict.fromkeys(KEPT, 0)
    stop = threading.Event()

    def look():
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: line.split()[1] for line in lines if "kB" in line}
        for name in KEPT:
            peak[name] = max(peak[name], int(kilobytes[name]))

    def watch():
        while not stop.wait(0.02):
            look()

    thread = threading.Thread(target=watch)
    thread.start()
    begun, cpu = time.perf_counter(), time.process_time()
    import_events(path, store, sort=sort)
    columns = time.perf_counter()
    store_index(store)
    indexed, cpu = time.perf_counter(), time.process_time() - cpu
    stop.set()
    thread.join()
    look()
    gigabytes = {name: round(value * 1024 / 1e9, 2) for name, value in peak.items()}
    took = {"import_s": columns - begun, "index_s": indexed - columns, "cpu_s": cpu}
    print(json.dumps({**took, "peak": gigabytes}))


def keep(out, kind, record):
    """Put a record among those of other kinds of file."""
    records = json.loads(out.read_text()) if out.exists() else {}
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps({**records, kind: record}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument(
        "--shuffled", action="store_true", help="times out of order, sorted on disk"
    )
    parser.add_argument("--named", action="store_true", help="nodes with names")
    parser.add_argument("--out", type=Path, default=OUT, help="where the records are kept")
    parser.add_argument("--measure", nargs=2, metavar=("CSV", "STORE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(*map(Path, given.measure), given.shuffled)
        return
    asked = [name for name in ("shuffled", "named") if getattr(given, name)]
    with tempfile.TemporaryDirectory() as folder:
        path, store = Path(folder) / "events.csv", Path(folder) / "store"
        write_csv(path, given.events, shuffled=given.shuffled, named=given.named)
        load = round(os.getloadavg()[0], 2)
        command = [sys.executable, __file__, "--measure", str(path), str(store)]
        command += ["--shuffled"] if given.shuffled else []
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(answer.stdout)
        total = found["import_s"] + found["index_s"]
        record = {
            "events": given.events,
            "csv_GB": round(path.stat().st_size / 1e9, 2),
            "store_GB": round(sum(f.stat().st_size for f in store.rglob("*.npy")) / 1e9, 2),
            "columns_s": round(found["import_s"], 1),
            "index_s": round(found["index_s"], 1),
            "cpu_s": round(found["cpu_s"], 1),
            "events_per_s": round(given.events / total),
            "events_per_cpu_s": round(given.events / found["cpu_s"]),
            "peak_resident_GB": found["peak"]["VmRSS"],
            "peak_resident_by_kernel_GB": found["peak"]["VmHWM"],
            "peak_anonymous_GB": found["peak"]["RssAnon"],
            "load_before_and_after": [load, round(os.getloadavg()[0], 2)],
            "machine": f"{platform.machine()}, {len(os.sched_getaffinity(0))} of "
            f"{os.cpu_count()} cores, shared with other work",
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in ("numpy", "pyarrow")},
            },
        }
        print(json.dumps(record, indent=1))
        keep(given.out, " ".join(asked) or "in order, nodes are numbers", record)


if __name__ == "__main__":
    main()
