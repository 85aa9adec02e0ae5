"""A hook of mkdocs: links to files of the repository that are not part of the site, such as samples and deploy files.

As Markdown on a forge these links work as they are. On the site they lead to the repository, or, when its URL is not
known, are shown as the path of the file.
"""

import pathlib
import posixpath
import re

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)\s#]*)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    root = pathlib.Path(config["docs_dir"]).parent
    folder = posixpath.dirname("docs/" + page.file.src_uri)

    def link(found):
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        if path.startswith("docs/") or not (root / path).exists():
            return found[0]
        if config["repo_url"]:
            kind = "tree" if (root / path).is_dir() else "blob"
            return f"[{found[1]}]({config['repo_url'].rstrip('/')}/{kind}/main/{path}{found[3] or ''})"
        return found[1] if found[1].strip("`") == path else f"{found[1]} (`{path}`)"
    return LINK.sub(link, markdown)
