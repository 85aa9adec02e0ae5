"""The legend of a chart."""

from page.markup import element


def legend(entries):
    """`entries` are (class, name)."""
    return element("ul", [element("li", swatch(kind), element("span", name)) for kind, name in entries],
                   class_="legend")


def swatch(kind):
    return element("svg", element("rect", width="12", height="12", rx="2", class_=kind), width="12", height="12",
                   aria_hidden="true")
