"""Markdown to a page's HTML: headings with anchors as GitHub names them, links between pages, the sections that are searched."""
import dataclasses
import html
import os
import pathlib
import re

from markdown_it import MarkdownIt


@dataclasses.dataclass
class Heading:
    level: int
    text: str
    anchor: str


@dataclasses.dataclass
class Section:
    title: str
    anchor: str
    text: str


@dataclasses.dataclass
class Page:
    title: str
    body: str
    headings: list
    sections: list
    others: set  # files of the tree that it links to and that are no page


def anchor_of(text, taken):
    """GitHub's: small letters, no punctuation, hyphens for spaces; a number where there is one already."""
    plain = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") or "section"
    name, count = plain, 0
    while name in taken:
        count += 1
        name = f"{plain}-{count}"
    taken.add(name)
    return name


def plain_text(token):
    return "".join(child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else "" for child in token.children or ())


HIGHLIGHTS = {
    "mlir": r"(?P<comment>//[^\n]*)|(?P<string>\"[^\"\n]*\")|(?P<value>%[\w#$.-]+)|(?P<symbol>@\w+)|(?P<type>\btensor<[^>]*>+)|(?P<name>\b[a-z_]+\.[a-z_.]+\b)",
    "cpp": r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"[^\"\n]*\")|(?P<name>\b(?:return|for|while|if|else|const|static|struct|auto|enum|int|void|float|double)\b)",
    "python": r"(?P<comment>#[^\n]*)|(?P<string>\"[^\"\n]*\"|'[^'\n]*')|(?P<name>\b(?:def|return|for|in|if|else|import|from|as|lambda|with|class|print)\b)",
    "cmake": r"(?P<comment>#[^\n]*)|(?P<name>^\w+(?=\())",
}
HIGHLIGHTS["c"] = HIGHLIGHTS["cpp"]


def code(text, language):
    """A listing, its words marked by what they are."""
    pattern = HIGHLIGHTS.get(language)
    if not pattern:
        return f"<pre><code>{html.escape(text)}</code></pre>"
    parts, at = [], 0
    for match in re.finditer(pattern, text, re.M | re.S):
        parts.append(html.escape(text[at : match.start()]))
        parts.append(f'<span class="{match.lastgroup}">{html.escape(match.group())}</span>')
        at = match.end()
    return f"<pre><code>{''.join(parts)}{html.escape(text[at:])}</code></pre>"


class Links:
    """Where a link of a source leads in the site."""

    def __init__(self, path, page, pages, root):
        self.path, self.page, self.root = path, page, root
        self.pages = {file: name for name, file in pages.items()}
        self.others = set()

    def __call__(self, link):
        target, _, anchor = link.partition("#")
        if not target or re.match(r"[a-z]+:", link):
            return link
        file = pathlib.Path(os.path.normpath(self.path.parent / target))
        if not file.exists():
            raise SystemExit(f"error: {self.path}: link to {link}, which is not there")
        if file.is_dir():
            file = next((file / name for name in ("README.md", "index.md") if file / name in self.pages), file)
        name = self.pages.get(file)
        if not name:
            self.others.add(file)
            name = f"source/{file.relative_to(self.root)}.html" if file != self.root else "source/index.html"
        return os.path.relpath(name, os.path.dirname(self.page) or ".") + (f"#{anchor}" if anchor else "")


def render(path, page, pages, root):
    """The page at the address `page` that `path` becomes; `pages`: {address: file} of all."""
    # Generated pages begin with a comment that says so.
    text = re.sub(r"<!--.*?-->\n?", "", path.read_text(), flags=re.S)
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    links, taken, headings, sections = Links(path, page, pages, root), set(), [], []
    section = Section("", "", "")
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            said = plain_text(tokens[at + 1])
            heading = Heading(int(token.tag[1]), said, anchor_of(said, taken))
            headings.append(heading)
            token.attrSet("id", heading.anchor)
            section = Section(said, heading.anchor if len(headings) > 1 else "", "")
            sections.append(section)
        elif token.type == "inline":
            if tokens[at - 1].type != "heading_open":
                section.text += plain_text(token) + "\n"
            for child in token.children:
                if child.type == "link_open":
                    child.attrSet("href", links(child.attrGet("href")))
        elif token.type in ("fence", "code_block"):
            section.text += token.content
    markdown.add_render_rule("fence", lambda self, tokens, at, options, env: code(tokens[at].content, tokens[at].info.strip()))
    markdown.add_render_rule("code_block", lambda self, tokens, at, options, env: code(tokens[at].content, ""))
    markdown.add_render_rule("table_open", lambda self, tokens, at, options, env: '<div class="wide"><table>')
    markdown.add_render_rule("table_close", lambda self, tokens, at, options, env: "</table></div>")
    body = markdown.renderer.render(tokens, markdown.options, {})
    titles = [heading.text for heading in headings if heading.level == 1]
    title = titles[0] if len(titles) == 1 else ""
    if not title:  # of the build's pages
        title = path.stem[0].upper() + path.stem[1:]
        body = f"<h1>{html.escape(title)}</h1>{body}"
    return Page(title, body, headings, sections, links.others)
