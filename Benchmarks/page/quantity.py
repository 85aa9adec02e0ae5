"""Formatting of numbers."""


def milliseconds(value):
    """Two or three digits in a suitable unit; a dash if there is no value."""
    if value is None:
        return "–"
    if value == "never":
        return "never"
    if value < 999.5:
        return f"{value:.1f} ms" if value < 9.95 else f"{value:.0f} ms"
    return f"{value / 1000:.2f} s" if value < 9_995 else f"{value / 1000:.1f} s"


def share(value):
    return f"{value * 100:.1f} %"


def size(count):
    if count is None:
        return "–"
    if count < 999_500:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB"


def amount(value, unit):
    """A value of the side-by-side run."""
    if value is None:
        return "–"
    if unit == "s":
        return milliseconds(value * 1000)
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".strip()
