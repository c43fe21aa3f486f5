// The script of the page. A control changes only when the server has confirmed the change.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, fields) => Object.assign(document.createElement(tag), fields);
const state = JSON.parse($("#state").textContent);
const t = (key) => state.texts[key];
const [thread, scroll, ask, form, list, rail] = ["thread", "scroll", "ask", "form", "list", "rail"].map((id) => document.getElementById(id));
const main = $("main");
// Research is no conversation: it has pages of its own.
let conversation = state.conversation, draft = state.draft, researching = false;

// --- requests ---
async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60000),
    });
  } catch { throw { message: t("offline") }; }
  const data = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (!response.ok) throw { ...data.error, message: data.error?.message ?? `${response.status}` };
  return data;
}

// An event stream that was refused cannot say why: the same address, asked as any other, can. Whatever follows it waits.
let refused = "";

async function afterRefusal(address, then) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  const { error } = answer && !answer.ok ? await answer.json().catch(() => ({})) : {};
  if (answer?.ok) answer.body.cancel();
  // Once in words; that it is tried again needs no more of them.
  if (error && error.message !== refused) showError(error);
  refused = error?.message ?? "";
  setTimeout(then, 1000 * (error?.retry_after ?? (answer?.ok ? 1 : 5)));
}

const path = (more = "") => `/api/conversations/${conversation.id}${more}`;
// What few need is loaded when it is used.
const more = () => import(`./${state.more}`);
const page = { t, request, toast, showError, copyText, get conversation() { return conversation; }, change };

function announce(text) {
  $("#live").textContent = "";
  // Some screen readers miss a text that replaces another one at once.
  setTimeout(() => ($("#live").textContent = text), 60);
}

function toast(text, action, run) {
  const box = make("div", { className: "toast" });
  box.append(make("p", { textContent: text }));
  const button = (label, then) => box.append(make("button", { type: "button", textContent: label, onclick: () => { box.remove(); then?.(); } }));
  if (action) button(action, run);
  button(t("close"));
  $("#toasts").replaceChildren(box);
  announce(text);
  setTimeout(() => box.remove(), action ? 15000 : 8000);
}

function showError(error) {
  toast([error.message ?? t("offline"), error.hint].filter(Boolean).join(" "));
}

// --- settings, in the composer ---
const currentSettings = () => conversation ?? draft;
const control = (name) => $(`[name=${name}]`, form);

function apply(next) {
  const before = currentSettings();
  if (next.id) conversation = next;
  else draft = next;
  const now = currentSettings(), agent = researching || now.mode !== "chat", searchSwitch = $("#search");
  form.classList.toggle("research", researching);
  for (const radio of $$("[name=mode]", form)) radio.checked = radio.value === (researching ? "research" : now.mode);
  searchSwitch.checked = now.search;
  searchSwitch.disabled = agent;
  $(".switch", form).dataset.state = agent ? "disabled" : now.search ? "on" : "off";
  for (const name of ["engine", "model", "focus"]) selectOption(control(name), now[name] || (state.defaults[name] ?? ""));
  if (before.mode !== now.mode) announce(t(now.mode));
  else if (before.search !== now.search) announce(t(now.search ? "on" : "off"));
  if (!conversation) return;
  $(".heading").textContent = now.title;
  document.title = [now.title, $(".brand .name").textContent].filter(Boolean).join(" · ");
  showRunning(now.running);
}

function selectOption(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.add(new Option(value, value), select.options.length - 1);
  select.value = value;
}

// Until the server answers, however slow the connection, the controls show that they wait and keep their state.
let pending = Promise.resolve();

function change(fields) {
  if (form.ariaBusy === "true") return undefined;
  return (pending = confirmed(fields));
}

async function confirmed(fields) {
  form.ariaBusy = "true";
  researching &&= !fields.mode;
  const late = setTimeout(announce, 1000, t("pending"));
  try {
    if (conversation) {
      apply(await request("PATCH", path(), fields));
      // As a person leaves the switch, they find it in the next conversation.
      if ("search" in fields) await request("PUT", "/api/search-switch", { on: fields.search });
    } else {
      const { settings, command } = await request("PATCH", "/api/draft", fields);
      apply(settings);
      return { command };
    }
  } catch (error) {
    apply(currentSettings());
    showError(error);
  } finally {
    clearTimeout(late);
    form.ariaBusy = "false";
    applyPendingChange();
  }
}

function openConversation(made) {
  apply(made);
  history.replaceState(null, "", `/c/${made.id}`);
  document.cookie = "draft=; path=/; max-age=0";
  watchChanges();
}

