// The page: its addresses, the controls of a question, and the jobs that answer it.
"use strict";
(() => {
  const { el, say, Figures, tiles, table, answer, lines, rest, glyph } = window.elephanView;
  const { short } = window.elephanDraw;
  const { fields, complain } = window.elephanForm;
  const fixed = window.elephanStatic || null; // The static edition: measured points as files.
  const main = document.getElementById("main");
  const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const GROUPS = ["Buffers and queues", "Senders", "Who gets what", "Paths"];
  let data = null, panels = [], figuresHere = [], mine = { text: null, kept: null };

  async function post(path, body) {
    const answered = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const found = answered.headers.get("content-type")?.startsWith("application/json") ? await answered.json() : { message: await answered.text() };
    const error = found.error || (answered.ok ? null : found);
    if (error) throw Object.assign(new Error(error.message), { place: error.place });
    return found;
  }

  async function get(path) {
    const answered = await fetch(path);
    if (!answered.ok) throw new Error((await answered.text()).trim());
    return answered.json();
  }

  // One job at a time with what it shows: state, answer, pictures, tables, lines.
  class Panel {
    constructor(slot, options = {}) {
      this.slot = slot; this.options = options; this.turn = 0; this.source = null;
      this.state = el("div", { class: "state", "aria-live": "off" });
      this.answer = el("div"); this.figureBox = el("div", { class: "figures" }); this.rest = el("div"); this.lines = el("div");
      this.figures = new Figures(this.figureBox);
      this.node = el("div", {}, this.state, this.answer, options.between || null, this.figureBox, options.after || null, this.rest, this.lines);
      panels.push(this); figuresHere.push(this.figures);
    }

    chip(kind, words, ...more) { this.state.dataset.state = kind; this.state.replaceChildren(el("span", { class: `chip ${kind}` }, words), ...more.filter(Boolean)); }

    stop() { this.turn++; this.source?.close(); this.source = null; }

    async start(body) {
      this.stop();
      const turn = this.turn;
      this.chip("running", "Running", "starting …");
      let sent;
      try { sent = await post("api/jobs", { ...body, tab, slot: this.slot }); } catch (error) {
        if (turn !== this.turn) return;
        this.failed(error);
        // What is too long for a page still has its file and command.
        if (!error.place && !this.options.brief) post("api/fill", body).then((asked) => { if (turn === this.turn) this.lines.replaceChildren(lines(asked)); }, () => {});
        return;
      }
      if (turn !== this.turn) { post(`api/jobs/${sent.job}/cancel`, {}); return; }
      this.options.accepted?.(sent);
      this.lines.replaceChildren(this.options.brief ? "" : lines(sent));
      this.job = sent.job;
      this.source = new EventSource(`api/jobs/${sent.job}`);
      this.source.onmessage = (message) => { if (turn === this.turn) this.take(JSON.parse(message.data)); };
      this.source.onerror = () => { if (turn === this.turn && this.source) { this.stop(); this.chip("failed", "Interrupted", "The server does not answer; is elephan web still running?"); } };
    }

    failed(error) {
      this.chip("failed", "Not run", error.message);
      if (!this.options.refused?.(error)) say(error.message);
    }

    take(event) {
      const cancel = () => el("button", { type: "button", onclick: () => { post(`api/jobs/${this.job}/cancel`, {}); } }, "Cancel");
      if (event.is_last) { this.source?.close(); this.source = null; }
      if (event.state === "failed" || event.state === "cancelled") { this.chip(event.state, event.state === "failed" ? "Not run" : "Cancelled", event.message || ""); return; }
      if (event.state === "final") { this.final(event); return; }
      if (event.state === "preliminary") {
        this.figures.show(event.figures);
        const part = event.until_s ? `the first ${short(event.until_s)} s of ${short(event.of_s)} s` : event.points ? `${event.points} buffers measured, ${event.runs} runs` : "short runs first";
        this.chip("running", "Preliminary", part, event.until_s ? el("progress", { max: event.of_s, value: event.until_s, "aria-label": "simulated" }) : null, cancel());
        if (event.tiles?.length && !this.options.brief) this.answer.replaceChildren(el("section", { class: "answer", "aria-label": "So far" },
          el("p", { class: "muted" }, "So far, the start of the run included:"), tiles(event.tiles)));
        this.options.drawn?.(event);
        return;
      }
      this.chip("running", "Preliminary", event.state === "searching" ? `searching: ${event.done} of about ${event.of} runs` : `refining: ${event.done} of ${event.of} replications`, el("progress", { max: event.of, value: Math.min(event.done, event.of), "aria-label": "replications" }), cancel());
    }

    final(event) {
      const page = event.page;
      this.chip("final", "Final", event.kind === "size" ? "every point measured" : "all replications, 95 % intervals");
      if (this.options.brief) { this.figures.show((page.sections.find((s) => s.figures.length) || { figures: [] }).figures.slice(0, this.options.brief)); this.options.done?.(event); return; }
      this.answer.replaceChildren(answer(page));
      const goodput = event.kind === "size" ? [...this.figures.known.values()].map((held) => held.figure).filter((figure) => figure.name === "goodput") : [];
      const under = rest(page, this.figures);
      if (goodput.length) this.figures.show([...[...this.figures.known.values()].map((held) => held.figure), ...goodput]);
      this.rest.replaceChildren(...(event.paired ? [table(event.paired)] : []), ...under, ...(fixed ? [] : [address(event)]));
      say(`Final: ${page.headline}`);
      this.options.drawn?.(event); this.options.done?.(event);
    }
  }

  // The permanent address of a result, and what can be downloaded of it.
  function address(event) {
    const ids = event.ids || [event.id];
    const link = `#/r/${ids.join("/")}`;
    const offered = event.kind === "size" ? [["result.json", "JSON"], ["curve.parquet", "Parquet: curve"]] : [["result.json", "JSON"], ["flows.parquet", "Parquet: flows"], ["links.parquet", "Parquet: links"], ["samples.parquet", "Parquet: samples"]];
    const files = ids.length === 2
      ? [[`files/${ids.join("/")}/report.html`, "Report"], ...ids.flatMap((id, i) => offered.map(([name, words]) => [`files/${id}/${name}`, `${"AB"[i]}: ${words}`]))]
      : [[`files/${ids[0]}/report.html`, "Report"], ...offered.map(([name, words]) => [`files/${ids[0]}/${name}`, words])];
    return el("section", { class: "panel", "aria-label": "This result" }, el("h2", {}, "This result"),
      el("p", { class: "note" }, "Its address stays the same as long as the store has it: ",
        el("a", { class: "address", href: link }, ids.map((id) => id.slice(0, 16)).join(" / "), " …")),
      el("div", { class: "row" }, files.map(([path, words]) => el("a", { class: "button", href: path, download: true }, words))));
  }

  const round = (value, control) => (control.whole ? Math.round(value) : +value.toPrecision(value >= 100 ? 3 : 2));

  // A control: a number with a slider, or a choice. `change` is called at every move.
  function control(own, value, change) {
    const id = `c-${own.name}`;
    const wrong = el("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
    const help = own.help ? el("p", { class: "note" }, own.help) : null;
    if (own.choices) {
      const select = el("select", { id, onchange: () => change(select.value) }, Object.entries(own.choices).map(([key, words]) => el("option", { value: key, selected: key === value }, words)));
      const node = el("div", { class: "control", "data-name": own.name }, el("label", { for: id }, own.label), select, help, wrong);
      return { node, set: (next) => { select.value = next; } };
    }
    const linear = own.scale === "linear";
    const to = (v) => (linear ? (v - own.low) / (own.high - own.low) : Math.log(v / own.low) / Math.log(own.high / own.low)) * 1000;
    const from = (p) => (linear ? own.low + (p / 1000) * (own.high - own.low) : own.low * (own.high / own.low) ** (p / 1000));
    const words = (v) => `${short(v)} ${own.shown || own.unit || ""}`.trim();
    const number = el("input", { id, type: "number", min: own.low, max: own.high, step: own.whole ? 1 : "any", value, "aria-describedby": `${id}-wrong`, onchange: () => { set(+number.value); change(+number.value); } });
    const range = el("input", { type: "range", min: 0, max: 1000, step: 1, value: to(value), "aria-label": own.label, "aria-valuetext": words(value),
      oninput: () => { let v = round(from(+range.value), own); if (own.step) v = Math.round(v / own.step) * own.step; v = Math.min(own.high, Math.max(own.low, v)); number.value = v; range.setAttribute("aria-valuetext", words(v)); change(v); } });
    function set(v) { number.value = v; range.value = to(Math.max(own.low, v)); range.setAttribute("aria-valuetext", words(v)); }
    const unit = own.shown || own.unit;
    return { node: el("div", { class: "control", "data-name": own.name }, el("label", { for: id }, own.label),
      el("div", { class: "value" }, number, unit ? el("span", { class: "unit" }, unit) : null), range, help, wrong), set };
  }

  function question(id, query) {
    const card = data.cards.find((each) => each.id === id);
    if (!card) { missing(); return; }
    document.title = `${card.question} · elephan`;
    const defaults = Object.fromEntries(card.controls.map((own) => [own.name, own.value]));
    const values = { ...defaults };
    for (const own of card.controls) if (query.has(own.name)) values[own.name] = own.choices ? query.get(own.name) : +query.get(own.name);
    const result = fixed ? null : card.view === "curve" ? curve(card, values) : plain(card, values);
    let timer = 0;
    const controls = new Map();
    function changed(now) {
      history.replaceState(null, "", `#/q/${id}?${new URLSearchParams(Object.entries(values).filter(([name, v]) => v !== defaults[name]))}`);
      for (const node of side.querySelectorAll(".control.bad")) { node.classList.remove("bad"); node.querySelector(".wrong").hidden = true; }
      clearTimeout(timer);
      timer = setTimeout(() => result.start(), now ? 0 : 40);
    }
    for (const own of card.controls) controls.set(own.name, control(own, values[own.name], (v) => { values[own.name] = v; changed(false); }));
    const named = Object.keys(card.presets);
    const presets = named.length ? el("fieldset", { class: "presets" },
      el("legend", {}, "Start from"), named.map((name) => el("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
      Object.assign(values, defaults, card.presets[name]);
      for (const [key, each] of controls) each.set(values[key]);
      for (const button of event.target.parentElement.querySelectorAll("button")) button.setAttribute("aria-pressed", button === event.target ? "true" : "false");
      changed(true);
    } }, data.presets[name]))) : null;
    const extra = card.view === "run" ? keeping(() => ({ card: id, values }), () => result.start()) : null;
    const toKeys = el("button", { type: "button", onclick: async () => { mine.text = Object.values((await post("api/fill", { kind: card.view, card: id, values })).files)[0]; location.hash = "#/file"; } }, "All keys");
    const reset = el("button", { type: "button", onclick: () => { Object.assign(values, defaults); for (const [key, each] of controls) each.set(values[key]); changed(true); } }, "Start again");
    const side = el("div", { class: "panel", role: "group", "aria-label": "Controls" }, fixed ? null : presets, fixed ? points(card) : [...controls.values()].map((each) => each.node), fixed ? null : el("div", { class: "row" }, reset, toKeys), extra);
    main.replaceChildren(el("p", { class: "note" }, el("a", { href: "#/" }, "Questions"), " / ", card.group), el("h1", {}, card.question),
      el("p", { class: "lead" }, card.short), el("div", { class: "ask" }, side, el("div", {},
      el("p", { class: "note" }, card.see), (fixed ? fixedPanel : result).node)));
    if (!fixed) result.start();
  }

  function refusing(error) {
    const node = [...main.querySelectorAll(".control")].find((each) => each.dataset.name === error.place);
    if (!node) return false;
    node.classList.add("bad");
    const words = node.querySelector(".wrong");
    words.hidden = false; words.textContent = error.message;
    say(error.message);
    return true;
  }

  function plain(card, values) {
    const panel = new Panel("run", { refused: refusing });
    return { node: panel.node, start: async () => {
      if (card.view === "run" && mine.kept) {
        const now = await post("api/fill", { kind: "run", card: card.id, values }).catch((error) => { panel.failed(error); return null; });
        if (now) panel.start({ kind: "compare", texts: { "A, kept": mine.kept, "B, now": Object.values(now.files)[0] } });
      } else panel.start({ kind: card.view, card: card.id, values });
    } };
  }

  // Keep the scenario as A, and compare every change with it.
  function keeping(body, again) {
    const words = el("p", { class: "note gap" });
    const button = el("button", { type: "button", onclick: async () => {
      mine.kept = mine.kept ? null : Object.values((await post("api/fill", { kind: "run", ...body() })).files)[0];
      show(); again();
    } });
    function show() {
      button.textContent = mine.kept ? "Forget A" : "Keep as A and compare";
      words.textContent = mine.kept ? "A is kept. Change something: B is compared with it, with the same random numbers." : "";
    }
    mine.kept = null; show();
    return el("div", { class: "gap" }, button, words);
  }

  // A curve of buffers with a slider on it, and what happens behind the chosen buffer.
  function curve(card, values) {
    let timer = 0, bdp = 1, span = null, chosen = null;
    const words = el("span", { class: "muted" });
    const slider = el("input", { type: "range", id: "slider", min: 0, max: 1000, step: 1, value: 500, disabled: true,
      oninput: () => { pick(span[0] * (span[1] / span[0]) ** (slider.value / 1000)); } });
    const between = el("section", { class: "panel", "aria-label": "Your buffer" }, el("label", { for: "slider" },
      el("strong", {}, "Try a buffer: "), words), slider);
    const behind = new Panel("run", { brief: 4 });
    const after = el("section", { class: "panel", "aria-label": "Behind this buffer" }, el("h2", {}, "Behind this buffer"), behind.node);
    const sizing = new Panel("curve", { refused: refusing, between, after, drawn: (event) => axis(event) });
    function axis(event) {
      const figures = event.figures || event.page.sections.flatMap((section) => section.figures);
      const x = figures.find((figure) => figure.x.label === "buffer")?.x;
      if (!x) return;
      bdp = x.above ? x.above[2] : bdp;
      span = [Math.max(1, Math.round(x.low)), Math.round(x.high)];
      const first = slider.disabled;
      slider.disabled = false;
      if (first) pick(bdp, true);
      else slider.value = 1000 * Math.log(chosen / span[0]) / Math.log(span[1] / span[0]);
      sizing.figures.mark(chosen);
    }
    function pick(at, now) {
      chosen = Math.max(1, Math.round(at));
      if (now) slider.value = 1000 * Math.log(chosen / span[0]) / Math.log(span[1] / span[0]);
      const shown = `${short(chosen)} packets, ${short(+(chosen / bdp).toPrecision(2))} BDP`;
      words.textContent = shown;
      slider.setAttribute("aria-valuetext", shown);
      sizing.figures.mark(chosen);
      clearTimeout(timer);
      timer = setTimeout(() => behind.start({ kind: "run", card: card.id, values, slider: chosen }), now ? 0 : 90);
    }
    return { node: sizing.node, start: () => { slider.disabled = true; behind.stop(); sizing.start({ kind: "curve", card: card.id, values }); } };
  }

  // The static edition: the control moves between measured points only.
  let fixedPanel = null;
  function points(card) {
    const own = card.controls.find((each) => each.name === card.vary.control);
    const amounts = card.vary.values;
    const words = el("output", { for: "point" });
    fixedPanel = new Panel("run");
    async function choose(i) {
      words.textContent = `${short(amounts[i])} ${own.shown || own.unit || ""}`;
      range.setAttribute("aria-valuetext", words.textContent);
      measured(fixedPanel, `data/${card.id}-${i}.js`);
    }
    const range = el("input", { type: "range", id: "point", min: 0, max: amounts.length - 1, step: 1, value: Math.floor(amounts.length / 2),
      oninput: () => choose(+range.value) });
    setTimeout(() => choose(+range.value), 0);
    const others = card.controls.filter((each) => each !== own).map((each) => `${each.label}: ${each.choices ? each.choices[each.value] : `${short(each.value)} ${each.shown || each.unit || ""}`}`);
    return el("div", {}, el("div", { class: "control" }, el("label", { for: "point" }, own.label), words, range),
      el("p", { class: "note" }, `This is the static edition: the slider moves between the ${amounts.length} measured points only. With elephan installed, `, el("code", {}, "elephan web"), " answers for every value."),
      el("ul", { class: "note" }, others.map((text) => el("li", {}, text))));
  }

  function measured(panel, file) {
    panel.stop();
    const turn = panel.turn;
    window.elephanPoint = (event) => { if (turn === panel.turn) { panel.lines.replaceChildren(lines(event)); panel.final(event); } };
    document.head.append(el("script", { src: file, onload: (loaded) => loaded.target.remove(),
      onerror: () => panel.chip("failed", "Missing", file) }));
  }

  function experiments() {
    document.title = "Experiments · elephan";
    main.replaceChildren(el("h1", {}, "Eight experiments"), el("p", { class: "lead" }, "Each takes about three minutes: guess, run, and see why. Every explanation is checked against runs by elephan's own tests."),
      el("ul", { class: "cards" }, data.lessons.map((lesson, i) => el("li", {}, el("a", { href: `#/x/${lesson.id}` }, glyph("compare"),
        el("h2", {}, `${i + 1}. ${lesson.title}`), el("p", {}, lesson.question))))));
  }

  function experiment(id) {
    const at = data.lessons.findIndex((each) => each.id === id), lesson = data.lessons[at];
    if (!lesson) { missing(); return; }
    document.title = `${lesson.title} · elephan`;
    const why = el("section", { class: "answer", hidden: true, "aria-label": "Explanation" });
    const next = data.lessons[at + 1];
    const panel = new Panel("run", { done: () => {
      const guess = main.querySelector("input[name=guess]:checked");
      const right = guess && +guess.value === lesson.right;
      why.hidden = false;
      why.className = `answer ${right ? "good" : ""}`;
      why.replaceChildren(el("p", { class: "verdict" }, guess ? (right ? "Your guess was right." : `You guessed otherwise; right is: ${lesson.choices[lesson.right]}.`) : `Right is: ${lesson.choices[lesson.right]}.`), el("p", {}, lesson.explains), next ? el("p", {}, el("a", { href: `#/x/${next.id}` }, `Next: ${next.title}`)) : "");
    } });
    const start = () => (fixed ? measured(panel, `data/lesson-${id}.js`) : panel.start({ kind: "compare", lesson: id }));
    main.replaceChildren(el("p", { class: "note" }, el("a", { href: "#/experiments" }, "Experiments"), ` / ${at + 1} of ${data.lessons.length}`),
      el("h1", {}, lesson.title),
      el("div", { class: "panel" }, el("fieldset", { class: "guess" }, el("legend", {}, lesson.question), lesson.choices.map((text, i) => el("label", { class: "choice" }, el("input", { type: "radio", name: "guess", value: String(i) }), text))),
        el("p", {}, lesson.do), el("p", { class: "note" }, `A: ${lesson.variants[0].name}. B: ${lesson.variants[1].name}.`),
          el("button", { type: "button", class: "main", onclick: start }, "Run both")), why, panel.node);
  }

  const START = "#/q/bbr";
  async function file() {
    document.title = "Your file · elephan";
    if (fixed) { main.replaceChildren(el("h1", {}, "Your file"), el("p", {}, "The static edition runs nothing. Install elephan and start ",
      el("code", {}, "elephan web"), " to run a scenario of yours.")); return; }
    if (!mine.text) mine.text = Object.values((await post("api/fill", { kind: "run", card: START.split("/").pop(), values: {} })).files)[0];
    const panel = new Panel("run", {});
    const status = el("div", { class: "state", role: "status" });
    const text = el("textarea", { id: "text", spellcheck: "false", oninput: () => later({ text: text.value }) });
    const form = el("div", { class: "panel", hidden: true });
    const target = el("input", { id: "target", value: "utilization=0.95", size: "22" });
    let timer = 0, schema = null, mapping = null;
    const buttons = [["Run", () => panel.start({ kind: "run", text: text.value })], ["Size the buffer", () => panel.start({ kind: "curve", text: text.value, target: target.value })]].map(([words, act], i) => el("button", { type: "button", class: i ? undefined : "main", onclick: act }, words));
    const kept = el("button", { type: "button", onclick: () => { mine.kept = text.value; compare.hidden = false; say("Kept as A"); } }, "Keep as A");
    const compare = el("button", { type: "button", hidden: !mine.kept,
      onclick: () => panel.start({ kind: "compare", texts: { "A, kept": mine.kept, "B, now": text.value } }) }, "Compare with A");
    function later(body) { clearTimeout(timer); timer = setTimeout(() => check(body), 250); }
    async function check(body) {
      const found = await post("api/check", body).catch((error) => ({ ok: false, place: "", message: error.message }));
      for (const button of [...buttons, kept, compare]) button.disabled = !found.ok;
      if (!found.ok) {
        status.replaceChildren(el("span", { class: "chip failed" }, "Not a scenario"), `${found.place ? `${found.place}: ` : ""}${found.message}`);
        if (!form.hidden) complain(form, found.place, found.message);
        return;
      }
      mine.text = found.text; mapping = found.mapping;
      if (body.mapping || text.value !== found.text) text.value = found.text;
      if (!form.hidden) await keys();
      status.replaceChildren(el("span", { class: "chip final" }, "Valid"), `about ${short(found.cost_s)} s of processor`, ...found.warnings.map((w) => el("p", { class: "note" }, `lint: ${w.where ? `${w.where}: ` : ""}${w.message || ""}`)));
    }
    async function keys() {
      schema = schema || await get("api/schema");
      const open = [...form.querySelectorAll("details[open]")].map((each) => each.closest("[data-path]")?.dataset.path ?? "");
      const focused = document.activeElement?.closest?.("[data-path]")?.dataset.path;
      form.hidden = false;
      const edited = structuredClone(mapping);
      form.replaceChildren(el("h2", {}, "All keys"), el("p", { class: "note" }, "An empty field takes its default, shown in grey."), fields(schema, schema, edited, "", () => check({ mapping: edited })));
      for (const each of form.querySelectorAll("details")) each.open = open.includes(each.closest("[data-path]")?.dataset.path ?? "");
      [...form.querySelectorAll("[data-path]")].find((each) => each.dataset.path === focused)?.querySelector("input")?.focus();
    }
    function take(list) { const one = list?.[0]; if (one) one.text().then((content) => { text.value = content; check({ text: content }); }); }
    const drop = el("div", { class: "panel drop", ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
      ondragleave: () => drop.classList.remove("over"), ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); take(event.dataTransfer.files); } },
      el("label", { for: "text" }, el("strong", {}, "Scenario")), text, status,
      el("div", { class: "row" }, buttons, el("label", { for: "target", class: "note" }, "Target"), target, kept, compare),
      el("div", { class: "row gap" }, el("button", { type: "button",
        onclick: () => { if (form.hidden) keys(); else form.hidden = true; } }, "All keys"),
        el("label", { class: "button", for: "open" }, "Open a file"),
        el("input", { id: "open", type: "file", accept: ".toml,text/plain", class: "unseen", onchange: (event) => take(event.target.files) })));
    main.replaceChildren(el("h1", {}, "Your file"), el("p", { class: "lead" }, "Drop a scenario file here, write one, or change any key in the form."), drop, form, panel.node);
    text.value = mine.text;
    await check({ text: mine.text });
  }

  async function result(ids) {
    document.title = "Result · elephan";
    const panel = new Panel("run");
    main.replaceChildren(el("h1", {}, "A result of the store"), panel.node);
    try {
      const found = await get(`api/results/${ids.join("/")}`);
      main.firstChild.textContent = found.title || found.page.title;
      panel.lines.replaceChildren(lines(found));
      panel.final(found);
      if (found.files) panel.node.prepend(el("p", {}, el("button", { type: "button",
        onclick: () => { mine.text = Object.values(found.files)[0]; location.hash = "#/file"; } }, "Change this scenario")));
    } catch (error) { panel.chip("failed", "Missing", `The store has no such result: ${error.message}`); }
  }

  function home() {
    document.title = "elephan: answers about TCP and buffers";
    const hero = fixed ? null : new Panel("hero", { brief: 1 });
    const groups = GROUPS.map((group) => el("section", { class: "group" }, el("h2", {}, group),
      el("ul", { class: "cards" }, data.cards.filter((card) => card.group === group).map((card) => el("li", {},
      el("a", { href: `#/q/${card.id}` }, glyph(card.view), el("h3", {}, card.question), el("p", {}, card.short)))))));
    const words = el("div", {}, el("h1", {}, "What do you want to know about your network?"),
      el("p", { class: "lead" }, fixed ? "Choose a question and move its slider between measured points. Every number was simulated packet by packet." : "Choose a question, move a slider, and watch the packets. Every picture is a simulation on this machine, packet by packet; the numbers are those of the command line."),
      el("p", {}, "New to the subject? ", el("a", { href: "#/experiments" }, "Eight experiments of three minutes"), ". ", fixed ? "" : ["Have a scenario? ", el("a", { href: "#/file" }, "Drop your file"), "."]));
    main.replaceChildren(el("div", { class: "home" }, words, hero ? el("div", { class: "hero" },
      el("h2", {}, "Live: BBR beside CUBIC on 100 Mbit/s"), hero.node) : ""), ...groups);
    hero?.start({ kind: "run", card: "bbr", values: {} });
  }

  function missing() { main.replaceChildren(el("h1", {}, "There is nothing at this address"), el("p", {},
    el("a", { href: "#/" }, "To the questions"))); }

  function route(event) {
    for (const panel of panels) panel.stop();
    panels = []; figuresHere = [];
    const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
    const [kind, ...more] = path.split("/");
    const current = { "": "#/", q: "#/", experiments: "#/experiments", x: "#/experiments", file: "#/file" }[kind];
    for (const link of document.querySelectorAll("nav a")) { if (link.getAttribute("href") === current) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current"); }
    if (kind === "") home();
    else if (kind === "q") question(more[0], new URLSearchParams(search || ""));
    else if (kind === "experiments") experiments();
    else if (kind === "x") experiment(more[0]);
    else if (kind === "file") file();
    else if (kind === "r" && !fixed) result(more);
    else missing();
    if (event) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
  }

  function theme() {
    const button = document.getElementById("theme"), root = document.documentElement;
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    try { const kept = localStorage.getItem("elephan-theme"); if (kept) root.dataset.theme = kept; } catch { /* Storage may be forbidden. */ }
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; try { localStorage.setItem("elephan-theme", root.dataset.theme); } catch { /* as above */ } show(); });
    show();
  }

  async function begin() {
    theme();
    data = fixed || await get("api/page");
    if (fixed) document.getElementById("foot").textContent = `Computed by elephan ${data.version}; sliders move between measured points only.`;
    addEventListener("hashchange", route);
    let wide = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== wide) { wide = innerWidth; for (const figures of figuresHere) figures.again(); } });
    document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
    addEventListener("pagehide", () => { for (const panel of panels) panel.stop(); });
    route(null);
  }
  begin().catch((error) => { main.replaceChildren(el("h1", {}, "The page cannot start"), el("p", {}, error.message)); });
})();
