// The settings page: search in it, save on change.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, fields) => Object.assign(document.createElement(tag), fields);

$(".filter input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = $$(".card-box");
  for (const section of sections) section.hidden = !words.every((word) => section.textContent.toLowerCase().includes(word));
  $(".nothing").hidden = sections.some((section) => !section.hidden);
});
const saved = $("#appearance form");
saved.addEventListener("change", () => saved.requestSubmit());
$("button", saved).hidden = true;
const notify = $("[data-action=notify]");
if ("Notification" in window && Notification.permission === "default") {
  notify.hidden = false;
  notify.onclick = async () => { await Notification.requestPermission(); notify.hidden = Notification.permission !== "default"; };
}
const state = JSON.parse($("#state").textContent);

async function request(method, path, body) {
  const form = body instanceof FormData, headers = { Accept: "application/json", ...(body && !form && { "Content-Type": "application/json" }) };
  const response = await fetch(path, { method, headers, body: form ? body : body && JSON.stringify(body) }).catch(() => { throw { message: state.offline }; });
  const data = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (!response.ok) throw { ...data.error, message: data.error?.message ?? `${response.status}` };
  return data;
}

$("[data-action=connect]").onclick = () => import(`./${state.more}`).then((module) => module.connect({ request, showError: (error) => alert(error.message) }));

// --- engines: what the doctor finds stands beside each, and keys are entered there ---
const engines = $("#engines"), doctor = $("[data-action=doctor]"), overall = $(".overall", engines);
const finding = ({ level, message, hint }) => make("li", { className: level ?? "", textContent: [level === "ok" ? "✓" : "", message, level === "ok" ? "" : hint].filter(Boolean).join(" ") });
const LIGHTS = { ok: "ok", warning: "down", error: "down" };
doctor.hidden = false;
doctor.onclick = async () => {
  overall.replaceChildren(finding({ message: doctor.dataset.busy }));
  doctor.disabled = true;
  const { findings } = await request("POST", "/settings/doctor").catch((error) => ({ findings: [{ level: "error", ...error }] }));
  doctor.disabled = false;
  for (const box of $$(".beside", engines)) box.replaceChildren();
  const beside = (each) => each.name && $(`[data-engine="${CSS.escape(each.name)}"]`, engines);
  for (const each of findings.filter(beside)) {
    const row = beside(each);
    $(".beside", row).append(finding(each));
    $(".light", row).dataset.light = LIGHTS[each.level];
  }
  overall.replaceChildren(...findings.filter((each) => !beside(each)).map(finding));
};

for (const form of $$("[data-engine-form]", engines)) {
  const path = `/api/engines/${form.dataset.engineForm}`, told = $(".findings", form);
  const entered = () => {
    const { api_key = "", base_url = "", ...options } = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
    return { api_key, base_url, options };
  };
  const fail = (error) => told.replaceChildren(finding({ level: "error", ...error }));
  const reload = () => { location.hash = "engines"; location.reload(); };
  $("[data-test]", form).onclick = async () => {
    if (!form.reportValidity()) return;
    told.replaceChildren(finding({ message: state.testing }));
    await request("POST", `${path}/test`, entered()).then(({ findings }) => told.replaceChildren(...findings.map(finding))).catch(fail);
  };
  form.onsubmit = (event) => { event.preventDefault(); request("PUT", path, entered()).then(reload).catch(fail); };
  const forget = $("[data-forget]", form);
  if (forget) forget.onclick = () => request("DELETE", path).then(reload).catch(fail);
}

// --- links that were shared ---
for (const button of $$("[data-revoke]")) button.onclick = () => request("DELETE", button.dataset.url).then(() => button.closest("li").remove()).catch((error) => alert(error.message));

// --- the user's own documents ---
const library = $("#library"), documents = $(".documents", library), told = $(".findings", library);

const DOCUMENTS_AT_ONCE = 200, more = $(".more", library);

async function showDocuments({ goOn = false } = {}) {
  const shown = goOn ? documents.children.length : 0;
  const found = await request("GET", `/api/library?limit=${DOCUMENTS_AT_ONCE}&offset=${shown}`).catch(say);
  if (!found) return;
  if (!goOn) documents.replaceChildren();
  documents.append(...found.documents.map(documentItem));
  if (!found.total) documents.append(make("li", { className: "meta", textContent: documents.dataset.empty }));
  more.hidden = shown + found.documents.length >= found.total;
}

function documentItem({ id, title, name, kind, url, problem, cut }) {
  const item = document.createElement("li");
  item.append(make("a", { href: url, target: "_blank", textContent: title || name }));
  item.append(make("span", { className: "meta", textContent: [name, cut?.message, problem?.message].filter(Boolean).join(" · ") }));
  if (kind === "upload" || kind === "url") {
    const remove = () => request("DELETE", `/api/library/${id}`).then(() => showDocuments()).catch(say);
    item.append(make("button", { type: "button", className: "link", textContent: documents.dataset.remove, onclick: remove }));
  }
  return item;
}

more.onclick = () => showDocuments({ goOn: true });

const say = (...errors) => told.replaceChildren(...errors.map((error) => finding({ level: "error", ...error })));

// One after the other, so that each that cannot be added says why.
async function upload(files) {
  const failed = [], cut = [];
  say({ level: "", message: "…" });
  for (const file of files) {
    const body = new FormData();
    body.append("files", file);
    const sent = await request("POST", "/api/library", body).catch((error) => failed.push({ ...error, message: `${file.name}: ${error.message}` }));
    for (const each of sent.documents ?? []) if (each.cut) cut.push({ level: "warning", message: `${file.name}: ${each.cut.message}` });
  }
  say(...(failed.length ? failed : [{ level: "ok", message: state.added }]), ...cut);
  showDocuments();
}

$("input[type=file]", library).onchange = (event) => upload(event.target.files);
library.addEventListener("dragover", (event) => event.preventDefault());
library.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) upload(event.dataTransfer.files); });
showDocuments();
document.documentElement.dataset.ready = "1";
