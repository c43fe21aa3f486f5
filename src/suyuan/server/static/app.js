// The script of the page. A control changes only when the server has confirmed the change.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const state = JSON.parse($("#state").textContent);
const t = (key) => state.texts[key];
const [panel, thread, scroll, ask, form, list] = ["panel", "thread", "scroll", "ask", "form", "list"].map((id) => document.getElementById(id));
const CONFIRM_WITHIN = 500;
let conversation = state.conversation;

// --- requests ---
async function request(method, path, body, within = 30000) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(within),
    });
  } catch (error) {
    throw { late: error.name === "TimeoutError", message: t(error.name === "TimeoutError" ? "rollback" : "offline") };
  }
  const data = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (!response.ok) throw { ...data.error, message: data.error?.message ?? `${response.status}` };
  return data;
}

const path = (more = "") => `/api/conversations/${conversation.id}${more}`;

function announce(text) {
  $("#live").textContent = "";
  // Some screen readers miss a text that replaces another one at once.
  setTimeout(() => ($("#live").textContent = text), 60);
}

function toast(text, action, run) {
  const box = document.createElement("div");
  box.className = "toast";
  box.append(Object.assign(document.createElement("p"), { textContent: text }));
  const button = (label, then) => box.append(Object.assign(document.createElement("button"), { type: "button", textContent: label, onclick: () => { box.remove(); then?.(); } }));
  if (action) button(action, run);
  button(t("close"));
  $("#toasts").replaceChildren(box);
  announce(text);
  setTimeout(() => box.remove(), action ? 15000 : 8000);
}

const showError = (error) => toast([error.message ?? t("offline"), error.hint].filter(Boolean).join(" "));

// --- settings ---
const currentSettings = () => conversation ?? { ...state.draft, engine: "", model: "" };

function apply(next) {
  const before = currentSettings();
  conversation = next;
  const now = currentSettings(), agent = now.mode === "agent", searchSwitch = $("#search");
  for (const radio of $$("[name=mode]", panel)) radio.checked = radio.value === now.mode;
  searchSwitch.checked = now.search;
  searchSwitch.disabled = agent;
  $(".switch", panel).dataset.state = agent ? "disabled" : now.search ? "on" : "off";
  for (const name of ["engine", "model"]) selectOption($(`[name=${name}]`, panel), now[name] || state.defaults[name]);
  const picked = (name) => $(`[name=${name}]`, panel).selectedOptions[0]?.textContent ?? "";
  $(".in-use").textContent = t("use").replace("{model}", picked("model")).replace("{engine}", picked("engine"));
  if (before.mode !== now.mode) announce(t(now.mode));
  else if (before.search !== now.search) announce(t(now.search ? "on" : "off"));
  const title = now.title ?? "";
  $(".heading").textContent = title;
  document.title = [title, $(".brand .name").textContent].filter(Boolean).join(" · ");
  showRunning(now.running);
  if (before.engine !== now.engine) showHealth();
}

function selectOption(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.add(new Option(value, value));
  select.value = value;
}

async function change(field, value) {
  if (panel.ariaBusy === "true") return;
  panel.ariaBusy = "true";
  try {
    if (conversation) apply(await request("PATCH", path(), { [field]: value }, CONFIRM_WITHIN));
    else openConversation(await request("POST", "/api/conversations", { ...state.draft, lang: state.lang, [field]: value }, CONFIRM_WITHIN));
  } catch (error) {
    apply(conversation);
    showError(error);
    // The change may have been made late.
    if (error.late && conversation) request("GET", path()).then(apply, () => {});
  } finally {
    panel.ariaBusy = "false";
    applyPendingChange();
  }
}

function openConversation(made) {
  apply(made);
  history.replaceState(null, "", `/c/${made.id}`);
  $(".export").hidden = false;
  for (const link of $$(".export a")) link.href = path(`/export?form=${link.dataset.form}`);
  watchChanges();
  reloadList();
}

panel.addEventListener("click", (event) => {
  const control = event.target.closest("[name=mode], #search");
  if (!control) return;
  event.preventDefault();
  if (control.id === "search") change("search", !currentSettings().search);
  else if (control.value !== currentSettings().mode) change("mode", control.value);
});

