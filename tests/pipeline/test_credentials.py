"""No password, signature or given secret stays in a line; what is none stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldmeter.pipeline.credentials import given as secrets_given
from goldmeter.pipeline.credentials import without_credentials

UNBROKEN = st.text(st.characters(exclude_categories=("Z", "C"), exclude_characters="@"), min_size=6)
NAMES = ("X-Amz-Signature", "sig", "token", "access_token", "key", "password", "api_key", "AWSAccessKeyId", "Secret")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fetch https://me:pa/ss@w0rd@host/x failed", "fetch https://***@host/x failed"),
        ("https://a:b@one https://c:d@two", "https://***@one https://***@two"),
        ("postgresql+asyncpg://u:p?#@db/x", "postgresql+asyncpg://***@db/x"),
        ("GET https://host/x?part=1&sig=ab%2F&se=2026 403", "GET https://host/x?part=1&sig=*** 403"),
        ("https://s3/x?X-Amz-Credential=AK&X-Amz-Signature=ab", "https://s3/x?X-Amz-Credential=***"),
        ("AWS_SECRET_ACCESS_KEY=abc PGPASSWORD=x PATH=/bin", "AWS_SECRET_ACCESS_KEY=*** PGPASSWORD=*** PATH=/bin"),
        ('{"access_token": "abc", "n": 1}', '{"access_token=*** "n": 1}'),
        ("x-api-key=abc aws-access-key-id=abc", "x-api-key=*** aws-access-key-id=***"),
        ("> Authorization: Bearer abc def\nnext", "> Authorization: ***\nnext"),
        ("sent with bearer abc", "sent with bearer ***"),
        ("key=3 of max_tokens=50, token: expected text", "key=3 of max_tokens=50, token: expected text"),
        ("see https://host/a?page=2 or ask me@host", "see https://host/a?page=2 or ask me@host"),
        ("", ""),
    ],
)
def test_what_is_hidden_of_a_line(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@given(UNBROKEN, UNBROKEN, st.sampled_from(("https", "s3+http", "postgresql")))
def test_no_part_of_a_password_in_a_url_stays(user: str, password: str, scheme: str) -> None:
    assert without_credentials(f"at {scheme}://{user}:{password}@/{user}@host.example: away") == (
        f"at {scheme}://***@host.example: away"
    )


@given(UNBROKEN, st.sampled_from(NAMES))
def test_no_part_of_a_named_value_stays(value: str, name: str) -> None:
    assert without_credentials(f"https://host/x?a=1&{name}={value} 403") == f"https://host/x?a=1&{name}=*** 403"


@given(st.text(), st.lists(st.text(min_size=8)))
def test_a_secret_stays_nowhere_unless_it_is_made_of_what_stands_for_it(text: str, secrets: list[str]) -> None:
    hidden = without_credentials(text + " ".join(secrets) + text, secrets)

    assert not [secret for secret in secrets if secret in hidden and "***" not in secret]


@given(st.text(st.characters(exclude_characters='=:"')))
def test_a_text_that_names_nothing_stays_as_it_is(text: str) -> None:
    if "bearer" not in text.lower():
        assert without_credentials(text) == text


def test_the_secrets_are_those_that_params_name_and_a_word_for_none_is_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"KEY": "sk-0123456789", "HOOK": "https://h/secret\n", "LOCAL": "none"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GONE", raising=False)
    params = {
        "judge": {"api_key_env": "KEY", "model": "KEY"},
        "embed": {"api_key_env": "LOCAL"},
        "schedule": {"nightly": {"set": ["a=b"], "notify": {"url": "$HOOK", "secret_env": "GONE"}}},
    }

    assert sorted(secrets_given(params)) == ["https://h/secret", "sk-0123456789"]
