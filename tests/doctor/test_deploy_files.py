"""The deployment files of SearXNG hold the right settings, with keys that SearXNG and Compose know."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from suyuan.engines.searxng import SearXNG

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "searxng"
REGIONS = ("world", "china")

# The keys of SearXNG's own settings (searx/settings.yml and searx/settings_defaults.py) that a deployment may use.
TOP = {
    "use_default_settings", "general", "brand", "search", "server", "ui", "preferences", "outgoing", "plugins",
    "categories_as_tabs", "engines", "valkey", "checker", "doi_resolvers", "default_doi_resolver", "hostnames",
}  # fmt: skip
KNOWN = {
    "general": {
        "debug", "instance_name", "privacypolicy_url", "donation_url", "contact_url", "enable_metrics", "open_metrics",
    },
    "search": {
        "safe_search", "autocomplete", "autocomplete_min", "favicon_resolver", "default_lang", "languages",
        "ban_time_on_fail", "max_ban_time_on_fail", "suspended_times", "formats", "max_page",
    },
    "server": {
        "port", "bind_address", "base_url", "limiter", "public_instance", "secret_key", "image_proxy",
        "http_protocol_version", "method", "default_http_headers",
    },
    "outgoing": {
        "request_timeout", "max_request_timeout", "useragent_suffix", "pool_connections", "pool_maxsize",
        "enable_http2", "verify", "proxies", "using_tor_proxy", "extra_proxy_timeout", "source_ips",
        "keepalive_expiry", "max_redirects", "retries", "networks",
    },
}  # fmt: skip
SUSPENDED = {
    "SearxEngineAccessDenied", "SearxEngineCaptcha", "SearxEngineTooManyRequests", "cf_SearxEngineCaptcha",
    "cf_SearxEngineAccessDenied", "recaptcha_SearxEngineCaptcha",
}  # fmt: skip
# Engines by name, with module and shortcut as SearXNG ships them.
ENGINES = {
    "duckduckgo": ("duckduckgo", "ddg"), "brave": ("brave", "br"), "bing": ("bing", "bi"),
    "startpage": ("startpage", "sp"), "mojeek": ("mojeek", "mjk"), "wikipedia": ("wikipedia", "wp"),
    "baidu": ("baidu", "bd"), "sogou": ("sogou", "sogou"), "360search": ("360search", "360so"),
    "quark": ("quark", "qk"),
}  # fmt: skip


def load(name: str) -> dict[str, Any]:
    data = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


@pytest.mark.req("C8.2")
def test_the_templates_are_in_the_package() -> None:
    assert FOLDER.is_symlink() and FOLDER.resolve() == ROOT / "src" / "suyuan" / "deploy" / "searxng"
    assert load("settings.yml") == load("settings.world.yml")
    assert {path.name for path in FOLDER.iterdir()} == {
        "docker-compose.yml", "settings.yml", "settings.world.yml", "settings.china.yml", ".env.example",
    }  # fmt: skip


@pytest.mark.req("C8.2")
@pytest.mark.parametrize("region", REGIONS)
def test_searxng_knows_every_key(region: str) -> None:
    settings = load(f"settings.{region}.yml")
    assert set(settings) <= TOP
    for section, known in KNOWN.items():
        assert set(settings.get(section, {})) <= known, section
    assert set(settings["search"]["suspended_times"]) == SUSPENDED
    assert max(settings["search"]["suspended_times"].values()) <= 3600, "no engine is away for longer than an hour"
    # A list of plugins replaces the usual one, which has a plugin that fetches its rules from the web at every start.
    assert settings["plugins"] and not any("tracker" in name for name in settings["plugins"])
    assert all(re.fullmatch(r"searx\.plugins\.\w+\.SXNGPlugin", name) for name in settings["plugins"])


@pytest.mark.req("C8.2", "C2.5")
@pytest.mark.parametrize("region", REGIONS)
def test_json_is_on_and_the_limiter_is_off(region: str) -> None:
    settings = load(f"settings.{region}.yml")
    assert settings["search"]["formats"] == ["html", "json"] and settings["server"]["limiter"] is False
    assert settings["server"]["secret_key"] != "ultrasecretkey", "SearXNG does not start with its own default"
    # The whole search has 5 s.
    assert settings["outgoing"]["request_timeout"] < 5


@pytest.mark.req("C8.2")
@pytest.mark.parametrize("region", REGIONS)
def test_the_engines_are_real_and_switched_on(region: str) -> None:
    settings = load(f"settings.{region}.yml")
    kept = settings["use_default_settings"]["engines"]["keep_only"]
    rows = {row["name"]: row for row in settings["engines"]}
    assert set(kept) == set(rows) <= set(ENGINES) and len(kept) >= 5
    for name, row in rows.items():
        # With module and shortcut SearXNG starts even if a later version drops the name.
        assert (row["engine"], row["shortcut"]) == ENGINES[name] and row["disabled"] is False
        assert row.get("timeout", 0) < 5
    assert len({row["shortcut"] for row in rows.values()}) == len(rows), (
        "SearXNG does not start with a shortcut used twice"
    )


@pytest.mark.req("C8.1", "C8.2")
def test_the_compose_file() -> None:
    compose = load("docker-compose.yml")
    service = compose["services"]["searxng"]
    assert set(compose) == {"name", "services", "volumes"}
    assert set(service) <= {
        "image", "restart", "ports", "environment", "extra_hosts", "volumes", "healthcheck", "logging",
    }  # fmt: skip
    assert service["environment"]["GRANIAN_BLOCKING_THREADS"] == "${SEARXNG_THREADS:-32}"
    assert service["extra_hosts"] == ["host.docker.internal:host-gateway"]
    assert service["ports"] == ["127.0.0.1:${SEARXNG_PORT:-8080}:8080"], "reached from this machine only"
    assert re.fullmatch(
        r"docker\.io/searxng/searxng:\$\{SEARXNG_VERSION:-\d{4}\.\d+\.\d+-[0-9a-f]+\}", service["image"]
    )
    assert service["restart"] == "unless-stopped" and (
        service["healthcheck"]["test"][-1] == "http://127.0.0.1:8080/healthz"
    )
    settings = service["volumes"][0]
    assert (
        settings["source"] == "./settings.${SEARXNG_REGION:-world}.yml"
        and settings["target"] == "/etc/searxng/settings.yml"
    )
    assert settings["read_only"] is True and settings["bind"] == {"create_host_path": False}
    assert service["environment"]["SEARXNG_SECRET"].startswith("${SEARXNG_SECRET:?"), "no start without a secret"
    assert {volume.partition(":")[0] for volume in service["volumes"][1:]} == set(compose["volumes"])


def test_all_files_use_the_same_variables() -> None:
    example = (FOLDER / ".env.example").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{(SEARXNG_\w+)", (FOLDER / "docker-compose.yml").read_text(encoding="utf-8")))
    assert set(re.findall(r"^(SEARXNG_\w+)=", example, re.M)) == used
    assert "SEARXNG_SECRET=\n" in example, "an example holds no secret"
    tag = re.search(r"^SEARXNG_VERSION=(.+)$", example, re.M)
    assert tag and f":-{tag[1]}}}" in load("docker-compose.yml")["services"]["searxng"]["image"]


@pytest.mark.req("C2.1", "C6.1")
def test_the_port_is_the_default_of_suyuan() -> None:
    assert SearXNG.default_url == "http://localhost:8080"
