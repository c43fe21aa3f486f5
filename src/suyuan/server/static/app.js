// The page's script. What is shown is what the server does: a control moves when the server has confirmed it.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const state = JSON.parse($("#state").textContent);
const t = (key) => state.texts[key];
const [panel, thread, scroll, ask, form, list] = ["panel", "thread", "scroll", "ask", "form", "list"].map((id) => document.getElementById(id));
const CONFIRM_WITHIN = 500;
let conversation = state.conversation;

// --- talking to the server ---
async function call(method, path, body, within = 30000) {
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
  // Some screen readers miss a text that is set in the same moment as it is emptied.
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

const complain = (error) => toast([error.message ?? t("offline"), error.hint].filter(Boolean).join(" "));

// --- settings ---
const shown = () => conversation ?? { ...state.draft, engine: "", model: "" };

function apply(next) {
  const before = shown();
  conversation = next;
  const now = shown(), agent = now.mode === "agent", knob = $("#search");
  for (const radio of $$("[name=mode]", panel)) radio.checked = radio.value === now.mode;
  knob.checked = now.search;
  knob.disabled = agent;
  $(".switch", panel).dataset.state = agent ? "disabled" : now.search ? "on" : "off";
  for (const name of ["engine", "model"]) choose($(`[name=${name}]`, panel), now[name] || state.defaults[name]);
  const picked = (name) => $(`[name=${name}]`, panel).selectedOptions[0]?.textContent ?? "";
  $(".use").textContent = t("use").replace("{model}", picked("model")).replace("{engine}", picked("engine"));
  if (before.mode !== now.mode) announce(t(now.mode));
  else if (before.search !== now.search) announce(t(now.search ? "on" : "off"));
  const title = now.title ?? "";
  $(".heading").textContent = title;
  document.title = [title, $(".brand .name").textContent].filter(Boolean).join(" · ");
  running(now.running);
  if (before.engine !== now.engine) paint();
}

function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.add(new Option(value, value));
  select.value = value;
}

async function change(field, value) {
  if (panel.ariaBusy === "true") return;
  panel.ariaBusy = "true";
  try {
    if (conversation) apply(await call("PATCH", path(), { [field]: value }, CONFIRM_WITHIN));
    else adopt(await call("POST", "/api/conversations", { ...state.draft, lang: state.lang, [field]: value }, CONFIRM_WITHIN));
  } catch (error) {
    apply(conversation);
    complain(error);
    // It may have been done all the same, only late.
    if (error.late && conversation) call("GET", path()).then(apply, () => {});
  } finally {
    panel.ariaBusy = "false";
    catchUp();
  }
}

function adopt(made) {
  apply(made);
  history.replaceState(null, "", `/c/${made.id}`);
  $(".export").hidden = false;
  for (const link of $$(".export a")) link.href = path(`/export?form=${link.dataset.form}`);
  watch();
  relist();
}

panel.addEventListener("click", (event) => {
  const control = event.target.closest("[name=mode], #search");
  if (!control) return;
  event.preventDefault();
  if (control.id === "search") change("search", !shown().search);
  else if (control.value !== shown().mode) change("mode", control.value);
});

panel.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (name === "engine" || name === "model") {
    event.target.value = shown()[name] || state.defaults[name];
    change(name, value);
  } else if (name === "lang" || name === "theme") {
    document.cookie = `${name}=${value}; path=/; max-age=31536000; SameSite=Strict`;
    if (name === "theme") document.documentElement.dataset.theme = value;
    else (conversation ? call("PATCH", path(), { lang: value }) : Promise.resolve()).catch(() => {}).then(() => location.reload());
  }
});

let report = null, checking = 0;

async function health() {
  report = await call("GET", "/api/health").catch(() => null);
  paint();
  clearTimeout(checking);
  if (document.visibilityState === "visible") checking = setTimeout(health, report?.searxng?.state === "unknown" ? 2000 : 60000);
}

