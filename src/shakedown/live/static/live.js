// Keeps an open page as the record is: when the server says that something changed, the same address is asked for again and its
// content takes the place of the old one. So a page left open for days holds no more than one page, and a page without scripts is whole.
"use strict";
(() => {
  const sign = document.getElementById("live");
  const campaign = document.body.dataset.campaign;
  let loading = false;
  let again = false;

  const say = (words, stale) => {
    sign.textContent = words;
    sign.classList.toggle("stale", stale);
  };

  // Somebody who fills in the form, or selects text to copy, is not disturbed.
  const inUse = () => {
    const at = document.activeElement;
    const selection = document.getSelection();
    return Boolean(at && at.closest("form")) || Boolean(selection && !selection.isCollapsed);
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
      const fresh = page.querySelector("main");
      const open = [...document.querySelectorAll("main details")].map((one) => one.open);
      if (fresh) {
        document.querySelector("main").replaceChildren(...fresh.childNodes);
        document.querySelectorAll("main details").forEach((one, place) => { one.open = open[place] || false; });
      }
      say(`as of ${new Date().toISOString().slice(11, 19)} UTC`, false);
    } catch (error) {
      say("the server does not answer: this is as it was before", true);
    }
    loading = false;
  };

  const source = new EventSource("/changes?campaign=" + encodeURIComponent(campaign));
  let known = null;
  source.onmessage = (event) => {
    if (known !== null && known !== event.data) load();
    else say(`as of ${new Date().toISOString().slice(11, 19)} UTC`, false);
    known = event.data;
  };
  source.onerror = () => say("the server does not answer: this is as it was before", true);
  setInterval(() => { if (again && !inUse()) load(); }, 1000);
})();
