"""What looks like a credential, and what does not although it is long."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

import pytest

from shakedown.model.secrets import WITHHELD, announces_secret, is_secret, looks_secret, without_secrets

_ALPHANUMERIC = string.ascii_letters + string.digits


def _drawn(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda draw: "".join(draw.choices(alphabet, k=length))


@pytest.mark.parametrize(
    "make",
    [
        _drawn("0123456789abcdef", 32),
        _drawn("0123456789abcdef", 64),
        _drawn(_ALPHANUMERIC, 40),
        _drawn(_ALPHANUMERIC + "-_", 43),
        _drawn(string.ascii_lowercase + string.digits, 32),
        lambda draw: base64.b64encode(draw.randbytes(30)).decode(),
    ],
    ids=["hex32", "hex64", "base62", "urlsafe", "base36", "base64"],
)
def test_long_random_words_are_recognised(make: Callable[[random.Random], str]) -> None:
    draw = random.Random(7)
    words = [make(draw) for _ in range(500)]
    assert sum(looks_secret(word) for word in words) >= 480
    assert sum(looks_secret(f"./prepare --with {word} && ./run") for word in words) >= 480


@pytest.mark.parametrize(
    "text",
    [
        "https://alice:hunter2@mirror.example/simple",
        "postgres://u:p/w@db/x",
        "alice:hunter2@proxy.example:3128",
        "git clone https://ghp_abcdefghijkl0123@git.example/a",
        "curl -u alice:pw https://x",
        "PGPASSWORD=hunter2 psql",
        "tool --password hunter2",
        "tool --api-key='hunter2'",
        "export API_TOKEN=abc123x",
        "curl -H 'Authorization: Bearer abcdefgh123' x",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "wget 'https://x.example/y?access_token=9fA83kdLm20sXq7zP01&x=1'",
        "curl https://x.example/y?api_key=Winter2026",
        "wget 'https://x.example/y?se=1&sig=abcdEFGH1234'",
        "sshpass -p hunter2x ssh host",
        "mysql -u me -phunter2x base",
    ],
)
def test_credentials_in_commands_are_recognised(text: str) -> None:
    assert looks_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "OMP_NUM_THREADS=4 ./x --tokens 128 --max-token-len=long",
        "TOKENIZERS_PARALLELISM=false python -u run.py a:b",
        "https://host:8080/path@tag",
        "git checkout 0123456789abcdef0123456789abcdef01234567",
        "echo 'ab0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd  x' | sha256sum -c",
        "/opt/spack/linux-debian12-skylake/gcc-12.2.0/openmpi-4.1.4-abcdefghij2345klmnopqrstuvwxyz67/bin:/usr/bin",
        "--password-file=/etc/x --token=$TOKEN --secret={secret}",
        "./a.out --input=VeryLongCamelCaseNameOfAnInputFileV2.dat",
        "27000@licence.example:27001@licence2.example",
        "gcc/12.2.0:openmpi/4.1.4-gcc-12.2.0:OpenFOAMv2212Benchmark",
        "docker run -u 1000:1000 image",
        "wget 'https://x.example/y?page=12&sort=key'",
        "mysql -u me -p base",
    ],
)
def test_ordinary_commands_are_none(text: str) -> None:
    assert not looks_secret(text)


def test_the_name_of_a_variable_tells_too() -> None:
    assert is_secret("SLURM_JWT", "short") and is_secret("REGISTRY_PASSWORD", "pw") and is_secret("HF_TOKEN", "x1")
    assert not is_secret("OMP_NUM_THREADS", "4") and not is_secret("TOKENIZERS_PARALLELISM", "false")
    assert not is_secret("SLURM_TOKEN_FILE", "/run/token")


def test_a_text_keeps_what_is_no_credential() -> None:
    line = "quiet mitigations=off netroot=https://alice:hunter2@boot/x isolcpus=2-3"
    assert without_secrets(line) == f"quiet mitigations=off {WITHHELD} isolcpus=2-3"
    assert without_secrets("1234567890 4096 library") == "1234567890 4096 library"


@pytest.mark.parametrize("text", ["x", "a-", "curl ", "?a_", "a'"], ids=repr)
def test_however_long_a_word_is_it_is_read_once(text: str) -> None:
    """Two million letters: read once for each letter in them they would take longer than the tests may."""
    assert not announces_secret(text * (2_000_000 // len(text) if " " not in text else 20_000))
