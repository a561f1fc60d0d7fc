"""Drives `weighbridge serve` in a headless Chromium: check_serve.py SCREENSHOTS-OR-EMPTY ADDRESS FOLDER COMMAND...

The folder holds the runs `base`, `new` and `free`, the sweep `sweep` and `acid.json`; the command makes a run `live`, which
is watched to its end. Of each page: nothing is asked of anybody else; nothing on the console; no finding of axe-core in
light and in dark; nothing wider than a narrow window.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from check_pages import accessibility, browser, charts, cursor, requests

HOSTILE = "<img src=x onerror=alert(1)>&\"'"


class Check:
    def __init__(self, driver, screenshots, address):
        self.driver, self.screenshots, self.address = driver, screenshots, address.strip()
        self.faults = []

    def expect(self, what, found):
        if not found:
            self.faults.append(f"{what} ({self.driver.current_url})")

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, what, found, seconds=60):
        try:
            WebDriverWait(self.driver, seconds, 0.2).until(lambda _: found())
        except Exception:
            self.expect(f"did not come: {what}", False)

    def open(self, path):
        self.driver.get(self.address.rstrip("/") + path)

    def names(self):
        return [link.text for link in self.all("tbody th a:not(.tag)")]

    def picture(self, name):
        if self.screenshots:
            self.driver.save_screenshot(str(Path(self.screenshots) / f"serve-{name}.png"))

    def examine(self, name):
        for scheme in ["dark", "light"]:
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            self.faults += [f"{name}, {scheme}: {fault}" for fault in accessibility(self.driver)]
            self.picture(f"{name}-{scheme}")
        self.driver.set_window_size(420, 900)
        width = self.driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        self.expect(f"{name} is {width} wider than a narrow window", width <= 0)
        self.picture(f"{name}-narrow")
        self.driver.set_window_size(1300, 1200)
        self.quiet(name)

    def quiet(self, name):
        elsewhere = [url for url in requests(self.driver) if not url.startswith(self.address)]
        self.expect(f"{name} asks elsewhere: {elsewhere}", not elsewhere)
        # The browser itself tells of a page that says why there is none.
        said = [entry["message"] for entry in self.driver.get_log("browser") if " 422 " not in entry["message"]]
        self.expect(f"{name} on the console: {said}", not said)


def lists(check):
    check.open("/")
    documents = {"acid.json", "times.json", "advice.json"}
    check.expect("all are listed", set(check.names()) == {"base", "new", "free", "sweep", HOSTILE} | documents)
    check.examine("list")
    check.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    check.expect("the first stop is the way to the content", check.driver.switch_to.active_element.text == "Skip to the content")

    check.one("input[name=q]").send_keys("unconstrained free" + Keys.ENTER)
    check.wait("the search", lambda: "q=unconstrained+free" in check.driver.current_url)
    check.expect("the search finds", check.names() == ["free"])
    check.open("/?kind=sweeps")
    check.expect("a filter is a link", check.names() == ["sweep"])
    check.expect("and stands in the form", check.one("select[name=kind]").get_attribute("value") == "sweeps")
    check.open("/?inner=on&q=sweep%2F")
    check.expect("runs of a sweep", len(check.names()) == 4)
    check.open(f"/?q={HOSTILE[1:4]}")
    check.all("tbody th a")[0].click()
    check.expect("a hostile name is a name", HOSTILE in check.one("nav.way").text)
    check.quiet("hostile")


def live(check, command):
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check.open("/")

    def begun():
        check.driver.refresh()
        return "under way" in check.one("main").text

    check.wait("a run that is under way", begun)
    check.open("/runs/live")
    points = lambda: len(json.loads(check.one("#throughput-over-time script").get_attribute("textContent"))["x"])
    check.wait("a chart", lambda: check.all("#throughput-over-time"))
    first = points()
    check.wait("more of the chart", lambda: points() > first + 1)
    check.expect("the chart can be read", check.all("#throughput-over-time .lively"))
    check.expect("the verdict is open", "pending" in check.one("#now").text)
    check.examine("live")
    check.wait("the verdict", lambda: check.all("section#verdict"), 90)
    check.expect("the run ended well", run.wait() == 0)
    check.expect("the verdict is told", "unconstrained" in check.one(".badge").text)
    check.faults += [f"finished: {fault}" for fault in charts(check.driver, True) + cursor(check.driver)]
    check.examine("finished")


def compared(check):
    check.open("/")
    for name in ["base", "new"]:
        check.one(f"input[value={name}]").click()
    check.driver.find_element(By.XPATH, "//button[contains(., 'ticked')]").click()
    check.wait("the comparison", lambda: check.driver.current_url.endswith("/compare?base=base&new=new"))
    check.expect("intervals are drawn", len(check.all("svg.interval")) > 10)
    check.examine("compare")
    check.open("/compare?base=base&new=free")
    check.expect("a refusal says why", "measure different things" in check.one("main").text)
    check.examine("refused")
    check.open("/compare?run=base&run=free&run=live")
    check.expect("several", len(check.all("tbody tr")) == 2)
    check.examine("several")


def others(check):
    check.open("/sweeps/sweep")
    check.faults += [f"sweep: {fault}" for fault in charts(check.driver, True)]
    check.expect("its runs", len(check.names()) >= 4)
    check.examine("sweep")
    check.open("/acid/acid.json")
    check.expect("the ACID tests", "isolation 1" in check.one("main").text)
    check.examine("acid")
    check.open("/times/times.json")
    check.expect("times of a statement", "BARBARBAR" in check.one("#statement-1").text)
    check.examine("times")
    check.open("/advice/advice.json")
    check.expect("advice for it", "BARBARBAR" in check.one("#statement-1").text)
    check.examine("advice")
    check.open("/runs/base")
    check.one("input[name=tags]").send_keys("nightly, baseline")
    check.one(".tagging button").click()
    check.wait("the tags", lambda: check.driver.current_url.endswith("#tags"))
    check.open("/?tag=nightly")
    check.expect("a tag finds", check.names() == ["base"])


def without_a_script(check):
    check.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    check.open("/?verdict=engineering")
    check.expect("the list without a script", "base" in check.names())
    check.open("/runs/base")
    check.expect("charts without a script", check.all("figure svg.plot path"))
    check.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def main():
    screenshots, address, folder, command = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    shutil.copytree(folder / "base", folder / HOSTILE)
    driver = browser()
    driver.set_window_size(1300, 1200)
    check = Check(driver, screenshots, address)
    try:
        lists(check)
        live(check, command)
        compared(check)
        others(check)
        without_a_script(check)
    finally:
        driver.quit()
    print(f"serve: {'good' if not check.faults else ''}")
    for fault in check.faults:
        print(f"  {fault}")
    sys.exit(1 if check.faults else 0)


main()
