"""Which addresses a page may be fetched from: public ones only, unless the user allows more. No sockets here.

The order of the checks: the address as text (``BAD_URL``); then a literal by its number, a name by its letters; and last,
by whoever connects, each address that a name resolves to (``GUARD_REFUSED``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from ada_url import URL, HostType

from ..core.causes.network import BAD_URL, GUARD_REFUSED
from ..core.errors import InvalidInput
from ..messages.catalog import Text

IP = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an address is refused; ``metadata`` marks addresses that hand out a machine's keys."""

    text: Text
    metadata: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address: what was decided upon is what is connected to."""

    href: str
    scheme: str
    host: str
    """In lower case and ASCII, without a final dot and without brackets."""
    port: int
    ip: IP | None = None

    @property
    def netloc(self) -> str:
        """Host and port as they stand in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query: what is asked of the host."""
        # The standard's spelling always has the path's slash after the host.
        return self.href[self.href.index("/", len(self.scheme) + 3) :].partition("#")[0]


_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Up to the query, where a backslash is a character like others.
_BACKSLASH = re.compile(r"[^?#]*\\")
_USERINFO = re.compile(r"^([a-z+.-]*:[/\\]*)?[^?#]*@", re.I)
# The standard lets through more (``a+b.com``, ``a..com``), which no public name has.
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")

_LOOPBACK = Reason(Text("network.reason.loopback"))
_PRIVATE = Reason(Text("network.reason.private"))
_LINK_LOCAL = Reason(Text("network.reason.link_local"))
_SHARED = Reason(Text("network.reason.shared"))
_UNSPECIFIED = Reason(Text("network.reason.unspecified"))
_MULTICAST = Reason(Text("network.reason.multicast"))
_RESERVED = Reason(Text("network.reason.reserved"))
_EXAMPLE = Reason(Text("network.reason.documentation"))
_BENCHMARK = Reason(Text("network.reason.benchmark"))
_METADATA = Reason(Text("network.reason.metadata"), metadata=True)
_WRAPPED = Reason(Text("network.reason.wrapped"))

# The first that fits is the reason.
_REFUSED: tuple[tuple[str, Reason], ...] = (
    *(
        (text, _METADATA)
        for text in ("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "169.254.42.42/32")
    ),
    *(
        (text, _METADATA)
        for text in ("169.254.0.23/32", "100.100.100.200/32", "100.96.0.96/32", "168.63.129.16/32", "192.0.0.192/32")
    ),
    *((text, _METADATA) for text in ("fd00:ec2::/32", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128")),
    ("0.0.0.0/8", _UNSPECIFIED),
    ("10.0.0.0/8", _PRIVATE),
    ("100.64.0.0/10", _SHARED),
    ("127.0.0.0/8", _LOOPBACK),
    ("169.254.0.0/16", _LINK_LOCAL),
    ("172.16.0.0/12", _PRIVATE),
    ("192.0.0.0/24", _RESERVED),
    ("192.0.2.0/24", _EXAMPLE),
    ("192.88.99.0/24", _RESERVED),
    ("192.168.0.0/16", _PRIVATE),
    ("198.18.0.0/15", _BENCHMARK),
    ("198.51.100.0/24", _EXAMPLE),
    ("203.0.113.0/24", _EXAMPLE),
    ("224.0.0.0/4", _MULTICAST),
    ("255.255.255.255/32", _MULTICAST),
    ("240.0.0.0/4", _RESERVED),
    ("::/128", _UNSPECIFIED),
    ("::1/128", _LOOPBACK),
    ("::/96", _WRAPPED),
    ("::ffff:0:0/96", _WRAPPED),
    ("::ffff:0:0:0/96", _WRAPPED),
    ("64:ff9b:1::/48", _WRAPPED),
    ("fc00::/7", _PRIVATE),
    ("fe80::/10", _LINK_LOCAL),
    ("fec0::/10", _PRIVATE),
    ("ff00::/8", _MULTICAST),
    ("2001::/32", _WRAPPED),
    ("2001::/23", _RESERVED),
    ("2001:db8::/32", _EXAMPLE),
    ("2002::/16", _WRAPPED),
    ("3fff::/20", _EXAMPLE),
)


def _span(text: str) -> tuple[int, int]:
    network = ip_network(text, strict=False)
    return int(network.network_address), int(network.broadcast_address)


_Spans = tuple[tuple[int, int, Reason], ...]
# As numbers: a tenth of the cost of asking each network object.
_V4: _Spans = tuple((*_span(text), reason) for text, reason in _REFUSED if ":" not in text)
_V6: _Spans = tuple((*_span(text), reason) for text, reason in _REFUSED if ":" in text)
_GLOBAL_V6 = _span("2000::/3")
# The well-known prefix of NAT64: on networks without IPv4 every IPv4 site is reached by it, so the IPv4 address decides.
_NAT64 = _span("64:ff9b::/96")
_FAKE_IP = _span("198.18.0.0/15")
_ISATAP = (0x00005EFE, 0x02005EFE)
# The IPv4 address is in the lowest 32 bits.
_LOW_32 = tuple(_span(text) for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"))

_LOCAL_NAMES = frozenset(
    {"localhost", "local", "internal", "localdomain", "lan", "home", "corp", "intranet", "private"}
)


def parse(url: str, base: str = "") -> Address:
    """Parse ``url`` as browsers do (WHATWG), stricter where tricks are played; raises ``BAD_URL``."""
    if len(url) > 8192:
        raise _bad(url, "too_long")
    if _CONTROL.search(url) or _BACKSLASH.match(url):
        raise _bad(url, "control")
    try:
        # The base is an address that was parsed before.
        parsed = URL(url, base or None)
    except ValueError:
        raise _bad(url, "invalid") from None
    scheme = parsed.protocol[:-1]
    if scheme not in _PORTS:
        raise _bad(url, "scheme")
    if parsed.username or parsed.password:
        raise _bad(url, "user")
    host = parsed.hostname.strip("[]")
    port = int(parsed.port or _PORTS[scheme])
    if parsed.host_type is not HostType.DEFAULT:
        return Address(parsed.href, scheme, host, port, ip_address(host))
    host = host.removesuffix(".")
    if not _NAME.fullmatch(host):
        raise _bad(url, "host")
    return Address(parsed.href, scheme, host, port)


class Guard:
    """Says which hosts and addresses may be reached; raises ``ValueError`` for settings it cannot understand.

    An allowed host may resolve to any address but a cloud's metadata; an allowed network is allowed without exception.
    """

    def __init__(
        self, allow_hosts: tuple[str, ...] = (), allow_networks: tuple[str, ...] = (), fake_ip: bool = False
    ) -> None:
        names = [_pattern(text) for text in allow_hosts]
        self._hosts = frozenset(name for name in names if not name.startswith("."))
        self._suffixes = tuple(name for name in names if name.startswith("."))
        networks = [ip_network(text.strip(), strict=False) for text in allow_networks]
        self._spans = {
            version: tuple((int(n.network_address), int(n.broadcast_address)) for n in networks if n.version == version)
            for version in (4, 6)
        }
        if fake_ip:
            self._spans[4] += (_FAKE_IP,)

    def check_url(self, url: str, base: str = "") -> Address:
        """Parse ``url`` and check what can be told without resolving it; raises ``BAD_URL`` or ``GUARD_REFUSED``."""
        address = parse(url, base)
        if address.ip is not None:
            self.check_address(address.ip, address.host)
        elif not self._allows(address.host) and (reason := _local(address.host)):
            raise GUARD_REFUSED(where=address.host, why=reason)
        return address

    def check_address(self, ip: IP | str, host: str = "") -> None:
        """Raise ``GUARD_REFUSED`` unless ``ip``, to which ``host`` leads, is public or allowed."""
        if isinstance(ip, str):
            ip = ip_address(ip)
        reason = self._judge(ip)
        if reason is None or (host and not reason.metadata and self._allows(host)):
            return
        if host and host != str(ip):
            why = Text("network.reason.leads_to", {"ip": str(ip), "reason": reason.text})
            raise GUARD_REFUSED(where=host, why=why)
        raise GUARD_REFUSED(where=host or ip, why=Text("network.reason.is", {"reason": reason.text}))

    def _allows(self, host: str) -> bool:
        return host in self._hosts or host.endswith(self._suffixes)

    def _judge(self, ip: IP) -> Reason | None:
        """Why ``ip`` is refused; the IPv4 addresses inside are judged first, since they tell more."""
        for inner in embedded(ip):
            if reason := self._judge(inner):
                return reason
        number = int(ip)
        if any(first <= number <= last for first, last in self._spans[ip.version]):
            return None
        return _refused_v4(number) if ip.version == 4 else _refused_v6(number)


def embedded(ip: IP) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address carries: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP."""
    if isinstance(ip, IPv4Address) or int(ip) <= 1:
        return ()
    number = int(ip)
    if ip.sixtofour is not None:
        return (ip.sixtofour,)
    if ip.teredo is not None:
        return ip.teredo
    if any(first <= number <= last for first, last in _LOW_32) or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return (IPv4Address(number & 0xFFFFFFFF),)
    return ()


