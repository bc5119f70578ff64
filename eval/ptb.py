"""Captions -> the words that caption metrics compare: Penn Treebank tokens without punctuation.

The metrics' published values rest on Stanford's PTBTokenizer, a Java program in pycocoevalcap.
`python_tokens` does the same without Java for all but a few captions in ten thousand.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bridge.errors import InputError

# What pycocoevalcap drops after tokenizing. Brackets are in upper case there and so never dropped.
DROPPED = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", '"'])
CHOICES = ("auto", "ptb", "python")
BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")  # each would shift all later captions
BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
# Quotes, dashes and dots of typographers, by code point: they look too much like those of ASCII.
CURLY = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2013: "--", 0x2014: "--"}
CURLY |= {0x2026: "..."}
ASTRAL = re.compile(r"[^\x00-\uffff]")  # emoji and their like: no tokens for PTB
PAIRS = {"cannot": "can not", "gonna": "gon na", "gotta": "got ta", "wanna": "wan na"}
PAIRS |= {"lemme": "lem me", "gimme": "gim me"}
TOKEN = re.compile(
    r"""
      '(?:s|m|d|re|ve|ll)(?![^\W_]) | n't(?![^\W_])      # clitics that stand alone
    | (?<![^\W_])[a-z](?:\.[a-z])*\.(?![^\W_])           # u.s. and initials
    | (?<![^\W_])(?:mr|mrs|ms|dr|st|rd|jr|sr|vs|mt|ave|blvd|co|inc|corp|ft|etc)\.(?![^\W_])
    | \d+(?:[.,:/]\d+)+ | [.]\d+                            # 1,000 3.5 5:30 1/2
    | [^\W_]+(?:[-'/.][^\W_]+)*                            # words, with what joins them
    | \S
    """,
    re.VERBOSE,
)
CLITIC = re.compile(r"(?<=.)(n't|'(?:s|m|d|re|ve|ll))$")


def python_tokens(caption: str) -> str:
    """One caption as lower-case tokens joined by blanks."""
    found: list[str] = []
    text = ASTRAL.sub(" ", BREAKS.sub(" ", caption)).translate(CURLY).lower()
    for token in TOKEN.findall(text):
        found += split(token)
    return " ".join(token for token in found if token not in DROPPED)


def split(token: str) -> list[str]:
    if token in BRACKETS:
        return [BRACKETS[token]]
    if token in PAIRS:
        return PAIRS[token].split()
    if clitic := CLITIC.search(token):
        return [token[: clitic.start()], clitic[0]]
    return [token]


def ptb_tokens(captions: Sequence[str]) -> list[str]:
    """The same by Stanford's tokenizer in pycocoevalcap; raises InputError where Java fails."""
    lines = [BREAKS.sub(" ", caption) for caption in captions]
    folder = find_spec("pycocoevalcap").submodule_search_locations[0]
    jar = Path(folder) / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    program = ["edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase"]
    text = "".join(f"{line}\n" for line in lines).encode()
    try:
        done = subprocess.run(["java", "-cp", str(jar), *program], input=text, capture_output=True)
    except OSError as error:
        raise InputError(
            f"--tokenizer ptb needs java ({error}); take --tokenizer python"
        ) from error
    found = done.stdout.decode().split("\n")
    if done.returncode or len(found) != len(lines) + 1:
        reason = " ".join(done.stderr.decode().split())[:200]
        raise InputError(
            f"the PTB tokenizer gave {len(found) - 1} lines for {len(lines)} captions "
            f"({reason}); take --tokenizer python"
        )
    kept = ([word for word in line.split() if word not in DROPPED] for line in found[:-1])
    return [" ".join(words) for words in kept]


def chosen(tokenizer: str) -> str:
    """`ptb` or `python`; `auto` is ptb where there is Java."""
    if tokenizer not in CHOICES:
        raise InputError(f"expected a tokenizer of {', '.join(CHOICES)}, got {tokenizer!r}")
    if tokenizer == "auto":
        return "ptb" if shutil.which("java") else "python"
    return tokenizer


def tokens(captions: Sequence[str], tokenizer: str) -> list[str]:
    """Tokens of each caption, joined by blanks, by a tokenizer that `chosen` gave."""
    return ptb_tokens(captions) if tokenizer == "ptb" else list(map(python_tokens, captions))
