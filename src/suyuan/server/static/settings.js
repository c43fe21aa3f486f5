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
document.documentElement.dataset.ready = "1";
