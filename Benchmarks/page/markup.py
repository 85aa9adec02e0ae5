"""Elements of HTML and SVG. Every text is escaped; only what was made here is markup."""

import html


class Markup(str):
    """Text that is markup already."""


def element(name, /, *content, **attributes):
    """`class_` is class and `aria_label` is aria-label; an attribute of None is left out, True stands alone."""
    words = "".join(written(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()
                    if value is not None and value is not False)
    return Markup(f"<{name}{words}>{joined(content)}</{name}>")


def empty(name, /, **attributes):
    """An element that HTML does not close."""
    return Markup(element(name, **attributes).removesuffix(f"</{name}>"))


def written(key, value):
    return f" {key}" if value is True else f' {key}="{html.escape(str(value))}"'


def joined(content):
    """Texts, elements and lists of them."""
    parts = []
    for part in content:
        if isinstance(part, Markup):
            parts.append(part)
        elif isinstance(part, str):
            parts.append(html.escape(part, quote=False))
        elif part is not None:
            parts.append(joined(part))
    return Markup("".join(parts))
