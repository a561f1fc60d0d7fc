// A run that is under way: what the server tells every second takes the place of what stood there.
"use strict";
(() => {
  const box = document.querySelector("[data-events]");
  if (!box) return;
  const stage = document.getElementById("stage");
  // A chart stands still while somebody looks into it.
  const busy = figure => figure.matches(":hover, :focus-within") || figure.querySelector(".zoomed, details[open]");
  const say = text => { if (stage.textContent !== text) stage.textContent = text; };

  const take = text => {
    const fresh = document.createElement("template");
    fresh.innerHTML = text;
    const told = fresh.content.getElementById("stage");
    say(told.textContent);
    told.remove();
    const ids = root => [...root.querySelectorAll("figure")].map(figure => figure.id).join();
    if (ids(box) !== ids(fresh.content)) {
      if ([...box.querySelectorAll("figure")].some(busy)) return;
      box.replaceChildren(fresh.content);
    } else {
      for (const part of [...fresh.content.querySelectorAll("#now, figure")]) {
        const old = document.getElementById(part.id);
        if (!old.matches("figure") || !busy(old)) old.replaceWith(part);
      }
    }
    document.dispatchEvent(new Event("drawn"));
  };

  const source = new EventSource(box.dataset.events);
  source.addEventListener("parts", event => take(event.data));
  source.addEventListener("end", () => { source.close(); location.reload(); });
  source.onerror = () => say("The connection to the server is lost; what stands here is no longer up to date.");
})();