form.addEventListener("click", (event) => {
  const clicked = event.target.closest("[name=mode], #search");
  if (!clicked) return;
  const mode = clicked.value, now = currentSettings();
  // What only this window knows changes at once.
  if (clicked.name === "mode" && (mode === "research" || mode === now.mode)) {
    researching = mode === "research";
    apply(now);
    announce(t(mode));
  } else {
    event.preventDefault();
    change(clicked.id === "search" ? { search: !now.search } : { mode });
  }
});

form.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (!["engine", "model", "focus"].includes(name)) return;
  event.target.value = currentSettings()[name] || (state.defaults[name] ?? "");
  if (value === "+") actions.connect();
  else change({ [name]: value });
});

// --- messages ---
// What was asked of the server before the thread changed here is older than what is shown.
let threadState = 0;

async function reloadThread() {
  const mine = ++threadState, response = await fetch(`/c/${conversation.id}?part=thread`).catch(() => null);
  const html = response?.ok && (await response.text());
  if (!html || mine !== threadState) return;
  const page = new DOMParser().parseFromString(html, "text/html");
  const old = new Map($$(".turn", thread).map((turn) => [turn.dataset.key, turn]));
  // Unchanged turns stay, with the parts that the user has opened.
  thread.replaceChildren(...$$(".turn", page).map((turn) => old.get(turn.dataset.key) ?? document.adoptNode(turn)));
  main.classList.toggle("is-new", !thread.childElementCount);
  followAnswer();
}

function newTurn(text) {
  const turn = $("#turn").content.firstElementChild.cloneNode(true), title = $("h2", turn);
  title.textContent = text;
  title.classList.toggle("long", text.length > 90 || text.includes("\n"));
  return turn;
}

function showNewest(turn) {
  for (const each of $$(".newest", thread)) each.classList.remove("newest");
  turn.classList.add("newest");
  main.classList.remove("is-new");
  measure();
  scroll.scrollTo({ top: turn.offsetTop - 20 });
  ask.placeholder = t("follow");
}

let answerEvents = null, followed = null;

function followAnswer() {
  const article = $(".answer[data-state=running]:not([data-run=''])", thread), run = article?.dataset.run;
  showRunning(run);
  // The thread may have been loaded again: its own article counts.
  if (!article || followed === article) return;
  answerEvents?.close();
  followed = article;
  article.id = `a-${run}`;
  answerEvents = new EventSource(`/stream/${run}`);
  const turn = article.closest(".turn"), part = (selector) => $(selector, article);
  if (!$(".evidence", turn)) turn.append(make("div", { className: "evidence", id: `e-${run}`, role: "group", ariaLabel: t("sources") }));
  const on = (kind, then) => answerEvents.addEventListener(kind, (event) => then(JSON.parse(event.data)));
  const showSteps = (data) => {
    if (part(".status").textContent !== data.status) part(".status").textContent = data.status;
    if (data.steps !== undefined) setHtml(part(".steps ol"), data.steps);
  };
  const showSources = (data) => {
    showSteps(data);
    patchHtml(part(".tiles-slot"), data.tiles);
    setHtml(part(".confirmed-slot"), data.confirmed);
    // What is pointed at stays marked.
    if (patchHtml($(".evidence", turn), data.evidence) && turn.contains(chosenCitation)) { const cite = chosenCitation; chosenCitation = null; chooseSource(cite); }
  };
  const showReasoning = (text, append) => {
    const box = part(".thought");
    box.textContent = append ? box.textContent + text : text;
    part(".thinking").hidden = !box.textContent;
  };
  const showBlocks = (set, total) => {
    // The steps fold when the text begins, so that the text does not move later.
    if (total && !part(".md").childElementCount) part(".steps").open = false;
    setBlocks(article, set, total);
    showMarks(article);
    showEndButton();
  };
  const showAll = (data) => {
    if (data.question) { turn.dataset.question = data.question; turn.id = `q-${data.question}`; }
    showSources(data);
    setHtml(part(".notices"), data.notices);
    showReasoning(data.thinking);
    setHtml(part(".claims"), data.claims);
    article.marks = data.marks;
    showBlocks(data.blocks.map((html, i) => [i, html]), data.blocks.length);
  };
  on("snapshot", showAll);
  on("step", (data) => { showSteps(data); announce(data.status); });
  on("sources", showSources);
  on("notice", (data) => { setHtml(part(".notices"), data.html); announce(part(".notices").lastElementChild.textContent); });
  on("blocks", (data) => { showSteps(data); showBlocks(data.set, data.total); });
  on("claims", (data) => { showSources(data); setHtml(part(".claims"), data.claims); article.marks = data.marks; showMarks(article); });
  on("thinking", (data) => showReasoning(data.text, true));
  on("withdrawn", () => { setBlocks(article, [], 0); part(".steps").open = true; });
  on("answer", (data) => {
    stopFollowing();
    showAll(data);
    part(".steps").open = false;
    setHtml(part(".foot"), data.foot);
    article.dataset.state = data.state;
    article.removeAttribute("aria-busy");
    turn.dataset.key = data.key;
    announce(t(data.state === "stopped" ? "stopped" : "done"));
    if (document.hidden) more().then((module) => module.notify($("h2", turn).textContent, t("done")));
    reloadList();
  });
  const mine = answerEvents;
  answerEvents.onerror = () => {
    // A browser reconnects by itself, and the server then sends everything.
    if (mine === answerEvents && mine.readyState === EventSource.CLOSED) { stopFollowing(); afterRefusal(mine.url, reloadThread); }
  };
}

