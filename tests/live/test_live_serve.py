"""``shakedown serve`` as a person starts it: the address, a campaign that runs meanwhile, the end."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from served_page import asked, served
from stories import SHAKEDOWN


def test_a_page_follows_a_campaign_and_ctrl_c_ends_it(
    site: Path, tmp_path: Path, people: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    with served(site, tmp_path / "cache") as (process, address):
        assert json.loads(asked(address, "/?as=json")[1])["campaigns"][0]["name"] == "p-1"
        stream = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        stream.request("GET", "/changes")
        changes = stream.getresponse()
        first = changes.readline()
        assert first.startswith(b"data: ") and changes.readline() == b"\n"
        assert people(site, "run", "p", "-q").returncode == 1
        while changes.readline() in (
            first,
            b"\n",
        ):  # the page is told without asking; now and then it hears the same again
            pass
        while json.loads(asked(address, "/?as=json")[1])["campaigns"][0].get("phase") != "over":
            assert changes.readline()
        newest = json.loads(asked(address, "/?as=json")[1])["campaigns"][0]
        assert (newest["name"], newest["states"]) == ("p-2", {"passed": 2, "failed": 2})
        assert asked(address, "/", Host="evil.example")[0] == 400
        stream.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert [path.suffix for path in (tmp_path / "cache/shakedown").glob("*.sqlite")] == [".sqlite"]
    assert not list(site.glob("**/*.sqlite"))  # nothing is written into the site


def test_an_index_that_cannot_be_read_is_built_again(site: Path, tmp_path: Path) -> None:
    with served(site, tmp_path / "cache") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    kept = next((tmp_path / "cache/shakedown").glob("*.sqlite"))
    kept.write_bytes(b"no database " * 1000)
    with served(site, tmp_path / "cache") as (_, address):
        assert asked(address, "/campaign/p-1/runs/r000001")[0] == 200


def test_an_index_that_is_thrown_away_while_a_page_is_served_is_built_again(site: Path, tmp_path: Path) -> None:
    with served(site, tmp_path / "cache") as (process, address):
        assert asked(address, "/campaign/p-1")[0] == 200
        shutil.rmtree(tmp_path / "cache/shakedown")
        statuses = set()
        while 200 not in statuses:
            assert process.poll() is None
            statuses.add(asked(address, "/campaign/p-1/runs/r000001")[0])
        assert statuses <= {200, 404, 503}


def test_with_a_token_the_address_has_it(site: Path, tmp_path: Path) -> None:
    with served(site, tmp_path / "cache", "--token") as (_, address):
        assert asked(address, "/")[0] == 401
        assert asked(address, f"/?{urlsplit(address).query}")[0] == 303
        assert asked(address, "/metrics", Authorization=f"Bearer {urlsplit(address).query[6:]}")[0] == 200


def test_misuse_has_its_sentence(
    site: Path, people: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = people(site, "serve", "--host", "192.0.2.1")
    assert done.returncode == 2
    assert "error: cannot listen on 192.0.2.1 port 8130: Cannot assign requested address" in done.stderr
    done = people(site, "serve", "--index", "nonsense")
    assert done.returncode == 2 and "the index" in done.stderr and "--index" in done.stderr
    done = people(site, "serve", "--index", "mysql://me:word@127.0.0.1:1/x")
    assert (
        done.returncode == 2
        and "needs a driver that is not installed: MySQLdb" in done.stderr
        and "word" not in done.stderr
    )
    done = people(tmp_path, "serve")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_status_follows_a_campaign_to_its_end(
    site: Path, people: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = people(site, "status", "p-1", "--watch")
    assert done.returncode == 0 and done.stdout == people(site, "status", "p-1").stdout + "\n"
    (site / "tests/ok.yaml").write_text(
        "test: ok\nrun:\n  command: |\n    while [ ! -e {campaign}/../../go ]; do sleep 0.05; done; echo fine\n"
    )
    conductor = subprocess.Popen([*SHAKEDOWN, "run", "p", "-q"], cwd=site)
    while people(site, "status", "p-2").returncode != 0:
        assert conductor.poll() is None
    watch = subprocess.Popen([*SHAKEDOWN, "status", "p-2", "--watch"], cwd=site, stdout=subprocess.PIPE, text=True)
    assert watch.stdout is not None
    assert watch.stdout.readline().startswith("p-2: running")
    (site / "go").touch()
    said = watch.stdout.read()
    assert (watch.wait(60), conductor.wait(60)) == (0, 1)
    assert "p-2: ended; " in said  # its conductor may live for a moment longer
    done = people(site, "status", "--watch", "--json")
    assert done.returncode == 2 and "shakedown log --follow --json" in done.stderr
