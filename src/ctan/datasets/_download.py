"""Downloads that resume, are checked, and carry their name only once they are whole."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from ctan.errors import DataError

#: Called with the bytes that are there and the bytes there will be (None where nobody says).
Watch = Callable[[int, int | None], None]

_BLOCK = 1 << 20
_TIMEOUT_SECONDS = 30.0  # of silence, not of the whole download


@dataclass(frozen=True)
class Remote:
    """A file at its publisher's.

    Attributes:
        url: where it is.
        size: its length in bytes, where it is known for sure.
        sha256: its checksum, where it is known for sure. Otherwise the checksum of the first
            download is recorded beside the file and holds from then on.

    Example:
        >>> Remote("http://snap.stanford.edu/jodie/mooc.csv").name
        'mooc.csv'
    """

    url: str
    size: int | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.url.rsplit("/", 1)[-1]


def fetch(
    remote: Remote,
    path: Path,
    *,
    check: Callable[[Path], str | None] = lambda path: None,
    watch: Watch | None = None,
    tries: int = 4,
    pause: float = 1.0,
) -> Path:
    """Download a file to `path`, going on where an earlier download stopped.

    Bytes arrive in `path` + ".part", which becomes `path` only when length, checksum and `check`
    agree. A broken connection is tried again and resumed (HTTP Range); what arrived is kept for
    the next call if all tries fail, unless it is wrong.

    Args:
        remote: what to fetch.
        path: where to put it.
        check: what is wrong with a whole file (its format, for instance), or None.
        watch: told of progress.
        tries: connections in a row that bring nothing new before giving up.
        pause: seconds before the second try; doubled before each further one.

    Raises:
        DataError: it did not work; with what to fetch by hand and where to put it.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _receive(remote, part, watch, tries, pause)
        wrong = _wrong(remote, part) or check(part)
        if wrong:
            part.unlink()
            _validator(part).unlink(missing_ok=True)
            raise _UnusableError(wrong)
        checksum_file(path).write_text(sha256_of(part) + "\n")
        os.replace(part, path)
        _validator(part).unlink(missing_ok=True)
    except (OSError, http.client.HTTPException, _UnusableError) as error:
        kept = part.stat().st_size if part.exists() else 0
        resume = f" What arrived ({kept:,} bytes) is kept and will be resumed." if kept else ""
        raise DataError(
            f"{remote.url}: the download failed: {_reason(error)}.{resume} "
            f"To repair: try again, or fetch that file by hand and put it at {path.absolute()}"
        ) from error
    return path


class _UnusableError(Exception):
    """What arrived is not what was wanted."""


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} ({error.reason})"
    if isinstance(error, urllib.error.URLError):
        return f"no connection ({error.reason})"
    return str(error).rstrip(".") or type(error).__name__


def _receive(remote: Remote, part: Path, watch: Watch | None, tries: int, pause: float) -> None:
    """Bring the part file to its full length, in as many connections as it takes."""
    failures = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            _connect(remote, part, before, watch)
            return
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError) and error.code < 500:
                raise  # asking again will not help
            grown = part.exists() and part.stat().st_size > before
            failures = 0 if grown else failures + 1
            if failures >= tries:
                raise
            time.sleep(pause * 2 ** max(0, failures - 1))


def _connect(remote: Remote, part: Path, have: int, watch: Watch | None) -> None:
    """One connection: the whole file, or what is missing if the server goes on with the same."""
    request = urllib.request.Request(remote.url, headers={"User-Agent": "ctan"})
    validator = _validator(part)
    same = json.loads(validator.read_text()) if validator.exists() else ""
    if have and same:
        # Without If-Range, the end of a newer version could be put on the start of an older one.
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", same)
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        with error:
            complete = error.headers.get("Content-Range", "") == f"bytes */{have}"
            if error.code == 416 and complete:
                return
        raise
    with answer:
        resumed = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(
            f"bytes {have}-"
        )
        have = have if resumed else 0
        length = answer.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        validator.write_text(json.dumps(_mark(answer.headers)))
        with part.open("ab" if resumed else "wb") as file:
            while block := answer.read(_BLOCK):
                file.write(block)
                have += len(block)
                if watch:
                    watch(have, total)
        if total is not None and have < total:
            raise ConnectionError(f"the connection ended after {have:,} of {total:,} bytes")


def _mark(headers: Message) -> str:
    """What the server calls this version, if it can be told exactly from others."""
    etag = headers.get("ETag", "")
    return headers.get("Last-Modified", "") if etag.startswith("W/") or not etag else etag


def _validator(part: Path) -> Path:
    """Where the server's mark of the version being downloaded is kept."""
    return part.with_name(part.name + ".version")


def _wrong(remote: Remote, path: Path) -> str | None:
    """What a whole file's length and checksum say against it."""
    size = path.stat().st_size
    if size == 0:
        return "the file is empty"
    if remote.size is not None and size != remote.size:
        return f"got {size:,} bytes, expected {remote.size:,}"
    if remote.sha256 is not None and (found := sha256_of(path)) != remote.sha256:
        return f"got a file of checksum {found}, expected {remote.sha256}"
    return None


def checksum_file(path: Path) -> Path:
    """Where the checksum of a downloaded file is recorded."""
    return path.with_name(path.name + ".sha256")


def verify(path: Path) -> str:
    """The checksum of a file, which must be the one recorded for it; the first one is recorded.

    So a file that was put in place by hand is guarded from then on as a downloaded one is.
    """
    record, found = checksum_file(path), sha256_of(path)
    if not record.exists():
        with contextlib.suppress(OSError):  # in a folder that cannot be written to
            record.write_text(found + "\n")
    elif (expected := record.read_text().strip()) != found:
        raise DataError(
            f"{path}: the file is damaged or was changed: its checksum is {found}, recorded was "
            f"{expected}. To repair: delete it to download it again, or delete {record.name} if it "
            "was changed on purpose."
        )
    return found


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
