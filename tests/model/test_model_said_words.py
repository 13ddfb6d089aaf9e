"""What a reader would not see, or would take for something else, is refused with the way out."""

from __future__ import annotations

import pytest

from shakedown.model.said_words import (
    accepted_words,
    look_alike,
    restricts_nothing,
    shows_nothing,
    wrong_name,
    wrong_said,
)

HIDDEN = ["", " ", "\u200b", "\u200b \u2060", "\ufeff", "\u2800", "\u3164", "\u034f", "\ufe0f", "\u202e", "\xad"]


@pytest.mark.parametrize("text", HIDDEN)
def test_what_nobody_sees_says_nothing(text: str) -> None:
    assert shows_nothing(text) and restricts_nothing(text)
    assert not shows_nothing(text + "a disk")
    assert bool(wrong_said("Ada", text, "", ())) == bool(text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "None.",
        " NONE ",
        "n/a",
        "-",
        "no restriction",
        "n\u200bone",
        "n\u043ene",
        "(nothing)",
        "keine",
        "KEINE!",
        "Keine Einschr\u00e4nkungen",
        "aucune",
        "Ne\u0301ant",
        "\u7121",
        "\u65e0\u3002",
        "\u306a\u3057",
        "\uc5c6\uc74c",
        "\u041d\u0415\u0422",
        "ninguna",
        "nessuna.",
        "\u017e\u00e1dn\u00e9",
        "\u0915\u094b\u0908 \u0928\u0939\u0940\u0902",
        "\u0e44\u0e21\u0e48\u0e21\u0e35",
        "0",
    ],
)
def test_a_restriction_that_says_there_is_none_is_none(text: str) -> None:
    assert restricts_nothing(text)
    assert "restricts nothing: say what the acceptance is restricted by" in wrong_said("Ada", "so", text)


@pytest.mark.parametrize(
    "text",
    [
        "no wide jobs",
        "none of the wide jobs",
        "\u041d\u0435\u0442 \u0448\u0438\u0440\u043e\u043a\u0438\u0445",
        "\u00bd price",
    ],
)
def test_other_restrictions_restrict(text: str) -> None:
    assert not restricts_nothing(text) and not wrong_said("Ada", "so", text)
    assert accepted_words(text) == text


def test_what_a_waiver_accepts_restricts_whatever_it_says() -> None:
    assert accepted_words("\u7121") == "accepted as it is, which restricts (the waiver says '\u7121')"
    assert accepted_words("\u200b") == accepted_words("") == "accepted as it is, which restricts (without a word)"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "\u0430nna",
            "'\u0430nna' has letters of two alphabets (\u0430 is CYRILLIC SMALL LETTER A): write it with those of one",
        ),
        ("An\u200bna", "it has an invisible character (U+200B): write the name without it"),
        ("Anna\u3164", "it has an invisible character (U+3164): write the name without it"),
        ("\u0410\u041d\u041d\u0410", ""),  # a name in Cyrillic, which looks like no other one
        ("\u0415\u0432\u0430 Smith", ""),  # each word in one alphabet
        ("J\u00fcrgen Stra\u00dfe", ""),
        ("J\u0075\u0308rgen", ""),
        ("\u5c71\u7530 Taro-\u592a\u90ce", ""),
    ],
)
def test_a_name_has_letters_of_one_alphabet_that_are_seen(name: str, said: str) -> None:
    assert wrong_name(name) == said


@pytest.mark.parametrize("name", ["\u0412\u043e", "B0", "\u0392\u03bf", "\uff22\uff4f"])
def test_a_name_that_looks_like_one_of_the_plan_is_refused(name: str) -> None:
    """All of it in another alphabet, so that only the plan's name shows it."""
    assert look_alike(name, "Bo")
    assert wrong_said(name, "so", "", ("Ada", "Bo")).endswith(
        "looks like Bo, and is another name: write Bo as the plan does"
    )
    assert not wrong_name(name, ("Ada", "Eve")) and not wrong_name("bo", ("Ada", "Bo"))


