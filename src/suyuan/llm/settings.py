"""``ModelSettings``: which model answers, and how its server is reached."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.secret import Secret
from ..core.setting import choice, http_url, number, setting, text, whole

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model and the address of its server; by default the embedded one."""

    provider: str = setting(
        "model.provider", EMBEDDED, choice(EMBEDDED, "openai", "ollama", "anthropic", "google"),
        "Which model answers: embedded (quotes the sources), openai (any compatible server), ollama, anthropic or"
        " google; openai if only model.name or model.baseUrl is set.",
        env="SUYUAN_MODEL_PROVIDER",
    )  # fmt: skip
    name: str = setting("model.name", "", text(), "The name of the model on its server.", env="SUYUAN_MODEL")
    base_url: str = setting(
        "model.baseUrl", "", http_url(), "The model server, e.g. http://localhost:11434/v1.",
        env="SUYUAN_MODEL_BASE_URL",
    )  # fmt: skip
    api_key: Secret = setting(
        "model.apiKey", Secret(""), text(), "The key of the model server.",
        env="SUYUAN_MODEL_API_KEY", file_first=True,
    )  # fmt: skip
    api_key_env: str = setting(
        "model.apiKeyEnv", "", text(), "The variable that holds the key of the model server.",
        env="SUYUAN_MODEL_API_KEY_ENV",
    )  # fmt: skip
    temperature: float | None = setting(
        "model.temperature", None, number(0, 2), "The sampling temperature.", env="SUYUAN_MODEL_TEMPERATURE"
    )
    max_tokens: int | None = setting(
        "model.maxTokens", None, whole(16, 1_000_000), "Longest answer, in tokens.", env="SUYUAN_MODEL_MAX_TOKENS"
    )
    context_tokens: int = setting(
        "model.contextTokens", 32_000, whole(1000, 10_000_000),
        "The context window of the model, in tokens; older messages beyond it are left out.",
        env="SUYUAN_MODEL_CONTEXT_TOKENS",
    )  # fmt: skip
    seconds: float = setting(
        "model.timeoutSeconds", 120.0, number(1, 3600), "Longest silence of the model server.",
        env="SUYUAN_MODEL_TIMEOUT_SECONDS",
    )  # fmt: skip
    proxy: Secret = Secret("")
    no_proxy: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name that users see."""
        return self.name or self.provider
