"""What a report must be in a browser. Each detector opens a page and returns what is wrong with it, in words; pages_test.py holds
the reports to them, doctored_test.py plants a fault for each."""

from browser import NARROW, WIDE

CONTRAST = 4.5
THEMES = (False, True)


def quiet(browser, path):
    """Nothing on the console, nothing refused by the page's own policy, nothing asked of a network, nothing run but its script."""
    browser.open(path)
    witness = browser.witness()
    return ([f"console: {line}" for line in browser.console()] + [f"policy: {line}" for line in witness["violations"]]
            + [f"ran: {line}" for line in witness["executed"]] + [f"asked for {url}" for url in browser.requests()])


def fits(browser, path, widths=(NARROW, 768, WIDE)):
    found = []
    for width in widths:
        browser.open(path, width=width)
        browser.check("openDetails")
        found += [f"at {width} px: {line}" for line in browser.check("tooWide")]
    return found


def contrasts(browser, path, paper=False):
    found = []
    for dark in THEMES:
        for width in (NARROW, WIDE):
            browser.open(path, width=width, dark=dark, paper=paper)
            browser.check("openDetails")
            found += [f"{'dark' if dark else 'light'} at {width} px: {line}" for line in browser.check("lowContrast", CONTRAST)]
    return found


def structured(browser, path):
    browser.open(path)
    found = browser.check("badTables") + browser.check("badOutline") + browser.check("unnamedGraphics")
    for selector, role in (("svg[role=img]", "image"), ("button", "button"), ("table", "table"), ("summary", None)):
        for element in browser.all(selector)[:25]:  # as the browser tells a screen reader
            if element.is_displayed() and not element.accessible_name.strip():
                found.append(f"{selector} without a name for screen readers")
            if element.is_displayed() and role and element.aria_role not in (role, "img" if role == "image" else role):
                found.append(f"{selector} is told as {element.aria_role}")
    return found


def reached_by_keyboard(browser, path):
    """Tab goes through every control in the order of the page, and each shows that it has the focus."""
    browser.open(path)
    expected = browser.check("controls")
    found, reached = [], []
    for _ in range(len(expected)):
        browser.tab()
        at = browser.check("focused")
        if at is None:
            break
        found += at["problems"]
        reached.append(at["index"])
    if reached != list(range(len(expected))):
        missed = [words for i, words in enumerate(expected) if i not in reached]
        found.append(f"Tab goes to {reached[:20]} of {len(expected)} controls; not to {missed[:5]}")
    return found


def readable_without_script(browser, path):
    """The same text as with scripts, buttons aside, and every fold opens."""
    browser.open(path)
    with_script = browser.check("readableText")
    browser.open(path, scripts=False)
    without = browser.check("readableText")
    found = [] if with_script == without else [f"{len(with_script)} characters with scripts, {len(without)} without"]
    for summary in browser.all("summary")[:3]:
        summary.click()
        if not summary.find_element("xpath", "..").get_attribute("open"):
            found.append(f"the fold '{summary.text}' does not open")
    return found


def printable(browser, path):
    """On paper: everything unfolded, dark on white, no controls, nothing wider than the sheet; and a PDF comes out."""
    found = contrasts(browser, path, paper=True)
    browser.open(path, width=718)  # A4 less Chromium's margins
    browser.check("openDetails")
    on_screen = set(browser.check("readableText", "button, nav, .skip").split("\n"))
    browser.open(path, width=718, dark=True, paper=True)
    lost = on_screen - set(browser.check("readableText").split("\n"))
    found += [f"not on paper: {text[:60]}" for text in sorted(lost)[:5]]
    found += [f"folded on paper: {line}" for line in browser.check("hiddenInDetails")[:5]]
    found += browser.check("tooWide")
    found += [f"on paper: a button '{b.text}'" for b in browser.all("button") if b.is_displayed()]
    if not browser.pdf().startswith(b"%PDF"):
        found.append("no PDF")
    return found


def same_skeleton(browser, path, tame):
    """Hostile text changes no element, attribute or class of the page that has harmless text in its place."""
    browser.open(tame)
    expected = browser.check("skeleton")
    browser.open(path)
    got = browser.check("skeleton")
    if got == expected:
        return []
    first = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b), min(len(expected), len(got)))
    return [f"{len(got)} elements against {len(expected)}; the first difference at {first}: {expected[first:first + 1]} {got[first:first + 1]}"]


def all_told(browser, path, visible, times):
    """Text that a stranger gave is there, every character of it visible."""
    browser.open(path)
    browser.check("openDetails")
    n = browser.check("codeTexts").count(visible)
    return [] if n >= times else [f"{n} times, not {times}: {visible[:60]}"]
