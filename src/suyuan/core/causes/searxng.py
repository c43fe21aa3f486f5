"""Every illness of a SearXNG that can be told from outside, and what can go wrong with its container."""

from __future__ import annotations

from ..cause import Cause
from ..errors import AuthError, BadGateway, InvalidInput, NetworkError, Timeout, WebBlocked, WebProviderError

# The basic steps, for whoever has none yet.
_STEPS_EN = (
    "To set one up with Docker: suyuan searxng init, then suyuan searxng up. The whole guide: suyuan searxng guide"
)
_STEPS_ZH = "用 Docker 部署:先运行 suyuan searxng init,再运行 suyuan searxng up。完整指南:suyuan searxng guide"

# --- its address -----------------------------------------------------------------------------------------------
SEARXNG_BAD_ADDRESS = Cause(
    InvalidInput,
    "searxng_bad_address",
    "{where!r} cannot be the address of a SearXNG: {why}.",
    "{where!r} 不能作为 SearXNG 的地址:{why_zh}。",
    "Set SEARXNG_BASE_URL (web.providers.searxng.baseUrl) to an address such as http://localhost:8080, without /search and without ?q=.",
    "请将 SEARXNG_BASE_URL(web.providers.searxng.baseUrl)设为 http://localhost:8080 这样的地址,不带 /search 和 ?q=。",
)
SEARXNG_WRONG_PATH = Cause(
    NetworkError,
    "searxng_wrong_path",
    "There is no SearXNG at {where}, but there is one at {found}.",
    "{where} 没有 SearXNG,但 {found} 有。",
    "Set SEARXNG_BASE_URL={found}",
    "请设置 SEARXNG_BASE_URL={found}",
    retryable=False,
)
SEARXNG_OTHER_SERVER = Cause(
    NetworkError,
    "not_searxng",
    "What answers at {where} is not SearXNG but {what}.",
    "{where} 上运行的不是 SearXNG,而是 {what}。",
    "The port is probably wrong. See which port SearXNG has: docker ps --filter name=searxng; then set SEARXNG_BASE_URL. "
    + _STEPS_EN,
    "端口可能有误。查看 SearXNG 的端口:docker ps --filter name=searxng;然后设置 SEARXNG_BASE_URL。" + _STEPS_ZH,
    retryable=False,
)
SEARXNG_REDIRECTED = Cause(
    NetworkError,
    "searxng_redirected",
    "{where} sends us on to {target}, which is not the same server.",
    "{where} 将请求重定向到 {target},这不是同一台服务器。",
    "If SearXNG is there, set SEARXNG_BASE_URL to it. If that is a log-in page, let requests of Suyuan pass the proxy in front: "
    "curl -i {where}/healthz",
    "如果 SearXNG 在那里,请将 SEARXNG_BASE_URL 设为该地址。如果那是登录页,请让前面的代理放行 Suyuan 的请求:curl -i {where}/healthz",
    retryable=False,
)

