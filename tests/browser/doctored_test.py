"""Each detector finds the fault that is planted for it, and only the planted page has one."""

import pathlib
import re
import sys
import unittest

import browser as chromium
import detectors
import html_file
from html_file import admitted, with_script, with_style, without_policy


class Doctored(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = html_file.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.pages = html_file.write_pages(folder.name)
        cls.page = cls.pages["few"].read_text()
        cls.browser = chromium.Browser()
        cls.addClassCleanup(cls.browser.close)

    def planted(self, page, name="doctored.html"):
        path = self.folder / name
        self.assertNotEqual(page, self.page, "nothing was planted")
        path.write_text(page)
        return path

    def finds(self, detector, page, words, *arguments):
        found = detector(self.browser, self.planted(page), *arguments)
        self.assertTrue(any(words in line for line in found), f"'{words}' not in {found[:5]}")

    def replaced(self, old, new, count=1):
        self.assertIn(old, self.page)
        return self.page.replace(old, new, count)

    def test_a_script_that_throws(self):
        self.finds(detectors.quiet, with_script(self.page, "throw new Error('planted');"), "planted")

    def test_a_style_that_the_policy_refuses(self):
        self.finds(detectors.quiet, self.replaced("<h1", '<p style="color:red">x</p><h1'), "policy: style-src")

    def test_an_image_that_the_policy_refuses(self):
        self.finds(detectors.quiet, self.replaced("<h1", '<img src="http://127.0.0.1:9/x.png" alt=""><h1'), "policy: img-src")

    def test_a_request(self):
        page = without_policy(self.replaced("<h1", '<img src="http://127.0.0.1:9/x.png" alt=""><h1'))
        self.finds(detectors.quiet, page, "asked for http://127.0.0.1:9/x.png")

    def test_text_that_runs(self):
        self.finds(detectors.quiet, without_policy(self.replaced("<h1", "<script>alert(1)</script><h1")), "ran: alert(1)")

    def test_a_wide_box(self):
        self.finds(detectors.fits, with_style(self.page, ".card{min-width:900px}"), "scrolls sideways")

    def test_text_that_is_cut_off(self):
        self.finds(detectors.fits, with_style(self.page, "h1{overflow:hidden;white-space:nowrap;width:60px}"), "is cut off")

    def test_faint_text_in_one_theme(self):
        self.finds(detectors.contrasts, with_style(self.page, ":root{--soft:#8a94a0}"), "light")
        self.finds(detectors.contrasts, with_style(self.page, "@media (prefers-color-scheme:dark){:root{--soft:#59636f}}"), "dark")

    def test_faint_labels_of_plots_and_of_narrow_tables(self):
        self.finds(detectors.contrasts, with_style(self.page, ".label{opacity:.5}"), "text.")
        self.finds(detectors.contrasts, with_style(self.page, "table.stack td::before{color:#bbb}"), "::before")

    def test_a_label_over_a_dark_mark(self):
        page = self.replaced('</desc>', '</desc><rect width="420" height="260" fill="#555"/>')
        self.finds(detectors.contrasts, page, "text.")

    def test_tables_without_headers(self):
        self.finds(detectors.structured, self.replaced('<th scope="col"', "<th"), "column header without scope")
        self.finds(detectors.structured, self.replaced('<th scope="row"', "<th"), "row without header")
        self.finds(detectors.structured, self.replaced("<thead>", '<thead hidden="">').replace("<tbody>", "<tbody><tr><td>x</td></tr>", 1), "a row of 1 cells")

    def test_a_table_and_a_graphic_without_name(self):
        self.finds(detectors.structured, self.replaced("<table", '<table><thead></thead></table><table'), "no name")
        self.finds(detectors.structured, re.sub(r'role="img" aria-label="[^"]*"', 'role="img"', self.page, count=1), "without name")
        self.finds(detectors.structured, self.replaced("<h1", '<svg viewBox="0 0 1 1"></svg><h1'), "without role=img")

    def test_headings_and_ids(self):
        self.finds(detectors.structured, self.replaced("<h2", "<h5>x</h5><h2"), "after a heading of level 1")
        self.finds(detectors.structured, self.replaced("<h2", '<p id="main"></p><h2'), "two elements with the id main")
        self.finds(detectors.structured, self.replaced('href="#main"', 'href="#nowhere"'), "leads nowhere")

    def test_a_control_out_of_reach(self):
        self.finds(detectors.reached_by_keyboard, self.replaced("<summary", '<summary tabindex="-1"'), "not to ['<summary>")

    def test_controls_out_of_order(self):
        self.finds(detectors.reached_by_keyboard, self.page.replace("<button", '<button tabindex="5"'), "Tab goes to")

    def test_a_focus_that_does_not_show(self):
        self.finds(detectors.reached_by_keyboard, with_style(self.page, "summary:focus-visible{outline:none}"), "does not show its focus")
        self.finds(detectors.reached_by_keyboard, with_style(self.page, ".skip:focus{left:-999px}"), "off screen")

    def test_text_that_needs_a_script(self):
        page = with_script(self.replaced("<h1", '<p id="late" hidden>late</p><h1'), "document.getElementById('late').hidden = false;")
        self.finds(detectors.readable_without_script, page, "without")

    def test_paper(self):
        self.finds(detectors.printable, with_style(self.page, "@media print{figure{display:none}}"), "not on paper")
        self.finds(detectors.printable, with_style(self.page, "@media print{:root{--ink:#ccc}}"), "light at")
        self.finds(detectors.printable, with_style(self.page, "@media print{button{display:inline!important}}"), "a button")
        self.finds(detectors.printable, admitted(self.page.replace("::details-content", "::details-other")), "folded on paper")

    def test_hostile_text_that_becomes_markup(self):
        hostile = self.pages["hostile"].read_text()
        escaped = "&lt;img src=x onerror=alert(1)&gt;"
        self.assertIn(escaped, hostile)
        path = self.planted(hostile.replace(escaped, "<img src=x onerror=alert(1)>", 1))
        self.assertNotEqual(detectors.same_skeleton(self.browser, path, self.pages["tame"]), [])
        self.assertNotEqual(detectors.quiet(self.browser, path), [])

    def test_hostile_text_that_is_lost(self):
        hostile = self.pages["hostile"].read_text()
        words = html_file.visible((self.folder / "hostile.txt").read_bytes())
        path = self.planted(hostile.replace("&lt;/style&gt;", ""))
        self.assertNotEqual(detectors.all_told(self.browser, path, words, 1), [])


if __name__ == "__main__":
    if chromium.why_not():
        print("SKIPPED: " + chromium.why_not())
        sys.exit(0)
    unittest.main()