function stopFollowing() {
  answerEvents?.close();
  answerEvents = followed = null;
  showRunning(null);
}

function setHtml(element, html) {
  if (element.currentHtml === html) return;
  element.currentHtml = html;
  element.innerHTML = html;
}

// Like setHtml, but what is the same stays: what the reader has opened or marked, and the focus.
function patchHtml(element, html) {
  if (element.currentHtml === html) return false;
  element.currentHtml = html;
  mergeChildren(element, make("template", { innerHTML: html }).content);
  return true;
}

function mergeChildren(old, fresh) {
  const kept = [...old.children], wanted = [...fresh.children];
  wanted.forEach((child, i) => {
    child.source = child.outerHTML;
    if (kept[i]?.source === child.source) return;
    if (child.matches("ul, button") && kept[i]?.nodeName === child.nodeName) { kept[i].source = child.source; mergeChildren(kept[i], child); } else if (kept[i]) kept[i].replaceWith(child);
    else old.append(child);
  });
  for (const gone of kept.slice(wanted.length)) gone.remove();
}

function setBlocks(article, set, total) {
  const body = $(".md", article);
  for (const [i, html] of set) {
    while (body.childElementCount <= i) body.append(make("div", { className: "block" }));
    setHtml(body.children[i], html);
  }
  while (body.childElementCount > total) body.lastElementChild.remove();
}

// The verdicts so far, in the order of the citations.
function showMarks(article) {
  if (!article.marks?.length) return;
  $$(".md .cite", article).forEach((cite, i) => {
    if (article.marks[i] && cite.dataset.verdict !== article.marks[i][1]) [cite.dataset.claim, cite.dataset.verdict] = article.marks[i];
  });
}

function showRunning(run) {
  $(".stop", form).hidden = !run;
  $(".send[type=submit]", form).hidden = Boolean(run);
}

let sending = false;

async function send(text, insteadOf = "") {
  if (!text.trim() || sending) return false;
  if (researching) return startResearch(text);
  if (text.trim().startsWith("/") && !conversation) {
    const done = await change({ command: text.trim() });
    if (done?.command) toast(t(done.command === "help" ? "help" : "saved"));
    if (!done || done.command) return Boolean(done);
  }
  sending = true;
  const turn = newTurn(text), before = thread.lastElementChild, replaced = insteadOf ? $$(`#q-${insteadOf}, #q-${insteadOf} ~ .turn`) : [];
  const fresh = !conversation;
  for (const each of replaced) each.remove();
  threadState += 1;
  thread.append(turn);
  showNewest(turn);
  try {
    // A setting that the server has not confirmed yet counts for this question too.
    await pending;
    form.ariaBusy = "true";
    const { mode, search, engine, model, focus } = currentSettings();
    const answer = fresh
      ? await request("POST", "/api/conversations", { mode, search, engine, model, focus, lang: state.lang, text })
      : await request("POST", path("/messages"), { text, instead_of: insteadOf });
    if (fresh) openConversation(answer);
    if (answer.command) {
      turn.remove();
      apply(answer.conversation);
      toast(t(answer.command === "help" ? "help" : "saved"));
    } else {
      threadState += 1;
      $(".answer", turn).dataset.run = fresh ? answer.running : answer.run;
      // An answer may be complete before this window hears of it, and the thread may have been loaded again.
      if (!$(".answer", turn).dataset.run || !turn.isConnected) await reloadThread();
      followAnswer();
      reloadList();
    }
    return true;
  } catch (error) {
    turn.remove();
    thread.append(...replaced);
    main.classList.toggle("is-new", !before && !replaced.length);
    showError(error);
    return false;
  } finally {
    sending = false;
    form.ariaBusy = "false";
    applyPendingChange();
  }
}

