"""``tools/install.py``, as far as it can be tried without a package index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import install
import pytest
import yaml


def test_where_pip_finds_packages_is_handed_to_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(variable)
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://one.example/simple\ncert = /etc/own.pem\n"
        "extra-index-url = https://two.example/simple\n    https://three.example/simple\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_FIND_LINKS", "/opt/own")
    options, environ = install.pip_configuration()
    pairs = set(zip(options[::2], options[1::2], strict=True))
    assert pairs >= {
        ("--default-index", "https://one.example/simple"),
        ("--index", "https://two.example/simple"),
        ("--index", "https://three.example/simple"),
        ("--index-strategy", "unsafe-best-match"),
        ("--find-links", "/opt/own"),
    }
    assert environ == {"SSL_CERT_FILE": "/etc/own.pem"}


def test_what_cannot_be_installed_is_reported_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "tools"
    broken.mkdir()
    (broken / "install.py").write_text(Path(install.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, str(broken / "install.py"), str(tmp_path / "venv"), "web"]
    environ = {**os.environ, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "PYTHONPATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 1 and "Creating" in done.stdout and "Installing suyuan[web]" in done.stdout
    assert "constraints.txt" in done.stderr and "Traceback" not in done.stderr


def test_the_makefile_installs_extras_that_exist() -> None:
    root = Path(install.__file__).resolve().parent.parent
    known = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    used = re.findall(r"install\.py \$\(VENV\) ([\w,]+)", (root / "Makefile").read_text(encoding="utf-8"))
    assert len(used) >= 4 and {name for names in used for name in names.split(",")} <= set(known)


def test_the_workflow_runs_every_supported_python_and_tests_that_exist() -> None:
    root = Path(install.__file__).resolve().parent.parent
    jobs = yaml.safe_load((root / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in ("test", "windows"):
        versions = jobs[name]["strategy"]["matrix"]["python"]
        assert project["requires-python"] == f">={versions[0]}" and "3.14" in versions
        assert [f"Programming Language :: Python :: {version}" for version in versions] == [
            line for line in project["classifiers"] if re.search(r":: 3\.", line)
        ]
    commands = [step["run"] for step in jobs["windows"]["steps"] if "run" in step]
    folders = [word for command in commands for word in command.split() if word.startswith("tests/")]
    assert folders and all((root / folder).is_dir() for folder in folders)
