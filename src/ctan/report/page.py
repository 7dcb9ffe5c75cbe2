"""A page that stands alone: text, tables and figures in one HTML file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ctan.report.tables import Table

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 3rem auto; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
caption { caption-side: bottom; text-align: left; color: #555; font-size: .85rem;
          padding-top: .6rem; }
tr.other td { color: #777; border-bottom-color: #bbb; }
img { max-width: 100%; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; }
"""


def page(title: str, parts: Sequence[str]) -> str:
    """An HTML page.

    Args:
        title: its heading.
        parts: pieces of HTML, as `paragraph`, `table` and `figure` make them.

    Example:
        >>> "<h1>Tables &amp; figures</h1>" in page("Tables & figures", [paragraph("Nothing.")])
        True
    """
    heading = escape(title)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{heading}</title>\n'
        f"<style>{_STYLE}</style>\n<h1>{heading}</h1>\n" + "\n".join(parts) + "\n</html>\n"
    )


def paragraph(text: str) -> str:
    """A paragraph.

    Example:
        >>> paragraph("a < b")
        '<p>a &lt; b</p>'
    """
    return f"<p>{escape(text)}</p>"


def code(text: str) -> str:
    """Commands, as they are typed.

    Example:
        >>> code("ctan demo")
        '<pre>ctan demo</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def table(content: Table, corner: str = "", other: str = "paper") -> str:
    """A table with its caption.

    Args:
        content: the table.
        corner: the heading of the first column.
        other: rows whose names end like this are not ours, and are set off.

    Example:
        >>> "<td>CTAN</td>" in table(Table(["CTAN"], ["3"], {}))
        True
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in (corner, *content.columns))
    lines = (
        (' class="other"' if line[0].endswith(other) else "")
        + ">"
        + "".join(f"<td>{escape(cell)}</td>" for cell in line)
        for line in content.lines()
    )
    body = "\n".join(f"<tr{line}</tr>" for line in lines)
    caption = f"<caption>{escape(content.caption)}</caption>" if content.caption else ""
    return f"<table>{caption}\n<tr>{head}</tr>\n{body}\n</table>"


def figure(path: Path, text: str) -> str:
    """A picture, inside the page.

    Args:
        path: of a PNG file.
        text: what it shows, for those who do not see it.
    """
    content = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(text)}" src="data:image/png;base64,{content}">'