# --- nobody there ----------------------------------------------------------------------------------------------
SEARXNG_DOWN = Cause(
    NetworkError,
    "searxng_down",
    "Nothing listens at {where}: SearXNG does not run, or has another port.",
    "{where} 没有服务在监听:SearXNG 未运行,或使用了其他端口。",
    "1. Does the container run, and on which port? docker ps --filter name=searxng  2. If not: docker compose up -d, and see why it ended: "
    "docker compose logs searxng  3. Then: curl -i {where}/healthz  From inside another container, localhost is that container: "
    "use http://host.docker.internal:8080. " + _STEPS_EN,
    "1. 容器是否在运行,端口是多少?docker ps --filter name=searxng  2. 若未运行:docker compose up -d,并查看退出原因:"
    "docker compose logs searxng  3. 然后验证:curl -i {where}/healthz  在其他容器中,localhost 指的是该容器自身:"
    "请使用 http://host.docker.internal:8080。" + _STEPS_ZH,
)
SEARXNG_NO_HOST = Cause(
    NetworkError,
    "searxng_dns",
    "The name {host} in SearXNG's address cannot be resolved.",
    "无法解析 SearXNG 地址中的主机名 {host}。",
    "Check the spelling of SEARXNG_BASE_URL and the network: getent hosts {host}  A name from a Docker Compose file is known only to "
    "containers on the same network; from this machine use http://localhost:8080.",
    "请检查 SEARXNG_BASE_URL 的拼写和网络:getent hosts {host}  Docker Compose 中的服务名只在同一网络的容器内有效;"
    "在本机请使用 http://localhost:8080。",
)
SEARXNG_SILENT = Cause(
    Timeout,
    "searxng_silent",
    "SearXNG at {where} takes the connection, but says nothing for {seconds:g} s.",
    "位于 {where} 的 SearXNG 接受了连接,但 {seconds:g} 秒内没有响应。",
    "It may still be starting, or hang: docker compose logs --tail 50 searxng; then docker compose restart searxng. A firewall that "
    "swallows packets looks the same: curl -i --max-time 5 {where}/healthz",
    "它可能正在启动,或已卡住:docker compose logs --tail 50 searxng;然后 docker compose restart searxng。防火墙丢弃数据包时现象相同:"
    "curl -i --max-time 5 {where}/healthz",
)

# --- TLS -------------------------------------------------------------------------------------------------------
SEARXNG_PLAIN = Cause(
    NetworkError,
    "searxng_plain_http",
    "The address says https, but {where} speaks plain HTTP.",
    "地址写的是 https,但 {where} 使用的是普通 HTTP。",
    "Set SEARXNG_BASE_URL={found}",
    "请设置 SEARXNG_BASE_URL={found}",
    retryable=False,
)
SEARXNG_NEEDS_HTTPS = Cause(
    NetworkError,
    "searxng_needs_https",
    "The address says http, but {where} wants https.",
    "地址写的是 http,但 {where} 需要 https。",
    "Set SEARXNG_BASE_URL={found}",
    "请设置 SEARXNG_BASE_URL={found}",
    retryable=False,
)
SEARXNG_SELF_SIGNED = Cause(
    NetworkError,
    "searxng_self_signed",
    "{where} shows a certificate that nobody known has signed (self-signed, or by an authority of your own).",
    "{where} 的证书是自签名的,或由未知机构签发。",
    "On your own machine use http:// (it does not leave the machine). Elsewhere let this machine trust the authority: put its certificate "
    "into /usr/local/share/ca-certificates/ as a .crt file and run sudo update-ca-certificates.",
    "在本机请使用 http://(数据不会离开本机)。否则请让本机信任该机构:将其证书以 .crt 文件放入 /usr/local/share/ca-certificates/,"
    "并运行 sudo update-ca-certificates。",
    retryable=False,
)
SEARXNG_EXPIRED = Cause(
    NetworkError,
    "searxng_certificate_expired",
    "The certificate of {where} has expired, or is not valid yet.",
    "{where} 的证书已过期或尚未生效。",
    "Renew it (with Caddy or certbot: restart them and see their log), and check the clock of this machine: date",
    "请更新证书(Caddy 或 certbot:重启并查看日志),并检查本机时间:date",
    retryable=False,
)
SEARXNG_WRONG_NAME = Cause(
    NetworkError,
    "searxng_certificate_name",
    "The certificate of {where} was made for another name.",
    "{where} 的证书是为其他域名签发的。",
    "Put the name that stands in the certificate into SEARXNG_BASE_URL: openssl s_client -connect {where} </dev/null | openssl x509 -noout "
    "-ext subjectAltName",
    "请在 SEARXNG_BASE_URL 中使用证书上的域名:openssl s_client -connect {where} </dev/null | openssl x509 -noout -ext subjectAltName",
    retryable=False,
)
SEARXNG_TLS = Cause(
    NetworkError,
    "searxng_tls",
    "No safe connection to {where}: {why}.",
    "无法与 {where} 建立安全连接:{why}。",
    "See what the server offers: openssl s_client -connect {where} </dev/null",
    "查看服务器的情况:openssl s_client -connect {where} </dev/null",
    retryable=False,
)

