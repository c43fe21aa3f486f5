// No browser can find the hosts of the demo web: links to them lead to the same pages on this server.
const lead = (event) => {
  const link = event.target.closest?.("a[href^='http://']");
  const found = link?.getAttribute("href").match(/^http:\/\/([a-z-]+\.example)\/(.*)$/);
  if (found) link.setAttribute("href", `/demo/web/${found[1]}/${found[2]}`);
};
for (const kind of ["pointerdown", "focusin", "click"]) document.addEventListener(kind, lead, true);
