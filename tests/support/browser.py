"""A browser for reports: one that is installed, or the one that playwright brings; None of both skips the tests."""

import os
import shutil
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

VARIABLE = "LABELSIEVE_BROWSER"
KNOWN = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@contextmanager
def chromium():
    """A headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as tools:
        own = Path(tools.chromium.executable_path)
        found = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, KNOWN)), None) or (own.exists() and str(own))
        if not found:
            pytest.skip(f"no Chromium: none of {', '.join(KNOWN)} is in the path; set ${VARIABLE} to one")
        root = hasattr(os, "geteuid") and os.geteuid() == 0  # for whom Chromium has no sandbox
        browser = tools.chromium.launch(executable_path=found, args=["--no-sandbox"] if root else [])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, path, *, width=1280, scheme="light", scripts=True):
    """A page, and what went wrong with it: messages of the console, errors, requests for anything but the file."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts, bypass_csp=False
    )
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    address = path.resolve().as_uri()
    page.on("request", lambda request: None if request.url == address else _note(request.url, wrong))
    page.goto(address)
    try:
        yield page, wrong
    finally:
        context.close()


def _note(url, wrong):
    if not url.startswith("data:image/png"):
        wrong.append(f"request: {url}")


def barriers(page):
    """What axe-core finds, minor things too."""
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python, which brings axe-core, is not installed")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert found["passes"], "axe did not look at anything"
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]
