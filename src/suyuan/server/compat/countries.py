"""Country codes by the English names that clients of other APIs send."""

from __future__ import annotations

CODES = {
    "afghanistan": "AF", "albania": "AL", "algeria": "DZ", "american samoa": "AS", "andorra": "AD", "angola": "AO",
    "anguilla": "AI", "antarctica": "AQ", "antigua and barbuda": "AG", "argentina": "AR", "armenia": "AM",
    "aruba": "AW", "australia": "AU", "austria": "AT", "azerbaijan": "AZ", "bahamas": "BS", "bahrain": "BH",
    "bangladesh": "BD", "barbados": "BB", "belarus": "BY", "belgium": "BE", "belize": "BZ", "benin": "BJ",
    "bermuda": "BM", "bhutan": "BT", "bolivia": "BO", "bosnia and herzegovina": "BA", "botswana": "BW",
    "bouvet island": "BV", "brazil": "BR", "british indian ocean territory": "IO", "british virgin islands": "VG",
    "brunei": "BN", "bulgaria": "BG", "burkina faso": "BF", "burma": "MM", "burundi": "BI", "cambodia": "KH",
    "cameroon": "CM", "canada": "CA", "cape verde": "CV", "caribbean netherlands": "BQ", "cayman islands": "KY",
    "central african republic": "CF", "chad": "TD", "chile": "CL", "china": "CN", "christmas island": "CX",
    "colombia": "CO", "comoros": "KM", "congo": "CG", "cook islands": "CK", "costa rica": "CR",
    "cote d'ivoire": "CI", "croatia": "HR", "cuba": "CU", "curacao": "CW", "cyprus": "CY", "czech republic": "CZ",
    "czechia": "CZ", "democratic republic of the congo": "CD", "denmark": "DK", "djibouti": "DJ", "dominica": "DM",
    "dominican republic": "DO", "ecuador": "EC", "egypt": "EG", "el salvador": "SV", "equatorial guinea": "GQ",
    "eritrea": "ER", "estonia": "EE", "eswatini": "SZ", "ethiopia": "ET", "falkland islands": "FK",
    "faroe islands": "FO", "fiji": "FJ", "finland": "FI", "france": "FR", "french guiana": "GF",
    "french polynesia": "PF", "french southern territories": "TF", "gabon": "GA", "gambia": "GM", "georgia": "GE",
    "germany": "DE", "ghana": "GH", "gibraltar": "GI", "great britain": "GB", "greece": "GR", "greenland": "GL",
    "grenada": "GD", "guadeloupe": "GP", "guam": "GU", "guatemala": "GT", "guernsey": "GG", "guinea": "GN",
    "guinea-bissau": "GW", "guyana": "GY", "haiti": "HT", "heard and mcdonald islands": "HM", "honduras": "HN",
    "hong kong": "HK", "hungary": "HU", "iceland": "IS", "india": "IN", "indonesia": "ID", "iran": "IR",
    "iraq": "IQ", "ireland": "IE", "isle of man": "IM", "israel": "IL", "italy": "IT", "ivory coast": "CI",
    "jamaica": "JM", "japan": "JP", "jersey": "JE", "jordan": "JO", "kazakhstan": "KZ", "kenya": "KE",
    "kiribati": "KI", "kosovo": "XK", "kuwait": "KW", "kyrgyzstan": "KG", "laos": "LA", "latvia": "LV",
    "lebanon": "LB", "lesotho": "LS", "liberia": "LR", "libya": "LY", "liechtenstein": "LI", "lithuania": "LT",
    "luxembourg": "LU", "macao": "MO", "macau": "MO", "macedonia": "MK", "madagascar": "MG", "malawi": "MW",
    "malaysia": "MY", "maldives": "MV", "mali": "ML", "malta": "MT", "marshall islands": "MH", "martinique": "MQ",
    "mauritania": "MR", "mauritius": "MU", "mayotte": "YT", "mexico": "MX", "micronesia": "FM", "moldova": "MD",
    "monaco": "MC", "mongolia": "MN", "montenegro": "ME", "montserrat": "MS", "morocco": "MA", "mozambique": "MZ",
    "myanmar": "MM", "namibia": "NA", "nauru": "NR", "nepal": "NP", "netherlands": "NL", "new caledonia": "NC",
    "new zealand": "NZ", "nicaragua": "NI", "niger": "NE", "nigeria": "NG", "niue": "NU", "norfolk island": "NF",
    "north korea": "KP", "north macedonia": "MK", "northern mariana islands": "MP", "norway": "NO", "oman": "OM",
    "pakistan": "PK", "palau": "PW", "palestine": "PS", "palestinian territories": "PS", "panama": "PA",
    "papua new guinea": "PG", "paraguay": "PY", "peru": "PE", "philippines": "PH", "pitcairn islands": "PN",
    "poland": "PL", "portugal": "PT", "puerto rico": "PR", "qatar": "QA", "republic of korea": "KR",
    "republic of the congo": "CG", "reunion": "RE", "romania": "RO", "russia": "RU", "russian federation": "RU",
    "rwanda": "RW", "saint helena": "SH", "saint kitts and nevis": "KN", "saint lucia": "LC", "saint martin": "MF",
    "saint pierre and miquelon": "PM", "saint vincent and grenadines": "VC", "samoa": "WS", "san marino": "SM",
    "sao tome and principe": "ST", "saudi arabia": "SA", "senegal": "SN", "serbia": "RS", "seychelles": "SC",
    "sierra leone": "SL", "singapore": "SG", "sint maarten": "SX", "slovakia": "SK", "slovenia": "SI",
    "solomon islands": "SB", "somalia": "SO", "south africa": "ZA", "south georgia and south sandwich islands": "GS",
    "south korea": "KR", "south sudan": "SS", "spain": "ES", "sri lanka": "LK", "sudan": "SD", "suriname": "SR",
    "svalbard and jan mayen": "SJ", "swaziland": "SZ", "sweden": "SE", "switzerland": "CH", "syria": "SY",
    "taiwan": "TW", "tajikistan": "TJ", "tanzania": "TZ", "thailand": "TH", "timor-leste": "TL", "togo": "TG",
    "tokelau": "TK", "tonga": "TO", "trinidad and tobago": "TT", "tunisia": "TN", "turkey": "TR",
    "turkmenistan": "TM", "turks and caicos islands": "TC", "tuvalu": "TV", "u.s. outlying islands": "UM",
    "u.s. virgin islands": "VI", "uganda": "UG", "uk": "GB", "ukraine": "UA", "united arab emirates": "AE",
    "united kingdom": "GB", "united states": "US", "uruguay": "UY", "usa": "US", "uzbekistan": "UZ", "vanuatu": "VU",
    "vatican city": "VA", "venezuela": "VE", "vietnam": "VN", "wallis and futuna": "WF", "western sahara": "EH",
    "yemen": "YE", "zambia": "ZM", "zimbabwe": "ZW",
}  # fmt: skip


def country_code(name: str) -> str:
    """The code of a country that is given by its name or code; empty where it is not known."""
    given = name.strip()
    return given.upper() if len(given) == 2 and given.isalpha() else CODES.get(given.lower(), "")