panel.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (name === "engine" || name === "model") {
    event.target.value = currentSettings()[name] || state.defaults[name];
    change(name, value);
  } else if (name === "lang" || name === "theme") {
    document.cookie = `${name}=${value}; path=/; max-age=31536000; SameSite=Strict`;
    if (name === "theme") document.documentElement.dataset.theme = value;
    else (conversation ? request("PATCH", path(), { lang: value }) : Promise.resolve()).catch(() => {}).then(() => location.reload());
  }
});

let healthReport = null, healthTimer = 0;

async function checkHealth() {
  healthReport = await request("GET", "/api/health").catch(() => null);
  showHealth();
  clearTimeout(healthTimer);
  if (document.visibilityState === "visible") healthTimer = setTimeout(checkHealth, healthReport?.searxng?.state === "unknown" ? 2000 : 60000);
}

// The light shows the state of the chosen engines only.
function showHealth() {
  const chosen = currentSettings().engine || state.defaults.engine, searxng = healthReport?.searxng?.state ?? "unknown", engines = healthReport?.engines ?? [];
  const asked = engines.filter(({ name }) => (chosen === "auto" ? !["stub", "archive", "google"].includes(name) : chosen.split(/[,+]/).includes(name)));
  const ready = asked.filter(({ name, ready }) => (name === "searxng" ? searxng === "ok" : ready));
  const withoutSearxng = asked.some(({ name }) => name === "searxng") && searxng !== "ok";
  const light = !asked.length || (withoutSearxng && searxng === "unknown") ? "unknown" : !ready.length ? "down" : withoutSearxng ? "other" : "ok";
  const best = ready.find(({ name }) => name === "searxng") ?? ready[0];
  const error = light === "ok" ? null : (healthReport?.notice ?? healthReport?.searxng?.error);
  for (const each of $$(".light")) each.dataset.light = light;
  $(".health .summary").textContent = t(`health.${light}`).replace("{engine}", best?.title);
  Object.assign($(".health .problem"), { textContent: error?.message ?? "", hidden: !error });
  $(".health .fix").textContent = (error?.hint ?? "").replace(/\s+(?=[1-9]\. )/g, "\n");
  $(".health details").hidden = !error?.hint;
}

// --- messages ---
async function reloadThread(scrollToLast) {
  const response = await fetch(`/c/${conversation.id}?part=thread`);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const old = new Map($$(".turn", thread).map((turn) => [turn.dataset.key, turn]));
  // Unchanged turns stay, with the parts that the user has opened.
  thread.replaceChildren(...$$(".turn", page).map((turn) => old.get(turn.dataset.key) ?? document.adoptNode(turn)));
  $(".welcome").hidden = thread.childElementCount > 0;
  followAnswer();
  const last = thread.lastElementChild;
  if (scrollToLast && last) {
    for (const each of $$(".newest", thread)) each.classList.remove("newest");
    last.classList.add("newest");
    scroll.scrollTo({ top: last.offsetTop - 20 });
    reloadList();
  }
}

let answerEvents = null, followedRun = "";

function followAnswer() {
  const article = $(".answer[data-state=running]", thread);
  showRunning(article?.dataset.run);
  if (!article || followedRun === article.dataset.run) return;
  answerEvents?.close();
  followedRun = article.dataset.run;
  answerEvents = new EventSource(`/stream/${followedRun}`);
  const part = (selector) => $(selector, article);
  const on = (kind, then) => answerEvents.addEventListener(kind, (event) => then(JSON.parse(event.data)));
  const showSteps = (data) => {
    if (part(".status").textContent !== data.status) part(".status").textContent = data.status;
    if (data.steps !== undefined) setHtml(part(".steps ol"), data.steps);
  };
  const showReasoning = (text, append) => {
    const box = part(".thought");
    box.textContent = append ? box.textContent + text : text;
    part(".thinking").hidden = !box.textContent;
  };
  const showAll = (data) => {
    showSteps(data);
    setHtml(part(".source-list"), data.sources);
    setHtml(part(".notices"), data.notices);
    showReasoning(data.thinking);
    setBlocks(article, data.blocks.map((html, i) => [i, html]), data.blocks.length);
  };
  on("snapshot", showAll);
  on("step", (data) => { showSteps(data); announce(data.status); });
  on("sources", (data) => { showSteps(data); setHtml(part(".source-list"), data.html); });
  on("notice", (data) => { setHtml(part(".notices"), data.html); announce(part(".notices").lastElementChild.textContent); });
  on("blocks", (data) => { showSteps(data); setBlocks(article, data.set, data.total); });
  on("thinking", (data) => showReasoning(data.text, true));
  on("withdrawn", () => setBlocks(article, [], 0));
  on("answer", (data) => {
    stopFollowing();
    showAll(data);
    setHtml(part(".foot"), data.foot);
    setHtml(part(".claims"), data.claims);
    article.dataset.state = data.state;
    article.removeAttribute("aria-busy");
    article.closest(".turn").dataset.key = `${article.dataset.run}-${data.state}`;
    announce(t(data.state === "stopped" ? "stopped" : "done"));
    reloadList();
  });
  const mine = answerEvents;
  answerEvents.onerror = () => {
    // A browser reconnects by itself, and the server then sends everything.
    if (mine === answerEvents && mine.readyState === EventSource.CLOSED) { stopFollowing(); setTimeout(reloadThread, 1000); }
  };
}

