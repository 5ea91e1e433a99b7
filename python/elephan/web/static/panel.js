// The server's answers: requests, and a panel that shows one job from its first picture to its result.
"use strict";
(() => {
  const { el, button, note, named, say, Figures, tiles, table, answer, lines, rest } = window.elephanView;
  // The server cancels the jobs of a tab that is closed, and tells tabs by this name.
  const bytes = [...crypto.getRandomValues(new Uint8Array(12))];
  const tab = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");

  // Send a request; what the server refuses becomes an error with the place of the key or control that is wrong.
  async function post(path, body = {}) {
    const headers = { "Content-Type": "application/json" };
    const answered = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    const isJson = answered.headers.get("content-type")?.startsWith("application/json");
    const found = isJson ? await answered.json() : { message: await answered.text() };
    const error = found.error || (answered.ok ? null : found);
    if (error) throw Object.assign(new Error(error.message), { place: error.place });
    return found;
  }

  // Get a document of the server.
  async function get(path) {
    const answered = await fetch(path);
    if (!answered.ok) throw new Error((await answered.text()).trim());
    return answered.json();
  }

  // A panel has one job at a time, which the next one replaces. Options: `brief` shows this many pictures and nothing
  // else; `between` and `after` are elements around the pictures; `refused`, `drawn` and `done` are called.
  class Panel {
    constructor(slot, options = {}) {
      Object.assign(this, { slot, options, source: null });
      this.turn = 0; // Answers to an earlier job come late and are dropped.
      this.state = el("div", { class: "state", "aria-live": "off" });
      [this.answer, this.rest, this.lines] = [el("div"), el("div"), el("div")];
      const box = el("div", { class: "figures" });
      this.figures = new Figures(box);
      const { between, after } = options;
      this.node = el("div", {}, this.state, this.answer, between, box, after, this.rest, this.lines);
      Panel.all.push(this);
    }

    // Say in which state the job is.
    chip(kind, words, ...more) {
      this.state.dataset.state = kind;
      this.state.replaceChildren(el("span", { class: `chip ${kind}` }, words), ...more.filter(Boolean));
    }

    // Leave the job; the server cancels it when its stream ends.
    stop() {
      this.turn++;
      this.close();
    }

    close() { this.source = this.source?.close() ?? null; }

    // Start a job, and read its events.
    async start(body) {
      this.stop();
      const turn = this.turn;
      this.chip("running", "Running", "starting …");
      let sent;
      try { sent = await post("api/jobs", { ...body, tab, slot: this.slot }); } catch (error) {
        if (turn === this.turn) this.refused(error, body);
        return;
      }
      this.job = sent.job;
      if (turn !== this.turn) {
        post(`api/jobs/${sent.job}/cancel`);
        return;
      }
      this.lines.replaceChildren(this.options.brief ? "" : lines(sent));
      this.source = new EventSource(`api/jobs/${sent.job}`);
      this.source.onmessage = (message) => { if (turn === this.turn) this.take(JSON.parse(message.data)); };
      this.source.onerror = () => {
        if (turn !== this.turn || !this.source) return;
        this.stop();
        this.chip("failed", "Interrupted", "The server does not answer. Is elephan web still running?");
      };
    }

    // A job that cannot be run here still has its file and its command.
    refused(error, body) {
      const turn = this.turn;
      this.failed(error);
      if (error.place || this.options.brief) return;
      const show = (asked) => { if (turn === this.turn) this.lines.replaceChildren(lines(asked)); };
      post("api/fill", body).then(show, () => {});
    }

    // Say why there is no result, beside a control if the message is about one.
    failed(error) {
      this.chip("failed", "Not run", error.message);
      if (!this.options.refused?.(error)) say(error.message);
    }

    // Show an event of the job.
    take(event) {
      if (event.is_last) this.close();
      if (event.state === "failed") this.chip("failed", "Not run", event.message || "");
      else if (event.state === "cancelled") this.chip("cancelled", "Cancelled");
      else if (event.state === "final") this.final(event);
      else this.preliminary(event);
    }

    // Say how far an unfinished job is, and draw what it has, marked as preliminary.
    preliminary({ says, done, of, figures, tiles: numbers, table: rows, ...event }) {
      const value = Math.min(done, of);
      const bar = of ? el("progress", { max: of, value, "aria-label": "progress of the run" }) : null;
      this.chip("running", "Preliminary", says, bar, button("Cancel", () => post(`api/jobs/${this.job}/cancel`)));
      if (!figures) return;
      this.figures.show(figures.slice(0, this.options.brief));
      if (rows) this.rest.replaceChildren(table(rows));
      if (numbers?.length && !this.options.brief) {
        const words = el("p", { class: "muted" }, "So far, including the start of the run:");
        this.answer.replaceChildren(named("answer", "So far", words, tiles(numbers)));
      }
      this.options.drawn?.({ ...event, figures });
    }

    // Show the result.
    final(event) {
      const { page, kind } = event;
      this.chip("final", "Final", kind === "size" ? "every point measured" : "all replications, 95 % intervals");
      if (this.options.brief) {
        const main = page.sections.find((section) => section.figures.length);
        this.figures.show((main?.figures || []).slice(0, this.options.brief));
        return;
      }
      this.answer.replaceChildren(answer(page));
      const under = rest(page, this.figures);
      const paired = event.paired ? [table(event.paired)] : [];
      const kept = event.ids ? [address(event)] : []; // A static edition keeps nothing.
      this.rest.replaceChildren(...paired, ...under, ...kept);
      say(`Final: ${page.headline}`);
      this.options.drawn?.(event);
      this.options.done?.(event);
    }
  }
  Panel.all = []; // Those of the page that is shown: they are stopped when it is left.

  // The permanent address of a result, and its files.
  function address({ ids, downloads }) {
    const hashes = ids.map((id) => id.slice(0, 16)).join(" / ");
    const links = downloads.map(([href, words]) => el("a", { class: "button", href, download: true }, words));
    return named("panel", "This result", el("h2", {}, "This result"),
      note("Permanent address, valid as long as the store keeps the result: ",
        el("a", { class: "address", href: `#/r/${ids.join("/")}` }, `${hashes} …`)),
      el("div", { class: "row" }, links));
  }

  window.elephanPanel = { Panel, post, get };
})();
