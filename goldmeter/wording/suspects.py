"""References to look at first in words: why each is suspicious, and what it would change if they were wrong."""

from goldmeter.console.format import counted, cut, rate, visible
from goldmeter.estimates.human_labels import LABEL
from goldmeter.estimates.metrics_report import MetricsReport, StaleCorrections, SuspectEntry
from goldmeter.wording.conclusion import short_names

# Systems whose rates are named.
NAMED = 3


def why_suspicious(entry: SuspectEntry, measure: str | None) -> str:
    """Say why the references of a question are to be looked at."""
    reasons = []
    if agree := entry.get("agree"):
        reasons.append(f"{agree} of {counted(entry['systems'], 'system')} agree on another answer.")
    if right := entry.get("labelled_right"):
        reasons.append(
            f"{counted(right, 'answer')} that {measure} fails {'is' if right == 1 else 'are'} labelled right."
        )
    if asked := entry.get("ruled_out"):
        reasons.append(f"The question asks for {asked}, and no reference has one.")
    if duplicate := entry.get("duplicate"):
        reasons.append(f"{visible(duplicate)} has the same question and none of these references.")
    return " ".join(["The reference may be wrong.", *reasons])


def stale_corrections(found: StaleCorrections) -> str:
    """Say which corrections of references do not apply, and what to do."""
    n, first = found["questions"], [cut(visible(name)) for name in found["first"]]
    has, their = ("has", "its") if n == 1 else ("have", "their")
    return (
        f"dataset.corrections: {counted(n, 'question')} {has} corrections that do not apply, because {their} "
        f"references have changed since: {', '.join(first)}{', …' if n > len(first) else ''}. Mark these references "
        "again (flows.label), or delete the lines"
    )


def if_references_are_wrong(document: MetricsReport) -> str:
    """Say how many references are to be looked at, and what would change if they were wrong; empty without any."""
    found = document.get("suspects")
    if not found:
        return ""
    says = [f"{counted(len(found['rows']), 'reference')} to look at first."]
    if change := found.get("if_wrong"):
        names = list(change["rates"])[:NAMED]
        short = short_names(names)
        rates = [
            f"{short[name]} {rate(one['low'])} to {rate(one['high'])} (now {rate(one['value'])})"
            for name, one in change["rates"].items()
            if name in short
        ]
        are = "it is" if len(found["rows"]) == 1 else "all are"
        says.append(f"If {are} wrong: {', '.join(rates)}; the conclusion {'stays' if change['holds'] else 'may turn'}.")
    elif document.get("primary", {}).get("measure") == LABEL:
        says.append("Human labels decide, so the conclusion does not depend on them.")
    if all(one["systems"] < 2 for one in found["rows"]):  # noqa: PLR2004 (nothing agrees with itself)
        says.append("With one system there is no agreement to go by, so others may be wrong too.")
    return " ".join(says)
