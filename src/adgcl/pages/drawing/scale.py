"""The colours of drop probabilities: one fixed scale from blue (kept) over grey to orange (dropped).

Blue and orange differ for every common kind of colour blindness. Pages mark a bond with the class of its step, so that
the same picture suits a light and a dark page: there the colours are darker, so that lines on them stay legible.
"""

from __future__ import annotations

STEPS = 50
_LIGHT = ((120, 172, 228), (226, 226, 221), (240, 142, 58))
_DARK = ((38, 106, 178), (68, 77, 86), (214, 112, 24))


def step(value: float) -> int:
    """The step of a probability."""
    return round(min(max(value, 0.0), 1.0) * STEPS)


def scale_css() -> str:
    """A class for each step, for light and dark pages."""
    light = "".join(f".s{i}{{--c:{_colour(_LIGHT, i / STEPS)}}}" for i in range(STEPS + 1))
    dark = "".join(f".s{i}{{--c:{_colour(_DARK, i / STEPS)}}}" for i in range(STEPS + 1))
    return f"{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _colour(stops: tuple[tuple[int, int, int], ...], at: float) -> str:
    place = at * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    share = place - low
    mixed = (round(a + (b - a) * share) for a, b in zip(stops[low], stops[low + 1]))
    return "#" + "".join(f"{part:02x}" for part in mixed)
