"""Reports in a browser: clean, a few flips, everything diverged, 10,000 samples, an upgrade, and hostile text."""

import pathlib
import sys
import time
import unittest

import browser as chromium
import detectors
import html_file

LIMIT_BYTES = 2_000_000


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = html_file.temporary_folder()
        cls.addClassCleanup(folder.cleanup)
        start = time.perf_counter()
        cls.folder = pathlib.Path(folder.name)
        cls.pages = html_file.write_pages(folder.name)
        print(f"{len(cls.pages)} pages in {time.perf_counter() - start:.1f} s", file=sys.stderr)
        cls.browser = chromium.Browser()
        cls.addClassCleanup(cls.browser.close)

    def hold_to(self, detector, *arguments):
        for name, path in sorted(self.pages.items()):
            with self.subTest(page=name):
                self.assertEqual(detector(self.browser, path, *arguments), [])

    def test_every_kind_of_page_is_there(self):
        self.assertEqual(sorted(self.pages), ["all", "clean", "few", "hostile", "large", "tame", "upgrade"])

    def test_under_two_megabytes_and_the_same_bytes_again(self):
        with html_file.temporary_folder() as folder:
            for name, path in html_file.write_pages(folder).items():
                self.assertLess(path.stat().st_size, LIMIT_BYTES, name)
                self.assertEqual(path.read_bytes(), self.pages[name].read_bytes(), name)

    def test_nothing_on_the_console_nothing_refused_no_request(self):
        self.hold_to(detectors.quiet)

    def test_no_sideways_scroll(self):
        self.hold_to(detectors.fits)

    def test_contrast_in_both_themes(self):
        self.hold_to(detectors.contrasts)

    def test_tables_headings_and_graphics_have_names(self):
        self.hold_to(detectors.structured)

    def test_keyboard(self):
        self.hold_to(detectors.reached_by_keyboard)

    def test_without_scripts(self):
        self.hold_to(detectors.readable_without_script)

    def test_on_paper(self):
        self.hold_to(detectors.printable)

    def test_enter_opens_a_fold_and_copies_a_command(self):
        self.browser.open(self.pages["few"])
        controls = self.browser.check("controls")
        for name, before, after in (("<summary>", None, "true"), ("<button>", "Copy", ("Copied", "Selected"))):
            self.browser.open(self.pages["few"])
            self.browser.check("controls")
            for _ in range(1 + next(i for i, words in enumerate(controls) if words.startswith(name))):
                self.browser.tab()
            focused = self.browser.driver.switch_to.active_element
            if before:
                self.assertEqual(focused.text, before)
            self.browser.enter()
            time.sleep(0.2)
            self.assertIn(focused.text if before else focused.find_element("xpath", "..").get_attribute("open"), after)

    def test_hostile_text_breaks_out_of_nothing(self):
        self.assertEqual(detectors.same_skeleton(self.browser, self.pages["hostile"], self.pages["tame"]), [])

    def test_hostile_text_is_told_in_full(self):
        lines = (self.folder / "hostile.txt").read_bytes()
        self.assertEqual(detectors.all_told(self.browser, self.pages["hostile"], html_file.visible(lines), 20), [])


if __name__ == "__main__":
    if chromium.why_not():
        print("SKIPPED: " + chromium.why_not())
        sys.exit(0)
    unittest.main()
