"""A bar chart: HTML rows, each with an SVG bar of the available width.

Positions are percentages and texts are HTML, so that they keep their size on phones. For screen readers, the table
after the chart has the same numbers.
"""

from page.markup import element
from page.table import table


def chart(title, scale, tick, rows, *, lines=(), head=(), note=None, class_="chart"):
    """`rows` are (label, shapes, numbers); `lines` are reference values with their names."""
    marks = [upright(scale, value, "limit") for value, _ in lines if scale.holds(value)]
    grid = [upright(scale, value, "grid") for value in scale.ticks()]
    body = [row(label, [grid, middle(shapes), marks], numbers) for label, shapes, numbers in rows]
    return element("figure", element("figcaption", element("strong", title), element("span", note) if note else None),
                   element("div", axis(scale, tick, lines, head), body, class_="bars", aria_hidden="true"),
                   class_=class_)


def upright(scale, value, kind):
    return element("line", x1=scale.at(value), x2=scale.at(value), y1="0", y2="100%", class_=kind)


def middle(shapes):
    """Vertical positions are relative to the middle of the row, which may have two lines of text."""
    return element("svg", shapes, y="50%", overflow="visible")


def axis(scale, tick, lines, head):
    """Ticks above the rows, with the names of visible reference lines."""
    texts = [element("text", tick(value), x=scale.at(value), y="28", class_=end_class(scale, value))
             for value in scale.ticks()]
    names = [element("text", name, x=scale.at(value), y="12", class_=f"{end_class(scale, value)} limit")
             for value, name in lines if scale.holds(value)]
    return element("div", element("div", class_="label"), plot(texts, names),
                   element("div", [element("span", text) for text in head], class_="numbers"), class_="row axis")


def end_class(scale, value):
    """Keeps texts at the ends inside the chart."""
    share = value / scale.end
    return "first" if share < 0.02 else "last" if share > 0.96 else "mid"


def row(label, shapes, numbers):
    return element("div", element("div", label, class_="label"), plot(shapes),
                   element("div", [element("span", number) for number in numbers], class_="numbers"), class_="row")


def plot(*shapes):
    return element("div", element("svg", shapes, xmlns="http://www.w3.org/2000/svg"), class_="plot")


def bar(scale, start, end, kind, title, y=-7):
    """A segment of a bar; None if it is empty."""
    return element("rect", element("title", title), x=scale.at(start), y=str(y), width=scale.length(start, end),
                   height="14", class_=kind) if end > start else None


def behind(summary, caption, head, rows, class_=None):
    """The table with the numbers of a chart."""
    return element("details", element("summary", summary), table(caption, head, rows, class_))
