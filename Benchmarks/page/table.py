"""Tables: the first column names the row."""

from page.markup import element


def table(caption, head, rows, class_=None):
    """Cells are texts, elements or pairs of text and class."""
    top = element("tr", [element("th", text, scope="col") for text in head])
    return element("div", element("table", element("caption", element("span", caption)), element("thead", top),
                                  element("tbody", [line(cells) for cells in rows]), class_=class_),
                   class_="scroll", tabindex="0", role="region", aria_label=caption)


def line(cells):
    first, *rest = cells
    return element("tr", element("th", first, scope="row"), [cell(value) for value in rest])


def cell(value):
    text, kind = value if isinstance(value, tuple) else (value, None)
    return element("td", text, class_=kind)
