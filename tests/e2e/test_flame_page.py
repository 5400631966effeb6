# SPDX-License-Identifier: MIT
"""Tests the page of a flame graph in a browser, by mouse and keys, as a user does."""

import html
import random
import time
from contextlib import contextmanager, suppress

import pytest
from e2e import browser
from ocular import _flame_page, _stacks

SIZE = 1000, 700
LEFT, ROW = 20, 20  # left edge of the graph and height of its rows, in pixels
EVIL = "</script><b id=evil>x (<img src=x>.py:7)"
STACKS = f"""\
main (app.py:1);work (app.py:9);parse (json.py:4) 500000
main (app.py:1);work (app.py:9) 100000
main (app.py:1);{EVIL} 300000
main (app.py:1);{";".join(["down (deep.py:2)"] * 1000)} 100000
"""
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(
        not browser.program(),
        reason=f"the page is tried in a browser, and there is none of {browser.PROGRAMS}",
    ),
]


class Page:
    """Does what a user can do on the page, and returns what a user can see there."""

    def __init__(self, opened):
        self.browser = opened

    def open(self, path):
        self.browser.ask("Page.navigate", url=path.as_uri())
        self.browser.wait("document.readyState == 'complete' && !!document.title")

    def press(self, *keys):
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = {"Escape": 27}.get(key, 0)
            for kind in "keyDown", "keyUp":
                self.browser.ask(
                    "Input.dispatchKeyEvent",
                    type=kind if text or kind == "keyUp" else "rawKeyDown",
                    key=key,
                    text=text,
                    windowsVirtualKeyCode=code,
                )

    def type(self, text):
        self.browser.ask("Input.insertText", text=text)

    def mouse(self, x, y, *kinds, button="none"):
        for kind in kinds or ["mouseMoved"]:
            self.browser.ask(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1
            )

    def click(self, x, y):
        self.mouse(x, y)
        self.mouse(x, y, "mousePressed", "mouseReleased", button="left")

    def point(self, share, row):
        """Returns the coordinates of a point in the graph."""
        top = self.browser.evaluate(
            "document.querySelector('canvas').getBoundingClientRect().y"
        )
        return LEFT + share * (SIZE[0] - 2 * LEFT), top + (row + 0.5) * ROW

    def text(self, name):
        # The browser draws a change with its next frame.
        frame = "requestAnimationFrame"
        self.value(f"new Promise((done) => {frame}(() => {frame}(done)))")
        text = self.value(f"document.getElementById('{name}').textContent")
        return text.replace("\u00a0", " ")

    def value(self, expression):
        return self.browser.evaluate(expression)

    def colour(self, share, row):
        """Returns the colour of the pixel at this point."""
        x, y = self.point(share, row)
        return self.value(
            f"""(() => {{
                const canvas = document.querySelector("canvas");
                const {{ x, y }} = canvas.getBoundingClientRect();
                const pen = canvas.getContext("2d");
                const [r, g, b] = pen.getImageData({x} - x, {y} - y, 1, 1).data;
                return "#" + [r, g, b].map((n) => n.toString(16).padStart(2, "0")).join("");
            }})()"""
        )


