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
document.documentElement.dataset.ready = "1";
