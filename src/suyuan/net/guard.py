"""``Guard``: which addresses may be fetched, public ones only unless the user allows more. It opens no socket.

The order of the checks: first the URL itself (``BAD_URL``), then an IP address or a local name in it, and finally, when
connecting, each address that a name resolves to (``GUARD_REFUSED``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import AF_INET, AF_INET6, SOCK_DGRAM, socket

from ada_url import URL, HostType

from ..core.causes.network import BAD_URL, GUARD_REFUSED, OWN_ADDRESS
from ..core.errors import InvalidInput
from ..core.own_address import OwnAddresses
from ..messages.catalog import Text

IP = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL, which is both checked and connected to."""

    href: str
    scheme: str
    host: str
    """In lower case and ASCII, without final dot and brackets."""
    port: int
    ip: IP | None = None

    @property
    def netloc(self) -> str:
        """Host and port as in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query, as in a request line."""
        # A URL serialised by the standard always has a slash after the host.
        return self.href[self.href.index("/", len(self.scheme) + 3) :].partition("#")[0]


_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Only up to the query, in which a backslash is allowed.
_BACKSLASH = re.compile(r"[^?#]*\\")
_USERINFO = re.compile(r"^([a-z+.-]*+:[/\\]*+)?[^?#]*@", re.I)
# The standard allows more (``a+b.com``, ``a..com``), but no public name is like that.
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")

# By the name of the reason; the smallest network that contains an address gives it.
_REFUSED = {
    # Services of clouds that give out credentials.
    "metadata": "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 169.254.42.42/32 169.254.0.23/32 "
    "100.100.100.200/32 100.96.0.96/32 168.63.129.16/32 192.0.0.192/32 fd00:ec2::/32 fd20:ce::254/128 "
    "fd00:c1::a9fe:a9fe/128 fd00:42::42/128",
    "loopback": "127.0.0.0/8 ::1/128",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
    "link_local": "169.254.0.0/16 fe80::/10",
    "shared": "100.64.0.0/10",
    "unspecified": "0.0.0.0/8 ::/128",
    "multicast": "224.0.0.0/4 255.255.255.255/32 ff00::/8",
    "reserved": "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4 2001::/23",
    "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    "benchmark": "198.18.0.0/15",
    # IPv4 addresses in those of IPv6.
    "wrapped": "::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b:1::/48 2001::/32 2002::/16",
}


def _span(text: str) -> tuple[int, int]:
    network = ip_network(text, strict=False)
    return int(network.network_address), int(network.broadcast_address)


def _refused_spans(version: int) -> list[tuple[int, int, str]]:
    """The first and the last address of each refused network with the reason, the smallest network first."""
    spans = []
    for reason, networks in _REFUSED.items():
        for text in networks.split():
            if ip_network(text).version == version:
                spans.append((*_span(text), reason))
    return sorted(spans, key=lambda span: span[1] - span[0])


