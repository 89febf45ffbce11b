"""What may run in a page: the scripts whose hash its content security policy names."""

import re
from base64 import b64encode
from hashlib import sha256

SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
DATA = ' type="application/octet-stream" id="answers"'


def policy(html: str) -> dict[str, list[str]]:
    """Directive → what it allows; a page has one policy, before all that it is about."""
    [found] = POLICY.findall(html)
    assert html.index(found) < min(html.index("<script"), html.index("<style"))
    return {name: allowed for name, *allowed in (each.split() for each in found.split(";"))}


def scripts(html: str) -> list[str]:
    """The scripts that run; asserts that the policy names each, and that other data are only base64."""
    allowed = policy(html)["script-src"]
    running = []
    for attributes, text in SCRIPT.findall(html):
        if attributes == DATA:
            assert re.fullmatch(r"[A-Za-z0-9+/=]*", text)
            continue
        assert attributes == ""
        running.append(text)
    assert len(running) == html.count("<script>")
    assert allowed == [f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in running]
    return running
