"""Tables of measurements, for a terminal and for Markdown."""

import html
from dataclasses import dataclass, field


@dataclass
class Table:
    """The first column is left-aligned, the others right. `notes` are lines below the table.

    `spreads` has the range of the middle half of the rounds over the median, for each ratio.
    """

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spreads: list[float] = field(default_factory=list)

    def text(self):
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [self.title, self._line(self.header, widths)]
        lines += [self._line(row, widths) for row in self.rows]
        return "\n".join(lines + self.notes)

    @staticmethod
    def _line(cells, widths):
        first, *others = (
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join([first, *others]).rstrip()

    def markdown(self):
        lines = [
            f"## {self.title}",
            "",
            self._pipes(self.header),
            self._pipes([":--"] + ["--:"] * (len(self.header) - 1)),
        ]
        lines += [self._pipes([f"`{row[0]}`", *row[1:]]) for row in self.rows]
        return "\n".join([*lines, "", *(f"{note}  " for note in self.notes)]).rstrip()

    def html(self):
        def row(cells, kind):
            return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        rows = [row(self.header, "th"), *(row(cells, "td") for cells in self.rows)]
        notes = "<br>".join(map(html.escape, self.notes))
        return "\n".join([f"<h2>{html.escape(self.title)}</h2><table>", *rows, f"</table><p>{notes}</p>"])

    @staticmethod
    def _pipes(cells):
        return f"| {' | '.join(cells)} |"


def duration(seconds):
    """Three significant digits in the unit that suits: '17.1 us', '2.38 ms'."""
    size = abs(seconds)
    unit, scale = ("s", 1.0) if size >= 1 else ("ms", 1e-3) if size >= 1e-3 else ("us", 1e-6)
    return f"{three_digits(seconds / scale)} {unit}"


def ratio(value):
    return f"{three_digits(value)}x"


def three_digits(value):
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def megabytes(count):
    return f"{count / 1e6:.0f} MB"
