"""``Guard``: parsing, refusals, and what the user may allow."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suyuan.core.errors import InvalidInput, SuyuanError, WebProviderError
from suyuan.net.guard import Address, Guard, embedded, parse

GUARD = Guard()

NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "100.100.100.200", "127.0.0.1",
    "127.255.255.254", "168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1",
    "172.31.255.255", "192.0.0.1",
    "192.0.0.9", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.7", "203.0.113.9",
    "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::2", "::7f00:1", "::127.0.0.1",
    "::169.254.169.254",
    "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
    "64:ff9b::169.254.169.254", "64:ff9b::10.1.2.3", "64:ff9b:1::8.8.8.8", "64:ff9b:1::127.0.0.1", "100::1", "1::1",
    "5f00::1", "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:7f00:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
    "3fff::1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "2606:4700::5efe:127.0.0.1",
    "2606:4700::200:5efe:10.0.0.1",
    "2606:4700::5efe:8.8.8.8", "4000::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1",
    "fe80::5efe:10.0.0.1",
    "febf::1", "fec0::1", "ff02::1", "ff0e::1",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255",
    "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111", "2001:4860:4860::8888", "2400:3200::1", "2a00:1450::1", "64:ff9b::8.8.8.8",
]  # fmt: skip

REFUSED_URLS = [
    "http://127.0.0.1/", "http://127.0.0.1./", "http://127.1/", "http://2130706433/", "http://0x7f000001/",
    "http://017700000001/",
    "http://0177.0.0.1/", "http://0x7f.0x0.0x0.0x1/", "http://0x7F.1/", "http://127.0.1/", "http://0/",
    "http://0.0.0.0:8080/",
    "http://00000177.1/", "http://0x/", "http://127。0。0。1/", "http://１２７.0.0.1/", "http://①②⑦.⓪.⓪.①/",
    "http://127%2e0%2e0%2e1/",
    "http://%31%32%37.0.0.1/", "http://1２7.0.0．1/", "http://169.254.169.254/latest/meta-data/", "http://2852039166/",
    "http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://169.16689662/", "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/", "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/", "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/",
    "http://[0000::ffff:169.254.169.254]/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/", "http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://localhost:80/",
    "http://a.localhost/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://loc%61lhost/", "http://printer.local/",
    "http://metadata.google.internal/",
    "http://metadata.google.internal./", "http://x.home.arpa/", "http://x.localdomain/", "http://router.lan/",
    "http://metadata/",
    "http://instance-data/", "http://kubernetes/", "http://ip6-localhost/", "https://intranet/", "http:127.0.0.1/",
    "http:/127.0.0.1/",
    "http:///127.0.0.1/", "http://////127.0.0.1/", "HTTP://127.0.0.1/",
]  # fmt: skip

BAD_URLS = [
    "", " ", "example.com", "/path", "//example.com/", "http://", "http:///", "https://?x", "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_x", "dict://x.example/", "javascript:alert(1)", "data:text/html,x",
    "jar:http://a.example!/", "ws://a.example/",
    "http://user@example.com/", "http://user:pw@example.com/", "http://example.com@127.0.0.1/",
    "http://:pw@example.com/",
    "http://example.com\\@127.0.0.1/", "http:\\\\example.com/", "http://example.com\\.evil.example/",
    "http://a.example/\\x",
    "http://exa\tmple.com/", "http://exa\nmple.com/", "http://example.com/\r\nX: y", "http://example.com/\x00",
    "\thttp://example.com/",
    "http://example.com/\x7f", "http://example.com/\x85", "http://exam ple.com/", "http://exam%20ple.com/",
    "http://exam%00ple.com/",
    "http://[::1%25eth0]/", "http://[::1%eth0]/", "http://[fe80::1%25lo]/", "http://[::1", "http://::1/",
    "http://[::ffff:127.0.0.1.]/",
    "http://example.com:99999/", "http://example.com:80:80/", "http://example.com:x/", "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://0x100000000/", "http://127.0.0.1.1/", "http://example..com/", "http://example.com../",
    "http://.example.com/", "http://./",
    "http://a+b.example/", "http://a*.example/", "http://${host}/", "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/",
    "http://a.example/" + "x" * 9000, "http://a.example/\ud800", "http://ex\ufffdample.com/",
]  # fmt: skip


def refusal(url: str, guard: Guard = GUARD) -> SuyuanError:
    with pytest.raises(SuyuanError) as caught:
        guard.check_url(url)
    return caught.value


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://Example.COM", Address("https://example.com/", "https", "example.com", 443)),
        (" http://example.com:80/a b?q#f ", Address("http://example.com/a%20b?q#f", "http", "example.com", 80)),
        ("http://example.com.:8080/", Address("http://example.com.:8080/", "http", "example.com", 8080)),
        (
            "https://münchen.example/",
            Address("https://xn--mnchen-3ya.example/", "https", "xn--mnchen-3ya.example", 443),
        ),
        ("https://例え。jp/", Address("https://xn--r8jz45g.jp/", "https", "xn--r8jz45g.jp", 443)),
        ("http://0x08.8.2056/", Address("http://8.8.8.8/", "http", "8.8.8.8", 80, ipaddress.ip_address("8.8.8.8"))),
        (
            "http://[2606:4700:0::1111]:81/x",
            Address(
                "http://[2606:4700::1111]:81/x", "http", "2606:4700::1111", 81, ipaddress.ip_address("2606:4700::1111")
            ),
        ),
        ("http://a_b.example/?\\", Address("http://a_b.example/?\\", "http", "a_b.example", 80)),
    ],
)
def test_a_url_is_parsed_as_in_browsers(url: str, expected: Address) -> None:
    assert parse(url) == expected
    assert GUARD.check_url(url) == expected


def test_the_request_target() -> None:
    address = parse("http://[2606:4700::1111]:81/a//b?c=/d?e#f/g")
    assert (address.netloc, address.target) == ("[2606:4700::1111]:81", "/a//b?c=/d?e")
    assert (parse("https://a.example#x").netloc, parse("https://a.example#x").target) == ("a.example", "/")


def test_a_relative_url_is_resolved() -> None:
    assert parse("../x?y", "https://a.example/b/c/d").href == "https://a.example/b/x?y"
    assert parse("//b.example/", "https://a.example/").href == "https://b.example/"


@pytest.mark.parametrize("url", BAD_URLS)
def test_an_invalid_url_is_invalid_input(url: str) -> None:
    error = refusal(url, Guard(allow_hosts=("*.example", "*.com", "localhost"), allow_networks=("0.0.0.0/0", "::/0")))
    assert isinstance(error, InvalidInput) and error.detail_code == "bad_url"
    assert error.hint and error.say("zh") != error.say("en")


def test_a_password_is_not_repeated() -> None:
    for url in (
        "http://user:hunter22@example.com/",
        "http:user:hunter22@example.com",
        "ftp://user:hunter22@a@example.com/",
    ):
        error = refusal(url)
        assert "hunter22" not in str(error.as_dict("en")) + str(error.as_dict("zh")), url


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_urls_that_are_not_public_are_refused(url: str) -> None:
    error = refusal(url)
    assert isinstance(error, WebProviderError) and error.detail_code == "guard_refused" and not error.retryable
    for lang in ("en", "zh"):
        message, hint = error.say(lang)
        assert message and "web.fetch.allowHosts" in hint and "web.fetch.allowNetworks" in hint


@pytest.mark.parametrize("ip", NOT_PUBLIC)
def test_addresses_that_are_not_public(ip: str) -> None:
    with pytest.raises(WebProviderError):
        GUARD.check_address(ip)
    with pytest.raises(WebProviderError):
        GUARD.check_address(ipaddress.ip_address(ip), "example.com")


@pytest.mark.parametrize("ip", PUBLIC)
def test_addresses_that_are_public(ip: str) -> None:
    GUARD.check_address(ip)


@given(st.ip_addresses(v=4))
def test_no_address_is_allowed_that_the_standard_library_calls_private(ip: ipaddress.IPv4Address) -> None:
    for form in (
        ip,
        *(ipaddress.ip_address(prefix + str(ip)) for prefix in ("::", "::ffff:", "64:ff9b::", "2606:4700::5efe:")),
    ):
        try:
            GUARD.check_address(form)
        except WebProviderError:
            continue
        assert ip.is_global and not ip.is_multicast and (form is ip or str(form).startswith("64:ff9b::"))


@given(st.ip_addresses(v=6))
def test_nothing_passes_that_the_standard_library_calls_private_in_ipv6(ip: ipaddress.IPv6Address) -> None:
    try:
        GUARD.check_address(ip)
    except WebProviderError:
        return
    # NAT64: there the IPv4 address inside decides.
    assert ip.is_global and (ip in ipaddress.ip_network("2000::/3") or embedded(ip)[0].is_global)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for url in (text, f"http://{text}/", f"http://a.example/{text}", f"//{text}"):
        try:
            address = GUARD.check_url(url, "http://b.example/")
        except SuyuanError:
            continue
        assert address.href.startswith(f"{address.scheme}://") and address.target.startswith("/")
        assert parse(address.href) == address


def test_the_reason_is_given() -> None:
    assert "127.0.0.1 was not fetched: it is a loopback address" in refusal("http://0x7f.1/").message
    assert "a cloud metadata address" in refusal("http://[::ffff:169.254.169.254]/").message
    assert "names under .internal" in refusal("http://metadata.google.internal/").message
    assert "without a dot" in refusal("http://intranet1/").message
    with pytest.raises(WebProviderError, match="evil.example was not fetched: it leads to 10.0.0.1, a private address"):
        GUARD.check_address("10.0.0.1", "evil.example")


@pytest.mark.parametrize(
    ("ip", "inside"),
    [
        ("::ffff:1.2.3.4", ["1.2.3.4"]),
        ("::1.2.3.4", ["1.2.3.4"]),
        ("::ffff:0:1.2.3.4", ["1.2.3.4"]),
        ("64:ff9b::1.2.3.4", ["1.2.3.4"]),
        ("64:ff9b:1::1.2.3.4", ["1.2.3.4"]),
        ("2002:102:304::", ["1.2.3.4"]),
        ("2001:0:102:304::fefd:fcfb", ["1.2.3.4", "1.2.3.4"]),
        ("2606:4700::5efe:1.2.3.4", ["1.2.3.4"]),
        ("2606:4700::1", []),
        ("::1", []),
        ("1.2.3.4", []),
    ],
)
def test_ipv4_inside_ipv6(ip: str, inside: list[str]) -> None:
    assert [str(found) for found in embedded(ipaddress.ip_address(ip))] == inside


class TestAllowed:
    """What the user allows in ``web.fetch``."""

    def test_a_host_by_name(self) -> None:
        guard = Guard(allow_hosts=("Wiki.Corp", "nas", "10.0.0.5", "[fd00::5]", "bücher.local"))
        for url in (
            "http://wiki.corp/",
            "http://NAS./x",
            "http://10.0.0.5:81/",
            "http://[fd00::5]/",
            "http://xn--bcher-kva.local/",
        ):
            guard.check_url(url)
        guard.check_address("10.1.1.1", "wiki.corp")
        for url in ("http://a.wiki.corp/", "http://wiki.corp.local/", "http://10.0.0.6/", "http://nas.local/"):
            assert refusal(url, guard).detail_code == "guard_refused"
        with pytest.raises(WebProviderError):
            guard.check_address("10.1.1.1", "other.example")

    def test_hosts_by_suffix(self) -> None:
        guard = Guard(allow_hosts=("*.corp.internal",))
        guard.check_url("http://a.b.corp.internal/")
        guard.check_address("10.1.1.1", "a.corp.internal")
        for url in ("http://corp.internal/", "http://evilcorp.internal/", "http://a.corp.internal.local/"):
            assert refusal(url, guard).detail_code == "guard_refused"

    def test_an_allowed_host_does_not_allow_the_metadata_service(self) -> None:
        guard = Guard(allow_hosts=("*.nip.io", "169.254.169.254"))
        for ip in ("169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200"):
            with pytest.raises(WebProviderError):
                guard.check_address(ip, "a.nip.io")
        assert refusal("http://169.254.169.254/", guard).detail_code == "guard_refused"
        Guard(allow_networks=("169.254.169.254/32",)).check_url("http://169.254.169.254/")

    def test_a_network(self) -> None:
        guard = Guard(allow_networks=("10.1.2.3/16", "fd00:5::/32"))
        guard.check_url("http://10.1.255.255/")
        guard.check_url("http://[fd00:5::1]/")
        guard.check_address("10.1.0.1", "anything.example")
        guard.check_address("64:ff9b::10.1.0.1")
        for url in ("http://10.2.0.1/", "http://[::ffff:10.1.0.1]/", "http://[fd00:6::1]/", "http://localhost/"):
            assert refusal(url, guard).detail_code == "guard_refused"

    def test_an_allowed_ipv6_network_does_not_allow_the_ipv4_inside(self) -> None:
        guard = Guard(allow_networks=("::/0",))
        guard.check_address("fd00::1")
        for ip in ("::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b:1::10.0.0.1", "2001:0:7f00:1::1"):
            with pytest.raises(WebProviderError):
                guard.check_address(ip)

    def test_fake_ip_addresses(self) -> None:
        Guard(fake_ip=True).check_address("198.18.0.7", "example.com")
        for ip in ("198.20.0.0", "10.0.0.1"):
            assert bool(ip == "198.20.0.0") is _passes(Guard(fake_ip=True), ip)
        assert not _passes(GUARD, "198.18.0.7")

    @pytest.mark.parametrize(
        "host", ["", "*", "*.", "http://a.example", "a.example/x", "a.example:80", "a b", "u@a.example", "a..b", "a?b"]
    )
    def test_an_invalid_host_is_an_error_at_once(self, host: str) -> None:
        with pytest.raises(ValueError, match="not a host name"):
            Guard(allow_hosts=(host,))

    @pytest.mark.parametrize("network", ["", "a.example", "10.0.0.0/33", "10.0.0"])
    def test_an_invalid_network_is_an_error_at_once(self, network: str) -> None:
        with pytest.raises(ValueError):
            Guard(allow_networks=(network,))


def _passes(guard: Guard, ip: str) -> bool:
    try:
        guard.check_address(ip)
    except WebProviderError:
        return False
    return True