@pytest.mark.parametrize(
    ("name", "other"), [("I. Smith", "L. Smith"), ("Ian Li", "Lan Li"), ("Op L", "Op 1"), ("Ida Lee", "Lida Lee")]
)
def test_a_capital_l_looks_like_no_other_letter(name: str, other: str) -> None:
    assert not look_alike(name, other) and wrong_name(name, [other]) == ""


def test_spaces_of_any_width_are_spaces() -> None:
    assert wrong_name("\u7530\u4e2d\u3000\u592a\u90ce", ["\u7530\u4e2d \u592a\u90ce"]) == ""
    assert wrong_name("Ada\u00a0Byron") == ""


def test_a_choice_among_shapes_belongs_to_a_script_that_has_some() -> None:
    assert wrong_name("\u845b\U000e0100\u57ce") == ""
    assert "invisible character (U+E0100)" in wrong_name("Ada\U000e0100")
    assert look_alike("\u845b\U000e0100", "\u845b")


def test_a_name_of_the_plan_is_a_name() -> None:
    """Also where a plan was frozen that has it, and where hyphens join words of two alphabets."""
    assert "two alphabets" in wrong_name("\u0410nna") and wrong_name("\u0410nna", ["\u0410nna"]) == ""
    assert wrong_name("Anna-\u041c\u0430\u0440\u0438\u044f") == ""


@pytest.mark.parametrize(
    "name",
    [
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",  # Ali-Reza in Persian: the non-joiner is obligatory
        "\u0639\u0644\u06cc\u064e\u200c\u0631\u0636\u0627",  # with a vowel sign before it
        "\u0d28\u0d4d\u200d",  # Malayalam: a chillu as it was written before Unicode 5.1
        "\u0d30\u0d4d\u200c\u0d35",
        "\u0dc1\u0dca\u200d\u0dbb\u0dd3",  # Shri in Sinhala
        "\u0915\u094d\u200d\u0937",
    ],
)
def test_joiners_are_spelling_where_their_script_asks_for_them(name: str) -> None:
    assert wrong_name(name) == ""
    without = name.replace("\u200c", "").replace("\u200d", "")
    assert wrong_name(without, [name]).startswith(f"'{without}' looks like {name}")


@pytest.mark.parametrize(
    "name",
    [
        "A\u200cda",
        "\u200c\u0639\u0644\u06cc",  # nothing before it
        "\u0639\u0644\u06cc\u200c",  # nothing after it
        "\u0631\u200c\u0636",  # the letter before it joins nothing after it
        "\u0639\u200d\u0644",  # no virama
        "\u0915\u094d\u200c",  # a non-joiner after a virama, and no letter after it
        "\u0639\u200c\u200c\u0644",
    ],
)
def test_joiners_are_invisible_elsewhere(name: str) -> None:
    told = wrong_name(name)
    assert told.startswith("it has an invisible character (U+200") and told.endswith(
        "where no script has one: write the name without it there"
    )


@pytest.mark.parametrize("pair", [("Bo lron", "Bo Iron"), ("B0 1ron", "Bo Iron"), ("Arno", "Amo"), ("|an", "Ian")])
def test_names_that_look_alike_in_one_alphabet(pair: tuple[str, str]) -> None:
    said, planned = pair
    assert look_alike(said, planned)
    assert wrong_name(said, ["Ada", planned]).endswith(
        f"looks like {planned}, and is another name: write {planned} as the plan does"
    )
    assert wrong_name(said, [said, planned]) == ""  # the plan has both


@pytest.mark.parametrize("pair", [("Ali", "All"), ("Bo", "Bob"), ("Ann", "Am"), ("Eli", "Ell")])
def test_names_that_do_not(pair: tuple[str, str]) -> None:
    assert not look_alike(*pair)
