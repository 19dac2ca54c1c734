"""What must hold of the site: each link leads to a page, and to a heading of it where it names one; each page of docs/ is in the
navigation, and what it says can be searched; nothing is loaded from elsewhere.

  site.py SITE
"""
import html.parser
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loaded, self.open, self.wrong = set(), [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            if attributes["id"] in self.anchors:
                self.wrong.append(f"has #{attributes['id']} twice")
            self.anchors.add(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        elif tag in ("script", "link", "img"):
            self.loaded.append(attributes.get("src") or attributes.get("href"))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"closes <{tag}>, which is not what was opened last")


def read(site):
    pages = {}
    for file in sorted(site.rglob("*.html")):
        pages[file] = Reader()
        pages[file].feed(file.read_text())
    return pages


def problems_of(file, page, pages):
    yield from page.wrong
    if page.open:
        yield f"leaves <{page.open[-1]}> open"
    for name in page.loaded:
        if "://" in name or not (file.parent / name).exists():
            yield f"loads {name}"
    for link in page.links:
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        to = pathlib.Path(os.path.normpath(file.parent / target)) if target else file
        if to not in pages:
            yield f"links to {link}, which is not there"
        elif anchor and anchor not in pages[to].anchors:
            yield f"links to {link}: the page has no such heading"


def unlisted(site, pages):
    start = pages[site / "index.html"]
    listed = {os.path.normpath(link) for link in start.links}
    for source in sorted((ROOT / "docs").rglob("*.md")):
        name = str(source.relative_to(ROOT).with_suffix(".html"))
        if name not in listed:
            yield f"{source.relative_to(ROOT)}: docs/index.md does not list it"


def unsearchable(site):
    text = (site / "search-index.js").read_text()
    sections = json.loads(re.fullmatch(r"window\.tesseraSections = (.*);\n", text, re.S).group(1))
    found = {address.partition("#")[0] for address, _, _, said in sections if said.strip()}
    for source in sorted((ROOT / "docs").rglob("*.md")):
        if str(source.relative_to(ROOT).with_suffix(".html")) not in found:
            yield f"{source.relative_to(ROOT)}: its text is not searched"
    if not any(address.startswith("reference/passes.html#") and "tessera-insert-reshards" in title for address, _, title, _ in sections):
        yield "the passes are not searched by name"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = read(site)
    found = [f"{file.relative_to(site)}: {problem}" for file, page in pages.items() for problem in problems_of(file, page, pages)]
    found += [*unlisted(site, pages), *unsearchable(site)]
    print("\n".join(found) or f"{len(pages)} pages in order")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