// The light tells of the engines that are chosen, not of all there are.
function paint() {
  const chosen = shown().engine || state.defaults.engine, searxng = report?.searxng?.state ?? "unknown", engines = report?.engines ?? [];
  const asked = engines.filter(({ name }) => (chosen === "auto" ? !["stub", "archive", "google"].includes(name) : chosen.split(/[,+]/).includes(name)));
  const ready = asked.filter(({ name, ready }) => (name === "searxng" ? searxng === "ok" : ready));
  const missed = asked.some(({ name }) => name === "searxng") && searxng !== "ok";
  const light = !asked.length || (missed && searxng === "unknown") ? "unknown" : !ready.length ? "down" : missed ? "other" : "ok";
  const best = ready.find(({ name }) => name === "searxng") ?? ready[0];
  const error = light === "ok" ? null : (report?.notice ?? report?.searxng?.error);
  for (const each of $$(".light")) each.dataset.light = light;
  $(".health .said").textContent = t(`health.${light}`).replace("{engine}", best?.title);
  Object.assign($(".health .cause"), { textContent: error?.message ?? "", hidden: !error });
  $(".health .why").textContent = (error?.hint ?? "").replace(/\s+(?=[1-9]\. )/g, "\n");
  $(".health details").hidden = !error?.hint;
}

// --- the messages ---
async function refresh(fresh) {
  const response = await fetch(`/c/${conversation.id}?part=thread`);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const old = new Map($$(".turn", thread).map((turn) => [turn.dataset.key, turn]));
  // What did not change stays as it is, with what the user has opened in it.
  thread.replaceChildren(...$$(".turn", page).map((turn) => old.get(turn.dataset.key) ?? document.adoptNode(turn)));
  $(".welcome").hidden = thread.childElementCount > 0;
  follow();
  const last = thread.lastElementChild;
  if (fresh && last) {
    for (const each of $$(".fresh", thread)) each.classList.remove("fresh");
    last.classList.add("fresh");
    scroll.scrollTo({ top: last.offsetTop - 20 });
    relist();
  }
}

let source = null, followed = "";

function follow() {
  const article = $(".answer[data-state=running]", thread);
  running(article?.dataset.run);
  if (!article || followed === article.dataset.run) return;
  source?.close();
  followed = article.dataset.run;
  source = new EventSource(`/stream/${followed}`);
  const part = (selector) => $(selector, article);
  const on = (kind, then) => source.addEventListener(kind, (event) => then(JSON.parse(event.data)));
  const steps = (data) => {
    if (part(".status").textContent !== data.status) part(".status").textContent = data.status;
    if (data.steps !== undefined) put(part(".steps ol"), data.steps);
  };
  const thought = (text, more) => {
    const box = part(".thought");
    box.textContent = more ? box.textContent + text : text;
    part(".thinking").hidden = !box.textContent;
  };
  const all = (data) => {
    steps(data);
    put(part(".found"), data.sources);
    put(part(".notices"), data.notices);
    thought(data.thinking);
    blocks(article, data.blocks.map((html, i) => [i, html]), data.blocks.length);
  };
  on("snapshot", all);
  on("step", (data) => { steps(data); announce(data.status); });
  on("sources", (data) => { steps(data); put(part(".found"), data.html); });
  on("notice", (data) => { put(part(".notices"), data.html); announce(part(".notices").lastElementChild.textContent); });
  on("blocks", (data) => { steps(data); blocks(article, data.set, data.total); });
  on("thinking", (data) => thought(data.text, true));
  on("withdrawn", () => blocks(article, [], 0));
  on("answer", (data) => {
    finish();
    all(data);
    put(part(".foot"), data.foot);
    put(part(".claims"), data.claims);
    article.dataset.state = data.state;
    article.removeAttribute("aria-busy");
    article.closest(".turn").dataset.key = `${article.dataset.run}-${data.state}`;
    announce(t(data.state === "stopped" ? "stopped" : "done"));
    relist();
  });
  const mine = source;
  source.onerror = () => {
    // While it is connecting again nothing needs doing: the server sends all there is.
    if (mine === source && mine.readyState === EventSource.CLOSED) { finish(); setTimeout(refresh, 1000); }
  };
}

function finish() {
  source?.close();
  source = null;
  followed = "";
  running(null);
}

function put(element, html) {
  if (element.made === html) return;
  element.made = html;
  element.innerHTML = html;
}

function blocks(article, set, total) {
  const body = $(".md", article);
  for (const [i, html] of set) {
    while (body.childElementCount <= i) body.append(Object.assign(document.createElement("div"), { className: "block" }));
    put(body.children[i], html);
  }
  while (body.childElementCount > total) body.lastElementChild.remove();
}

function running(run) {
  $(".stop", form).hidden = !run;
  $(".send[type=submit]", form).hidden = Boolean(run);
}

