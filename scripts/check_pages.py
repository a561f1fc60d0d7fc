"""Examines pages in a headless Chromium: check_pages.py SCREENSHOTS-OR-EMPTY PAGE...

Of each: below 1 MB; nothing is fetched but the page itself; nothing on the console; no finding of axe-core in light and
in dark; charts have lines and values, tell values under the cursor, and are still there without JavaScript.
"""

import json
import os
import sys
from pathlib import Path

import axe_core_python
from selenium import webdriver
from selenium.webdriver.common.by import By

AXE = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text()


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1000,1400"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def requests(driver):
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    sent = (m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent")
    return [url for url in sent if not url.startswith("data:")]


def accessibility(driver):
    # The page's policy forbids scripts from elsewhere, not those that the debugger brings.
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE})
    found = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    if len(found["passes"]) < 10:
        return ["axe has examined next to nothing"]
    return [f"axe {v['id']}: {v['help']}: {v['nodes'][0]['html'][:120]}" for v in found["violations"]]


def charts(driver, must):
    figures = driver.find_elements(By.CSS_SELECTOR, "figure")
    faults = ["there are no charts"] if must and not figures else []
    for figure in figures:
        name = figure.get_attribute("id")
        lines = figure.find_elements(By.CSS_SELECTOR, "svg.plot path")
        if not any(line.get_attribute("d") for line in lines):
            faults.append(f"chart {name} draws nothing")
        data = json.loads(figure.find_element(By.CSS_SELECTOR, "script").get_attribute("textContent"))
        if not data["x"] or not any(value is not None for column in data["columns"] for value in column["y"]):
            faults.append(f"chart {name} has no values")
        if not figure.find_element(By.CSS_SELECTOR, "svg desc").get_attribute("textContent").strip():
            faults.append(f"chart {name} has no words")
    return faults


def cursor(driver):
    """Whether the first chart tells its values under the cursor."""
    figures = driver.find_elements(By.CSS_SELECTOR, "figure")
    if not figures:
        return []
    picture = figures[0].find_element(By.CSS_SELECTOR, "svg")
    before = figures[0].text
    webdriver.ActionChains(driver).move_to_element(picture).perform()
    return [] if figures[0].text != before else ["no values under the cursor"]


def examine(driver, page, screenshots):
    faults = []
    size = page.stat().st_size
    if size >= 1_000_000:
        faults.append(f"{size} bytes are too many")
    # What the page before has left there.
    requests(driver)
    driver.get(page.as_uri())
    fetched = requests(driver)
    if fetched != [page.as_uri()]:
        faults.append(f"fetched {fetched}")
    for scheme in ["light", "dark"]:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        faults += [f"{scheme}: {fault}" for fault in accessibility(driver)]
        if screenshots:
            driver.save_screenshot(str(Path(screenshots) / f"{page.parent.name}-{page.stem}-{scheme}.png"))
    # Only a run's own page and a sweep's must have some.
    faults += charts(driver, page.name == "report.html") + cursor(driver)
    faults += [f"console: {entry['message']}" for entry in driver.get_log("browser")]
    said = driver.find_element(By.TAG_NAME, "body").text
    if "not an audited TPC-C result" not in said:
        faults.append("does not say what it is not")
    pictures = len(driver.find_elements(By.CSS_SELECTOR, "figure svg.plot path"))
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(page.as_uri())
    if len(driver.find_elements(By.CSS_SELECTOR, "figure svg.plot path")) != pictures:
        faults.append("charts are missing without JavaScript")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    return faults


def main():
    screenshots, pages = sys.argv[1], [Path(page) for page in sys.argv[2:]]
    driver = browser()
    try:
        bad = False
        for page in pages:
            faults = examine(driver, page, screenshots)
            print(f"{page.parent.name}/{page.name}: {'good' if not faults else ''}")
            for fault in faults:
                print(f"  {fault}")
            bad |= bool(faults)
    finally:
        driver.quit()
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
