"""Elements of HTML and SVG. All text is escaped, except `Markup` made here."""

import html


class Markup(str):
    """Text that is already markup."""


def element(name, /, *content, **attributes):
    """`class_` is class and `aria_label` is aria-label; None omits an attribute, True writes it without a value."""
    words = "".join(written(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()
                    if value is not None and value is not False)
    return Markup(f"<{name}{words}>{joined(content)}</{name}>")


def empty(name, /, **attributes):
    """A void element."""
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
