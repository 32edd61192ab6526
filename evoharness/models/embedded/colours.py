"""Ordinary English names of colours."""

import colorsys
from functools import lru_cache

NAMES = (
    "red", "orange", "yellow", "green", "cyan", "teal", "blue", "purple", "magenta", "pink", "brown",
    "black", "white", "gray",
)  # fmt: skip
"""Every name that `colour_name` gives: the eleven basic terms of English and three between them."""


@lru_cache(maxsize=65536)
def colour_name(red: int, green: int, blue: int) -> str:
    """Name of an RGB colour with channels from 0 to 255."""
    hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    hue *= 360
    light = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    chroma = saturation * value
    if value < 0.17 or (value < 0.27 and chroma < 0.09):
        return "black"
    if chroma < 0.10 or (saturation < 0.16 and light < 0.75):
        return "white" if light > 0.83 else "black" if light < 0.20 else "gray"
    return _of_hue(hue, saturation, value, light)


def _of_hue(hue: float, saturation: float, value: float, light: float) -> str:
    if hue < 14 or hue >= 343:
        if light > 0.62 and saturation < 0.62:
            return "pink"
        return "brown" if value < 0.48 and saturation < 0.75 and hue < 14 and hue > 4 else "red"
    if hue < 43:
        return "brown" if value < 0.70 or (value < 0.8 and saturation < 0.55) else "orange"
    if hue < 68:
        return "brown" if value < 0.5 and hue < 50 else "green" if value < 0.5 else "yellow"
    if hue < 162:
        return "green"
    if hue < 200:
        return "teal" if value < 0.66 else "cyan"
    if hue < 256:
        return "blue"
    if hue < 290:
        return "purple"
    if hue < 322:
        return "magenta" if value > 0.75 and saturation > 0.6 else "pink" if light > 0.68 else "purple"
    return "pink" if light > 0.42 or value > 0.8 else "red" if hue > 335 else "purple"