async function send(text, insteadOf = "") {
  if (!text.trim() || form.ariaBusy === "true") return false;
  form.ariaBusy = "true";
  try {
    if (!conversation) adopt(await call("POST", "/api/conversations", { ...state.draft, lang: state.lang }));
    const answer = await call("POST", path("/messages"), { text, instead_of: insteadOf });
    if (answer.conversation) apply(answer.conversation);
    if (answer.command) toast(t(answer.command === "help" ? "help" : "saved"));
    if (answer.run) await refresh(true);
    return true;
  } catch (error) {
    complain(error);
    return false;
  } finally {
    form.ariaBusy = "false";
    catchUp();
  }
}

async function submit() {
  const text = ask.value;
  if (await send(text)) {
    if (ask.value === text) ask.value = "";
    fit();
  }
}

function fit() {
  ask.style.height = "auto";
  ask.style.height = `${ask.scrollHeight + 2}px`;
}

form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
ask.addEventListener("input", fit);
document.addEventListener("keydown", (event) => {
  const area = event.target.closest?.("textarea");
  // While an input method is composing, Enter chooses a word.
  if (area && event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    area.form.requestSubmit();
  }
  if (event.key === "Escape") { hideCard(true); sheet(false); drawer(false); $(".export").open = false; }
});

// --- other windows of the same conversation ---
let changes = null;

function watch() {
  changes?.close();
  const mine = (changes = new EventSource(path("/changes")));
  mine.onerror = () => { if (mine === changes && mine.readyState === EventSource.CLOSED) setTimeout(() => mine === changes && watch(), 5000); };
  changes.addEventListener("change", (event) => changed(JSON.parse(event.data)));
}

let missed = null;

function changed(data) {
  // What comes while an own request is under way may be older than its answer: it waits.
  missed = panel.ariaBusy === "true" || form.ariaBusy === "true" ? data : null;
  if (missed) return;
  if (data.kind === "deleted") { location.href = "/"; return; }
  apply(data.conversation);
  const article = data.run && $(`#a-${data.run}`);
  if (data.run && (!article || (data.kind === "run.finished" && followed !== data.run && article.dataset.state === "running"))) refresh();
}

function catchUp() {
  if (missed) changed(missed);
}

// --- the list ---
let wanted = 0;

async function relist() {
  const mine = ++wanted;
  const found = await call("GET", `/api/conversations?limit=60&text=${encodeURIComponent($(".find input").value)}`).catch(() => null);
  if (!found || mine !== wanted || $("input", list)) return;
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

// The page comes without the buttons, to be small.
for (const item of list.children) item.append($(".acts", $("#entry").content).cloneNode(true));

let typing;
$(".find input").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(relist, 150); });

function rename(item) {
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
      const changed = await call("PATCH", `/api/conversations/${item.dataset.id}`, { title });
      link.textContent = changed.title;
      if (changed.id === conversation?.id) apply(changed);
    } catch (error) { complain(error); }
  };
  field.onblur = () => done(true);
  field.onkeydown = (event) => {
    if (event.key === "Enter" && !event.isComposing) done(true);
    if (event.key === "Escape") { event.stopPropagation(); done(false); }
  };
}

async function remove(item) {
  const { id } = item.dataset, here = id === conversation?.id;
  try {
    if (here) { changes?.close(); finish(); }
    await call("DELETE", `/api/conversations/${id}`);
  } catch (error) { return complain(error); }
  ($("a", item.nextElementSibling ?? item.previousElementSibling ?? document) ?? ask).focus();
  item.remove();
  if (here) for (const part of [thread, form, panel]) part.inert = true;
  const left = here && setTimeout(() => (location.href = "/"), 15000);
  toast(t("deleted"), t("undo"), async () => {
    clearTimeout(left);
    await call("POST", `/api/conversations/${id}/restore`).catch(complain);
    if (here) location.reload();
    else relist();
  });
}

// --- buttons ---
function sheet(open = !panel.classList.contains("open")) {
  panel.classList.toggle("open", open);
  $(".expand").ariaExpanded = String(open);
}

function drawer(open) {
  const side = $("#side"), was = side.classList.contains("open");
  open ??= !was;
  side.classList.toggle("open", open);
  $(".menu").ariaExpanded = String(open);
  if (open) $(".new").focus();
  else if (was) $(".menu").focus();
}

