"""Looks at a page of kspec report in Chromium: report_page.py BROWSER PAGE.html RESULT.json FOLDER

The page loads without an error and asks for nothing from outside, the numbers in its tables are those of
the JSON object, it does not scroll sideways at 360 pixels, every picture and every section has a name, and
every head of a table says what it heads. Screenshots of a
phone, a desk and the dark go to FOLDER."""
import html
import html.parser
import json
import math
import os
import re
import subprocess
import sys

browser, page, result, folder = sys.argv[1:]
text = open(page, encoding="utf-8").read()
j = json.load(open(result, encoding="utf-8"))
os.makedirs(folder, exist_ok=True)


def chromium(*words):
    run = subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
         "--user-data-dir=" + folder + "/profile", *words], capture_output=True, text=True, timeout=120)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    assert not console, console
    return run.stdout


class Tables(html.parser.HTMLParser):
    """Every table as its caption and its rows of texts"""

    def __init__(self):
        super().__init__()
        self.tables, self.into, self.ids, self.labels = {}, None, [], []
        self.landmarks, self.heads, self.pictures = [], [], 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "svg":
            assert attrs.get("role") == "img", attrs
            self.pictures += 1
        if tag in ("svg", "section"):
            self.labels.append(attrs.get("aria-labelledby", ""))
        if tag in ("main", "section", "h1"):
            self.landmarks.append(tag)
        if tag == "th":
            assert attrs.get("scope") in ("row", "col"), attrs
            self.heads.append("")
        if tag == "caption":
            self.into = "caption"
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.into = "cell"
        elif tag == "table":
            self.rows = []

    def handle_endtag(self, tag):
        if tag == "th":
            self.heads[-1] = self.rows[-1][-1]
        if tag in ("caption", "td", "th"):
            self.into = None

    def handle_data(self, data):
        if self.into == "caption":
            self.tables[data] = self.rows
        elif self.into == "cell":
            self.rows[-1][-1] += data


# nothing from outside, no script that it needs
assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", text), "the page asks for something"
assert "<script" not in text and "@import" not in text

dom = chromium("--dump-dom", "file://" + os.path.abspath(page))
t = Tables()
t.feed(dom)
assert len(t.ids) == len(set(t.ids)), "an id comes twice"
assert all(all(name in t.ids for name in label.split()) and label for label in t.labels), t.labels
assert all(t.heads), "an empty head"
assert t.landmarks[:2] == ["main", "h1"] and t.landmarks.count("section") >= 6, t.landmarks
assert "Gnuplot" not in dom.replace("gnuplot_", "")


def number(cell):
    return float(cell) if cell else None


def same(cell, value):
    if value is None:
        return cell == ""
    return math.isclose(number(cell), value, rel_tol=5.1e-6, abs_tol=0)


def rounded(cells, e, keys=("value", "ci_low", "ci_high")):
    """An estimate and its ends: within half a unit of their last digit, which is the second of their error"""
    x, low, high = (e[k] for k in keys)
    if x is None or low is None:
        return x is None or same(cells[0], float("%.4g" % x))
    errors = math.sqrt((x - low) * (high - x)), x - low, high - x
    for cell, value, error in zip(cells, (x, low, high), errors):
        decimals = len(cell.split("e")[0].partition(".")[2])
        unit = 10.0 ** ((int(cell.split("e")[1]) if "e" in cell else 0) - decimals)
        if abs(number(cell) - value) > 0.051 * error + 1e-12 * abs(value):
            return False
        if "." in cell and unit < 0.0099 * error:
            return False
    return True


d = j["dimension"]
row = t.tables["Dimension"][1]
assert rounded(row[1:], d, ("dimension", "ci_low", "ci_high")), row
assert same(t.tables["Dimension"][2][1], float("%.4g" % d["naive"]))
checked = 4
if j["moments"]:
    by = {(e["estimator"] == "naive", e["n"]): e for e in j["moments"]["estimates"]}
    for row in t.tables["Moments, with 95% intervals"][1:]:
        e, naive = by[False, int(row[0])], by[True, int(row[0])]
        assert rounded(row[1:4], e), row
        assert row[4] == e["estimator"] and same(row[5], float("%.4g" % naive["value"])), row
        checked += 4
if j["spectrum"]:
    s = j["spectrum"]
    for i, row in enumerate(t.tables["The largest eigenvalues of the kernel, with 95% intervals"][1:]):
        assert int(row[0]) == i + 1
        keys = ("eigenvalues", "ci_low", "ci_high")
        assert rounded(row[1:], {k: s[k][i] for k in keys}, keys), row
        checked += 3
    shown = len(t.tables["The largest eigenvalues of the kernel, with 95% intervals"]) - 1
    assert shown == min(s["resolved"] or 12, 20, len(s["eigenvalues"])), "as many as the text calls known"

# a phone: in a frame of 360 pixels, since a window has at least 500
frame = folder + "/phone.html"
with open(frame, "w", encoding="utf-8") as f:
    f.write('<body style="margin:0"><iframe id=f width=360 height=3600 style="border:0" srcdoc="%s"></iframe>'
            '<p id=out></p><script>onload = () => { const of = name => document.getElementById(name);'
            'of("out").textContent = "scrolls " + of("f").contentDocument.documentElement.scrollWidth }'
            '</script>'
            % html.escape(text))
dom = chromium("--virtual-time-budget=3000", "--dump-dom", "file://" + os.path.abspath(frame))
width = re.search(r"scrolls (\d+)", dom)
assert width and int(width.group(1)) <= 360, width and width.group(0)

# a desk: no picture is smaller than on a phone held sideways, and no table has a column out of sight
measure = folder + "/measure.html"
for wide, least in ((1280, 380), (360, 300)):
    with open(measure, "w", encoding="utf-8") as f:
        f.write('<body style="margin:0">'
                '<iframe id=f width=%d height=3600 style="border:0" srcdoc="%s"></iframe>'
                '<p id=out></p><script>'
                'onload = () => { const d = document.getElementById("f").contentDocument;'
                'const all = name => [...d.querySelectorAll(name)];'
                'const least = Math.min(...all("svg").map(s => s.getBoundingClientRect().width));'
                'const lost = all(".scroll").filter(s => s.scrollWidth > s.clientWidth).length;'
                'const words = "least " + Math.floor(least) + " lost " + lost;'
                'document.getElementById("out").textContent = words }</script>'
                % (wide, html.escape(text)))
    dom = chromium("--virtual-time-budget=3000", "--window-size=1400,900", "--dump-dom",
                   "file://" + os.path.abspath(measure))
    found = re.search(r"least (\d+|Infinity) lost (\d+)", dom.replace(html.escape(text), ""))
    assert found and float(found[1].replace("Infinity", "inf")) >= least, (wide, found)
    assert found[2] == "0", (wide, found)

for name, words in (("desk", ["--window-size=900,3200"]),
                    ("dark", ["--window-size=700,2400", "--blink-settings=preferredColorScheme=0"])):
    shot = "%s/%s.png" % (folder, name)
    chromium(*words, "--screenshot=" + shot, "file://" + os.path.abspath(page))
    assert os.path.getsize(shot) > 20000, name
shot = folder + "/phone.png"
chromium("--window-size=500,3700", "--screenshot=" + shot, "file://" + os.path.abspath(frame))
pdf = folder + "/print.pdf"
chromium("--print-to-pdf=" + pdf, "file://" + os.path.abspath(page))
assert os.path.getsize(pdf) > 20000
print("%d numbers, %d pictures, %s" % (checked, t.pictures, width.group(0)))
