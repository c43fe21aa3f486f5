// The files with a hash in their address never change; everything else is asked of the server.
const NAME = "shell";
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { pathname, search } = new URL(event.request.url);
  if (event.request.method !== "GET" || !pathname.startsWith("/static/") || !search.includes("v=")) return;
  event.respondWith(caches.open(NAME).then(async (kept) => {
    const known = await kept.match(event.request);
    if (known) return known;
    const fresh = await fetch(event.request);
    if (fresh.ok) kept.put(event.request, fresh.clone());
    return fresh;
  }));
});
