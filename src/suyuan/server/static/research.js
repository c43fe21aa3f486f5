// A research job: its plan, its progress, its report beside the passages.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const { id, more, offline } = JSON.parse($("#state").textContent), body = $("#body");
const api = `/api/research/${id}`;

async function send(action, data) {
  const response = await fetch(`${api}/${action}`, { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body: data && JSON.stringify(data) }).catch(() => null);
  const { error } = response?.ok ? {} : ((await response?.json().catch(() => null)) ?? { error: { message: response?.status ?? offline } });
  showProblem(error);
  // A plan that is refused stays as it was written; where the job has gone on, the page does too.
  if (response?.ok || response?.status === 409) await reload();
}

function showProblem(error) {
  $("#problem").textContent = [error?.message, error?.hint].filter(Boolean).join(" ");
  $("#problem").hidden = !error;
}

// An event stream that was refused cannot say why: the same address, asked as any other, can.
async function followAgain(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  const { error } = answer && !answer.ok ? await answer.json().catch(() => ({})) : {};
  if (answer?.ok) answer.body.cancel();
  refused = Boolean(error);
  if (refused) showProblem(error);
  setTimeout(reload, 1000 * (error?.retry_after ?? (answer?.ok ? 1 : 5)));
}

async function reload() {
  const response = await fetch(`/research/${id}?part=body`);
  if (!response.ok) return;
  body.innerHTML = await response.text();
  $("#live").textContent = $(".state strong", body).textContent;
  follow();
}

// The other pages of this browser know what is under way, and tell when it is done.
function remember(state) {
  const jobs = JSON.parse(localStorage.getItem("research") ?? "{}");
  delete jobs[id];
  if (state) jobs[id] = { question: title, state };
  localStorage.setItem("research", JSON.stringify(jobs));
}

const title = $("h1").textContent, plain = document.title;
let events = null, awaited = false, refused = false;

function follow() {
  const { state } = $(".job", body).dataset, over = !["queued", "planning", "running"].includes(state);
  remember(over ? "" : state);
  if (awaited && over && document.hidden) {
    document.title = `✓ ${plain}`;
    import(`./${more}`).then((module) => module.notify(title, $(".state strong", body).textContent));
  }
  awaited = !over;
  if (over) { events?.close(); events = null; return; }
  if (events) return;
  const mine = (events = new EventSource(`${api}/events`));
  const log = (text) => { const list = $(".log", body); if (list) { list.append(Object.assign(document.createElement("li"), { textContent: text })); while (list.childElementCount > 12) list.firstElementChild.remove(); } };
  const on = (kind, then) => mine.addEventListener(kind, (event) => then(JSON.parse(event.data)));
  on("progress", (data) => {
    for (const box of $$("[data-count]", body)) if (box.dataset.count in data) box.textContent = data[box.dataset.count];
    const left = $("[data-count=left]", body), bar = $("[data-budget]", body);
    if (left) left.textContent = `${Math.max(0, Math.round(data.budget.seconds - data.seconds))} s`;
    if (bar) bar.value = data.seconds;
  });
  on("search", ({ query, count }) => log(`${query} · ${count}`));
  on("page", ({ title, url }) => log(title || url));
  on("state", ({ state: next }) => { if (next !== $(".job", body).dataset.state) reload(); });
  mine.onopen = () => { if (refused) showProblem(); refused = false; };
  mine.onerror = () => { if (mine === events && mine.readyState === EventSource.CLOSED) { events = null; followAgain(mine.url); } };
  on("end", () => { mine.close(); events = null; reload(); });
}

function plan() {
  const subs = $$(".sub", body).map((box) => ({ question: $("[data-sub]", box).value.trim(), queries: $("[data-queries]", box).value.split("\n").map((line) => line.trim()).filter(Boolean), focus: box.dataset.focus }));
  const clarifications = $$("[data-clarify]", body).map((field) => ({ question: field.dataset.clarify, answer: field.value }));
  return { sub_questions: subs.filter(({ question }) => question), clarifications };
}

function number() {
  $$(".sub", body).forEach((box, i) => { $("b", box).textContent = i + 1; $("legend", box).textContent = $("b", box).parentElement.textContent; });
}

body.addEventListener("submit", (event) => { event.preventDefault(); send("start", { plan: plan() }); });
body.addEventListener("click", (event) => {
  const action = event.target.closest("[data-do]");
  if (action) send(action.dataset.do);
  if (event.target.closest("[data-remove]") && $$(".sub", body).length > 1) { event.target.closest(".sub").remove(); number(); }
  if (event.target.closest("[data-add]")) {
    const last = $$(".sub", body).at(-1), copy = last.cloneNode(true);
    for (const field of $$("input, textarea", copy)) field.value = "";
    copy.dataset.focus = "";
    last.after(copy);
    number();
    $("input", copy).focus();
  }
});

function choose(cite) {
  for (const each of $$(".hot", body)) each.classList.remove("hot");
  if (!cite) return;
  const source = $(`[data-source="${cite.dataset.passage}"]`, body);
  let sentence = cite.parentElement.previousElementSibling;
  while (sentence && !sentence.classList.contains("sentence")) sentence = sentence.previousElementSibling;
  for (const each of [cite, source, sentence]) each?.classList.add("hot");
  const column = source?.closest(".evidence");
  if (column && getComputedStyle(column).position === "sticky") column.scrollTop = Math.max(0, source.offsetTop - 40);
}
for (const kind of ["pointerover", "focusin"]) body.addEventListener(kind, (event) => { const cite = event.target.closest("[data-passage]"); if (cite) choose(cite); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") choose(null); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) document.title = plain; });
follow();
document.documentElement.dataset.ready = "1";
