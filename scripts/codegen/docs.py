#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documents as static pages with a search, into build/docs/site: all that is linked from README.md, docs/ and
the folders' READMEs, with the links as they stand in the repository."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

# Sections of the navigation, in their order; pages in the order in which docs/README.md lists them.
SECTIONS = ("tutorials", "guides", "reference", "explanations", "course")

CONFIG = """\
site_name: gemm64
docs_dir: {source}
site_dir: {site}
theme:
  name: material
  font: false
  features: [navigation.sections, navigation.top, content.code.copy, search.highlight]
  palette:
    - {{media: "(prefers-color-scheme: light)", scheme: default, toggle: {{icon: material/weather-night, name: Dark}}}}
    - {{media: "(prefers-color-scheme: dark)", scheme: slate, toggle: {{icon: material/weather-sunny, name: Light}}}}
use_directory_urls: false
plugins: [search]
markdown_extensions:
  - admonition
  - attr_list
  - md_in_html
  - tables
  - toc: {{permalink: true, slugify: !!python/object/apply:pymdownx.slugs.slugify {{kwds: {{case: lower}}}}}}
  - pymdownx.highlight: {{use_pygments: true}}
  - pymdownx.superfences
validation:
  links: {{anchors: warn, unrecognized_links: warn}}
  nav: {{omitted_files: ignore}}
nav:
{nav}
"""


def title(page):
    heading = re.search(r"(?m)^# (.*)$", page.read_text(encoding="utf-8"))
    return re.sub(r"`", "", heading[1]) if heading else page.stem


def listed(folder):
    """Its pages, in the order in which docs/README.md, or else its own README, links to them."""
    pages = {page.name: page for page in sorted((ROOT / "docs" / folder).glob("*.md"))}
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    own = ROOT / "docs" / folder / "README.md"
    order = ["README.md"] + re.findall(rf"\]\({folder}/([\w-]+\.md)\)", text)
    if own.is_file():
        order += re.findall(r"\]\(([\w-]+\.md)\)", own.read_text(encoding="utf-8"))
    names = [name for name in dict.fromkeys(order) if name in pages] + [name for name in pages if name not in order]
    return [pages[name] for name in names]


def quoted(text):
    return '"' + text.replace('"', '\\"') + '"'


def navigation(pages):
    lines = ["  - README.md", "  - Overview: docs/README.md", "  - Results: docs/results.md"]
    for folder in SECTIONS:
        lines.append(f"  - {folder.capitalize()}:")
        lines += [f"      - {quoted(title(page))}: {page.relative_to(ROOT)}" for page in listed(folder)]
    lines.append("  - Inside:")
    lines += [f"      - {quoted(title(page))}: {page.relative_to(ROOT)}" for page in pages
              if page.relative_to(ROOT).parts[0] != "docs" and page != ROOT / "README.md"]
    return "\n".join(lines)


def stage(pages, source):
    """Copies pages, and what they link to, so that links lead where they do in the repository."""
    from links import links  # of tests/docs
    shutil.rmtree(source, ignore_errors=True)
    for page in pages:
        wanted = [page]
        for _, link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if not re.match(r"[a-z]+:", link) and target.is_file() and ROOT in target.parents:
                wanted.append(target)
        for file in wanted:
            copy = source / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists():
                shutil.copyfile(file, copy)


def main():
    parser = argparse.ArgumentParser(prog="scripts/codegen/docs.py", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "docs", help="where to (default build/docs)")
    build = parser.parse_args().build.resolve()
    build.mkdir(parents=True, exist_ok=True)
    made = subprocess.run([ROOT / "scripts" / "setup" / "venv.sh", build / "venv", ROOT / "scripts" / "codegen" / "docs-requirements.txt"], check=False)
    if made.returncode != 0:
        return made.returncode
    from links import documents
    pages = documents(ROOT)
    stage(pages, build / "source")
    config = build / "mkdocs.yml"
    config.write_text(CONFIG.format(source=build / "source", site=build / "site", nav=navigation(pages)), encoding="utf-8")
    done = subprocess.run([build / "venv" / "bin" / "mkdocs", "build", "--strict", "--quiet", "--config-file", config],
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False)
    if done.returncode == 0:
        site = os.path.relpath(build / "site")
        print(f"Built: {site}/index.html. Search needs a web server: python3 -m http.server -d {site}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