# --- somebody stands in front of it ----------------------------------------------------------------------------
SEARXNG_LOGIN = Cause(
    AuthError,
    "searxng_login",
    "{where} asks for a password (HTTP 401): a proxy in front of SearXNG guards it.",
    "{where} 要求密码(HTTP 401):SearXNG 前面的代理设置了认证。",
    "Set SEARXNG_API_KEY to the Authorization header that the proxy wants, e.g. 'Basic dXNlcjpwYXNz' (echo -n user:pass | base64) or "
    "'Bearer TOKEN'; or let requests from this machine pass.",
    "请将 SEARXNG_API_KEY 设为代理所需的 Authorization 头,例如 'Basic dXNlcjpwYXNz'(echo -n user:pass | base64)或 'Bearer TOKEN';"
    "或让代理放行本机的请求。",
)
SEARXNG_FORBIDS = Cause(
    AuthError,
    "searxng_forbids",
    "{where} refuses even the health check (HTTP 403): that is a proxy or firewall in front, not SearXNG's JSON setting.",
    "{where} 连健康检查也拒绝(HTTP 403):这是前面的代理或防火墙,而不是 SearXNG 的 JSON 设置。",
    "See who answers: curl -i {where}/healthz  Allow the address of this machine in that proxy, or go to the container's own port.",
    "查看是谁在响应:curl -i {where}/healthz  请在该代理中放行本机地址,或直接访问容器的端口。",
)
SEARXNG_API_OFF = Cause(
    AuthError,
    "searxng_api_off",
    "SearXNG lives at {where}, but its search is closed (HTTP {status} for /search, as a page and as JSON).",
    "{where} 有 SearXNG,但其搜索接口已关闭(/search 返回 HTTP {status},网页与 JSON 均如此)。",
    "It is not the JSON setting. A proxy in front lets only some paths pass: let it pass /search too. See: curl -i '{where}/search?q=test'",
    "这不是 JSON 设置的问题。前面的代理只放行部分路径:请同时放行 /search。查看:curl -i '{where}/search?q=test'",
)
SEARXNG_BROKEN = Cause(
    BadGateway,
    "http_5xx",
    "{where} answers with HTTP {status}: SearXNG, or the proxy in front of it, is out of order.",
    "{where} 返回 HTTP {status}:SearXNG 或其前面的代理出现故障。",
    "502, 503 or 504 from a proxy: the container does not run (docker ps). 500: a fault in settings.yml or in SearXNG: "
    "docker compose logs --tail 50 searxng; after mending it: docker compose restart searxng",
    "代理返回 502、503 或 504:容器未运行(docker ps)。500:settings.yml 有误或 SearXNG 出错:"
    "docker compose logs --tail 50 searxng;修复后:docker compose restart searxng",
)