async function startResearch(question) {
  const { engine, model, focus } = currentSettings();
  try {
    const { id } = await request("POST", "/api/research", { question, model, wait_for_plan: true, scope: { focus, engines: engine } });
    location.assign(`/research/${id}`);
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}

async function submit() {
  const text = ask.value;
  ask.value = "";
  resizeQuestion();
  if (!(await send(text)) && !ask.value) { ask.value = text; resizeQuestion(); }
}

// The old answer stays as a version; the new one is written in its place.
async function answerAgain(article, query = "") {
  try {
    const { run } = await request("POST", path("/retry"), { answer: article.dataset.run, query });
    if (!article.isConnected) return reloadThread();
    threadState += 1;
    const turn = article.closest(".turn"), fresh = $(".answer", newTurn(""));
    while (turn.nextElementSibling) turn.nextElementSibling.remove();
    $(".evidence", turn)?.remove();
    fresh.dataset.run = run;
    article.replaceWith(fresh);
    turn.dataset.key = run;
    showNewest(turn);
    followAnswer();
  } catch (error) { showError(error); }
}

function resizeQuestion() {
  ask.style.height = "auto";
  ask.style.height = `${ask.scrollHeight}px`;
}

form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
ask.addEventListener("input", resizeQuestion);
document.addEventListener("keydown", (event) => {
  const area = event.target.closest?.("textarea"), writing = event.target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select");
  // In an input method, Enter chooses a word.
  if (area && event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    area.form.requestSubmit();
  }
  if (event.key === "Escape") { chooseSource(null); closeEvidence(); hideCard(true); toggleOptions(false); toggleRail(false); closeMenus(); }
  if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const cite = event.target.closest?.(".cite");
  if (event.key === "e" && cite) { event.preventDefault(); openEvidence(cite.closest(".turn"), cite); }
  else if (event.key === "?") more().then((module) => module.showKeys());
  else if (event.key === "/") { event.preventDefault(); ask.focus(); }
  else if (event.key === "n" && !event.target.closest?.("dialog")) location.href = "/";
  else if (event.key === "j" || event.key === "k") moveTurn(event.key === "j" ? 1 : -1);
});

function moveTurn(step) {
  const turns = $$(".turn", thread), at = turns.findLastIndex((turn) => turn.offsetTop - 30 <= scroll.scrollTop);
  const next = turns[Math.max(0, Math.min(turns.length - 1, at + step))];
  if (next) { scroll.scrollTo({ top: next.offsetTop - 20 }); $("h2", next).tabIndex = -1; $("h2", next).focus({ preventScroll: true }); }
}

// --- changes from other windows ---
let changes = null;

function watchChanges() {
  changes?.close();
  const mine = (changes = new EventSource(path("/changes")));
  mine.onerror = () => { if (mine === changes && mine.readyState === EventSource.CLOSED) afterRefusal(mine.url, () => mine === changes && watchChanges()); };
  changes.addEventListener("change", (event) => onChange(JSON.parse(event.data)));
}

let pendingChange = null;

function onChange(data) {
  // A change that arrives during an own request may be older than its response: it waits.
  pendingChange = form.ariaBusy === "true" ? data : null;
  if (pendingChange) return;
  if (data.kind === "deleted") { location.href = "/"; return; }
  apply(data.conversation);
  const article = data.run && $(`.answer[data-run="${data.run}"]`);
  if (data.run && (!article || data.kind === "run.saved" || (data.kind === "run.finished" && followed !== article && article.dataset.state === "running"))) reloadThread();
}

function applyPendingChange() {
  if (pendingChange) onChange(pendingChange);
}

// --- list of conversations ---
let listRequests = 0;

async function reloadList() {
  const mine = ++listRequests, text = encodeURIComponent($(".find input").value);
  const response = await fetch(`/rail?text=${text}&here=${conversation?.id ?? ""}`).catch(() => null);
  if (!response?.ok || mine !== listRequests || $("input", list)) return;
  list.innerHTML = await response.text();
  addActions();
}

// The page is delivered without these buttons, which makes it smaller.
function addActions() {
  const button = (action, name, symbol) => `<button type="button" class="icon-button" data-action="${action}" aria-label="${name}" title="${name}"><svg class="icon" aria-hidden="true"><use href="#i-${symbol}"/></svg></button>`;
  const all = button("pin", t("pin"), "pin") + button("rename", t("rename"), "edit") + button("delete", t("delete"), "trash");
  for (const item of $$("li", list)) item.insertAdjacentHTML("beforeend", `<span class="item-actions">${all}</span>${button("act", t("more"), "more").replace("icon-button", "icon-button item-more")}`);
  const head = $("h2", list);
  if (head) head.insertAdjacentHTML("beforeend", `<button type="button" class="link" data-action="select">${t("select")}</button>`);
}

let typing;
$(".find input").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(reloadList, 150); });

