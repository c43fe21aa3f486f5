// The settings page: search in it, save on change.
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

document.querySelector(".filter input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = $$(".card-box");
  for (const section of sections) section.hidden = !words.every((word) => section.textContent.toLowerCase().includes(word));
  document.querySelector(".nothing").hidden = sections.some((section) => !section.hidden);
});
const saved = document.querySelector("#appearance form");
saved.addEventListener("change", () => saved.requestSubmit());
saved.querySelector("button").hidden = true;
const notify = document.querySelector("[data-action=notify]");
if ("Notification" in window && Notification.permission === "default") {
  notify.hidden = false;
  notify.onclick = async () => { await Notification.requestPermission(); notify.hidden = Notification.permission !== "default"; };
}
const state = JSON.parse(document.querySelector("#state").textContent);

async function request(method, path, body) {
  const response = await fetch(path, { method, headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) }, body: body && JSON.stringify(body) });
  const data = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (!response.ok) throw { ...data.error, message: data.error?.message ?? `${response.status}` };
  return data;
}

document.querySelector("[data-action=connect]").onclick = () => import(state.more).then((module) => module.connect({ request, showError: (error) => alert(error.message) }));

const doctor = document.querySelector("[data-action=doctor]"), findings = document.querySelector("#engines .findings");
const finding = ({ level, message, hint }) => Object.assign(document.createElement("li"), { className: level, textContent: [level === "ok" ? "✓" : "", message, level === "ok" ? "" : hint].filter(Boolean).join(" ") });
doctor.hidden = false;
doctor.onclick = async () => {
  findings.replaceChildren(finding({ message: doctor.dataset.busy }));
  const found = await request("POST", "/settings/doctor").catch((error) => ({ findings: [{ level: "error", ...error }] }));
  findings.replaceChildren(...found.findings.map(finding));
};

// --- the user's own documents ---
const library = document.querySelector("#library"), documents = library.querySelector(".documents"), told = library.querySelector(".findings");

async function showDocuments() {
  const { documents: found } = await request("GET", "/api/library").catch(() => ({ documents: [] }));
  documents.replaceChildren(...found.map(({ id, title, name, kind, url, problem }) => {
    const item = document.createElement("li"), link = Object.assign(document.createElement("a"), { href: url, target: "_blank", textContent: title || name });
    item.append(link, Object.assign(document.createElement("span"), { className: "meta", textContent: [name, problem?.message].filter(Boolean).join(" · ") }));
    if (kind === "upload" || kind === "url") item.append(Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: documents.dataset.remove, onclick: () => request("DELETE", `/api/library/${id}`).then(showDocuments).catch(say) }));
    return item;
  }));
  if (!found.length) documents.append(Object.assign(document.createElement("li"), { className: "meta", textContent: documents.dataset.empty }));
}

const say = (error) => { told.textContent = [error.message, error.hint].filter(Boolean).join(" "); };

async function upload(files) {
  const body = new FormData();
  for (const file of files) body.append("files", file);
  told.textContent = "…";
  const response = await fetch("/api/library", { method: "POST", body, headers: { Accept: "application/json" } });
  const data = await response.json().catch(() => ({}));
  say(data.error ?? data.errors?.[0]?.error ?? { message: state.texts["added"] });
  showDocuments();
}

library.querySelector("input[type=file]").onchange = (event) => upload(event.target.files);
library.addEventListener("dragover", (event) => event.preventDefault());
library.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) upload(event.dataTransfer.files); });
showDocuments();
document.documentElement.dataset.ready = "1";
