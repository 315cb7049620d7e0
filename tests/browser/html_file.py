"""The pages under test: written by the program html_pages, and changed by hand where a fault is planted."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile

PROGRAM = os.environ["HTML_PAGES"]


def write_pages(folder):
    subprocess.run([PROGRAM, folder], check=True, timeout=300)
    return {path.stem: path for path in pathlib.Path(folder).glob("*.html")}


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="isobit-pages-")


def visible(text):
    """As the report shows bytes: invalid and invisible ones escaped. Written apart from the program's own, for what hostile.txt holds."""
    text = text.replace(b"\\", b"\\\\").replace(b"::error::", b"\\x3a:error::")  # nor may a CI system take it for a command
    out = text.replace(b"\x1b", b"\\x1b").replace(b"\xe2\x80\xae", b"\\u{202e}").replace(b"\n", b"\\n")
    return out.replace(b"\xff", b"\\xff").decode()


def digest(content):
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def admitted(page):
    """The page with its policy made to admit the style and script it has now."""
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        content = re.search(f"<{tag}>(.*?)</{tag}>", page, re.S).group(1)
        page = re.sub(f"{directive} '[^']*'", lambda _, d=directive, c=content: f"{d} '{digest(c)}'", page, count=1)
    return page


def without_policy(page):
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)


def with_style(page, rule):
    return admitted(page.replace("</style>", rule + "</style>", 1))


def with_script(page, statement):
    return admitted(page.replace("</script>", statement + "</script>"))