function renameConversation(item) {
  const link = $("a", item), name = $("span", link);
  const field = make("input", { value: name.textContent, ariaLabel: name.textContent });
  link.replaceWith(field);
  field.select();
  let over = false;
  const done = async (keep) => {
    if (over) return;
    over = true;
    const title = field.value.trim();
    field.replaceWith(link);
    link.focus();
    if (!keep || !title || title === name.textContent) return;
    try {
      const changed = await request("PATCH", `/api/conversations/${item.dataset.id}`, { title });
      name.textContent = changed.title;
      if (changed.id === conversation?.id) apply(changed);
    } catch (error) { showError(error); }
  };
  field.onblur = () => done(true);
  field.onkeydown = (event) => {
    if (event.key === "Enter" && !event.isComposing) done(true);
    if (event.key === "Escape") { event.stopPropagation(); done(false); }
  };
}

async function deleteConversations(items) {
  const ids = items.map((item) => item.dataset.id), here = ids.includes(conversation?.id);
  try {
    if (here) { changes?.close(); stopFollowing(); }
    await Promise.all(ids.map((id) => request("DELETE", `/api/conversations/${id}`)));
  } catch (error) { return showError(error); }
  const rest = $$("li", list).filter((item) => !items.includes(item));
  ($("a", rest[0] ?? document.createElement("p")) ?? ask).focus();
  for (const item of items) item.remove();
  if (here) for (const part of [thread, form]) part.inert = true;
  const left = here && setTimeout(() => (location.href = "/"), 15000);
  toast(ids.length > 1 ? t("deleted_n").replace("{n}", ids.length) : t("deleted"), t("undo"), async () => {
    clearTimeout(left);
    await Promise.all(ids.map((id) => request("POST", `/api/conversations/${id}/restore`))).catch(showError);
    if (here) location.reload();
    else reloadList();
  });
}

function selectConversations() {
  const bar = make("p", { className: "bulk" });
  const remove = make("button", { type: "button", className: "button", disabled: true });
  const cancel = make("button", { type: "button", className: "text-button", textContent: t("cancel") });
  const chosen = () => $$("li", list).filter((item) => $(":checked", item));
  const count = () => { remove.textContent = t("chosen").replace("{n}", chosen().length); remove.disabled = !chosen().length; };
  const end = () => { bar.remove(); for (const box of $$("[type=checkbox]", list)) box.remove(); };
  for (const item of $$("li", list)) item.prepend(make("input", { type: "checkbox", ariaLabel: $("a span", item).textContent, onchange: count }));
  remove.onclick = () => { const items = chosen(); end(); deleteConversations(items); };
  cancel.onclick = end;
  bar.append(remove, cancel);
  list.prepend(bar);
  count();
  $("[type=checkbox]", list)?.focus();
}

// While several are selected, a click on a title selects it too.
list.addEventListener("click", (event) => {
  const box = event.target.closest("a") && $("[type=checkbox]", event.target.closest("li"));
  if (box) { event.preventDefault(); box.click(); }
});

// --- citations and their evidence ---
let chosenCitation = null;

// The sentence before a citation, found in the text of its block.
function sentenceRange(cite) {
  const block = cite.closest("p, li, td, th, blockquote, h3, h4, h5, h6") ?? cite.parentElement;
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT), nodes = [];
  let text = "";
  for (let node = walker.nextNode(); node && !(cite.compareDocumentPosition(node) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)); node = walker.nextNode()) {
    if (node.parentElement.closest("sup, .cite")) continue;
    nodes.push([text.length, node]);
    text += node.data;
  }
  const end = text.trimEnd().replace(/[.!?。！？；;]+$/, "").length;
  if (!end) return null;
  const segments = [...new Intl.Segmenter(document.documentElement.lang, { granularity: "sentence" }).segment(text)];
  const start = segments.findLast(({ index }) => index < end)?.index ?? 0;
  const place = (at) => { const [from, node] = nodes.findLast(([begin]) => begin <= at); return [node, at - from]; };
  const range = document.createRange();
  range.setStart(...place(start));
  range.setEnd(...place(Math.min(end, text.length)));
  return range;
}

