"""Build goldmeter/text/wordnet.npz from a WordNet 3.0 `dict` folder.

Use: python -m scripts.build_wordnet /usr/share/wordnet (of Debian's wordnet-base).
Source of the format: wndb(5WN).
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from goldmeter.text.wordnet import PARTS_OF_SPEECH, TABLE, VERSION, WordNet, render


def build(folder: Path) -> WordNet:
    """The table of a dict folder; ValueError when it holds another version of WordNet."""
    if f"WordNet {VERSION} Copyright" not in (folder / "data.noun").read_text()[:4096]:
        raise ValueError(f"{folder / 'data.noun'} is not of WordNet {VERSION}")
    return WordNet.of(
        {part: _names(folder, part) for part in PARTS_OF_SPEECH},
        {part: _exceptions(folder / f"{part}.exc") for part in PARTS_OF_SPEECH},
    )


def _names(folder: Path, part: str) -> dict[str, list[str]]:
    synsets = dict(_synsets(folder / f"data.{part}"))
    return {
        lemma: sorted({name for offset in offsets for name in synsets[offset]})
        for lemma, offsets in _index(folder / f"index.{part}")
    }


def _synsets(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Offset of each synset and its names without "_", freed of syntactic markers such as (p)."""
    for fields in _records(path):
        count = int(fields[3], 16)
        names = (re.sub(r"\([^()]*\)$", "", name) for name in fields[4 : 4 + 2 * count : 2])
        yield fields[0], [name for name in names if "_" not in name]


def _index(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each lemma and the offsets of its synsets."""
    for fields in _records(path):
        yield fields[0], fields[-int(fields[2]) :]


def _exceptions(path: Path) -> dict[str, list[str]]:
    return {form: lemmas for form, *lemmas in _records(path)}


def _records(path: Path) -> Iterator[list[str]]:
    """The fields of each line but those of the licence at the head, which begin with a blank."""
    with path.open(encoding="utf-8") as lines:
        yield from (line.split() for line in lines if not line.startswith(" "))


def main() -> None:
    """Write the table, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="WordNet 3.0 dict folder")
    parser.add_argument("--output", type=Path, default=TABLE)
    options = parser.parse_args()
    content = render(build(options.folder))
    options.output.write_bytes(content)
    print(f"{options.output}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
