"""The site has no warning, loads nothing from elsewhere, and its links lead somewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from tiny import ROOT

LOADING = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
ELSEWHERE = re.compile(r"(?:https?:)?//")


class Page(HTMLParser):
    """What a page loads, where it leads, and the places that links can lead to."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.places, self.equations = [], [], set(), 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.add(given.get("id"))
        self.equations += tag == "math"
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in LOADING and given.get(LOADING[tag]):
            self.loaded.append(given[LOADING[tag]])


def build(folder):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "docs", folder]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr


@pytest.fixture(scope="module")
def site(once):
    return once("site", build)


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_pages_load_nothing_from_another_machine(site, pages):
    assert not [name for page in pages.values() for name in page.loaded if ELSEWHERE.match(name)]
    for path in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", path.read_text()), path


@pytest.mark.slow
def test_links_lead_to_places_that_exist(pages):
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{path.name}: {link}"


@pytest.mark.slow
def test_the_theory_is_typeset_and_leads_to_the_functions_that_compute_it(pages):
    chapters = [page for path, page in pages.items() if path.parent.name == "theory"]
    assert sum(page.equations for page in chapters) > 300
    links = [link for page in chapters for link in page.links]
    assert any("functions.html#giantstep.theory" in link for link in links)
    (functions,) = (page for path, page in pages.items() if path.match("generated/functions.html"))
    assert any("theory/core.html#theory-section-4" in link for link in functions.links)


@pytest.mark.slow
def test_no_page_lists_more_than_forty_others(site):
    for path in site.rglob("*.html"):
        listed = re.search(r'class="sidebar-tree".*?</aside>', path.read_text(), re.DOTALL)
        assert not listed or listed[0].count("<a ") <= 40, path
