"""The numbers of the page are those of reports/metrics.json, each in its own place: as text and as <data value>."""

import json
import re
from html.parser import HTMLParser

import pytest

from goldmeter.console.format import coefficient, count, counted, number, points, rate, rate_interval
from goldmeter.console.format import rate as in_percent
from goldmeter.wording.comparison_lines import would_decide
from tests.reporting.made import inputs, row, score_table, section_of, written

CANDIDATES = ("aurora", "borealis")
NO_JUDGE = " no judge"
REASONS = {"failed": "no vector", "left": "not sampled"}


def answers():
    """Two candidates, 40 questions; people, f1 and meaning say different things of them, and leave out different ones.

    meaning None = failed or not asked, which `why` tells apart.
    """
    for n in range(40):
        for place, name in enumerate(CANDIDATES):
            f1, meaning = (7 * n + 3 * place) % 11 / 10.3, (5 * n + place) % 13 / 13
            gone = {0: "failed", 5: "left", 9: "left"}.get((n + place) % (12 + place))
            labelled = (n + place) % (8 + place) != 0
            label = bool((f1 + meaning + (n % 3) / 5) > 1) if labelled else None
            topic = ("places", "names", "words")[0 if n < 20 else 1 if n < 33 else 2]
            yield row(f"q{n:02}", name, f"answer {n}", label, f1, None if gone else meaning, topic=topic, why=gone)


def made(rows, folder, **more):
    """The page and metrics.json; more: sections of it."""
    details = [json.dumps({"unmeasured": REASONS[each["why"]]}) if each["why"] else None for each in rows]
    meaning = [each["meaning"] for each in rows]
    extra = {"semantic": score_table(rows, "semantic_similarity", "semantic", 0.7, meaning, details)}
    section = {"slice_values": 3, "small_n": 8}
    _, documents = inputs(rows, folder / "again", part_rows=50, extra=extra)
    measured = documents["reports/metrics.json"] | more
    changed = {"reports/metrics.json": measured}
    html = written(rows, folder, part_rows=50, extra=extra, section=section, documents=changed)["reports/index.html"]
    return html, measured


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return made([*answers()], tmp_path_factory.mktemp("labelled"))


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory):
    """Then the first lines are of a metric whose pass rate is not its score."""
    return made([each | {"label": None} for each in answers()], tmp_path_factory.mktemp("unlabelled"))