@contextmanager
def opened():
    with browser.Browser(SIZE) as it:
        for domain in "Page", "Runtime", "Log", "Network":
            it.ask(f"{domain}.enable")
        yield Page(it)
        for event in it.events:
            assert event.get("method") != "Runtime.exceptionThrown", event
            if event.get("method") == "Log.entryAdded":
                assert event["params"]["entry"]["level"] != "error", event
        asked = [
            event["params"]["request"]["url"]
            for event in it.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
        assert asked and all(url.startswith("file:") for url in asked)


@pytest.fixture(scope="module")
def browsing():
    with opened() as page:
        yield page


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "x.html"
    facts = _flame_page.Facts("app.py <8000>", ["in 2.0 s"], "us", 250)
    path.write_text(
        _flame_page.page(_stacks.read(STACKS.encode().split(b"\n")), facts), "utf-8"
    )
    return path


@pytest.fixture
def page(browsing, path):
    browsing.value("location.hash = ''")
    browsing.browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    browsing.browser.ask("Emulation.setEmulatedMedia", features=[])
    browsing.open(path)
    browsing.value("location.hash || document.getElementById('graph').focus()")
    return browsing


def scheme(page, name):
    feature = {"name": "prefers-color-scheme", "value": name}
    page.browser.ask("Emulation.setEmulatedMedia", features=[feature])


def test_a_frame_says_its_share(page):
    assert page.value("document.title") == "app.py <8000>: flame graph"
    assert page.value("document.querySelector('.facts').innerText") == (
        "1.000 s of CPU timein 2.0 s"
    )
    assert page.text("status") == (
        "alltotal100.00 % · 1.000 s · ~250 samplesself0.00 % · 0.000 s"
    )
    page.mouse(*page.point(0.55, 2))
    said = "work (app.py:9)total60.00 % · 0.600 s · ~150 samplesself10.00 % · 0.100 s"
    assert page.text("status") == said
    assert page.text("tip") == said and page.value("!tip.hidden")
    page.mouse(*page.point(0.55, 3))  # to the right of the function's callees
    assert page.value("tip.hidden")


def test_zoom_and_back(page):
    page.click(*page.point(0.25, 2))
    assert page.value("location.hash") == "#zoom=2"
    page.mouse(*page.point(0.8, 3))
    assert page.text("status") == (
        "parse (json.py:4)total50.00 % · 0.500 s · ~125 samplesself50.00 % · 0.500 s"
        "of the zoom83.33 %"
    )
    page.click(*page.point(0.8, 3))
    assert page.value("location.hash") == "#zoom=3"
    page.value("history.back()")
    page.browser.wait("location.hash == '#zoom=2'")
    page.text("status")  # when this call returns, the page has handled the event
    page.press("Backspace")
    assert page.value("location.hash") == "#zoom=1"
    page.value("document.getElementById('back').click()")
    assert page.value("location.hash") == "" and page.value("back.disabled")
    page.click(*page.point(0.25, 2))
    page.press("Home")
    assert page.value("location.hash") == ""


def test_an_address_with_a_zoom_and_a_search(page, path):
    page.browser.ask("Page.navigate", url=f"{path.as_uri()}#zoom=2&search=pa.se")
    page.browser.wait("document.getElementById('search').value == 'pa.se'")
    assert page.text("matched") == "Matched 50.00 % · 0.500 s, 83.33 % of the zoom"
    page.browser.ask("Page.navigate", url=f"{path.as_uri()}#zoom=3&search=work")
    page.browser.wait("document.getElementById('search').value == 'work'")
    assert page.text("matched") == "Matched 60.00 % · 0.600 s, 100.00 % of the zoom"
    for wrong in "zoom=99999999", "zoom=-1", "zoom=x", "zoom=1e999&search=(":
        page.browser.ask("Page.navigate", url=f"{path.as_uri()}#{wrong}")
        assert page.text("status")


def test_search(page):
    before = page.colour(0.25, 3)
    page.press("/")
    page.type("^(parse|work)")
    assert page.text("matched") == "Matched 60.00 % · 0.600 s"
    after = page.colour(0.25, 3)
    assert after == page.colour(0.25, 2) != before
    # the frames without a match fade
    assert page.colour(0.75, 2) == page.colour(0.75, 1) != after
    page.press("Enter", "n")
    assert page.text("status").startswith("parse (json.py:4)")
    page.press("n")
    assert page.text("status").startswith("work (app.py:9)")
    page.press("N", "Escape")
    assert page.text("status").startswith("parse")
    assert page.text("matched") == "" and page.colour(0.25, 3) == before
    page.press("/")
    page.type("APP\\.py")  # the search ignores case
    assert page.text("matched") == "Matched 100.00 % · 1.000 s"
    page.press("Escape", "/")
    page.type("nobody")
    assert page.text("matched") == "Nothing matches."
    page.press("Escape", "/")
    page.type("f(")
    assert page.text("matched") == "That is no regular expression: Unterminated group"
    assert page.colour(0.25, 3) == before


def test_a_search_inside_another_page(page, path, tmp_path):
    """A notebook has the page in an <iframe srcdoc>. The search loads no other page."""
    around = tmp_path / "around.html"
    inner = html.escape(path.read_text())
    around.write_text(f'<title>around</title><iframe srcdoc="{inner}"></iframe>')
    page.open(around)
    inside = "document.querySelector('iframe').contentWindow"
    page.browser.wait(f"{inside}.document.readyState == 'complete'")
    page.value(f"{inside}.document.getElementById('search').focus()")
    page.type("parse")
    page.browser.wait(f"{inside}.location.href == 'about:srcdoc#search=parse'")
    said = page.value(f"{inside}.document.getElementById('matched').textContent")
    assert said.startswith("Matched 50.00")


def test_keys_walk_over_the_frames(page):
    page.press("ArrowDown", "ArrowDown")
    assert page.text("status").startswith("work (app.py:9)")
    page.press("ArrowRight")
    assert page.text("status").startswith("</script>")
    page.press("ArrowRight", "ArrowRight")
    assert page.text("status").startswith("down (deep.py:2)")
    page.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert page.text("status").startswith("work (app.py:9)")
    page.press("ArrowUp", "ArrowUp", "ArrowUp")
    assert page.text("status").startswith("all")
    page.press("ArrowDown", "ArrowDown", "Enter")
    assert page.value("location.hash") == "#zoom=2"


WAITS = """\
main (app.py:1);ask (app.py:3);(waiting: socket) 600000
main (app.py:1);ask (app.py:3);ask (app.py:3);(waiting: lock) 100000
main (app.py:1);ask (app.py:3) 100000
main (app.py:1) 200000
"""


def test_cpu_time_wall_time_and_waits(page, path):
    """Both the key and the button switch between CPU time, wall time and waits."""
    facts = _flame_page.Facts("app.py", ["in 2.0 s"], "us", 250)
    both = _stacks.read_times(WAITS.encode().split(b"\n"))
    other = path.with_name("waits.html")
    other.write_text(_flame_page.page(both[0], facts, both[1]), "utf-8")

    def facts_shown():
        # While the page loads itself again, the browser refuses requests.
        with suppress(browser.Failure):
            found = page.value("document.querySelector('.facts li')?.textContent") or ""
            return found.replace("\u00a0", " ")

    def is_shown(text):
        end = time.monotonic() + 60
        while facts_shown() != text:
            assert time.monotonic() < end, text
        page.value("document.getElementById('graph').focus()")
        return page.text("time")

    def own_times():
        page.press("t")
        rows = page.value(
            "[...document.querySelectorAll('#rows tr')].map((each) => "
            "[...each.cells].map((cell) => cell.textContent))"
        )
        page.press("t")
        return {row[4]: (row[1], row[3]) for row in rows}

    page.open(other)
    assert is_shown("300.0 ms of CPU time") == "Show wall time"
    assert page.text("status").endswith("~250 samplesself0.00 % · 0.0 ms")
    page.press("w")
    assert is_shown("1.000 s of wall time") == "Show waits"
    assert page.value("location.hash") == "#time=wall"
    page.mouse(*page.point(0.3, 3))
    assert page.text("status") == (
        "(waiting: socket)total60.00 % · 0.600 s" + "self60.00 % · 0.600 s"
    )
    # Each kind of wait has a colour of its own.
    kinds = {page.colour(0.3, 3), page.colour(0.65, 4), page.colour(0.3, 2)}
    assert len(kinds) == 3
    assert own_times()["ask"] == ("0.100\u00a0s", "0.800\u00a0s")
    page.press("/")
    page.type("lock")
    assert page.text("matched") == "Matched 10.00 % · 0.100 s"
    page.value("document.getElementById('time').click()")
    assert is_shown("0.700 s of waits") == "Show CPU time"
    assert page.value("location.hash") == "#search=lock&time=waits"
    assert page.text("matched") == "Matched 14.29 % · 0.100 s"
    page.press("Escape")
    page.mouse(*page.point(0.95, 4))
    assert page.text("status").startswith("(waiting: lock)total14.29 % · 0.100 s")
    page.mouse(*page.point(0.95, 1))
    assert (
        page.text("status") == "main (app.py:1)total100.00 % · 0.700 sself0.00 % · 0.000 s"
    )
    found = own_times()
    # A function that is twice on a stack counts once.
    assert found["ask"] == ("0.000\u00a0s", "0.700\u00a0s")
    assert found["(waiting: socket)"] == ("0.600\u00a0s", "0.600\u00a0s")
    page.click(*page.point(0.5, 2))
    page.browser.wait("location.hash.startsWith('#zoom=')")
    page.press("w")
    assert is_shown("300.0 ms of CPU time") == "Show wall time"
    assert page.value("location.hash") == ""
    page.value("history.back()")
    assert is_shown("0.700 s of waits") == "Show CPU time"
    page.browser.ask("Page.navigate", url=f"{other.as_uri()}#time=nonsense")
    assert is_shown("300.0 ms of CPU time") == "Show wall time"


def test_deep_stacks(page):
    page.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Enter")
    page.press(*["ArrowDown"] * 300)
    page.mouse(*page.point(0.5, 10))
    assert page.text("status").startswith("down (deep.py:2)total10.00 %")
    assert page.value("graph.scrollTop") > 4000
    page.value("graph.scrollTop = 1e9")
    assert page.value("graph.scrollTop + graph.clientHeight") == 1002 * ROW


def test_direction(page):
    def bottom():
        return int(page.value("graph.clientHeight") // ROW) - 1

    page.press("ArrowDown", "ArrowDown", "Enter", "i")
    assert page.value("direction.textContent") == "Callers above"
    page.mouse(*page.point(0.5, bottom()))
    assert page.text("status").startswith("all")
    page.mouse(*page.point(0.5, bottom() - 3))
    assert page.text("status").startswith("parse (json.py:4)")
    page.press("ArrowUp")
    assert page.text("status").startswith("parse (json.py:4)")
    page.press("ArrowDown")
    assert page.text("status").startswith("work (app.py:9)")


def test_functions(page):
    def rows():
        return page.value(
            "[...document.querySelectorAll('#rows tr')].map((each) => "
            "[...each.cells].map((cell) => cell.textContent).join('|'))"
        )

    page.press("t")
    assert page.value("graph.hidden && !table.hidden")
    found = [row.replace("\u00a0", " ") for row in rows()]
    assert found[0] == "50.00 %|0.500 s|50.00 %|0.500 s|parse|json.py:4"
    assert found[1].endswith("|</script><b id=evil>x|<img src=x>.py:7")
    # a recursive function counts once
    assert "10.00 %|0.100 s|10.00 %|0.100 s|down|deep.py:2" in found
    page.value("document.querySelector('[data-key=total]').click()")
    assert [row.split("|")[4] for row in rows()][:2] == ["main", "work"]
    page.press("/")
    page.type("json|deep")
    assert page.text("listed").startswith("2 of 5 functions.")
    page.press("Enter")
    assert page.value("graph.hidden") and page.value("location.hash").startswith("#search=")
    page.value("document.querySelector('#rows tr').click()")
    assert page.value("search.value") == "^parse \\(json\\.py:4\\)$"
    assert page.text("matched") == "Matched 50.00 % · 0.500 s" and page.value(
        "table.hidden"
    )


def test_names_are_text(page):
    page.press("t", "t")
    page.mouse(*page.point(0.75, 2))
    assert page.text("tip").startswith(EVIL)
    assert page.value("document.getElementById('evil')") is None
    assert page.value("document.images.length") == 0


def test_dark_and_light(page):
    light = page.colour(0.25, 2)
    ground = "getComputedStyle(document.body).backgroundColor"
    bright = page.value(ground)
    scheme(page, "dark")
    assert page.text("theme") == "Light" and page.value(ground) != bright
    dark = page.colour(0.25, 2)
    assert dark != light
    page.press("d")
    assert page.text("theme") == "Dark" and page.value(ground) == bright
    assert page.colour(0.25, 2) == light
    page.press("d")
    assert page.text("theme") == "Light" and page.colour(0.25, 2) == dark


def test_help(page):
    page.press("?")
    assert page.value("keys.open")
    page.press("Escape")
    assert not page.value("keys.open")


def test_without_javascript(page, path):
    page.browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    page.open(path)
    shown = page.value("document.body.innerText").replace("\u00a0", " ")
    assert "need JavaScript, which is off here" in shown
    assert "50.00 %\t0.500 s\t50.00 %\t0.500 s\tparse\tjson.py:4" in shown
    assert "Search" not in shown


def test_100_000_stacks(page, tmp_path):
    """The page appears at once, and the result of a search appears at once, too. Frames
    narrower than a pixel are not drawn."""
    source = random.Random(5)
    stacks = [["main (app.py:1)"]]
    while len(stacks) < 100_000:
        n = source.randrange(5000)
        name = f"function_{n} (module_{n % 90}.py:{n % 700})"
        stacks.append([*source.choice(stacks)[:30], name])
    text = "".join(f"{';'.join(stack)} {n % 900 + 1}\n" for n, stack in enumerate(stacks))
    path = tmp_path / "x.html"
    flame = _stacks.read(text.encode().split(b"\n"))
    assert len(flame.depths) > 90_000
    path.write_text(_flame_page.page(flame, _flame_page.Facts("x")), "utf-8")
    assert path.stat().st_size < 3e6
    began = time.monotonic()
    page.open(path)
    assert page.text("status").startswith("all")
    page.press("/")
    page.type("_49.*_7")
    assert page.text("matched").startswith("Matched ")
    page.click(*page.point(0.3, 4))
    page.browser.wait("location.hash.includes('zoom')")
    assert time.monotonic() - began < 60
    shares = [page.point(n / 99, 12) for n in range(100)]
    for x, y in shares[::9]:
        page.mouse(x, y)
        assert page.text("status")


def test_a_picture_in_a_browser(page, tmp_path):
    path = tmp_path / "x.svg"
    facts = _flame_page.Facts("app.py", unit="us")
    path.write_text(
        _flame_page.picture(_stacks.read(STACKS.encode().split(b"\n")), facts), "utf-8"
    )
    page.browser.ask("Page.navigate", url=path.as_uri())
    page.browser.wait("document.documentElement.nodeName == 'svg'")
    fill = "getComputedStyle(document.querySelectorAll('svg > rect')[%d]).fill"
    scheme(page, "light")
    bright = page.value(fill % 0), page.value(fill % 2)
    scheme(page, "dark")
    dark = page.value(fill % 0), page.value(fill % 2)
    assert bright[0] != dark[0] and bright[1] != dark[1]
    titles = page.value("[...document.querySelectorAll('title')].map((e) => e.textContent)")
    assert f"{EVIL}\n30.00 %, 0.300 s" in titles
    assert page.value("document.querySelector('b, img, script')") is None
    scheme(page, "light")
