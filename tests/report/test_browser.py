"""Reports in a browser: quiet, sortable, usable by keyboard, on a phone, in the dark, and without scripts."""

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.report import selection_report
from tests.support.browser import barriers, chromium, opened
from tests.support.report_pages import EVIL, evil_selection, evil_study


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module", params=["selection", "study"])
def file(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    report = evil_selection() if request.param == "selection" else evil_study(folder)
    return report.write(folder / "report.html")


def test_it_loads_without_a_word_and_asks_for_nothing(browser, file):
    with opened(browser, file) as (page, wrong):
        page.wait_for_timeout(300)
        assert wrong == []
        assert page.locator("svg").count() > 3


def test_bad_names_are_text(browser, file):
    with opened(browser, file) as (page, wrong):
        assert page.get_by_text(EVIL[0], exact=False).count() > 0
        assert page.locator("script").count() == 1
        assert page.locator("img, iframe, main b, main i, svg svg, svg script").count() == 0
        assert page.title().count(EVIL[0]) == 1
        assert wrong == []


def test_scripts_that_got_in_anyway_would_not_run(browser, file, tmp_path):
    path = tmp_path / "attacked.html"
    path.write_text(file.read_text(encoding="utf-8").replace("<main", "<script>alert(1)</script><main"), encoding="utf-8")
    with opened(browser, path) as (page, wrong):
        page.wait_for_timeout(200)
        assert any("Content Security Policy" in one for one in wrong)
        assert not any("dialog" in one for one in wrong)


def test_tables_sort_up_and_down_and_say_so(browser, file):
    with opened(browser, file) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        table = page.locator("table.sortable").first
        number = table.locator("thead th.number").last
        column = number.evaluate("heading => heading.cellIndex")

        def values():
            cells = table.locator(f"tbody tr > :nth-child({column + 1})").evaluate_all("all => all.map(c => c.dataset.value)")
            return [float(value) for value in cells]

        before = values()
        number.get_by_role("button").click()
        assert number.get_attribute("aria-sort") == "ascending"
        assert values() == sorted(before)
        number.get_by_role("button").press("Enter")
        assert number.get_attribute("aria-sort") == "descending"
        assert values() == sorted(before, reverse=True)
        assert "descending" in page.locator("#said").inner_text()
        name = table.locator("thead th:not(.number)").first
        name.get_by_role("button").click()
        assert (number.get_attribute("aria-sort"), name.get_attribute("aria-sort")) == ("none", "ascending")


def test_missing_values_come_last_both_ways(browser, tmp_path):
    from labelsieve.report import Report
    from labelsieve.report.html import Section, numeric, table

    rows = [[f"r{place}", numeric(value)] for place, value in enumerate((2.0, float("nan"), 10.0, float("inf"), -1.0))]
    section = Section("one", "One", table("Numbers", ["row", ">value"], rows))
    path = Report("Sorted", section.body, (section,)).write(tmp_path / "r.html")
    with opened(browser, path) as (page, _):
        table = page.locator("table").first
        shown = []
        for _ in range(2):
            table.get_by_role("button", name="value").click()
            shown.append(table.locator("tbody th").all_inner_texts())
        assert shown == [["r4", "r0", "r2", "r3", "r1"], ["r3", "r2", "r0", "r4", "r1"]]


def test_anchors_lead_to_their_sections(browser, file):
    with opened(browser, file) as (page, _):
        links = page.locator("nav a")
        assert links.count() >= 6
        for place in range(links.count()):
            links.nth(place).click()
            heading = page.locator(page.evaluate("location.hash") + " > h2")
            assert heading.inner_text() == links.nth(place).inner_text()
            assert heading.evaluate("h => h.getBoundingClientRect().top < innerHeight")


def test_the_keyboard_reaches_everything_and_shows_where_it_is(browser, file):
    with opened(browser, file, width=390) as (page, _):
        wanted = page.evaluate("""() => {
            const all = document.querySelectorAll("a, button, summary, [tabindex='0']");
            return Array.from(all).filter(e => e.checkVisibility()).length; }""")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0, (
            "the skip link shows when it has focus"
        )
        seen = 0
        while page.evaluate("document.activeElement !== document.body") and seen <= wanted:
            seen += 1
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            page.keyboard.press("Tab")
        assert seen == wanted
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "findings"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_there_are_no_barriers(browser, file, width, scheme):
    with opened(browser, file, width=width, scheme=scheme) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert barriers(page) == []


def test_barriers_are_noticed(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text(
        "<!DOCTYPE html><html><body><button></button><p style='color: #eee; background: #fff'>pale</p></body></html>"
    )
    with opened(browser, path) as (page, _):
        assert {one.split(":")[0] for one in barriers(page)} >= {"button-name", "color-contrast", "html-has-lang"}


@pytest.mark.parametrize("scripts", [True, False])
def test_it_fits_a_phone(browser, file, scripts):
    with opened(browser, file, width=390, scripts=scripts) as (page, _):
        assert page.locator("h1").bounding_box()["width"] <= 390
        assert page.locator("main").bounding_box()["width"] <= 390
        wide = (
            page.locator("body > *, main > *, section > *").evaluate_all(
                "all => all.filter(e => e.getBoundingClientRect().right > 391 && !e.matches('.skip')).map(e => e.tagName)"
            )
            if scripts
            else []
        )
        assert wide == []


def test_figures_of_a_usual_selection_fit_a_phone_with_text_of_nine_pixels(browser, tmp_path):
    from labelsieve.studies.demo import demo_data

    data = demo_data(300)
    sieve = Sieve("cife", n_features_to_select=6).fit(data.X, data.Y)
    report = selection_report(sieve, data.X, data.Y, names=data.feature_names, label_names=data.label_names, resamples=3)
    with opened(browser, report.write(tmp_path / "r.html"), width=390) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        shown = [svg for svg in page.locator("svg").all() if svg.is_visible()]
        assert len(shown) > 3
        for svg in shown:
            assert svg.bounding_box()["width"] <= 390
        heights = page.locator("svg text").evaluate_all("""all => all.filter(e => e.checkVisibility())
            .map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a || 99)""")
        upright = [height for height in heights if height > 1]
        assert min(upright) >= 9


def test_labels_can_be_searched_and_code_copied(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    Y = (X[:, rng.integers(6, size=120)] + rng.normal(size=(80, 120)) > 0).astype(int)
    report = selection_report(Sieve(n_features_to_select=2).fit(X, Y), X, Y, confidence=None)
    with opened(browser, report.write(tmp_path / "r.html")) as (page, wrong):
        rows = page.locator("#labels tbody tr")
        assert rows.count() == 120
        page.get_by_role("searchbox").fill("label 11")
        shown = [row for row in rows.all() if row.is_visible()]
        assert len(shown) == 11  # 11, and 110 to 119
        assert all("label 11" in row.inner_text() for row in shown)
        page.get_by_role("searchbox").fill("")
        assert sum(row.is_visible() for row in rows.all()) == 16
        button = page.get_by_role("button", name="Copy: the list of features")
        button.click()
        page.wait_for_function("/Copied|Selected/.test(document.getElementById('said').textContent)")
        assert button.inner_text() in ("Copied", "Selected")
        assert wrong == []


def test_in_the_dark_text_and_lines_are_light(browser, file):
    shades = {}
    for scheme in ("light", "dark"):
        with opened(browser, file, scheme=scheme) as (page, _):
            shades[scheme] = page.evaluate("""() => {
                const light = color => color.match(/[0-9.]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 765;
                const style = element => getComputedStyle(element);
                const ink = document.querySelector("svg text");
                return [light(style(document.body).backgroundColor), light(style(ink).fill)]; }""")
    assert shades["light"][0] > 0.9 > 0.4 > shades["light"][1]
    assert shades["dark"][0] < 0.2 < 0.6 < shades["dark"][1]


def test_without_scripts_nothing_is_lost(browser, file):
    with opened(browser, file, scripts=False) as (page, wrong):
        assert page.locator("button").count() == 0, "no button that does nothing"
        assert page.locator("table").first.is_visible()
        assert page.locator("svg").first.is_visible()
        assert page.locator("details").count() == 0 or page.locator("details summary").first.is_visible()
        assert wrong == []