function stopFollowing() {
  answerEvents?.close();
  answerEvents = null;
  followedRun = "";
  showRunning(null);
}

function setHtml(element, html) {
  if (element.currentHtml === html) return;
  element.currentHtml = html;
  element.innerHTML = html;
}

function setBlocks(article, set, total) {
  const body = $(".md", article);
  for (const [i, html] of set) {
    while (body.childElementCount <= i) body.append(Object.assign(document.createElement("div"), { className: "block" }));
    setHtml(body.children[i], html);
  }
  while (body.childElementCount > total) body.lastElementChild.remove();
}

function showRunning(run) {
  $(".stop", form).hidden = !run;
  $(".send[type=submit]", form).hidden = Boolean(run);
}

async function send(text, insteadOf = "") {
  if (!text.trim() || form.ariaBusy === "true") return false;
  form.ariaBusy = "true";
  try {
    if (!conversation) openConversation(await request("POST", "/api/conversations", { ...state.draft, lang: state.lang }));
    const answer = await request("POST", path("/messages"), { text, instead_of: insteadOf });
    if (answer.conversation) apply(answer.conversation);
    if (answer.command) toast(t(answer.command === "help" ? "help" : "saved"));
    if (answer.run) await reloadThread(true);
    return true;
  } catch (error) {
    showError(error);
    return false;
  } finally {
    form.ariaBusy = "false";
    applyPendingChange();
  }
}

async function submit() {
  const text = ask.value;
  if (await send(text)) {
    if (ask.value === text) ask.value = "";
    resizeQuestion();
  }
}

function resizeQuestion() {
  ask.style.height = "auto";
  ask.style.height = `${ask.scrollHeight + 2}px`;
}

form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
ask.addEventListener("input", resizeQuestion);
document.addEventListener("keydown", (event) => {
  const area = event.target.closest?.("textarea");
  // In an input method, Enter chooses a word.
  if (area && event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    area.form.requestSubmit();
  }
  if (event.key === "Escape") { hideCard(true); toggleSettings(false); toggleSidebar(false); $(".export").open = false; }
});

// --- changes from other windows ---
let changes = null;

function watchChanges() {
  changes?.close();
  const mine = (changes = new EventSource(path("/changes")));
  mine.onerror = () => { if (mine === changes && mine.readyState === EventSource.CLOSED) setTimeout(() => mine === changes && watchChanges(), 5000); };
  changes.addEventListener("change", (event) => onChange(JSON.parse(event.data)));
}

let pendingChange = null;

function onChange(data) {
  // A change that arrives during an own request may be older than its response: it waits.
  pendingChange = panel.ariaBusy === "true" || form.ariaBusy === "true" ? data : null;
  if (pendingChange) return;
  if (data.kind === "deleted") { location.href = "/"; return; }
  apply(data.conversation);
  const article = data.run && $(`#a-${data.run}`);
  if (data.run && (!article || data.kind === "run.saved" || (data.kind === "run.finished" && followedRun !== data.run && article.dataset.state === "running"))) reloadThread();
}

function applyPendingChange() {
  if (pendingChange) onChange(pendingChange);
}

// --- list of conversations ---
let listRequests = 0;

