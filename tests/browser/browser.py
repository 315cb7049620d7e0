"""A headless Chromium that opens one page at a time and writes down what the page says, asks for and is refused. Needs Debian's
chromium, chromium-driver and python3-selenium."""

import base64
import json
import os
import pathlib
import shutil
import tempfile

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

WIDE, NARROW = 1440, 360
CHECKS = pathlib.Path(__file__).with_name("checks.js").read_text(encoding="utf-8")

# Runs in every page before anything of its own.
WITNESS = """
window.witness = {executed: [], violations: []};
for (const name of ["alert", "confirm", "prompt", "print", "open"])
  window[name] = (...words) => { window.witness.executed.push(name + "(" + words.join() + ")"); };
document.addEventListener("securitypolicyviolation", e =>
  window.witness.violations.push(e.effectiveDirective + ": " + (e.blockedURI || "inline") + " " + (e.sample || "")));
"""


def why_not():
    """Why this machine cannot drive a browser; empty if it can."""
    if webdriver is None:
        return "python3-selenium is not installed for this Python (scripts/setup browser)"
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)} (scripts/setup browser)" if missing else ""


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="isobit-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                         f"--user-data-dir={self.profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver"), log_path=os.devnull), options=options)
        self.driver.set_page_load_timeout(120)
        self.driver.set_script_timeout(120)
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WITNESS)

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def open(self, path, width=WIDE, dark=False, scripts=True, paper=False):
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", media="print" if paper else "screen",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # what earlier pages left
        self.driver.get(pathlib.Path(path).resolve().as_uri())

    def check(self, name, *arguments):
        """A function of checks.js, in the page."""
        return self.driver.execute_script(CHECKS + f"\nreturn {name}(...arguments);", *arguments)

    def witness(self):
        return self.driver.execute_script("return window.witness")

    def console(self):
        return [f"{e['level']}: {e['message']}" for e in self.driver.get_log("browser")]

    def requests(self):
        """Every address that the page asked for, itself and data inside it excepted."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        page = self.driver.current_url
        return [url for url in found if url.split("#")[0] != page.split("#")[0]]

    def press(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def tab(self):
        self.press(Keys.TAB)

    def enter(self):
        self.press(Keys.ENTER)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def picture(self, selector, width, height):
        """A PNG of the page from an element on, or from its top."""
        top = 0
        if selector:
            top = self.driver.execute_script("return document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY - 16", selector)
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"])

    def pdf(self):
        return base64.b64decode(self.cdp("Page.printToPDF", printBackground=True)["data"])
