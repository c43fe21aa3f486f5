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