# Comparing numbers takes a tenth of the time of asking each network object.
_V4, _V6 = _refused_spans(4), _refused_spans(6)
_GLOBAL_V6 = _span("2000::/3")
# The well-known prefix of NAT64, by which networks without IPv4 reach IPv4 sites, so the IPv4 address decides.
_NAT64 = _span("64:ff9b::/96")
_FAKE_IP = _span("198.18.0.0/15")
_ISATAP = (0x00005EFE, 0x02005EFE)
# The IPv4 address is in the lowest 32 bits.
_LOW_32 = tuple(_span(text) for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"))

_LOCAL_NAMES = frozenset(
    {"localhost", "local", "internal", "localdomain", "lan", "home", "corp", "intranet", "private"}
)


def parse(url: str, base: str = "") -> Address:
    """Parse ``url`` as browsers do (WHATWG), but stricter against attacks; raises ``BAD_URL``."""
    if len(url) > 8192:
        raise _bad(url, "too_long")
    if _CONTROL.search(url) or _BACKSLASH.match(url):
        raise _bad(url, "control")
    try:
        # The base was parsed before.
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
    """Decides which hosts and addresses may be reached; raises ``ValueError`` for invalid settings.

    An allowed host may resolve to any address except a cloud's metadata; an allowed network has no exceptions.
    The server's ``own`` addresses are never the web: what is asked there would be asked in the name of this machine.
    """

    def __init__(
        self,
        allow_hosts: tuple[str, ...] = (),
        allow_networks: tuple[str, ...] = (),
        fake_ip: bool = False,
        own: OwnAddresses | None = None,
    ) -> None:
        self._own = own or OwnAddresses()
        names = [host_pattern(text) for text in allow_hosts]
        self._hosts = frozenset(name for name in names if not name.startswith("."))
        self._suffixes = tuple(name for name in names if name.startswith("."))
        networks = [ip_network(text.strip(), strict=False) for text in allow_networks]
        self._spans: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
        for network in networks:
            span = (int(network.network_address), int(network.broadcast_address))
            self._spans[network.version].append(span)
        if fake_ip:
            self._spans[4].append(_FAKE_IP)

    def check_url(self, url: str, base: str = "") -> Address:
        """Parse ``url`` and check it without resolving its host.

        Raises ``BAD_URL``, ``OWN_ADDRESS`` or ``GUARD_REFUSED``.
        """
        address = parse(url, base)
        if self._own.covers(address.href):
            raise OWN_ADDRESS(where=address.netloc)
        if address.ip is not None:
            self.check_address(address.ip, address.host, address.port)
        elif not self._allows(address.host) and (reason := _local_name(address.host)):
            raise GUARD_REFUSED(where=address.host, why=reason)
        return address

    def _is_own(self, ip: str, port: int) -> bool:
        """Whether this server is at that port of an IP address, be it that of this machine in its network."""
        if self._own.covers_ip(ip, port):
            return True
        return self._own.has_port(port) and is_of_this_machine(ip)

    def check_address(self, ip: IP | str, host: str = "", port: int = 0) -> None:
        """Raise a cause unless ``ip``, an address of ``host``, is public or allowed, and not our own at ``port``."""
        if port and self._is_own(str(ip), port):
            raise OWN_ADDRESS(where=f"{host or ip}:{port}")
        if isinstance(ip, str):
            ip = ip_address(ip)
        reason = self._refusal(ip)
        if reason is None:
            return
        if host and reason != "metadata" and self._allows(host):
            return
        if host and host != str(ip):
            why = Text("network.reason.leads_to", {"ip": str(ip), "reason": Text(f"network.reason.{reason}")})
            raise GUARD_REFUSED(where=host, why=why)
        why = Text("network.reason.is", {"reason": Text(f"network.reason.{reason}")})
        raise GUARD_REFUSED(where=host or ip, why=why)

    def _allows(self, host: str) -> bool:
        return host in self._hosts or host.endswith(self._suffixes)

    def _refusal(self, ip: IP) -> str | None:
        """The name of the reason to refuse ``ip``, or None; that of an embedded IPv4 address is more precise."""
        for inner in embedded(ip):
            if reason := self._refusal(inner):
                return reason
        number = int(ip)
        if any(first <= number <= last for first, last in self._spans[ip.version]):
            return None
        return _refused(ip)


def embedded(ip: IP) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses in an IPv6 address: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP."""
    if isinstance(ip, IPv4Address) or int(ip) <= 1:
        return ()
    number = int(ip)
    if ip.sixtofour is not None:
        return (ip.sixtofour,)
    if ip.teredo is not None:
        return ip.teredo
    has_low_32 = any(first <= number <= last for first, last in _LOW_32)
    if has_low_32 or _is_isatap(number):
        return (IPv4Address(number & 0xFFFFFFFF),)
    return ()


def _is_isatap(number: int) -> bool:
    return (number >> 32) & 0xFFFFFFFF in _ISATAP


def _refused(ip: IP) -> str | None:
    number = int(ip)
    spans = _V4 if ip.version == 4 else _V6
    if reason := next((reason for first, last, reason in spans if first <= number <= last), None):
        return reason
    if ip.version == 4:
        return None
    if _is_isatap(number):
        return "wrapped"
    # Nothing outside these two is public.
    is_public = any(first <= number <= last for first, last in (_GLOBAL_V6, _NAT64))
    return None if is_public else "reserved"


def _local_name(host: str) -> Text | None:
    """The reason if a name can only belong to this machine or network."""
    *_, last = labels = host.split(".")
    if last in _LOCAL_NAMES or labels[-2:] == ["home", "arpa"]:
        return Text("network.reason.local_domain", {"domain": last})
    if len(labels) == 1:
        return Text("network.reason.no_dot")
    return None


def host_pattern(text: str) -> str:
    """An entry of allowHosts in one spelling: the host, or ``.suffix`` for ``*.suffix``; raises ``ValueError``."""
    name = text.strip().removeprefix("*.").strip("[]")
    netloc = f"[{name}]" if ":" in name else name
    try:
        host = parse(f"http://{netloc}/").host
    except InvalidInput:
        host = ""
    if not host or re.search("[/?#@]", name):
        raise ValueError(f"not a host name, nor *. and a host name: {text!r}")
    return f".{host}" if text.strip().startswith("*.") else host


def _bad(url: str, why: str) -> Exception:
    # A password in the URL is not repeated.
    return BAD_URL(url=_USERINFO.sub(r"\1***@", url[:2000])[:120], why=Text(f"network.reason.{why}"))


def is_of_this_machine(ip: str) -> bool:
    """Whether an IP address is one of this machine: no socket can be bound to those of others."""
    family = AF_INET6 if ":" in ip else AF_INET
    try:
        with socket(family, SOCK_DGRAM) as bound:
            bound.bind((ip, 0))
    except OSError:
        return False
    return True
