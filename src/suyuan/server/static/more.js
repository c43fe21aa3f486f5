// What few need: reading aloud, tables as CSV, notifications, the sheet of keys.
export function csv(table) {
  const cell = (each) => { const text = [...each.childNodes].filter((node) => node.nodeName !== "SUP").map((node) => node.textContent).join("").trim(); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
  return [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\n");
}

export function speak(button, article) {
  const speech = window.speechSynthesis, speaking = button.ariaPressed === "true";
  speech.cancel();
  if (speaking) return;
  const text = [...article.querySelectorAll(".md :is(p, li, h3, h4, h5, h6, blockquote)")].filter((each) => !each.querySelector("p")).map((each) => { const copy = each.cloneNode(true); for (const sup of copy.querySelectorAll("sup, math")) sup.remove(); return copy.textContent; }).join("\n");
  const said = new SpeechSynthesisUtterance(text);
  said.lang = /[\u4e00-\u9fff]/.test(text) ? "zh-CN" : "en";
  button.ariaPressed = "true";
  said.onend = said.onerror = () => { button.ariaPressed = "false"; };
  speech.speak(said);
}

// Only for those who allowed it; it is asked for in the settings.
export function notify({ t }, article) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const question = article.closest(".turn").querySelector("h2").textContent;
  new Notification(question, { body: t("done"), icon: "/static/icon.svg" }).onclick = () => window.focus();
}

function dialog(name, html) {
  document.querySelector(`dialog.${name}`)?.remove();
  const box = document.createElement("dialog");
  box.className = name;
  box.innerHTML = html;
  box.addEventListener("click", (event) => { if (event.target === box || event.target.closest("[data-close]")) box.close(); });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

export async function showKeys() {
  dialog("sheet", await (await fetch("/dialog/keys")).text());
}

// --- connect a model ---
export async function connect({ request, showError, change, conversation }) {
  const box = dialog("connect-dialog", await (await fetch("/dialog/connect")).text()), $ = (selector) => box.querySelector(selector);
  const texts = JSON.parse($("[data-texts]").dataset.texts), form = $("form"), field = (name) => form.elements[name];
  const entered = () => ({ base_url: field("base_url").value.trim(), name: field("name").value.trim(), api_key: field("api_key").value });
  const offer = (names) => $("datalist").replaceChildren(...names.map((name) => new Option(name, name)));
  const say = (findings) => $(".findings").replaceChildren(...findings.map(({ level, message, hint }) => Object.assign(document.createElement("li"), { className: level, textContent: [message, level === "ok" ? "" : hint].filter(Boolean).join(" ") })));
  field("base_url").onchange = () => request("POST", "/api/models/list", entered()).then(({ models }) => offer(models)).catch(() => {});
  request("GET", "/api/models/local").then(({ servers }) => {
    const list = $(".local");
    list.replaceChildren(servers.length ? texts.found : texts.none);
    for (const { title, base_url, models } of servers) {
      for (const name of models.slice(0, 8)) {
        list.append(Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: `${title} · ${name}`, onclick: () => { field("base_url").value = base_url; field("name").value = name; offer(models); test(); } }));
      }
    }
  }).catch(() => $(".local").replaceChildren(texts.none));
  async function test() {
    if (!form.reportValidity()) return false;
    say([{ level: "", message: texts.testing }]);
    try {
      const { ok, findings } = await request("POST", "/api/models/test", entered());
      say(findings);
      return ok;
    } catch (error) { say([{ level: "error", ...error }]); return false; }
  }
  $("[data-test]").onclick = test;
  form.onsubmit = async (event) => {
    event.preventDefault();
    try {
      const { name } = await request("POST", "/api/models", entered());
      box.close();
      if (change) await change({ model: name });
      else location.reload();
      document.querySelector(".setup")?.remove();
    } catch (error) { say([{ level: "error", ...error }]); }
  };
  for (const button of box.querySelectorAll("[data-forget]")) {
    button.onclick = () => request("DELETE", `/api/models/${encodeURIComponent(button.dataset.forget)}`).then(() => location.reload()).catch(showError);
  }
  field("base_url").focus();
}

// The first page offers what it finds on this machine.
export async function detect(box, { request }) {
  const { servers } = await request("GET", "/api/models/local");
  if (servers.length) box.textContent = `· ${servers[0].title} → ${servers[0].base_url.replace(/^https?:\/\/|\/v1$/g, "")}`;
}
