"""Colours that colour-blind readers can tell apart, without importing a drawing library.

Source: M. Okabe and K. Ito, Color Universal Design, 2008.
"""

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
)
GREY = "#6b6b6b"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Colours of groups and links, in order."""