async function reloadList() {
  const mine = ++listRequests;
  const found = await request("GET", `/api/conversations?limit=60&text=${encodeURIComponent($(".find input").value)}`).catch(() => null);
  if (!found || mine !== listRequests || $("input", list)) return;
  list.replaceChildren(...found.conversations.map((each) => {
    const item = $("#entry").content.firstElementChild.cloneNode(true), link = $("a", item);
    item.dataset.id = each.id;
    link.href = `/c/${each.id}`;
    link.textContent = each.title || t("untitled");
    if (each.id === conversation?.id) {
      link.ariaCurrent = "page";
      $(".heading").textContent = each.title;
    }
    return item;
  }));
  Object.assign($(".empty"), { hidden: found.conversations.length > 0, textContent: t("none") });
}

// The page is delivered without these buttons, which makes it smaller.
for (const item of list.children) item.append($(".item-actions", $("#entry").content).cloneNode(true));

let typing;
$(".find input").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(reloadList, 150); });

function renameConversation(item) {
  const link = $("a", item);
  const field = Object.assign(document.createElement("input"), { value: link.textContent, ariaLabel: link.textContent });
  link.replaceWith(field);
  field.select();
  let over = false;
  const done = async (keep) => {
    if (over) return;
    over = true;
    const title = field.value.trim();
    field.replaceWith(link);
    link.focus();
    if (!keep || !title || title === link.textContent) return;
    try {
      const changed = await request("PATCH", `/api/conversations/${item.dataset.id}`, { title });
      link.textContent = changed.title;
      if (changed.id === conversation?.id) apply(changed);
    } catch (error) { showError(error); }
  };
  field.onblur = () => done(true);
  field.onkeydown = (event) => {
    if (event.key === "Enter" && !event.isComposing) done(true);
    if (event.key === "Escape") { event.stopPropagation(); done(false); }
  };
}

async function deleteConversation(item) {
  const { id } = item.dataset, here = id === conversation?.id;
  try {
    if (here) { changes?.close(); stopFollowing(); }
    await request("DELETE", `/api/conversations/${id}`);
  } catch (error) { return showError(error); }
  ($("a", item.nextElementSibling ?? item.previousElementSibling ?? document) ?? ask).focus();
  item.remove();
  if (here) for (const part of [thread, form, panel]) part.inert = true;
  const left = here && setTimeout(() => (location.href = "/"), 15000);
  toast(t("deleted"), t("undo"), async () => {
    clearTimeout(left);
    await request("POST", `/api/conversations/${id}/restore`).catch(showError);
    if (here) location.reload();
    else reloadList();
  });
}

// --- buttons ---
function toggleSettings(open = !panel.classList.contains("open")) {
  panel.classList.toggle("open", open);
  $(".expand").ariaExpanded = String(open);
}

function toggleSidebar(open) {
  const sidebar = $("#sidebar"), was = sidebar.classList.contains("open");
  open ??= !was;
  sidebar.classList.toggle("open", open);
  $(".menu").ariaExpanded = String(open);
  if (open) $(".new").focus();
  else if (was) $(".menu").focus();
}

async function copyAnswer(run) {
  try {
    const { messages } = await request("GET", path("/messages"));
    const text = messages.find((message) => message.id === run)?.text ?? "";
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else {
      const area = Object.assign(document.createElement("textarea"), { value: text, className: "visually-hidden" });
      document.body.append(area);
      area.select();
      const copied = document.execCommand("copy");
      area.remove();
      if (!copied) throw { message: t("not_copied") };
    }
    toast(t("copied"));
  } catch (error) { showError(error.hint || !error.name ? error : { message: t("not_copied") }); }
}

function editQuestion(turn) {
  const title = $("h2", turn), editor = $("#editor").content.firstElementChild.cloneNode(true), field = $("textarea", editor);
  field.value = title.textContent;
  title.hidden = true;
  title.after(editor);
  field.focus();
  const close = () => { editor.remove(); title.hidden = false; };
  editor.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await send(field.value, turn.dataset.question)) close();
  });
  $("[data-action=unedit]", editor).onclick = close;
}

const actions = {
  menu: () => toggleSidebar(),
  settings: () => toggleSettings(),
  stop: () => request("POST", `/api/runs/${followedRun}/stop`).catch(showError),
  ask: (button) => send(button.textContent),
  edit: (button) => editQuestion(button.closest(".turn")),
  copy: (button) => copyAnswer(button.closest(".answer").dataset.run),
  retry: (button) => request("POST", path("/retry"), { answer: button.closest(".answer").dataset.run }).then(() => reloadThread(true)).catch(showError),
  rename: (button) => renameConversation(button.closest("li")),
  delete: (button) => deleteConversation(button.closest("li")),
  demo: () => request("POST", "/demo").then(({ url }) => location.assign(url)).catch(showError),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button) actions[button.dataset.action]?.(button);
  if (!event.target.closest(".sidebar, .menu") && $("#sidebar").classList.contains("open")) toggleSidebar(false);
  if (!event.target.closest(".panel")) toggleSettings(false);
  if (!event.target.closest(".export")) $(".export").open = false;
  if (!event.target.closest(".card, .cite")) hideCard();
});

