"""AGENTS.md of a project: the commands, fields and verdicts that it names are there."""

import re
from typing import get_args

from flows.__main__ import commands
from goldmeter.estimates import metrics_report
from goldmeter.exports import attestation
from goldmeter.project.template import FILES
from goldmeter.wording import claims, comparison_document, verdicts
from tasks.__main__ import OTHERS

TEXT = (FILES / "AGENTS.md").read_text(encoding="utf-8")
CLAIMS = TEXT.split("## What may be claimed")[1].split("## What not")[0]


def test_each_command_that_it_names_is_one() -> None:
    named = set(re.findall(r"`goldmeter ([\w-]+)", TEXT))

    assert named - {"run"} <= {*commands(), *OTHERS}
    assert {"init", "compare", "recheck"} <= named


def test_each_field_and_word_of_a_claim_is_one_of_the_reports() -> None:
    modules = (metrics_report, comparison_document, claims, attestation)
    entries = [kind for module in modules for kind in vars(module).values() if hasattr(kind, "__annotations__")]
    fields = {field for kind in entries for field in kind.__annotations__}
    words = {*verdicts.Verdict, *verdicts.Decision, *verdicts.ROLES, *get_args(metrics_report.HeadlineStatus)}
    words |= {*claims.Shown, *get_args(attestation.Outcome)}
    known = fields | {str(word) for word in words} | {"true", "false", "M", "NAME", "adopt", "recheck"}

    named = {part for code in re.findall(r"`([^`]+)`", CLAIMS) for part in re.split(r"[.\[\]]+", code) if part}

    assert named - known == {"rouge_…", "bleu"}