function passageOf(cite, source) {
  const box = $(".passage", source), claim = $(`[data-check="${cite?.dataset.claim}"]`, cite?.closest(".answer") ?? document)?.cloneNode(true);
  box.replaceChildren();
  if (!cite) return;
  const links = $(".links", source).cloneNode(true);
  links.hidden = false;
  if (claim) {
    const link = $(".to-passage", claim);
    if (link) links.prepend(link);
    box.append(...claim.childNodes);
  }
  box.append(links);
}

// Mark a citation: its sentence, and its source in the column with the passage.
function chooseSource(cite) {
  if (cite && cite === chosenCitation) return;
  for (const each of $$(".hot")) each.classList.remove("hot");
  for (const box of $$(".passage:not(:empty)")) box.replaceChildren();
  CSS.highlights?.delete("sentence");
  chosenCitation = cite;
  if (!cite) return;
  cite.classList.add("hot");
  const range = cite.closest(".md") && sentenceRange(cite);
  if (range && CSS.highlights) CSS.highlights.set("sentence", new Highlight(range));
  const source = $(`.evidence [data-source="${cite.textContent}"]`, cite.closest(".turn"));
  if (!source) return;
  const folded = source.closest("details.others");
  if (folded) folded.open = true;
  source.classList.add("hot");
  passageOf(cite, source);
  const column = source.closest(".evidence"), top = source.offsetTop - column.scrollTop;
  if (top < 0 || top + source.offsetHeight > column.clientHeight) column.scrollTop = Math.max(0, source.offsetTop - 40);
}

const narrow = matchMedia("(max-width: 1100px)");
// In small windows the sources stand below the answer, out of sight of the citation.
const hasColumn = (cite) => !narrow.matches && $(".evidence", cite.closest(".turn"))?.offsetParent != null;
let opener = null;

function openEvidence(turn, cite) {
  const column = $(".evidence", turn);
  if (!column) return;
  opener = document.activeElement;
  if (cite) chooseSource(cite);
  if (narrow.matches) {
    column.classList.add("open");
    column.setAttribute("role", "dialog");
    column.ariaModal = "true";
  }
  ($(".hot a", column) ?? $("a, button", column))?.focus({ preventScroll: !column.classList.contains("open") });
}

function closeEvidence() {
  const column = $(".evidence.open");
  if (column) {
    column.classList.remove("open");
    column.setAttribute("role", "group");
    column.removeAttribute("aria-modal");
  }
  if (opener && (column || document.activeElement?.closest(".evidence"))) opener.focus({ preventScroll: true });
  opener = null;
}

let card = null, cardTimer = 0;

// Where there is no column, a card beside the citation shows the same.
function showCard(cite) {
  clearTimeout(cardTimer);
  if (card && chosenCitation === cite) return;
  hideCard();
  const source = $(`.evidence [data-source="${cite.textContent}"]`, cite.closest(".turn"))?.cloneNode(true);
  chooseSource(cite);
  if (!source) return;
  passageOf(cite, source);
  card = make("div", { className: "card", id: "card" });
  card.append(source);
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
  if (!card) return;
  if (back && card.contains(document.activeElement)) chosenCitation?.focus({ preventScroll: true });
  $("[aria-describedby=card]")?.removeAttribute("aria-describedby");
  card.remove();
  card = null;
}

function hideCardSoon() {
  clearTimeout(cardTimer);
  cardTimer = setTimeout(() => { if (!card?.contains(document.activeElement)) hideCard(); }, 250);
}

