"""The page as one file, without scripts and requests, which its policy forbids."""

import base64
import hashlib
import os

from page import arrival_section, budget_section, method_section, ratio_section
from page.key_figures import key_figures
from page.markup import Markup, element, empty

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "style.css")


def document(budget, campaign, comparison):
    """The sections of the measured parts."""
    parts = [("arrival", "What arrives", campaign and arrival_section.section(campaign)),
             ("budget", "Stage by stage", budget and budget_section.section(budget)),
             ("side-by-side", "Side by side", comparison and ratio_section.section(comparison)),
             ("method", "How", method_section.section(budget, campaign, comparison))]
    parts = [part for part in parts if part[2]]
    head = element("header", element("p", "attachprep", class_="brand"), element("h1", "The time budget, measured"),
                   element("p", "The time that a push notification waits: a source is downloaded, validated, prepared "
                           "and published, and a phone downloads the result.", class_="lead"),
                   key_figures(campaign, budget, comparison),
                   element("nav", [element("a", name, href=f"#{anchor}") for anchor, name, _ in parts],
                           aria_label="Sections"))
    return page("attachprep: the time budget, measured",
                element("body", head, element("main", [section for _, _, section in parts])))


def page(title, body):
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element("head", empty("meta", charset="utf-8"),
                   empty("meta", http_equiv="Content-Security-Policy", content=policy),
                   empty("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   empty("meta", name="color-scheme", content="light dark"),
                   element("title", title), element("style", Markup(style)))
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"