class Table(HTMLParser):
    """The rows of the tables: of each cell its class, its text, and the values of its <data>."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.cell, self.drawn = [], None, 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self.cell = {"class": known.get("class") or "", "text": "", "data": []}
            self.rows[-1].append(self.cell)
        elif tag == "data":
            self.cell["data"].append(float(known["value"]))
        elif tag == "br":
            self.cell["text"] += " "
        elif tag == "svg":
            self.drawn += 1

    def handle_endtag(self, tag):
        if tag in {"th", "td"}:
            self.cell["text"] = " ".join(self.cell["text"].split())
            self.cell = None
        elif tag == "svg":
            self.drawn -= 1

    def handle_data(self, text):
        if self.cell is not None and not self.drawn:
            self.cell["text"] += text


def table(html):
    """What stands in the first cell → the other cells that hold numbers."""
    return {
        cells[0]["text"]: [cell for cell in cells[1:] if "drawn" not in cell["class"].split()]
        for cells in Table(html).rows
        if len(cells) > 1
    }


def with_verdict(metric, entry):
    """The name of a metric, and whether it is no judge of these answers."""
    return metric if entry["is_judge"] else f"{metric}{NO_JUDGE}"


def known(*values):
    return [value for value in values if value is not None]


def test_the_made_data_has_every_count_and_no_two_figures_of_a_metric_are_the_same(found):
    for name in CANDIDATES:
        entry = found[1]["candidates"][name]["semantic_similarity"]
        counts = [entry["n"], entry["n_not_asked"], entry["n_failed"]]
        figures = [entry[each] for each in ("value", "low", "high", "worst", "best")]

        assert 0 not in counts
        assert len(set(counts)) == 3
        assert len({*figures, *(entry["pass_rate"][each] for each in ("value", "low", "high"))}) == 8
        assert found[1]["candidates"][name]["label"]["n_not_asked"]


@pytest.mark.parametrize("name", CANDIDATES)
@pytest.mark.parametrize("metric", ["label", "f1", "semantic_similarity"])
def test_scores_and_pass_rates_with_their_limits_and_counts(found, metric, name):
    html, document = found
    title = "human <code>label</code>" if metric == "label" else f"<code>{metric.replace('_', '_<wbr>')}</code>"
    block = section_of(html, "scores").split(f'colspan="2">{title}')[1].split("</tbody>")[0]
    score, rate, rows = table(f"<tr><th>{block}")[name]
    entry = document["candidates"][name][metric]
    passed = entry["pass_rate"]
    limits = [entry["value"], entry["low"], entry["high"]]
    once = metric == "label"

    value, low, high = map(number, limits)
    assert score["text"] == ("–" if once else f"{value} {low} to {high}")
    assert score["data"] == ([] if once else limits)
    assert rate["text"] == f"{in_percent(passed['value'])} {in_percent(passed['low'])} to {in_percent(passed['high'])}"
    assert rate["data"] == [passed["value"], passed["low"], passed["high"]]
    left, failed = entry["n_not_asked"], entry["n_failed"]
    told = [
        f"{entry['n']} of 40",
        *([f"{left} {'without label' if metric == 'label' else 'not asked'}"] if left else []),
    ]
    told += [f"{failed} failed: {number(entry['worst'])}–{number(entry['best'])}"] if failed else []
    assert rows["text"] == " ".join(told)
    assert rows["data"] == [entry["n"], *known(left or None), *([failed, entry["worst"], entry["best"]] * bool(failed))]


@pytest.mark.parametrize("name", CANDIDATES)
@pytest.mark.parametrize(("run", "by"), [("found", "human labels"), ("unlabelled", "f1")])
def test_the_rates_of_the_conclusion(request, run, by, name):
    html, document = request.getfixturevalue(run)
    entry = document["headlines"][name]
    big = next(each for each in section_of(html, "glance").split('class="big"')[1:] if f"<bdi>{name}</bdi>" in each)
    part = big.split("</div>")[0]

    assert entry["by"] == by
    assert re.sub(r"<[^>]*>", "", part.split('class="figure">')[1].split("</p>")[0]) == rate(entry["value"])
    drawn = f"{in_percent(entry['value'])}, {in_percent(entry['low'])} to {in_percent(entry['high'])}"
    assert f'aria-label="{name}: {name} {drawn}"' in part
    assert re.findall(r'class="span">(.*?)</p>', part) == [f"{rate(entry['low'])} to {rate(entry['high'])}"]
    assert f"{by}, {counted(entry['n'], 'answer')}" in section_of(html, "evidence")
    assert [float(each) for each in re.findall(r'<data value="([^"]*)"', part)] == [entry["value"]]


@pytest.mark.parametrize("run", ["found", "unlabelled"])
def test_every_kind_of_failure_of_each_candidate(request, run):
    html, document = request.getfixturevalue(run)
    rows = table(section_of(html, "evidence").split("<tbody>")[1].split("</tbody>")[0])
    names = sorted(CANDIDATES, key=lambda name: -document["headlines"][name]["value"])
    failed = document["failures"]

    of_all = [cell["text"] for cell in rows.pop("all")]
    assert of_all == [f"{failed[name]['wrong']} of {failed[name]['n']}" for name in names]
    assert [*rows] == [kind["kind"] for kind in failed[names[0]]["kinds"]]
    for number_of_kind, cells in enumerate(rows.values()):
        kinds = [failed[name]["kinds"][number_of_kind] for name in names]
        assert [cell["text"] for cell in cells] == [
            f"{kind['n']} {rate_interval(kind['value'], kind['low'], kind['high'])}" for kind in kinds
        ]


def test_every_pass_rate_of_the_overview(found):
    html, document = found
    overview = section_of(html, "evidence").split('class="overview"')[1]

    for metric in ("label", "f1", "semantic_similarity"):
        rates = {name: document["candidates"][name][metric]["pass_rate"] for name in CANDIDATES}
        assert f'aria-label="{metric}: {lanes(rates)}"' in overview


def lanes(rates, few=()):
    """Estimates as a drawing says them."""
    return "; ".join(
        f"{name} {in_percent(each['value'])}, {in_percent(each['low'])} to {in_percent(each['high'])}"
        + (", few rows" if name in few else "")
        for name, each in rates.items()
    )


@pytest.mark.parametrize("metric", ["label", "f1", "semantic_similarity"])
def test_slices_are_pass_rates_in_the_drawings_and_in_the_numbers(found, metric):
    html, document = found
    section = section_of(html, "slices")
    title = "human label" if metric == "label" else metric
    (panel,) = [each for each in section.split("<figure")[1:] if caption(each, "figcaption").startswith(title)]
    (numbers,) = [each for each in section.split("<h4>")[1:] if caption(f"<h4>{each}", "h4").startswith(title)]
    cells = table(numbers.split("<tbody>")[1].split("</tbody>")[0])

    for value in ("places", "names", "words"):
        entries = {name: document["candidates"][name][metric]["slices"]["topic"][value] for name in CANDIDATES}
        rates = {name: each["pass_rate"] for name, each in entries.items()}
        few = [name for name, each in entries.items() if each["n"] < 8]
        assert f'aria-label="{value}: {lanes(rates, few)}"' in panel
        for cell, (name, entry) in zip(cells[value], entries.items(), strict=True):
            shares = re.findall(r"[<>]?\d+(?:\.\d)? %", cell["text"])
            limits = [rates[name][each] for each in ("value", "low", "high")]
            assert shares == [*map(in_percent, limits)], cell["text"]
            assert int(re.findall(r"\d+", cell["text"].split("%")[3])[0]) == entry["n"], cell["text"]
            assert cell["data"] in ([], limits)
            assert cell["text"].endswith("few") == (name in few), cell["text"]


def caption(part, tag):
    return re.sub(r"<[^>]*>", "", part.split(f"<{tag}>")[1].split(f"</{tag}>")[0])


def test_pairs(found):
    html, document = found
    (pair,) = document["comparisons"]
    bodies = [part.split("</tbody>")[0] for part in section_of(html, "candidates").split("<tbody>")[1:]]
    cells = {name.removesuffix(" primary"): row for body in bodies for name, row in table(body).items()}

    assert cells.keys() == pair["measures"].keys()
    for name, measure in pair["measures"].items():
        base, head, difference, says, rows, finds = cells[name]
        change, left = measure["difference"], measure["unmeasured"]
        failed = 40 - measure["n"] - left["not_asked"]
        assert (base["text"], base["data"]) == (rate(measure["base"]), [measure["base"]])
        assert (head["text"], head["data"]) == (rate(measure["head"]), [measure["head"]])
        told = f"{points(change['value'])} {points(change['low'])} to {points(change['high'])}"
        told += f" failed rows: {points(left['worst'])} to {points(left['best'])}" if failed else ""
        assert difference["text"] == told
        assert difference["data"] == [change["value"], change["low"], change["high"]]
        needed = f" {would_decide(measure)}" if measure["needed"] else ""
        assert says["text"] == f"{measure['verdict']}{needed}"
        assert rows["text"] == f"{measure['n']}" + (f" {failed} failed" if failed else "")
        assert (finds["text"], finds["data"]) == (
            f"±{points(measure['detectable']).lstrip('+')}",
            [measure["detectable"]],
        )


@pytest.mark.parametrize("name", CANDIDATES)
def test_agreement_with_people(found, name):
    html, document = found
    block = section_of(html, "people").split(f"with human labels on {name}</caption>")[1]
    cells = table(block.split("<tbody>")[1].split("</tbody>")[0])

    agreements = {metric: document["candidates"][name][metric]["agreement"] for metric in ("f1", "semantic_similarity")}
    assert cells.keys() == {*map(with_verdict, agreements, agreements.values())}
    for metric, (same, baseline, kappa, auc, passes, fails, labels) in cells.items():
        entry = agreements[metric.removesuffix(NO_JUDGE)]
        assert baseline["text"] == f"{entry['baseline']['rule']}: {rate(entry['baseline']['value'])}"
        for cell, figure, text in ((same, "accuracy", in_percent), (kappa, "kappa", number), (auc, "auc", number)):
            each = entry[figure]
            assert cell["text"] == f"{text(each['value'])} {text(each['low'])} to {text(each['high'])}"
            assert cell["data"] == [each["value"], each["low"], each["high"]]
        counts = [entry["false_pass"], entry["false_fail"], entry["n"]]
        assert [passes["text"], fails["text"], labels["text"]] == [f"{each}" for each in counts]


def test_the_share_of_right_answers_by_the_judges_probability(tmp_path):
    bins = [(0.0, 0.1, 0.05, (0.4, 0.2, 0.6), 20), (0.8, 0.97, 0.9, (0.95, 0.85, 0.99), 30)]
    groups = [
        dict(zip(("low", "high", "expected", "right", "n"), one, strict=True))
        | {"right": dict(zip(("value", "low", "high"), one[3], strict=True))}
        for one in bins
    ]
    html, _ = made([*answers()], tmp_path, reliability=groups)

    people = section_of(html, "people")
    assert "1 of 2 groups of answers are not as often right as the judge expects" in people
    assert (
        'aria-label="Right answers by probability: 5.0 % expected, 40.0 % right; 90.0 % expected, 95.0 % right"'
        in people
    )
    cells = table(people.split("probability</caption>")[1].split("<tbody>")[1].split("</tbody>")[0])
    assert [cell["text"] for cell in cells["80.0 % to 97.0 %"]] == ["90.0 %", "95.0 % 85.0 % to 99.0 %", "30"]


def test_thresholds_that_labels_teach(found):
    html, document = found
    cells = table(section_of(html, "people").split("</caption>")[-1].split("<tbody>")[1].split("</tbody>")[0])

    thresholds = document["thresholds"]
    assert cells.keys() == {*map(with_verdict, thresholds, thresholds.values())}
    assert thresholds.keys() == {"f1", "semantic_similarity"}
    for metric, (now, taught, same, baseline, kappa, labels) in cells.items():
        entry = thresholds[metric.removesuffix(NO_JUDGE)]
        accuracy = entry["accuracy"]
        assert baseline["text"] == f"{entry['baseline']['rule']}: {rate(entry['baseline']['value'])}"
        assert kappa["text"] == coefficient(entry["kappa"])
        assert (now["text"], taught["text"]) == (number(entry["threshold"]), number(entry["learnt"]))
        limits = f"{in_percent(accuracy['low'])} to {in_percent(accuracy['high'])}"
        assert same["text"] == f"{in_percent(accuracy['value'])} {limits}"
        assert same["data"] == [accuracy["value"], accuracy["low"], accuracy["high"]]
        assert labels["text"] == count(entry["n"])