const showCitation = (cite) => (hasColumn(cite) ? chooseSource(cite) : showCard(cite));
thread.addEventListener("pointerover", (event) => {
  const cite = event.target.closest(".cite"), source = event.target.closest(".evidence .source");
  if (event.pointerType !== "mouse") return;
  if (cite) { clearTimeout(cardTimer); cardTimer = setTimeout(showCitation, 120, cite); }
  else if (source && !source.classList.contains("hot")) {
    const first = $$(".md .cite", source.closest(".turn")).find((each) => each.textContent === source.dataset.source);
    clearTimeout(cardTimer);
    if (first) cardTimer = setTimeout(chooseSource, 120, first);
  }
});
thread.addEventListener("pointerout", (event) => {
  if (event.pointerType === "mouse" && event.target.closest(".cite, .source")) { clearTimeout(cardTimer); if (card) hideCardSoon(); }
});
thread.addEventListener("focusin", (event) => {
  const cite = event.target.closest(".cite");
  if (cite?.matches(":focus-visible")) showCitation(cite);
  else if (card && !card.contains(event.target)) hideCard();
});
let touched = false;
thread.addEventListener("pointerdown", (event) => { touched = event.pointerType !== "mouse"; });
thread.addEventListener("click", (event) => {
  const cite = event.target.closest(".cite");
  // Touch has no hover: a tap shows the source, which contains the link.
  if (cite && touched && $(".evidence", cite.closest(".turn"))) { event.preventDefault(); openEvidence(cite.closest(".turn"), cite); }
});

// --- buttons ---
function toggleOptions(open = !form.classList.contains("more")) {
  form.classList.toggle("more", open);
  $(".more-options").ariaExpanded = String(open);
}

function toggleRail(open = !rail.classList.contains("open")) {
  const was = rail.classList.contains("open");
  rail.classList.toggle("open", open);
  $(".menu").ariaExpanded = String(open);
  if (open) $(".new").focus();
  else if (was) $(".menu").focus();
}

function closeMenus(but) {
  for (const menu of $$(".export[open]")) if (menu !== but) menu.open = false;
}

async function copyText(text) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else {
    const area = make("textarea", { value: text, className: "visually-hidden" });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    if (!copied) throw { message: t("not_copied") };
  }
  toast(t("copied"));
}

async function copyAnswer(run) {
  try {
    const { messages } = await request("GET", path("/messages"));
    await copyText(messages.find((message) => message.id === run)?.text ?? "");
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

function editQuery(what) {
  const box = make("form", { className: "requery" }), field = make("input", { value: what.dataset.query, ariaLabel: t("query") });
  const article = what.closest(".answer"), kept = [...what.childNodes];
  box.append(field);
  what.replaceChildren(box);
  field.select();
  const close = () => what.replaceChildren(...kept);
  box.onsubmit = async (event) => {
    event.preventDefault();
    close();
    if (article.dataset.state === "running") await request("POST", `/api/runs/${article.dataset.run}/stop`).catch(() => {});
    answerAgain(article, field.value);
  };
  field.onkeydown = (event) => { if (event.key === "Escape") { event.stopPropagation(); close(); } };
}

const answerOf = (button) => button.closest(".answer");
const actions = {
  async dismiss(button) {
    const notice = button.closest("[data-notice]");
    try {
      await request("POST", "/api/notices/dismiss", { id: notice.dataset.notice });
      const all = notice.parentElement;
      notice.remove();
      if (!all.childElementCount) all.remove();
      ask.focus({ preventScroll: true });
    } catch (error) { toast(error.message); }
  },
  menu: () => toggleRail(),
  fold: (button) => {
    const folded = document.body.classList.toggle("folded");
    button.ariaExpanded = String(!folded);
    document.cookie = `rail=${folded ? "folded" : ""}; path=/; max-age=31536000; SameSite=Strict`;
  },
  options: () => toggleOptions(),
  end: () => scroll.scrollTo({ top: scroll.scrollHeight }),
  evidence: (button) => openEvidence(button.closest(".turn")),
  "close-evidence": closeEvidence,
  stop: () => request("POST", `/api/runs/${followed?.dataset.run}/stop`).catch(showError),
  ask: (button) => send(button.textContent),
  edit: (button) => editQuestion(button.closest(".turn")),
  requery: (button) => editQuery(button.closest(".what")),
  copy: (button) => copyAnswer(answerOf(button).dataset.run),
  "copy-code": (button) => copyText($("pre", button.closest(".code")).textContent).catch(showError),
  "copy-table": (button) => more().then((module) => copyText(module.csv($("table", button.closest(".table-box"))))).catch(showError),
  retry: (button) => answerAgain(answerOf(button)),
  // Not where the server has refused it, or another change is still under way.
  builtin: (button) => change({ model: "embedded" })?.then(() => currentSettings().model === "embedded" && answerAgain(answerOf(button))),
  version: (button) => request("POST", path("/version"), { answer: button.dataset.run }).then(() => reloadThread()).catch(showError),
  speak: (button) => more().then((module) => module.speak(button, answerOf(button), page)),
  connect: () => more().then((module) => module.connect(page)),
  act: (button) => {
    for (const each of $$(".acting", list)) if (each !== button.closest("li")) each.classList.remove("acting");
    button.ariaExpanded = String(button.closest("li").classList.toggle("acting"));
  },
  pin: (button) => {
    const item = button.closest("li"), pinned = !("pinned" in item.dataset);
    request("PATCH", `/api/conversations/${item.dataset.id}`, { pinned }).then(() => { announce(t(pinned ? "pinned" : "unpinned")); reloadList(); }).catch(showError);
  },
  rename: (button) => renameConversation(button.closest("li")),
  delete: (button) => deleteConversations([button.closest("li")]),
  select: () => selectConversations(),
  print: () => print(),
  share: () => more().then((module) => module.share(page)).catch(showError),
  demo: () => request("POST", "/demo").then(({ url }) => location.assign(url)).catch(showError),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button) actions[button.dataset.action]?.(button);
  if (!event.target.closest(".rail, .menu") && rail.classList.contains("open")) toggleRail(false);
  if (!event.target.closest(".evidence, .cite, .tiles, .card")) { hideCard(); closeEvidence(); chooseSource(null); }
  closeMenus(event.target.closest(".export"));
  const printed = event.target.closest("[data-form=pdf]");
  if (printed) { event.preventDefault(); more().then((module) => module.pdf(page, printed)); }
});

