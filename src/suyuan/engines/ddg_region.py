"""DuckDuckGo's codes for languages and countries."""

from __future__ import annotations

from ..core.query import SearchQuery
from .query_kit import locale

# The region codes of DuckDuckGo that are not simply country-language.
_REGIONS = {
    ("zh", "TW"): "tw-tzh", ("zh", "HK"): "hk-tzh", ("en", "GB"): "uk-en", ("ja", "JP"): "jp-jp",
    ("ko", "KR"): "kr-kr", ("ar", "SA"): "xa-ar",
}  # fmt: skip
# The region codes for a country without a language.
_COUNTRIES = {
    "AR": "ar-es", "AT": "at-de", "AU": "au-en", "BE": "be-fr", "BG": "bg-bg", "BR": "br-pt", "CA": "ca-en",
    "CH": "ch-de", "CL": "cl-es", "CN": "cn-zh", "CO": "co-es", "CZ": "cz-cs", "DE": "de-de", "DK": "dk-da",
    "EE": "ee-et", "ES": "es-es", "FI": "fi-fi", "FR": "fr-fr", "GB": "uk-en", "GR": "gr-el", "HK": "hk-tzh",
    "HR": "hr-hr", "HU": "hu-hu", "ID": "id-en", "IE": "ie-en", "IL": "il-en", "IN": "in-en", "IS": "is-is",
    "IT": "it-it", "JP": "jp-jp", "KR": "kr-kr", "LT": "lt-lt", "LV": "lv-lv", "MX": "mx-es", "MY": "my-en",
    "NL": "nl-nl", "NO": "no-no", "NZ": "nz-en", "PE": "pe-es", "PH": "ph-en", "PK": "pk-en", "PL": "pl-pl",
    "PT": "pt-pt", "RO": "ro-ro", "RU": "ru-ru", "SA": "xa-ar", "SE": "se-sv", "SG": "sg-en", "SI": "sl-sl",
    "SK": "sk-sk", "TH": "th-en", "TR": "tr-tr", "TW": "tw-tzh", "UA": "ua-uk", "US": "us-en", "VN": "vn-en",
    "ZA": "za-en",
}  # fmt: skip


def region(query: SearchQuery) -> str:
    """DuckDuckGo's code for the language and country of a query; empty for none."""
    if query.country and not query.lang:
        return _COUNTRIES.get(query.country, "")
    lang, country = locale(query)
    if not country:
        return ""
    # English alone implies no country.
    if lang == "en" and not query.country and "-" not in query.lang:
        return ""
    return _REGIONS.get((lang, country)) or f"{country.lower()}-{lang}"
