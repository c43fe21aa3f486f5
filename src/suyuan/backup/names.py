"""The names of files in a backup: where they come from, what they are, and which of them may be restored."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.folder_use import JOURNAL_FILE, LOCK_FILE
from ..core.kept_files import FILE_NAME as RECORD

DATA, STATE, CONFIG = "data", "state", "config"
STORE = "store/chat.sqlite"
"""The conversations: in SQLite wherever they were."""
ARCHIVE_FILE = "archive.sqlite"
STAGE = ".restoring"
"""The folder in which a restore prepares what it will put in place."""
ASIDE = "before-restore-"
"""How the folders begin in which restores have left what was there before."""
CONFIG_FILES = ("config.json", "agents.json")
STATE_FILES = ("chat-history",)
_UPLOADS = re.compile(r"data/(people/\w+/)?library/uploads/")
_KINDS = (
    (r"store/.*", "store"),
    (r"data/(people/\w+/)?archive\.sqlite", "archive"),
    (r"data/(people/\w+/)?library/uploads/.*", "upload"),
    (r"data/(people/\w+/)?library/.*", "library"),
    (r"data/engine-keys\.json", "keys"),
    (r"data/models\.json", "models"),
    (r"data/(people/\w+/)?notices\.json", "notices"),
    (r"data/unsaved/.*", "unsaved"),
    (r"data/crawls/.*", "crawls"),
    (r"config/.*", "settings"),
    (r"state/.*", "history"),
)
# What processes leave in the folder while they run, or when they are ended.
_PASSING = re.compile(r".*\.\d+\.(part|rebuilt|copy)(-wal|-shm|-journal)?|\..*\.lock|lost\+found")
_BESIDE_DATABASE = re.compile(r"(.*\.sqlite)(-wal|-shm|-journal)")


def what_is(name: str) -> str:
    """What a file of a backup is, in one word."""
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, name)), "other")


def is_upload(name: str) -> bool:
    """Whether a file was sent to the library: of any type, but never a database of ours."""
    return _UPLOADS.match(name) is not None


def is_database(name: str) -> bool:
    """Whether a file is opened by SQLite, and so must not be opened by anything else."""
    return name.endswith(".sqlite") and not is_upload(name)


def is_own(name: str) -> bool:
    """Whether a name in the data folder belongs to restores themselves and to locks."""
    return name in (LOCK_FILE, JOURNAL_FILE, STAGE) or name.startswith(ASIDE) or _PASSING.fullmatch(name) is not None


def is_passing(path: Path) -> bool:
    """Whether a file is there only while others are in use."""
    beside = _BESIDE_DATABASE.fullmatch(path.name)
    # Which databases are there is recorded anew when they are opened.
    return beside is not None or path.name == RECORD or _PASSING.fullmatch(path.name) is not None


def is_restorable(name: str) -> bool:
    """Whether a backup of ours could have a file of this name."""
    place, _, rest = name.partition("/")
    if place in (CONFIG, STATE):
        return rest in (CONFIG_FILES if place == CONFIG else STATE_FILES)
    if place == DATA:
        return bool(rest) and not is_own(rest.partition("/")[0])
    return name == STORE
