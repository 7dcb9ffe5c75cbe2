"""Reports: tables, figures and pages from what was measured, and the paper's numbers."""

from ctan.report.describe import describe
from ctan.report.description import draw_description
from ctan.report.figures import accuracy_by_length
from ctan.report.page import code, figure, page, paragraph, table
from ctan.report.paper import paper_table
from ctan.report.tables import Cell, Table, beside

__all__ = [
    "Cell",
    "Table",
    "accuracy_by_length",
    "beside",
    "code",
    "describe",
    "draw_description",
    "figure",
    "page",
    "paper_table",
    "paragraph",
    "table",
]
