"""The light and the dark theme: one list of colours for the page's styles and for the script that restyles pictures.

Source: series, M. Okabe and K. Ito, Color Universal Design, 2008, lightened for a dark ground.
"""

from __future__ import annotations

from elephan.pictures.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

THEMES: dict[str, dict[str, str]] = {
    "light": {
        "paper": "#f6f7f9",
        "card": "#ffffff",
        "ink": "#16191d",
        "muted": "#565d66",
        "line": "#d9dde2",
        "grid": "#e4e7eb",
        "control": "#818992",
        "accent": "#0a5ca8",
        "accent-soft": "#e6f0fa",
        "good": "#0b6b4f",
        "good-soft": "#e0f3ec",
        "bad": "#a93a00",
        "bad-soft": "#fdebe1",
        "blue": BLUE,
        "vermilion": VERMILION,
        "green": GREEN,
        "purple": PURPLE,
        "orange": ORANGE,
        "sky": SKY,
    },
    "dark": {
        "paper": "#101316",
        "card": "#191d21",
        "ink": "#e8eaed",
        "muted": "#a8b0b9",
        "line": "#343a41",
        "grid": "#2a3036",
        "control": "#7d8791",
        "accent": "#7fbef5",
        "accent-soft": "#1b2c3d",
        "good": "#6fd3b0",
        "good-soft": "#14302a",
        "bad": "#ff9f6b",
        "bad-soft": "#3a2216",
        "blue": "#4ea5e6",
        "vermilion": "#f5843a",
        "green": "#2cc79b",
        "purple": "#e09cc3",
        "orange": "#f0b429",
        "sky": "#84cdf3",
    },
}
"""Colours by theme. Contrast: text at least 4.5 to 1; controls and lines of pictures in the dark theme 3 to 1."""


def variables(theme: str) -> str:
    """Write a theme's colours as CSS variables.

    Examples
    --------
    >>> variables("light").split(";")[0]
    '--paper: #f6f7f9'
    """
    return "; ".join(f"--{name}: {value}" for name, value in THEMES[theme].items())