# --- it is well, but its engines are not -----------------------------------------------------------------------
SEARXNG_NO_ENGINES = Cause(
    WebProviderError,
    "searxng_no_engines",
    "SearXNG at {where} answers, but has no engine to ask: every search finds nothing.",
    "位于 {where} 的 SearXNG 有响应,但没有可用的引擎:任何搜索都没有结果。",
    "Enable some in settings.yml (use_default_settings: engines: keep_only, and disabled: false for each), then: "
    "docker compose restart searxng. A file that works: suyuan searxng init",
    "请在 settings.yml 中启用引擎(use_default_settings: engines: keep_only,并对每个引擎设置 disabled: false),然后:"
    "docker compose restart searxng。可用的配置文件:suyuan searxng init",
)
SEARXNG_SOME_DEAD = Cause(
    WebProviderError,
    "searxng_engines_resting",
    "SearXNG works, but some of its engines do not answer: {which}.",
    "SearXNG 可用,但部分引擎没有响应:{which}。",
    "Suspended ones come back by themselves, or after docker compose restart searxng. One that stays dead only costs time: take it out "
    "of keep_only in settings.yml. In mainland China: SEARXNG_REGION=china in .env, then docker compose up -d",
    "被暂停的引擎会自行恢复,也可运行 docker compose restart searxng。长期失效的引擎只会拖慢搜索:请从 settings.yml 的 keep_only 中删除。"
    "在中国大陆:在 .env 中设置 SEARXNG_REGION=china,然后 docker compose up -d",
    retryable=True,
)
SEARXNG_SLOW = Cause(
    Timeout,
    "searxng_slow",
    "SearXNG works, but a search took {seconds:.1f} s; all of Suyuan's search has {limit:g} s.",
    "SearXNG 可用,但一次搜索用时 {seconds:.1f} 秒;整个搜索的时限为 {limit:g} 秒。",
    "It waits for its slowest engine: lower outgoing.request_timeout in settings.yml (e.g. 2.0) or take slow engines out, then: "
    "docker compose restart searxng",
    "它会等待最慢的引擎:请在 settings.yml 中调低 outgoing.request_timeout(例如 2.0)或去掉较慢的引擎,然后:docker compose restart searxng",
)
SEARXNG_SEARCH_SILENT = Cause(
    Timeout,
    "searxng_search_silent",
    "SearXNG at {where} is up, but a search gave no answer in {seconds:g} s.",
    "位于 {where} 的 SearXNG 已启动,但一次搜索在 {seconds:g} 秒内没有结果。",
    "Its container may have no way out to the engines: docker compose exec searxng wget -qO- -T 5 https://www.bing.com | head -c 100  "
    "If that fails, give it a proxy (outgoing: proxies: in settings.yml) and restart it: docker compose restart searxng",
    "容器可能无法访问外网引擎:docker compose exec searxng wget -qO- -T 5 https://www.bing.com | head -c 100  "
    "若失败,请在 settings.yml 中设置代理(outgoing: proxies:)并重启:docker compose restart searxng",
)

