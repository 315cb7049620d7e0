#!/usr/bin/env python3
"""Every relative link of the documents leads to a file of the tree and, where it names one, to a heading in it."""
import glob
import os
import re
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


def documents(root):
    folders = ("", "docs", "examples/**", "tests/**", "packaging")
    return sorted({path for folder in folders for path in glob.glob(os.path.join(root, folder, "*.md"), recursive=True)})


def without_blocks(text):
    return re.sub(r"^( *)(```|~~~).*?^ *\2 *$", "", text, flags=re.M | re.S)


def prose(text):
    """What is no code: an example may hold brackets that are no link."""
    return re.sub(r"(`+).+?\1", "", without_blocks(text), flags=re.S)


def links(text):
    return re.findall(r"\]\(\s*<?([^\s)>]+)", prose(text)) + re.findall(r"^\[[^\]]+\]:\s*(\S+)", prose(text), re.M)


def anchors(text):
    """As GitHub makes them of headings: lower case, punctuation dropped, blanks to hyphens, a number for the second of a name."""
    seen = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", without_blocks(text), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        yield anchor if seen[anchor] == 0 else f"{anchor}-{seen[anchor]}"


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def broken_links(root):
    for document in documents(root):
        for link in links(text_of(document)):
            if ELSEWHERE.match(link):
                continue
            file, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(document), file)) if file else document
            where = f"{os.path.relpath(document, root)}: {link}"
            if os.path.relpath(target, root).startswith(".."):
                yield f"{where}: leaves the tree"
            elif not os.path.exists(target):
                yield f"{where}: no such file"
            elif anchor and anchor not in anchors(text_of(target)):
                yield f"{where}: no such heading; there are {', '.join(anchors(text_of(target)))}"


class Links(unittest.TestCase):
    def tree(self, **files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.mkdir(os.path.join(folder.name, "docs"))
        for name, text in files.items():
            with open(os.path.join(folder.name, name.replace("__", "/") + ".md"), "w", encoding="utf-8") as out:
                out.write(text)
        return list(broken_links(folder.name))

    def test_every_relative_link_of_the_documents_leads_somewhere(self):
        names = [os.path.relpath(path, ROOT) for path in documents(ROOT)]
        self.assertIn("README.md", names)
        self.assertIn(os.path.join("examples", "monitoring", "README.md"), names)
        self.assertGreater(sum(len(links(text_of(path))) for path in documents(ROOT)), 30)
        self.assertEqual(list(broken_links(ROOT)), [])

    def test_a_link_to_a_file_that_is_not_there_is_found(self):
        self.assertEqual(self.tree(README="[a](docs/a.md) [b](docs/b.md)", docs__a="[up](../README.md)"), ["README.md: docs/b.md: no such file"])

    def test_a_link_to_a_heading_that_is_not_there_is_found(self):
        found = self.tree(README="# One: `two`!\n## Same\n## Same\n[a](#one-two) [b](docs/a.md#x) [c](#same-1)", docs__a="## Y\n```\n# x\n```\n")
        self.assertEqual(found, ["README.md: docs/a.md#x: no such heading; there are y"])

    def test_a_link_out_of_the_tree_is_found(self):
        self.assertEqual(self.tree(README="[a](../other.md)"), ["README.md: ../other.md: leaves the tree"])

    def test_addresses_and_examples_are_no_relative_links(self):
        self.assertEqual(self.tree(README="[a](https://example.org/x) `[b](c.md)`\n```\n[d](e.md)\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