// Where people have accounts, a conversation can be shared to read.
document.addEventListener("toggle", ({ target }) => {
  if (!state.share || !target.matches(".export[open]") || $("[data-action=share]", target)) return;
  const button = make("button", { type: "button", textContent: t("share") });
  button.dataset.action = "share";
  $("div", target).prepend(button);
}, true);

// --- start ---
function measure() {
  main.style.setProperty("--view-height", `${scroll.clientHeight}px`);
  main.style.setProperty("--scrollbar", `${scroll.offsetWidth - scroll.clientWidth}px`);
}

// The reader is never moved; a button leads to the end.
function showEndButton() {
  const article = $(".turn:last-child .answer", thread);
  const hidden = !article || article.getBoundingClientRect().bottom < scroll.getBoundingClientRect().bottom + 80;
  if ($(".to-end").hidden !== hidden) $(".to-end").hidden = hidden;
}

new ResizeObserver(() => { measure(); showEndButton(); }).observe(scroll);
scroll.addEventListener("scroll", () => { if (card) hideCard(); showEndButton(); }, { passive: true });
if (conversation) {
  watchChanges();
  followAnswer();
  const last = thread.lastElementChild;
  if (last) { measure(); scroll.scrollTop = last.offsetTop - 20; }
}
addActions();
showRunning(conversation?.running);
resizeQuestion();
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    if (conversation) { watchChanges(); reloadThread(); }
  } else {
    // A browser opens few connections to one server: hidden windows close theirs.
    changes?.close();
    changes = null;
  }
});
// What is configured but does not work is named before the first question.
function problemBox({ message, hint, guide }) {
  const box = make("div", { className: "notice warning problem" });
  box.append(make("p", { textContent: message }), make("p", { className: "hint", textContent: (hint ?? "").replace(/\s+(?=[1-9]\. )/g, "\n") }));
  if (guide) box.append(make("a", { href: `/guide/${guide}`, target: "_blank", textContent: t("guide") }));
  return box;
}
async function checkHealth() {
  const { notices, searxng } = await request("GET", "/api/health").catch(() => ({}));
  if (!main.classList.contains("is-new")) return;
  if (searxng?.state === "unknown") setTimeout(checkHealth, 2000);
  $(".problems").replaceChildren(...(notices ?? []).map(problemBox));
}
if (!conversation) {
  checkHealth();
  if ($(".detected")) more().then((module) => module.detect($(".detected"), page)).catch(() => {});
}
// A dot says that research goes on, or is over and not yet looked at.
const mark = (state) => { $(".research-link").dataset.job = state; };
if ((localStorage.getItem("research") ?? "{}") !== "{}") more().then((module) => module.watchResearch({ ...page, mark }));
// Without a network the demo can be tried.
const offline = () => { $(".offline").hidden = navigator.onLine; };
for (const name of ["online", "offline"]) addEventListener(name, offline);
offline();
if (matchMedia("(hover: hover)").matches) ask.focus({ preventScroll: true });
if (state.send) submit();
// An installed app keeps its own files.
if (matchMedia("(display-mode: standalone)").matches) navigator.serviceWorker?.register("/sw.js");
document.documentElement.dataset.ready = "1";