# --- its container ---------------------------------------------------------------------------------------------
DOCKER_MISSING = Cause(
    WebProviderError,
    "docker_missing",
    "Docker is not installed on this machine.",
    "本机未安装 Docker。",
    "Install it: https://docs.docker.com/get-docker/ (Linux: curl -fsSL https://get.docker.com | sh). SearXNG is optional: Suyuan searches "
    "without it too.",
    "请安装:https://docs.docker.com/get-docker/(Linux:curl -fsSL https://get.docker.com | sh)。SearXNG 是可选的:没有它 Suyuan 也能搜索。",
)
DOCKER_DOWN = Cause(
    WebProviderError,
    "docker_down",
    "Docker is installed, but its daemon does not run.",
    "已安装 Docker,但其守护进程未运行。",
    "Linux: sudo systemctl start docker. macOS and Windows: start Docker Desktop.",
    "Linux:sudo systemctl start docker。macOS 和 Windows:请启动 Docker Desktop。",
)
DOCKER_DENIED = Cause(
    WebProviderError,
    "docker_denied",
    "This user may not talk to the Docker daemon.",
    "当前用户无权访问 Docker 守护进程。",
    "sudo usermod -aG docker $USER, then log in again; or run the command with sudo.",
    "sudo usermod -aG docker $USER,然后重新登录;或用 sudo 运行该命令。",
)
COMPOSE_MISSING = Cause(
    WebProviderError,
    "compose_missing",
    "Docker is there, but its Compose plugin is not.",
    "已安装 Docker,但缺少 Compose 插件。",
    "Debian and Ubuntu: sudo apt-get install docker-compose-plugin. Others: https://docs.docker.com/compose/install/",
    "Debian 和 Ubuntu:sudo apt-get install docker-compose-plugin。其他系统:https://docs.docker.com/compose/install/",
)
DOCKER_PORT_TAKEN = Cause(
    WebProviderError,
    "docker_port_taken",
    "Port {port} is in use by another program, so the container cannot start.",
    "端口 {port} 已被其他程序占用,容器无法启动。",
    "See who has it: sudo ss -ltnp 'sport = :{port}'  Or take another one: suyuan searxng init {folder} --port 8081 --force, "
    "and set SEARXNG_BASE_URL=http://localhost:8081",
    "查看占用者:sudo ss -ltnp 'sport = :{port}'  或换一个端口:suyuan searxng init {folder} --port 8081 --force,"
    "并设置 SEARXNG_BASE_URL=http://localhost:8081",
)
DOCKER_FAILED = Cause(
    WebProviderError,
    "docker_failed",
    "`{command}` failed: {said}",
    "`{command}` 失败:{said}",
    "Run it in {folder} to see all that it says.",
    "请在 {folder} 中运行该命令查看完整输出。",
)
NO_DEPLOYMENT = Cause(
    InvalidInput,
    "no_deployment",
    "There is no docker-compose.yml in {folder}.",
    "{folder} 中没有 docker-compose.yml。",
    "Write the files first: suyuan searxng init {folder}",
    "请先生成文件:suyuan searxng init {folder}",
)
DEPLOYMENT_EXISTS = Cause(
    InvalidInput,
    "deployment_exists",
    "{path} is there already and was left as it is.",
    "{path} 已存在,未作改动。",
    "Choose another folder, or write over it: suyuan searxng init {folder} --force (the secret in .env is kept).",
    "请选择其他目录,或覆盖它:suyuan searxng init {folder} --force(.env 中的密钥会保留)。",
)
DEPLOYMENT_UNWRITABLE = Cause(
    InvalidInput,
    "deployment_unwritable",
    "{path} cannot be written: {why}",
    "无法写入 {path}:{why}",
    "Choose a folder of your own: suyuan searxng init ~/searxng",
    "请选择自己的目录:suyuan searxng init ~/searxng",
)
SEARXNG_CLOSED = Cause(
    AuthError,
    "json_api_off",
    "SearXNG at {where} refuses JSON (HTTP 403): its JSON format is not enabled.",
    "位于 {where} 的 SearXNG 拒绝 JSON 请求(HTTP 403):未启用 JSON 格式。",
    "Add `json` under `search: formats:` in SearXNG's settings.yml and restart it: docker compose restart searxng",
    "请在 SearXNG 的 settings.yml 中 `search: formats:` 下加入 `json`,然后重启:docker compose restart searxng",
)
SEARXNG_LIMITER = Cause(
    WebBlocked,
    "http_429",
    "SearXNG at {where} refuses us (HTTP 429): its limiter is on.",
    "位于 {where} 的 SearXNG 拒绝请求(HTTP 429):其 limiter 已启用。",
    "For a private instance set `server: limiter: false` in settings.yml and restart it: docker compose restart searxng",
    "私有实例请在 settings.yml 中设置 `server: limiter: false`,然后重启:docker compose restart searxng",
)
NOT_SEARXNG = Cause(
    NetworkError,
    "not_searxng",
    "What answers at {where} is not SearXNG.",
    "{where} 上运行的不是 SearXNG。",
    "Set SEARXNG_BASE_URL to the address and port of your SearXNG.",
    "请将 SEARXNG_BASE_URL 设为您的 SearXNG 的地址和端口。",
    retryable=False,
)
ENGINES_DEAD = Cause(
    WebProviderError,
    "engines_dead",
    "SearXNG answers, but the engines behind it do not: {which}.",
    "SearXNG 有响应,但其背后的引擎没有:{which}。",
    "Wait a while, or enable other engines in SearXNG's settings.yml.",
    "请稍后再试,或在 SearXNG 的 settings.yml 中启用其他引擎。",
    retryable=True,
)
