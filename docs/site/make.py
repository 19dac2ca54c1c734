"""The documentation as a static site: the pages of docs/, of the dialects and of the build's references, with a search that needs no
server. The navigation is docs/index.md.

  make.py REFERENCES OUT     REFERENCES: the folder into which the build writes its pages (build/docs)
"""
import argparse
import html
import json
import os
import pathlib
import re
import shutil
import string

from markup import Page, render

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
FOLDERS = ("docs", "dialects", "test/fuzz", "test/numerics", "benchmarks")
# What is listed by folder: the title that it has in the navigation.
GENERATED = "Reference"
RATIONALE = "Why it is so"


def sources(references):
    """{address of a page: file}: what the site is made of."""
    files = [ROOT / name for name in TOP] + [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    found = {address(path.relative_to(ROOT)): path for path in files}
    found.update({f"reference/{address(path.relative_to(references))}": path for path in sorted(references.rglob("*.md"))
                  if path.relative_to(references).parts[0] != "passes"})  # they are parts of passes.md
    return found


def address(path):
    """README.md -> index.html; docs/index.md -> docs/index.html; dialects/comm/README.md -> dialects/comm/index.html"""
    name = "index" if path.stem == "README" else path.stem
    return str(path.with_name(f"{name}.html"))


def navigation(pages, index):
    """[(group, [(title, address)])] from the headings and links of docs/index.md, and what the build makes."""
    groups = [("Tessera", [("Read me", "index.html"), ("Documentation", "docs/index.html"), ("Changes", "CHANGELOG.html")])]
    for line in index.read_text().splitlines():
        if heading := re.match(r"## (.*)", line):
            groups.append((heading.group(1), []))
        for title, link in re.findall(r"\[([^]]+)\]\(([^)#]+\.md)\)", line):
            page = address(pathlib.Path(os.path.normpath(pathlib.Path("docs") / link)))
            if page in pages and page not in {known for _, entries in groups for _, known in entries}:
                groups[-1][1].append((title, page))
    for title, folder in (RATIONALE, "docs/rationale/"), (GENERATED, "reference/"):
        below = sorted((page for page in pages if page.startswith(folder)), key=lambda page: (page.count("/"), page))
        groups.append((title, [(pages[page].title, page) for page in below]))
    return [(group, entries) for group, entries in groups if entries]


def relative(target, page):
    return os.path.relpath(target, os.path.dirname(page) or ".")


def menu(groups, page, headings):
    """The navigation of one page, its own headings below its title."""
    lines = []
    for group, entries in groups:
        lines.append(f"<h2>{html.escape(group)}</h2><ul>")
        for title, target in entries:
            here = target == page
            lines.append(f'<li><a href="{relative(target, page)}"{" aria-current=page" if here else ""}>{html.escape(title)}</a>')
            if here and len(headings) > 1:
                inner = "".join(f'<li><a href="#{heading.anchor}">{html.escape(heading.text)}</a></li>' for heading in headings)
                lines.append(f"<ul>{inner}</ul>")
            lines.append("</li>")
        lines.append("</ul>")
    return "".join(lines)


def linked_files(pages):
    """Files of the tree that pages link to and that are no page: shown as text. Folders: as a list."""
    files = {}
    for page in pages.values():
        for file in page.others:
            files[file] = f"source/{file.relative_to(ROOT)}.html" if file != ROOT else "source/index.html"
    return files


def text_page(file):
    """A file of the tree, or what is in a folder."""
    title = str(file.relative_to(ROOT))
    if file.is_dir():
        names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in file.iterdir() if not path.name.startswith((".", "__")))
        body = "<ul>" + "".join(f"<li>{html.escape(name)}</li>" for name in names) + "</ul>"
    else:
        body = f"<pre><code>{html.escape(file.read_text(errors='replace'))}</code></pre>"
    return Page(title=title, body=f"<h1>{html.escape(title)}</h1>{body}", headings=[], sections=[], others=set())


def search_index(pages):
    """What the search reads: [address, title of the page, title of the section, text], a section each."""
    sections = [[f"{name}#{section.anchor}" if section.anchor else name, page.title, section.title, section.text]
                for name, page in pages.items() for section in page.sections]
    return "window.tesseraSections = " + json.dumps(sections, ensure_ascii=False, separators=(",", ":")) + ";\n"


def make(references, out):
    found = sources(references)
    pages = {name: render(path, name, found, ROOT) for name, path in found.items()}
    for name, page in pages.items():
        if name.startswith("reference/dialects/") and name.count("/") > 2:  # a family of ops of one dialect
            page.title = f"{pathlib.Path(name).parent.name}: {page.title}"
    groups = navigation(pages, ROOT / "docs/index.md")
    listed = {name for _, entries in groups for _, name in entries}
    template = string.Template((HERE / "page.html").read_text())
    texts = {name: text_page(file) for file, name in linked_files(pages).items()}
    shutil.rmtree(out, ignore_errors=True)
    for name, page in {**pages, **texts}.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        phases = [heading for heading in page.headings if heading.level == 1]
        top = phases if len(phases) > 1 else [heading for heading in page.headings if heading.level == 2]
        file.write_text(template.substitute(
            title=html.escape(page.title), body=page.body, navigation=menu(groups, name, top), root=relative(".", name)))
    for asset in ("style.css", "search.js"):
        shutil.copy(HERE / asset, out / asset)
    (out / "search-index.js").write_text(search_index(pages))
    return pages, listed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("references", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    pages, _ = make(arguments.references.resolve(), arguments.out.resolve())
    print(f"{len(pages)} pages: {arguments.out}/index.html")


if __name__ == "__main__":
    main()