// --- citation card ---
let card = null, shownCitation = null, cardTimer = 0;

function showCard(cite) {
  clearTimeout(cardTimer);
  if (shownCitation === cite) return;
  hideCard();
  const article = cite.closest(".answer"), about = $(`[data-card="${cite.dataset.cite}"]`, article);
  if (!about) return;
  shownCitation = cite;
  card = Object.assign(document.createElement("div"), { className: "card", id: "card" });
  const body = about.cloneNode(true), claim = $(`[data-check="${cite.dataset.claim}"]`, article)?.cloneNode(true);
  if (claim) {
    const link = $(".passage", claim);
    if (link) $(".links", body).prepend(link);
    $(".domain", body).after(...claim.childNodes);
    if ($("blockquote", body)) $(".snippet", body)?.remove();
  }
  card.append(...body.childNodes);
  cite.setAttribute("aria-describedby", "card");
  // After the citation, so that Tab moves into the card.
  cite.parentElement.after(card);
  const at = cite.getBoundingClientRect(), { width, height } = card.getBoundingClientRect();
  const below = at.bottom + 8 + height < innerHeight || at.top < height + 16;
  card.style.left = `${Math.max(12, Math.min(at.left - 24, innerWidth - width - 12))}px`;
  card.style.top = `${Math.max(8, below ? at.bottom + 8 : at.top - height - 8)}px`;
  card.onpointerenter = () => clearTimeout(cardTimer);
  card.onpointerleave = hideCardSoon;
}

function hideCard(back) {
  clearTimeout(cardTimer);
  if (back && card?.contains(document.activeElement)) shownCitation.focus({ preventScroll: true });
  shownCitation?.removeAttribute("aria-describedby");
  card?.remove();
  card = shownCitation = null;
}

function hideCardSoon() {
  clearTimeout(cardTimer);
  cardTimer = setTimeout(() => { if (!card?.contains(document.activeElement)) hideCard(); }, 250);
}

thread.addEventListener("pointerover", (event) => {
  const cite = event.target.closest(".cite");
  if (cite && event.pointerType === "mouse") { clearTimeout(cardTimer); cardTimer = setTimeout(showCard, 120, cite); }
});
thread.addEventListener("pointerout", (event) => { if (event.target.closest(".cite") && event.pointerType === "mouse") hideCardSoon(); });
thread.addEventListener("focusin", (event) => {
  const cite = event.target.closest(".cite");
  if (cite?.matches(":focus-visible")) showCard(cite);
  else if (card && !card.contains(event.target)) hideCard();
});
let touched = false;
thread.addEventListener("pointerdown", (event) => { touched = event.pointerType !== "mouse"; });
thread.addEventListener("click", (event) => {
  const cite = event.target.closest(".cite");
  // Touch has no hover: the first tap shows the card, which contains the link.
  if (cite && touched && shownCitation !== cite) { event.preventDefault(); showCard(cite); }
});
scroll.addEventListener("scroll", () => hideCard(), { passive: true });

// --- start ---
new ResizeObserver(() => scroll.style.setProperty("--view-height", `${scroll.clientHeight}px`)).observe(scroll);
if (conversation) {
  watchChanges();
  followAnswer();
  const last = thread.lastElementChild;
  if (last) scroll.scrollTop = last.offsetTop - 20;
}
showRunning(conversation?.running);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    checkHealth();
    if (conversation) { watchChanges(); reloadThread(); }
  } else {
    // A browser opens few connections to one server: hidden windows close theirs.
    changes?.close();
    changes = null;
  }
});
checkHealth();
// Without a network the demo can be tried.
const demoOffer = $(".demo-offer");
if (demoOffer) {
  const offer = () => { demoOffer.hidden = navigator.onLine; };
  for (const name of ["online", "offline"]) addEventListener(name, offer);
  offer();
}
if (matchMedia("(hover: hover)").matches) ask.focus({ preventScroll: true });
document.documentElement.dataset.ready = "1";
