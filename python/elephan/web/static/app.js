// The pages: questions with their controls, experiments, the user's own file, stored results; and their addresses.
"use strict";
(() => {
  const { el, button, note, named, located, blame, say, lines, glyph } = window.elephanView;
  const { short } = window.elephanDraw;
  const { fields, complain } = window.elephanForm;
  const { Panel, post, get } = window.elephanPanel;
  const fixed = window.elephanStatic || null; // Data of the static edition, which has measured points as files.
  const byId = (id) => document.getElementById(id);
  const template = (id) => byId(id).content.cloneNode(true); // Pages without data are in the HTML.
  const main = byId("main");
  const GROUPS = ["Buffers and queues", "Senders", "Who gets what", "Paths"];
  const FIRST = "bbr"; // Question of the home page, and the scenario that an empty file begins with.
  // A slider sends many values while it moves; a job is started when it has rested for this time.
  const REST_MS = 40, REST_OF_BUFFER_MS = 90, REST_OF_TEXT_MS = 250;
  const STEPS = 1000; // Of a slider.
  let data = null;
  const mine = { text: null, kept: null }; // The user's own scenario, and the one that is kept as A.

  // A function that runs after a pause: each call puts it off.
  function paused(act) {
    let timer = 0;
    return (wait) => {
      clearTimeout(timer);
      timer = setTimeout(act, wait);
    };
  }

  // Put a page into the window.
  function show(title, ...content) {
    document.title = title;
    main.replaceChildren(...content.filter(Boolean));
  }

  const scenarioOf = (sent) => Object.values(sent.files)[0];
  // Open a scenario as the user's own.
  const change = (sent) => {
    mine.text = scenarioOf(sent);
    location.hash = "#/file";
  };
  const withUnit = (own, v) => `${short(v)} ${own.shown || own.unit || ""}`.trim();

  // A logarithmic or linear scale of a slider: its position for a value, and back.
  function sliding(low, high, isLinear) {
    if (isLinear) return { to: (v) => STEPS * (v - low) / (high - low), from: (p) => low + (p / STEPS) * (high - low) };
    const span = Math.log(high / low);
    return { to: (v) => STEPS * Math.log(v / low) / span, from: (p) => low * Math.exp(span * p / STEPS) };
  }

  // A value of a control that a slider gives: two or three digits, which is as fine as a hand is.
  function rounded(v, own) {
    let value = own.whole ? Math.round(v) : +v.toPrecision(v >= 100 ? 3 : 2);
    if (own.step) value = Math.round(v / own.step) * own.step;
    return Math.min(own.high, Math.max(own.low, value));
  }

  // A control: a number with a slider, or a choice. `moved` is called at every move.
  function control(own, value, moved) {
    const id = `c-${own.name}`, wrongId = `${id}-wrong`;
    const wrong = el("p", { class: "wrong", id: wrongId, hidden: true });
    const within = (...content) => el("div", { class: "control", "data-name": own.name },
      el("label", { for: id }, own.label), ...content, own.help ? note(own.help) : null, wrong);
    if (own.choices) {
      const options = Object.entries(own.choices).map(([key, words]) => el("option", { value: key }, words));
      const select = el("select", { id, "aria-describedby": wrongId, onchange: () => moved(select.value) }, options);
      select.value = value;
      return { node: within(select), set: (next) => { select.value = next; } };
    }
    const { to, from } = sliding(own.low, own.high, own.scale === "linear");
    const number = el("input", { id, type: "number", min: own.low, max: own.high, step: own.whole ? 1 : "any",
      "aria-describedby": wrongId, onchange: () => { set(+number.value); moved(+number.value); } });
    const range = el("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": own.label,
      oninput: () => { said(rounded(from(+range.value), own)); moved(+number.value); } });
    const said = (v) => { number.value = v; range.setAttribute("aria-valuetext", withUnit(own, v)); };
    const set = (v) => { said(v); range.value = to(Math.max(own.low, v)); };
    set(value);
    const unit = own.shown || own.unit;
    const entry = el("div", { class: "value" }, number, unit ? el("span", { class: "unit" }, unit) : null);
    return { node: within(entry, range), set };
  }

  // Show a message beside the control that it is about; false if there is none.
  function refusing(error) {
    const node = [...main.querySelectorAll(".control")].find((each) => each.dataset.name === error.place);
    if (!node) return false;
    blame(node, error.message);
    say(error.message);
    return true;
  }

  // A question: controls beside their answer. Its values stand in the address, so that a bookmark has them.
  function question(id, query) {
    const card = data.cards.find((each) => each.id === id);
    if (!card) return missing();
    const defaults = Object.fromEntries(card.controls.map((own) => [own.name, own.value]));
    const values = { ...defaults };
    for (const own of card.controls.filter((each) => query.has(each.name))) {
      values[own.name] = own.choices ? query.get(own.name) : +query.get(own.name);
    }
    mine.kept = null;
    const result = fixed ? points(card) : card.view === "curve" ? curve(card, values) : plain(card, values);
    const side = fixed ? result.controls : controls(card, values, defaults, result);
    const box = el("div", { class: "panel", role: "group", "aria-label": "Controls" }, side);
    show(`${card.question} · elephan`, note(el("a", { href: "#/" }, "Questions"), " / ", card.group),
      el("h1", {}, card.question), el("p", { class: "lead" }, card.short),
      el("div", { class: "ask" }, box, el("div", {}, note(card.see), result.node)));
    result.start();
  }

  // The controls of a question, its presets, and what can be done with the scenario that they fill.
  function controls(card, values, defaults, result) {
    const start = paused(() => result.start());
    function changed(wait) {
      const set = Object.entries(values).filter(([name, v]) => v !== defaults[name]);
      history.replaceState(null, "", `#/q/${card.id}?${new URLSearchParams(set)}`);
      for (const node of main.querySelectorAll(".control.bad")) blame(node, "");
      for (const each of presets) each.mark();
      start(wait);
    }
    const made = card.controls.map((own) => [own.name, control(own, values[own.name], (v) => {
      values[own.name] = v;
      changed(REST_MS);
    })]);
    function fill(given) {
      Object.assign(values, defaults, given);
      for (const [name, each] of made) each.set(values[name]);
      changed(0);
    }
    const presets = Object.entries(card.presets).map(([name, given]) => ({
      node: button(data.presets[name], () => fill(given)),
      mark() { this.node.ariaPressed = String(Object.entries(given).every(([key, v]) => values[key] === v)); },
    }));
    for (const each of presets) each.mark();
    const toKeys = button("All keys", async () =>
      change(await post("api/fill", { kind: card.view, card: card.id, values })));
    return [
      presets.length ? el("fieldset", { class: "presets" }, el("legend", {}, "Start from"),
        presets.map((each) => each.node)) : null,
      ...made.map(([, each]) => each.node),
      el("div", { class: "row" }, button("Defaults", () => fill({})), toKeys),
      card.view === "run" ? keeping(card, values, () => result.start()) : null,
    ];
  }

  // A question that is answered by one job. Once a scenario is kept as A, each change is compared with it.
  function plain(card, values) {
    const panel = new Panel("run", { refused: refusing });
    const pair = (now) => ({ A: mine.kept, B: scenarioOf(now) });
    const compare = (now) => panel.start({ kind: "compare", texts: pair(now) });
    const start = () => {
      const body = { kind: card.view, card: card.id, values };
      if (mine.kept) post("api/fill", body).then(compare, (error) => panel.failed(error));
      else panel.start(body);
    };
    return { node: panel.node, start };
  }

  // A button that keeps the scenario as A.
  function keeping(card, values, again) {
    const words = note();
    const pressed = button("", async () => {
      mine.kept = mine.kept ? null : scenarioOf(await post("api/fill", { kind: "run", card: card.id, values }));
      told();
      // The same scenario twice would be refused; there is nothing to compare before a change.
      if (!mine.kept) again();
    });
    const help = "A is kept. Change a control: the new scenario, B, runs with the same random numbers as A.";
    const told = () => {
      pressed.textContent = mine.kept ? "Forget A" : "Keep as A and compare";
      words.textContent = mine.kept ? help : "";
    };
    told();
    return el("div", { class: "gap" }, pressed, words);
  }

  // A curve over buffers with a slider along it, and a run of the link with the chosen buffer.
  function curve(card, values) {
    let bdp = 1, chosen = null, slide = null;
    const words = el("strong");
    const slider = el("input", { type: "range", id: "slider", min: 0, max: STEPS, step: 1, value: STEPS / 2,
      disabled: true, oninput: () => pick(slide.from(+slider.value), REST_OF_BUFFER_MS) });
    const help = " Move the slider, and the red line, to see the link with another buffer than the answer. Now: ";
    const label = el("label", { for: "slider" }, el("strong", {}, "Experiment."), help, words);
    const between = named("panel", "Experiment", label, slider);
    const behind = new Panel("run", { brief: 4 });
    const after = named("panel", "Link", el("h2", {}, "The link with the buffer of the slider"), behind.node);
    const sizing = new Panel("curve", { refused: refusing, between, after, drawn: (event) => axis(event) });
    const run = paused(() => behind.start({ kind: "run", card: card.id, values, slider: chosen }));
    // The slider has the extent of the curve, which grows while points arrive; the chosen buffer stays.
    function axis(event) {
      const figures = event.figures || event.page.sections.flatMap((section) => section.figures);
      const x = figures.find((figure) => figure.x.label === "buffer")?.x;
      if (!x) return;
      bdp = x.above ? x.above[2] : bdp;
      slide = sliding(Math.max(1, Math.round(x.low)), Math.round(x.high));
      if (slider.disabled) pick(bdp, 0);
      slider.disabled = false;
      slider.value = slide.to(chosen);
      sizing.figures.mark(chosen);
    }
    function pick(at, wait) {
      chosen = Math.max(1, Math.round(at));
      words.textContent = `${short(chosen)} packets, ${short(+(chosen / bdp).toPrecision(2))} BDP`;
      slider.setAttribute("aria-valuetext", words.textContent);
      sizing.figures.mark(chosen);
      run(wait);
    }
    function start() {
      slider.disabled = true;
      behind.stop();
      sizing.start({ kind: "curve", card: card.id, values });
    }
    return { node: sizing.node, start };
  }

  // A question of the static edition: one control, which moves between the measured points.
  function points(card) {
    const own = card.controls.find((each) => each.name === card.vary.control);
    const amounts = card.vary.values;
    const words = el("output", { for: "point" });
    const panel = new Panel("run");
    const range = el("input", { type: "range", id: "point", min: 0, max: amounts.length - 1, step: 1,
      value: Math.floor(amounts.length / 2), oninput: () => start() });
    function start() {
      words.textContent = withUnit(own, amounts[range.value]);
      range.setAttribute("aria-valuetext", words.textContent);
      measured(panel, `data/${card.id}-${range.value}.js`);
    }
    const value = (each) => (each.choices ? each.choices[each.value] : withUnit(each, each.value));
    const others = card.controls.filter((each) => each !== own);
    const box = el("div", {}, el("div", { class: "control" }, el("label", { for: "point" }, own.label), words, range),
      note(`This is the static edition: the slider moves between the ${amounts.length} measured points only. `,
        el("code", {}, "elephan web"), " on your machine answers for every value."),
      note("The other values:"),
      el("ul", { class: "note" }, others.map((each) => el("li", {}, `${each.label}: ${value(each)}`))));
    return { node: panel.node, controls: box, start };
  }

  // Show a measured point. It is a script that calls `elephanPoint`: a page from a folder cannot fetch files. Scripts
  // may arrive in another order than they were asked for, so only the last one is heard.
  function measured(panel, src) {
    const onerror = () => panel.chip("failed", "Missing", src);
    const script = el("script", { src, onload: () => script.remove(), onerror });
    window.elephanPoint = (event) => {
      if (document.currentScript !== script) return;
      panel.lines.replaceChildren(lines(event));
      panel.final(event);
    };
    document.head.append(script);
  }

  // The list of experiments.
  function experiments() {
    show("Experiments · elephan", template("experiments"));
    byId("lessons").append(...data.lessons.map((lesson, i) =>
      item(`#/x/${lesson.id}`, "compare", el("h2", {}, `${i + 1}. ${lesson.title}`), lesson.question)));
  }

  const item = (href, view, heading, words) =>
    el("li", {}, el("a", { href }, glyph(view), heading, el("p", {}, words)));

  // An experiment: the explanation appears after the runs, whether or not there was a guess.
  function experiment(id) {
    const at = data.lessons.findIndex((each) => each.id === id), lesson = data.lessons[at];
    if (!lesson) return missing();
    const why = el("section", { class: "answer", hidden: true, "aria-label": "Explanation" });
    const next = data.lessons[at + 1];
    function explain() {
      const guess = main.querySelector("input[name=guess]:checked");
      const isRight = guess && +guess.value === lesson.right;
      const right = `The right answer is: ${lesson.choices[lesson.right]}.`;
      const verdict = isRight ? "Your guess was right." : guess ? `Your guess was different. ${right}` : right;
      why.hidden = false;
      why.className = `answer ${isRight ? "good" : ""}`;
      why.replaceChildren(el("p", { class: "verdict" }, verdict), el("p", {}, lesson.explains),
        next ? el("p", {}, el("a", { href: `#/x/${next.id}` }, `Next: ${next.title}`)) : "");
    }
    const panel = new Panel("run", { done: explain });
    const start = () =>
      (fixed ? measured(panel, `data/lesson-${id}.js`) : panel.start({ kind: "compare", lesson: id }));
    const choice = (text, i) =>
      el("label", { class: "choice" }, el("input", { type: "radio", name: "guess", value: String(i) }), text);
    const [a, b] = lesson.variants;
    show(`${lesson.title} · elephan`,
      note(el("a", { href: "#/experiments" }, "Experiments"), ` / ${at + 1} of ${data.lessons.length}`),
      el("h1", {}, lesson.title),
      el("div", { class: "panel" },
        el("fieldset", { class: "guess" }, el("legend", {}, lesson.question), lesson.choices.map(choice)),
        el("p", {}, lesson.do), note(`A: ${a.name}. B: ${b.name}.`), button("Run both", start, { class: "main" })),
      why, panel.node);
  }

  // The user's own scenario: as text, and as a form of all keys. Each is written anew when the other is changed.
  async function file() {
    show("Your file · elephan", template(fixed ? "file-of-static" : "file"));
    if (fixed) return;
    const [text, status, form, compare, drop] = ["text", "status", "keys", "compare", "drop"].map(byId);
    const panel = new Panel("run");
    main.append(panel.node);
    let schema = null, mapping = null, checks = 0;
    const acts = {
      run: () => panel.start({ kind: "run", text: text.value }),
      size: () => panel.start({ kind: "curve", text: text.value, target: byId("target").value }),
      compare: () => panel.start({ kind: "compare", texts: { A: mine.kept, B: text.value } }),
      keep: () => { mine.kept = text.value; compare.hidden = false; say("Kept as A"); },
    };
    for (const [id, act] of Object.entries(acts)) byId(id).addEventListener("click", act);
    compare.hidden = !mine.kept;

    // Check a scenario, given as text or as the mapping of the form; the answer has it in both forms.
    async function check(body) {
      const failed = (error) => ({ ok: false, place: error.place, message: error.message });
      const own = ++checks;
      const found = await post("api/check", body).catch(failed);
      if (own !== checks) return; // what was changed meanwhile is checked, too
      for (const each of drop.querySelectorAll(".needs-scenario")) each.disabled = !found.ok;
      const [kind, words] = found.ok ? ["final", "Valid"] : ["failed", "Not a scenario"];
      const chip = el("span", { class: `chip ${kind}` }, words);
      if (!found.ok) {
        status.replaceChildren(chip, located({ where: found.place, message: found.message }));
        if (!form.hidden) complain(form, found.place, found.message);
        return;
      }
      [mine.text, mapping] = [found.text, found.mapping];
      if (text.value !== found.text) text.value = found.text;
      if (!form.hidden) await keys();
      const warnings = found.warnings.map((warned) => note(`Warning: ${located(warned)}`));
      status.replaceChildren(chip, `takes about ${short(found.cost_s)} s of processor time`, ...warnings);
    }

    // Make the form again, with the same parts open and the same field focused.
    async function keys() {
      schema = schema || await get("api/schema");
      const place = (node) => node.closest("[data-path]")?.dataset.path ?? "";
      const open = [...form.querySelectorAll("details[open]")].map(place);
      const focused = form.contains(document.activeElement) ? place(document.activeElement) : null;
      form.hidden = false;
      if (!mapping) return; // the check that runs makes the form
      const edited = structuredClone(mapping);
      form.replaceChildren(el("h2", {}, "All keys"), note("An empty field has its default, shown in grey."),
        fields(schema, schema, edited, "", () => check({ mapping: edited })));
      for (const each of form.querySelectorAll("details")) each.open = open.includes(place(each));
      const again = [...form.querySelectorAll("[data-path]")].find((each) => each.dataset.path === focused);
      again?.querySelector("input")?.focus();
    }

    // Take the text of a file, dropped or opened.
    async function take(list) {
      if (list.length) check({ text: text.value = await list[0].text() });
    }
    const later = paused(() => check({ text: text.value }));
    text.addEventListener("input", () => later(REST_OF_TEXT_MS));
    byId("all").addEventListener("click", () => { if (form.hidden) keys(); else form.hidden = true; });
    byId("open").addEventListener("change", (event) => take(event.target.files));
    drop.ondragover = drop.ondragleave = drop.ondrop = (event) => {
      event.preventDefault();
      drop.classList.toggle("over", event.type === "dragover");
      if (event.type === "drop") take(event.dataTransfer.files);
    };
    const first = mine.text || scenarioOf(await post("api/fill", { kind: "run", card: FIRST }));
    // A file may have been opened meanwhile.
    text.value = text.value || first;
    await check({ text: text.value });
  }

  // A stored result, by its hash, or two side by side.
  async function result(ids) {
    const panel = new Panel("run"), heading = el("h1", {}, "Stored result");
    show("Result · elephan", heading, panel.node);
    try {
      const found = await get(`api/results/${ids.join("/")}`);
      heading.textContent = found.title || found.page.title;
      panel.lines.replaceChildren(lines(found));
      panel.final(found);
      panel.node.prepend(el("p", {}, button("Change this scenario", () => change(found))));
    } catch (error) { panel.chip("failed", "Missing", `The store has no such result: ${error.message}`); }
  }

  // The home page: the questions, and a first run that is drawn at once.
  function home() {
    show("elephan: answers about TCP and buffers", template(fixed ? "home-of-static" : "home"));
    for (const group of GROUPS) {
      const items = data.cards.filter((card) => card.group === group).map((card) =>
        item(`#/q/${card.id}`, card.view, el("h3", {}, card.question), card.short));
      main.append(el("section", { class: "group" }, el("h2", {}, group), el("ul", { class: "cards" }, items)));
    }
    if (fixed) return;
    const hero = new Panel("hero", { brief: 1 });
    byId("hero").append(hero.node);
    hero.start({ kind: "run", card: FIRST, values: {} });
  }

  const missing = () => show("elephan", template("missing"));

  // Show the page of the address. After a link was followed, the focus goes to its content, as a new page's would.
  function route(event) {
    for (const panel of Panel.all.splice(0)) panel.stop();
    const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
    const [kind, ...more] = path.split("/");
    const pages = { "": home, q: () => question(more[0], new URLSearchParams(search || "")), experiments,
      x: () => experiment(more[0]), file, r: () => result(more) };
    const current = `#/${{ q: "", x: "experiments" }[kind] ?? kind}`;
    for (const link of document.querySelectorAll("nav a")) {
      link.ariaCurrent = link.getAttribute("href") === current ? "page" : null;
    }
    (Object.hasOwn(pages, kind) && !(fixed && kind === "r") ? pages[kind] : missing)();
    if (!event) return;
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  // The button for light and dark colours; the choice is kept where the browser allows it.
  function theme() {
    const root = document.documentElement, pressed = byId("theme");
    const storage = (act) => { try { return act(localStorage); } catch { return null; } };
    const set = (isDark) => {
      root.dataset.theme = isDark ? "dark" : "light";
      pressed.textContent = isDark ? "Light" : "Dark";
    };
    const kept = storage((store) => store.getItem("elephan-theme"));
    set(kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    pressed.addEventListener("click", () => {
      set(root.dataset.theme === "light");
      storage((store) => store.setItem("elephan-theme", root.dataset.theme));
    });
  }

  // Start: read what the page knows, and show the page of the address.
  async function begin() {
    theme();
    data = fixed || await get("api/page");
    addEventListener("hashchange", route);
    addEventListener("pagehide", () => { for (const panel of Panel.all) panel.stop(); });
    let width = innerWidth;
    addEventListener("resize", () => {
      // On phones the height changes while the page is scrolled; pictures depend on the width only.
      if (innerWidth !== width) for (const panel of Panel.all) panel.figures.again();
      width = innerWidth;
    });
    // The address is the page, so a link to a part of it must not change it.
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      main.focus();
    });
    route(null);
  }

  begin().catch((error) => show("elephan", el("h1", {}, "The page cannot start"), el("p", {}, error.message)));
})();