def _refused_v4(number: int) -> Reason | None:
    return next((reason for first, last, reason in _V4 if first <= number <= last), None)


def _refused_v6(number: int) -> Reason | None:
    for first, last, reason in _V6:
        if first <= number <= last:
            return reason
    if (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return _WRAPPED
    # Whatever is not known is refused: outside of these two, nothing is public.
    public = _GLOBAL_V6[0] <= number <= _GLOBAL_V6[1] or _NAT64[0] <= number <= _NAT64[1]
    return None if public else _RESERVED


def _local(host: str) -> Text | None:
    """Why a name can only be of this machine or network."""
    *_, last = labels = host.split(".")
    if last in _LOCAL_NAMES or labels[-2:] == ["home", "arpa"]:
        return Text("network.reason.local_domain", {"domain": last})
    if len(labels) == 1:
        return Text("network.reason.no_dot")
    return None


def _pattern(text: str) -> str:
    """An entry of allowHosts: the host, or for ``*.suffix`` the suffix with its dot."""
    name = text.strip().removeprefix("*.").strip("[]")
    try:
        host = parse(f"http://[{name}]/" if ":" in name else f"http://{name}/").host
    except InvalidInput:
        host = ""
    if not host or re.search("[/?#@]", name):
        raise ValueError(f"not a host name, nor *. and a host name: {text!r}")
    return f".{host}" if text.strip().startswith("*.") else host


def _bad(url: str, why: str) -> Exception:
    # A password in the address is not repeated.
    return BAD_URL(url=_USERINFO.sub(r"\1***@", url[:2000])[:120], why=Text(f"network.reason.{why}"))
