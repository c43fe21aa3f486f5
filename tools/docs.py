"""Write the parts of the documentation that are made from the code; the tests check that they are up to date."""

from __future__ import annotations

import json
from pathlib import Path

from suyuan.config.keys import ENGINE_KEYS, KEYS, Key
from suyuan.config.schema import agents_schema, config_schema

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- settings: made by `make docs` -->", "<!-- end of settings -->"


def main() -> None:
    """Write the schemas and the table of settings."""
    folder = DOCS / "schema"
    folder.mkdir(exist_ok=True)
    for name, schema in (("config", config_schema()), ("agents", agents_schema())):
        (folder / f"{name}.schema.json").write_text(json.dumps(schema, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    guide = DOCS / "configuration.md"
    text = guide.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    guide.write_text(f"{before}{BEGIN}\n{settings_table()}\n{END}{after}", encoding="utf-8")


def settings_table() -> str:
    """Every setting as a Markdown table."""
    rows = ["| setting | variable | default | meaning |", "|---|---|---|---|"]
    rows += [_row(key) for key in (*KEYS, *ENGINE_KEYS)]
    return "\n".join(rows)


def _row(key: Key) -> str:
    default = "" if key.default is None else str(key.default) or "auto"
    variable = key.variable + (" (ms)" if key.variable.endswith("_MS") and key.per_variable != 1 else "")
    path = key.path.replace("{name}", "NAME")
    return f"| `{path}` | `{variable.replace('{VAR}', 'NAME')}` | {default} | {key.about} |"


if __name__ == "__main__":
    main()
