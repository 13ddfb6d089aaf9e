// Keeps an open page as the record is: when the server says that something changed, the same address is asked for again and its
// content takes the place of the old one. So a page left open for days holds no more than one page, and a page without scripts is whole.
"use strict";
(() => {
  const sign = document.getElementById("live");
  const campaign = document.body.dataset.campaign;
  let loading = false;
  let again = false;
  let source = null;
  let known = document.body.dataset.version; // of what this page is; none where it is no page of a campaign's
  let written = null;

  // Read aloud is only that the page is old: everything else would be read every few seconds.
  const say = (words, stale) => {
    sign.setAttribute("aria-live", stale ? "polite" : "off");
    sign.textContent = words;
    sign.classList.toggle("stale", stale);
  };
  const fresh = () => say(`as of ${new Date().toISOString().slice(11, 19)} UTC`, false);
  const lost = () => say("the server does not answer: this is as it was before", true);

  // Somebody who fills in a form, or selects text to copy, is not disturbed; neither is what was begun in the form of rulings.
  const begun = (one) => (one.type === "checkbox" ? one.checked
    : one.tagName === "SELECT" ? one.selectedIndex > 0 : one.type !== "hidden" && Boolean(one.value));
  const inUse = () => {
    const at = document.activeElement;
    const selection = document.getSelection();
    const saying = document.getElementById("saying");
    return Boolean(at && (at.form || at.closest("form"))) || Boolean(selection && !selection.isCollapsed)
      || Boolean(saying && [...saying.elements].some(begun));
  };

  // The new content takes the place of the old one, but for what the reader did: what is open, scrolled or has the focus stays so.
  const replace = (main) => {
    const old = document.querySelector("main");
    const text = main.innerHTML;
    if (text === written) return;
    written = text;
    const list = (what) => [...document.querySelectorAll(`main ${what}`)];
    const open = list("details").map((one) => one.open);
    const scrolled = list(".wide, pre").map((one) => [one.scrollLeft, one.scrollTop]);
    const kind = "a, summary, .wide, pre";
    const place = list(kind).indexOf(document.activeElement);
    const link = place >= 0 ? document.activeElement.getAttribute("href") : null;
    old.replaceChildren(...main.childNodes);
    list("details").forEach((one, at) => { one.open = open[at] || false; });
    list(".wide, pre").forEach((one, at) => { if (scrolled[at]) [one.scrollLeft, one.scrollTop] = scrolled[at]; });
    if (place < 0) return;
    const same = link === null ? null : list("a").find((one) => one.getAttribute("href") === link);
    const focus = same || list(kind)[place] || old;
    focus.focus({ preventScroll: true });
  };

  const load = async () => {
    if (loading || inUse()) {
      again = true;
      return;
    }
    loading = true;
    again = false;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = page.querySelector("main");
      if (main) replace(main);
      known = page.body.dataset.version;
      fresh();
    } catch (error) {
      lost();
    }
    loading = false;
  };

  // A page that nobody looks at is not kept up to date: a browser has few connections to one server.
  const follow = () => {
    if (document.hidden) {
      if (source) source.close();
      source = null;
    } else if (!source) {
      source = new EventSource("/changes?campaign=" + encodeURIComponent(campaign));
      source.onmessage = (event) => {
        if (known !== undefined && known !== event.data) load();
        else fresh();
        if (known === undefined) known = event.data;
      };
      source.onerror = lost;
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
  setInterval(() => { if (again && !inUse()) load(); }, 1000);
})();