async function copy(run) {
  try {
    const { messages } = await call("GET", path("/messages"));
    const text = messages.find((message) => message.id === run)?.text ?? "";
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else {
      const area = Object.assign(document.createElement("textarea"), { value: text, className: "hide" });
      document.body.append(area);
      area.select();
      const copied = document.execCommand("copy");
      area.remove();
      if (!copied) throw { message: t("not_copied") };
    }
    toast(t("copied"));
  } catch (error) { complain(error.hint || !error.name ? error : { message: t("not_copied") }); }
}

function edit(turn) {
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
  $("[data-do=unedit]", editor).onclick = close;
}

const actions = {
  menu: () => drawer(),
  sheet: () => sheet(),
  stop: () => call("POST", `/api/runs/${followed}/stop`).catch(complain),
  ask: (button) => send(button.textContent),
  edit: (button) => edit(button.closest(".turn")),
  copy: (button) => copy(button.closest(".answer").dataset.run),
  retry: (button) => call("POST", path("/retry"), { answer: button.closest(".answer").dataset.run }).then(() => refresh(true)).catch(complain),
  rename: (button) => rename(button.closest("li")),
  delete: (button) => remove(button.closest("li")),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) actions[button.dataset.do]?.(button);
  if (!event.target.closest(".side, .menu") && $("#side").classList.contains("open")) drawer(false);
  if (!event.target.closest(".panel")) sheet(false);
  if (!event.target.closest(".export")) $(".export").open = false;
  if (!event.target.closest(".card, .cite")) hideCard();
});

// --- the card of a citation ---
let card = null, pill = null, later = 0;

function showCard(cite) {
  clearTimeout(later);
  if (pill === cite) return;
  hideCard();
  const article = cite.closest(".answer"), about = $(`[data-card="${cite.dataset.cite}"]`, article);
  if (!about) return;
  pill = cite;
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
  // Right behind the citation, so that Tab leads into it.
  cite.parentElement.after(card);
  const at = cite.getBoundingClientRect(), { width, height } = card.getBoundingClientRect();
  const below = at.bottom + 8 + height < innerHeight || at.top < height + 16;
  card.style.left = `${Math.max(12, Math.min(at.left - 24, innerWidth - width - 12))}px`;
  card.style.top = `${Math.max(8, below ? at.bottom + 8 : at.top - height - 8)}px`;
  card.onpointerenter = () => clearTimeout(later);
  card.onpointerleave = hideSoon;
}

function hideCard(back) {
  clearTimeout(later);
  if (back && card?.contains(document.activeElement)) pill.focus({ preventScroll: true });
  pill?.removeAttribute("aria-describedby");
  card?.remove();
  card = pill = null;
}

function hideSoon() {
  clearTimeout(later);
  later = setTimeout(() => { if (!card?.contains(document.activeElement)) hideCard(); }, 250);
}

thread.addEventListener("pointerover", (event) => {
  const cite = event.target.closest(".cite");
  if (cite && event.pointerType === "mouse") { clearTimeout(later); later = setTimeout(showCard, 120, cite); }
});
thread.addEventListener("pointerout", (event) => { if (event.target.closest(".cite") && event.pointerType === "mouse") hideSoon(); });
thread.addEventListener("focusin", (event) => {
  const cite = event.target.closest(".cite");
  if (cite?.matches(":focus-visible")) showCard(cite);
  else if (card && !card.contains(event.target)) hideCard();
});
let touched = false;
thread.addEventListener("pointerdown", (event) => { touched = event.pointerType !== "mouse"; });
thread.addEventListener("click", (event) => {
  const cite = event.target.closest(".cite");
  // A finger cannot hover: the first tap shows the card, which has the link.
  if (cite && touched && pill !== cite) { event.preventDefault(); showCard(cite); }
});
scroll.addEventListener("scroll", () => hideCard(), { passive: true });

// --- begin ---
new ResizeObserver(() => scroll.style.setProperty("--view", `${scroll.clientHeight}px`)).observe(scroll);
if (conversation) {
  watch();
  follow();
  const last = thread.lastElementChild;
  if (last) scroll.scrollTop = last.offsetTop - 20;
}
running(conversation?.running);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    health();
    if (conversation) { watch(); refresh(); }
  } else {
    // A browser has few connections for one server: windows that nobody looks at give theirs back.
    changes?.close();
    changes = null;
  }
});
health();
if (matchMedia("(hover: hover)").matches) ask.focus({ preventScroll: true });
document.documentElement.dataset.ready = "1";
