"""What versions of the library change for a project, and the revision of each stage's part of the library.

A revision is a small number, raised by hand in changes.yaml when the stage's numbers change. The project's
goldmeter.yaml holds those that its numbers were computed by; each is a param of its stage in dvc.yaml.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from pydantic import Field, TypeAdapter, ValidationError

from goldmeter.errors import ParamsError
from goldmeter.pipeline.dvc_yaml import GOLDMETER_YAML, StageEntry
from goldmeter.pipeline.settings import Section, explain
from goldmeter.pipeline.yaml import load_yaml

CHANGES = Path(__file__).with_name("changes.yaml")
PATH = Path(GOLDMETER_YAML)
# In a clone the command `goldmeter` need not be installed.
UPGRADE = "python -m flows upgrade" if Path(__file__).parents[2].joinpath("dvc.yaml").is_file() else "goldmeter upgrade"


class Change(Section):
    """What one version changes for a project, as changes.yaml describes it.

    reasons: stage → why its numbers differ, an entry for each time that its revision is raised.
    """

    version: str
    reasons: Sequence[Mapping[str, str]] = ()
    renamed: Mapping[str, str] = Field(default_factory=dict)
    removed: Mapping[str, str] = Field(default_factory=dict)
    signatures: Sequence[str] = ()

    @property
    def changes_settings(self) -> bool:
        """Whether a params.yaml that fitted before may not fit any more."""
        return bool(self.renamed or self.removed)


class Library(Section):
    """goldmeter.yaml: the library that a project was made for.

    revisions: by stage. files: sha256 of each file of the project as it was written, by path; {} in a clone.
    """

    version: str
    revisions: dict[str, int]
    files: dict[str, str]


def changes() -> list[Change]:
    """Return what each version changes, newest first."""
    return TypeAdapter(list[Change]).validate_python(load_yaml(CHANGES))


def own_version() -> str:
    """Return the version of goldmeter."""
    return changes()[0].version


def changes_since(library: Library) -> list[Change]:
    """Return what the versions after a project's change, newest first.

    Raises:
        ParamsError: The project's version is not known here: it is newer.
    """
    every = changes()
    if library.version not in [change.version for change in every]:
        raise ParamsError(
            f"{PATH}: the project was made for goldmeter {library.version}, and {every[0].version} is installed; "
            f"pip install 'goldmeter=={library.version}'"
        )
    return [*takewhile(lambda change: change.version != library.version, every)]


def reasons(before: Mapping[str, int]) -> list[str]:
    """Return why the numbers of stages differ from those of these revisions, newest first; stage: why, as lines."""
    entries = [(stage, why) for change in changes() for entry in change.reasons for stage, why in entry.items()]
    missing = {stage: revision_of(stage) - before.get(stage, 1) for stage, _ in entries}
    seen = Counter[str]()
    lines = []
    for stage, why in entries:
        seen[stage] += 1
        if seen[stage] <= missing[stage]:
            lines.append(f"{stage}: {why}")
    return lines


def revision_of(stage: str) -> int:
    """Return the revision of the library's part of a stage: 1, and 1 more for each reason in changes.yaml."""
    return 1 + sum(stage in entry for change in changes() for entry in change.reasons)


def read() -> Library:
    """Read goldmeter.yaml.

    Raises:
        ParamsError: It is missing, or is not as it was written.
    """
    restored = f"`git checkout {PATH}` restores it"
    try:
        return Library.model_validate(load_yaml(PATH))
    except FileNotFoundError:
        raise ParamsError(f"{PATH}: not found; {restored}, `{UPGRADE}` writes a new one") from None
    except ValidationError as error:
        raise ParamsError(f"{'; '.join(explain(error, Library, GOLDMETER_YAML).splitlines())}; {restored}") from None
    except ParamsError as error:
        raise ParamsError(f"{error}; {restored}") from None
    except OSError as error:
        raise ParamsError(f"{PATH}: {error.strerror}; {restored}") from None


def check(stages: Mapping[str, StageEntry]) -> None:
    """Check that the library is the one that the project's numbers were computed by, or gives the same ones.

    Raises:
        ParamsError: The project is of a newer library, of another revision of a stage, or of other settings.
    """
    now = {name: revision_of(name) for name, stage in stages.items() if stage.has_revision}
    if not now:
        return
    library = read()
    since = changes_since(library)
    differing = [name for name, revision in now.items() if library.revisions.get(name, 1) != revision]
    if differing or any(change.changes_settings for change in since):
        what = f"the numbers of {', '.join(differing)}" if differing else "settings"
        who = "the library" if library.version == own_version() else own_version()
        raise ParamsError(
            f"{PATH}: the project was made for goldmeter {library.version}, and {who} changes {what}; run `{UPGRADE}`"
        )
