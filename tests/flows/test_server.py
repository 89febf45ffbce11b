"""What our own Prefect server is started with."""

from flows.server import environment


def test_the_server_takes_no_request_from_a_page_of_another_site() -> None:
    given = environment(4321)

    assert given["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] == "true"
    assert given["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] == "http://127.0.0.1:4321,http://localhost:4321"
