// What few need: reading aloud, tables as CSV, notifications, the sheet of keys.
const make = (tag, fields) => Object.assign(document.createElement(tag), fields);
// What a spreadsheet would take for a formula, in any width, is a text behind an apostrophe: the same rule as text/cells.py.
const FORMULA = /^\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20\u2212\u207a\u208a\u207b\u208b\u207c\u208c\ufe62\ufe63\ufe66\ufe6b\uff05\uff5c]/;
const safeCell = (text) => FORMULA.test(text) && !/^[+-]?[0-9][0-9.,]*%?$/.test(text) ? `'${text}` : text;
export function csv(table) {
  const cell = (each) => { const text = safeCell([...each.childNodes].filter((node) => node.nodeName !== "SUP").map((node) => node.textContent).join("").trim()); return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
  return [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\n");
}

// By the browser's own voice; tables are read cell by cell, formulas and code are left out.
export function speak(button, article, { t, showError }) {
  const speech = window.speechSynthesis, speaking = button.ariaPressed === "true";
  speech?.cancel();
  if (speaking) return;
  const text = [...article.querySelectorAll(".md > .block")].map((block) => { const copy = block.cloneNode(true); for (const left of copy.querySelectorAll("sup, math, .code, button")) left.remove(); return copy.textContent.trim(); }).filter(Boolean).join("\n");
  if (!speech) { showError({ message: t("no_voice") }); return; }
  const said = new SpeechSynthesisUtterance(text);
  said.lang = (text.match(/[\u4e00-\u9fff]/g) ?? []).length > text.length / 5 ? "zh-CN" : "en";
  button.ariaPressed = "true";
  const end = () => { button.ariaPressed = "false"; removeEventListener("pagehide", stop); };
  const stop = () => speech.cancel();
  said.onend = end;
  said.onerror = ({ error }) => { end(); if (!["canceled", "interrupted"].includes(error)) showError({ message: t("no_voice") }); };
  // A browser may go on reading on the next page.
  addEventListener("pagehide", stop);
  speech.speak(said);
}

// Only for those who allowed it; it is asked for in the settings.
export function notify(question, body, address = "") {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  new Notification(question, { body, icon: "/static/icon.svg" }).onclick = () => { window.focus(); if (address) location.assign(address); };
}

// Research that this browser has begun: asked for now and then until it is over, on whatever page.
export async function watchResearch({ request, toast, t, mark }) {
  const jobs = JSON.parse(localStorage.getItem("research") ?? "{}");
  const { jobs: now } = await request("GET", "/api/research?limit=50").catch(() => ({ jobs: null }));
  for (const [id, { question, state }] of now ? Object.entries(jobs) : []) {
    const found = now.find((each) => each.id === id);
    if (!found) delete jobs[id];
    else if (state !== "done" && ["done", "failed", "cancelled", "interrupted"].includes(found.state)) {
      jobs[id].state = "done";
      toast(`${t("research_over")} ${question}`, t("open"), () => location.assign(`/research/${id}`));
      if (document.hidden) notify(question, t("research_over"), `/research/${id}`);
    }
  }
  if (now) localStorage.setItem("research", JSON.stringify(jobs));
  const states = Object.values(jobs).map(({ state }) => state);
  mark(states.includes("done") ? "done" : states.length ? "running" : "");
  if (states.some((state) => state !== "done")) setTimeout(watchResearch, 5000, { request, toast, t, mark });
}

function dialog(name, html) {
  document.querySelector(`dialog.${name}`)?.remove();
  const box = make("dialog", { className: name, innerHTML: html });
  box.addEventListener("click", (event) => { if (event.target === box || event.target.closest("[data-close]")) box.close(); });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

export async function showKeys() {
  dialog("sheet", await (await fetch("/dialog/keys")).text());
}

// --- share and print ---
export async function share({ request, showError, conversation, copyText, t }) {
  const html = async () => (await fetch(`/dialog/shares?conversation=${conversation.id}`)).text();
  const box = dialog("shares-dialog", await html()), form = box.querySelector("form");
  const list = async () => box.querySelector(".shares").replaceWith(make("div", { innerHTML: await html() }).querySelector(".shares"));
  form.onsubmit = async (event) => {
    event.preventDefault();
    try {
      const { url } = await request("POST", `/api/conversations/${conversation.id}/shares`, { days: Number(form.elements.days.value) || null });
      const address = new URL(url, location.href).href;
      // Where nothing can be copied, the address can still be read.
      box.querySelector(".made").textContent = address;
      await list();
      await copyText(address);
      box.querySelector(".made").textContent = `${t("shared")} ${address}`;
    } catch (error) { showError(error); }
  };
  box.addEventListener("click", ({ target }) => {
    if (target.matches("[data-revoke]")) request("DELETE", target.dataset.url).then(list).catch(showError);
  });
}

// The server needs a moment to print; the page says so, and why where it cannot.
export async function pdf({ toast, showError, t }, link) {
  toast(t("printing"));
  try {
    const response = await fetch(link.href, { headers: { Accept: "application/json" } });
    if (!response.ok) throw (await response.json()).error;
    const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition"))?.[1];
    const made = make("a", { href: URL.createObjectURL(await response.blob()), download: decodeURIComponent(name ?? "suyuan.pdf") });
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60000);
    document.querySelector(".toast")?.remove();
  } catch (error) { showError(error); }
}

// --- connect a model ---
export async function connect({ request, showError, change, conversation }) {
  const box = dialog("connect-dialog", await (await fetch("/dialog/connect")).text()), $ = (selector) => box.querySelector(selector);
  const texts = JSON.parse($("[data-texts]").dataset.texts), form = $("form"), field = (name) => form.elements[name];
  const entered = () => ({ base_url: field("base_url").value.trim(), name: field("name").value.trim(), api_key: field("api_key").value });
  const offer = (names) => $("datalist").replaceChildren(...names.map((name) => new Option(name, name)));
  const say = (findings) => $(".findings").replaceChildren(...findings.map(({ level, message, hint }) => make("li", { className: level, textContent: [message, level === "ok" ? "" : hint].filter(Boolean).join(" ") })));
  field("base_url").onchange = () => request("POST", "/api/models/list", entered()).then(({ models }) => offer(models)).catch(() => {});
  request("GET", "/api/models/local").then(({ servers }) => {
    const list = $(".local");
    list.replaceChildren(servers.length ? texts.found : texts.none);
    for (const { title, base_url, models } of servers) {
      for (const name of models.slice(0, 8)) {
        list.append(make("button", { type: "button", className: "button", textContent: `${title} · ${name}`, onclick: () => { field("base_url").value = base_url; field("name").value = name; offer(models); test(); } }));
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
