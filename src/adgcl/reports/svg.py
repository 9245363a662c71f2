"""SVG by hand: a canvas with a few shapes, and axes with round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from xml.sax import saxutils

from adgcl.core.safe_text import one_line

Point = tuple[float, float]
INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"
PALETTE = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#97266d", "#0e7c86", "#4a5568")
_FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\""


@dataclass
class Canvas:
    """Shapes on a white page, in the order they were added; `title` is for screen readers."""

    width: float
    height: float
    title: str = ""
    shapes: list[str] = field(default_factory=list)

    @contextmanager
    def note(self, text: str) -> Iterator[None]:
        """A tooltip for the shapes added within this context."""
        self.shapes.append(f"<g><title>{escape(text)}</title>")
        yield
        self.shapes.append("</g>")

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.shapes.append(f'<rect {place} rx="3" fill="{colour}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK, width: float = 1.0) -> None:
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.shapes.append(f'<line {ends} stroke="{colour}" stroke-width="{width}"/>')

    def dashes(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK) -> None:
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.shapes.append(f'<line {ends} stroke="{colour}" stroke-dasharray="4 3"/>')

    def path(self, points: Sequence[Point], colour: str) -> None:
        look = f'fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"'
        self.shapes.append(f'<polyline points="{_points(points)}" {look}/>')

    def area(self, points: Sequence[Point], colour: str) -> None:
        self.shapes.append(f'<polygon points="{_points(points)}" fill="{colour}"/>')

    def dot(self, x: float, y: float, colour: str, radius: float = 4.0) -> None:
        self.shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>')

    def diamond(self, x: float, y: float, colour: str) -> None:
        corners = _points([(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)])
        self.shapes.append(f'<polygon points="{corners}" fill="white" stroke="{colour}" stroke-width="1.5"/>')

    def arrow(self, x: float, y: float, colour: str, direction: int, size: float = 5.0) -> None:
        """A triangle whose tip is at `x`, pointing left (-1) or right (1)."""
        back = x - direction * size * 1.5
        self.shapes.append(
            f'<polygon points="{_points([(x, y), (back, y - size), (back, y + size)])}" fill="{colour}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        colour: str = INK,
        size: float = 12,
        bold: bool = False,
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}" fill="{colour}"{weight}'
        self.shapes.append(f"<text {place}>{escape(text)}</text>")

    def to_svg(self) -> str:
        box = f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}" height="{self.height:.0f}"'
        name = saxutils.quoteattr(one_line(self.title))
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} {_FONT} role="img" aria-label={name}>'
        page = '<rect width="100%" height="100%" fill="white"/>'
        return "\n".join([head, page, *self.shapes, "</svg>"]) + "\n"


def escape(text: str) -> str:
    """`text` as XML can hold it."""
    return saxutils.escape(one_line(text))


def text_width(text: str, size: float = 12) -> float:
    """The approximate width of a text: SVG cannot say, and a slight overestimate does no harm."""
    return 0.6 * size * len(text)


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` mapped to places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float, count: int = 6, *, whole: bool = False) -> Axis:
        """An axis that holds all values, with round ticks, or with `whole` numbers for ticks."""
        low, high = min(values), max(values)
        if high - low < 1e-9 * max(1.0, abs(high)):
            margin = max(0.5, 1e-6 * abs(high))
            low, high = low - margin, high + margin
        step = _round_step(high / count - low / count)  # divided first, since the whole range may be too large
        if whole:
            step = max(1.0, 5.0 if step == 2.5 else step)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, last * step, start, end, tuple(i * step for i in range(first, last + 1)))

    def place(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a value is on the axis, up to rounding."""
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= value <= self.high + slack

    def clip(self, value: float) -> float:
        """The nearest value that is on the axis."""
        return min(max(value, self.low), self.high)

    def label(self, tick: float) -> str:
        return f"{tick:.6g}" if abs(tick) > 1e-12 else "0"


def _round_step(rough: float) -> float:
    """The nearest of 1, 2, 2.5 and 5 times a power of ten that is not below `rough`."""
    scale = 10.0 ** math.floor(math.log10(rough))
    return next(step * scale for step in (1, 2, 2.5, 5, 10) if step * scale >= rough * (1 - 1e-9))
