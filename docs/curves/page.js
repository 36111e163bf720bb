// A page of precomputed curves: the grid is in the facts, the numbers of each network in a file.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const facts = JSON.parse($("facts").textContent);
  const { axes, choices, words, colours } = facts;
  const NAMES = Object.keys(axes), CHOICES = Object.keys(choices);
  const shown = (value) => (value === "inf" ? "∞" : String(value));

  // ---- the question: a place in the grid for each parameter, and the two functions ----
  let question = {}, x = "alpha", error = "test_error", log = false, pins = [];

  function read(query) {
    const given = new URLSearchParams(query), asked = {};
    for (const name of CHOICES)
      asked[name] = choices[name].includes(given.get(name)) ? given.get(name) : facts.start[name];
    for (const name of NAMES) {
      const place = axes[name].map(String).indexOf(given.get(name) ?? String(facts.start[name]));
      asked[name] = place < 0 ? 0 : place;
    }
    return asked;
  }
  function written(asked) {
    const pairs = CHOICES.map((name) => [name, asked[name]]);
    for (const name of NAMES) pairs.push([name, axes[name][asked[name]]]);
    return new URLSearchParams(pairs).toString();
  }
  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    question = read(given);
    x = NAMES.includes(given.get("x")) ? given.get("x") : "alpha";
    error = Object.hasOwn(facts.targets_of, given.get("error")) ? given.get("error") : "test_error";
    log = given.get("log") === "yes";
    pins = given.getAll("pin").slice(0, 6).map(read);
  }
  function writeAddress() {
    const query = new URLSearchParams(written(question));
    query.set("x", x);
    query.set("error", error);
    if (log) query.set("log", "yes");
    for (const pin of pins) query.append("pin", written(pin));
    history.replaceState(null, "", `#${query}`);
  }

  // ---- the numbers: a file for each pair of functions, loaded when it is first wanted ----
  const files = {}, waiting = {};
  window.giantstepCurves = (name, content) => {
    files[name] = {};
    for (const [variable, { low, high, data }] of Object.entries(content)) {
      const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
      files[name][variable] = { low, high, levels: new Uint16Array(bytes.buffer) };
    }
    waiting[name]?.remove();
    draw();
  };
  const fileOf = (asked) => `${asked.activation}-${asked.target}`;
  function load(asked) {
    const name = fileOf(asked);
    if (waiting[name]) return;
    waiting[name] = document.createElement("script");
    waiting[name].src = `data/${name}.js`;
    waiting[name].addEventListener("error", () => { $("status").textContent = `${name} could not be loaded.`; });
    document.head.append(waiting[name]);
  }
  // Values of a variable along the x axis; NaN where there is no solution.
  function curve(asked, variable) {
    const stored = files[fileOf(asked)]?.[variable];
    if (!stored) return null;
    return axes[x].map((_, k) => {
      let place = 0;
      for (const name of NAMES) place = place * axes[name].length + (name === x ? k : asked[name]);
      const level = stored.levels[place];
      if (level === facts.missing) return NaN;
      return Math.exp(stored.low + (level / (facts.missing - 1)) * (stored.high - stored.low));
    });
  }

  // ---- the drawing ----
  const SVG = "http://www.w3.org/2000/svg";
  function add(parent, tag, attributes, text = "") {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }
  // Along alpha the axis is linear; elsewhere the values of the grid have equal distances.
  const positions = () => (x === "alpha" ? axes.alpha.map(Number) : axes[x].map((_, k) => k));
  function ticks(low, high) {
    const raw = (high - low) / 6, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((s) => s * power >= raw), found = [];
    for (let k = Math.ceil(low / step); k * step <= high * 1.000001; k += 1) found.push(Number((k * step).toPrecision(6)));
    return found;
  }
  let drawn = null;
  function draw() {
    const all = [question, ...pins];
    all.filter((asked) => !files[fileOf(asked)]).forEach(load);
    const palette = colours[root.dataset.theme], curves = [];
    all.forEach((asked, k) => {
      const colour = palette[k % palette.length], values = curve(asked, error);
      if (values) curves.push({ asked, values, colour, width: 2.4, label: k ? short(asked) : words[error] });
      const training = error === "test_error" && curve(asked, "training_error");
      if (training) curves.push({ asked, values: training, colour, width: 1, label: k ? "" : words.training_error });
    });
    const linear = error === "test_error" ? facts.best_linear[question.target] : NaN;
    if (linear > 0) curves.push({ values: axes[x].map(() => linear), colour: "var(--muted)", width: 1.2, dash: "6 4", label: "best linear" });
    drawn = { xs: positions(), curves };
    plot();
    list(curves);
    readout(null);
    $("title").textContent = `${question.activation} network, ${question.target} target: `
      + NAMES.filter((name) => name !== x).map((name) => `${facts.symbols[name]} = ${shown(axes[name][question[name]])}`).join(", ");
    writeAddress();
    if (played) setTimeout(advance, played.pause);
    root.dataset.done = curves.length && files[fileOf(question)] ? fileOf(question) : "";
  }
  function plot() {
    const { xs, curves } = drawn, box = $("plot").getBoundingClientRect();
    const big = root.dataset.large === "yes" ? 1.5 : 1;
    const left = 58 * big, right = box.width - 12, top = 8, bottom = box.height - 46 * big;
    const seen = curves.flatMap((one) => one.values).filter((v) => v > 0);
    const tests = curves.filter((one) => one.width > 1).flatMap((one) => one.values).filter((v) => v > 0);
    const sorted = [...tests].sort((a, b) => a - b), median = sorted[sorted.length >> 1] ?? 1;
    // A peak far above everything else would hide the rest, as tiny training errors would.
    const high = log ? Math.max(...seen) * 1.4 : Math.min(Math.max(...seen), 10 * median) * 1.08;
    const low = log ? Math.max(Math.min(...seen) / 1.4, (sorted[0] ?? 1) / 100) : 0;
    const across = (v) => left + ((v - xs[0]) / (xs[xs.length - 1] - xs[0])) * (right - left);
    const share = (v) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const up = (v) => bottom - share(v) * (bottom - top);
    const svg = document.createElementNS(SVG, "svg");
    const levels = log ? [...Array(40).keys()].map((k) => 10 ** (k - 30)).filter((v) => v >= low && v <= high) : ticks(low, high);
    for (const v of levels) {
      add(svg, "line", { class: "grid", x1: left, x2: right, y1: up(v), y2: up(v) });
      add(svg, "text", { x: left - 8, y: up(v) + 4, "text-anchor": "end" }, String(Number(v.toPrecision(3))));
    }
    const marks = x === "alpha" ? ticks(xs[0], xs[xs.length - 1]).map((v) => [v, String(v)]) : xs.map((v) => [v, shown(axes[x][v])]);
    for (const [v, text] of marks) {
      add(svg, "line", { class: "grid", x1: across(v), x2: across(v), y1: top, y2: bottom });
      add(svg, "text", { x: across(v), y: bottom + 18 * big, "text-anchor": "middle" }, text);
    }
    add(svg, "line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom });
    add(svg, "line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom });
    add(svg, "text", { x: (left + right) / 2, y: bottom + 38 * big, "text-anchor": "middle" }, facts.labels[x]);
    const clip = add(svg, "clipPath", { id: "inside" });
    add(clip, "rect", { x: left, y: top, width: right - left, height: bottom - top });
    const inside = add(svg, "g", { "clip-path": "url(#inside)" });
    for (const one of [...curves].reverse()) {
      let path = "", pen = "M";
      one.values.forEach((v, k) => {
        if (!(v > 0)) { pen = "M"; return; }
        path += `${pen}${across(xs[k]).toFixed(1)} ${Math.min(Math.max(up(v), top - 2000), bottom + 2000).toFixed(1)}`;
        pen = "L";
      });
      add(inside, "path", { d: path, stroke: one.colour, "stroke-width": one.width, "stroke-dasharray": one.dash ?? "" });
    }
    const ruler = add(svg, "line", { class: "axis", y1: top, y2: bottom, visibility: "hidden" });
    svg.addEventListener("pointermove", (event) => {
      const at = event.clientX - svg.getBoundingClientRect().left;
      const near = xs.reduce((best, v, k) => (Math.abs(across(v) - at) < Math.abs(across(xs[best]) - at) ? k : best), 0);
      for (const [name, value] of Object.entries({ x1: across(xs[near]), x2: across(xs[near]), visibility: "visible" })) ruler.setAttribute(name, value);
      readout(near);
    });
    $("plot").replaceChildren(svg);
  }
  // What the curves are at a value of x, in the digits that the files hold.
  function readout(place) {
    if (place === null) { $("status").textContent = "Point at the plot for its numbers."; return; }
    const parts = drawn.curves.filter((one) => one.label).map((one) => `${one.label} ${Number.isNaN(one.values[place]) ? "none" : one.values[place].toPrecision(4)}`);
    $("status").textContent = `${facts.symbols[x]} = ${shown(axes[x][place])}: ${parts.join(", ")}`;
  }
  function list(curves) {
    $("legend").replaceChildren(...curves.filter((one) => one.label).map((one) => {
      const item = document.createElement("li"), sample = document.createElementNS(SVG, "svg");
      add(sample, "line", { x1: 0, x2: 24, y1: 6, y2: 6, stroke: one.colour, "stroke-width": one.width, "stroke-dasharray": one.dash ?? "" });
      item.append(sample, one.label);
      return item;
    }));
    $("pins").replaceChildren(...pins.map((pin, k) => {
      const item = document.createElement("li"), swatch = document.createElement("span"), away = document.createElement("button");
      swatch.className = "swatch";
      swatch.style.background = colours[root.dataset.theme][(k + 1) % colours.light.length];
      Object.assign(away, { type: "button", textContent: "×", ariaLabel: `remove ${short(pin)}` });
      away.addEventListener("click", () => { pins.splice(k, 1); draw(); });
      const name = Object.assign(document.createElement("span"), { textContent: short(pin) });
      name.style.flex = "1";
      item.append(swatch, name, away);
      return item;
    }));
    $("pin").disabled = pins.length >= 6;
  }
  // What a pinned question has that the question has not.
  function short(asked) {
    const differing = [...CHOICES, ...NAMES].filter((name) => asked[name] !== question[name] && name !== x);
    return differing.map((name) => (name in axes ? `${facts.symbols[name]} = ${shown(axes[name][asked[name]])}` : asked[name])).join(", ") || "the same";
  }

  // ---- the controls ----
  function makeControl(name) {
    const control = document.createElement("div"), slider = name in axes;
    control.className = `control ${slider ? "slider" : "choice"}`;
    control.innerHTML = `<div class="line"><label for="${name}">${words[name]} <i>${facts.symbols[name]}</i></label>`
      + (slider ? `<button type="button" class="play" id="${name}-play" aria-label="play ${words[name]}">▶</button><output id="${name}-value"></output>` : `<select id="${name}"></select>`)
      + `</div>${slider ? `<input type="range" id="${name}" min="0" max="${axes[name].length - 1}" step="1">` : ""}<p class="help">${facts.helps[name]}</p>`;
    $("question").append(control);
    const input = $(name);
    if (!slider) input.append(...choices[name].map((value) => new Option(value)));
    input.addEventListener("input", () => { question[name] = slider ? Number(input.value) : input.value; show(); });
    if (slider) $(`${name}-play`).addEventListener("click", () => play(name));
  }
  // Puts the state into the controls, and draws it.
  function show() {
    if (!facts.targets_of[error].includes(question.target)) error = "test_error";
    for (const name of [...CHOICES, ...NAMES]) $(name).value = question[name];
    for (const name of NAMES) {
      const value = shown(axes[name][question[name]]);
      $(`${name}-value`).textContent = name === x ? "axis" : value;
      $(name).setAttribute("aria-valuetext", value);
      $(name).disabled = name === x;
      $(name).closest(".control").classList.toggle("disabled", name === x);
    }
    for (const option of $("error").options) option.disabled = !facts.targets_of[option.value].includes(question.target);
    Object.assign($("x"), { value: x });
    Object.assign($("error"), { value: error });
    $("log").checked = log;
    draw();
  }
  let played = null;
  function play(name) {
    const other = played?.name !== name;
    if (played) $(`${played.name}-play`).textContent = "▶";
    played = null;
    if (!other) return;
    played = { name, pause: Math.max(120, 4000 / axes[name].length) };
    $(`${name}-play`).textContent = "■";
    if (question[name] === axes[name].length - 1) question[name] = -1;
    advance();
  }
  function advance() {
    if (!played) return;
    const { name } = played;
    if (name === x || question[name] >= axes[name].length - 1) { play(name); return; }
    question[name] += 1;
    show();
  }

  // ---- everything else ----
  const LOOKS = { theme: ["light", "dark"], large: ["no", "yes"], help: ["no", "yes"] };
  function dress(name, value) {
    root.dataset[name] = value;
    $(name).setAttribute("aria-pressed", value === LOOKS[name][1]);
  }
  [...CHOICES, ...NAMES].forEach(makeControl);
  $("x").append(...NAMES.map((name) => new Option(`${words[name]} ${facts.symbols[name]}`, name)));
  $("error").append(...Object.keys(facts.targets_of).map((name) => new Option(words[name], name)));
  $("preset").append(...Object.entries(facts.presets).map(([name, query]) => new Option(name, query)));
  $("about").textContent = facts.about;
  for (const [name, values] of Object.entries(LOOKS)) {
    const dark = name === "theme" && matchMedia("(prefers-color-scheme: dark)").matches;
    dress(name, values[Number(dark)]);
    $(name).addEventListener("click", () => { dress(name, values[1 - values.indexOf(root.dataset[name])]); draw(); });
  }
  $("x").addEventListener("change", () => { x = $("x").value; show(); });
  $("error").addEventListener("change", () => { error = $("error").value; show(); });
  $("log").addEventListener("change", () => { log = $("log").checked; show(); });
  $("preset").addEventListener("change", () => { if ($("preset").value) location.hash = $("preset").value; });
  $("pin").addEventListener("click", () => { pins.push({ ...question }); show(); });
  $("show-model").addEventListener("click", () => $("model").showModal());
  $("copy").addEventListener("click", () => {
    const flags = [...CHOICES.map((name) => [name, question[name]]), ...NAMES.map((name) => [name, name === x ? axes[x].join(" ") : axes[name][question[name]]])];
    $("copy-command").textContent = `giantstep sweep ${flags.map(([name, value]) => `--${name.replace("_", "-")} ${value}`).join(" ")} --bulk ${facts.bulk}`;
    $("copies").showModal();
  });
  addEventListener("hashchange", () => { readAddress(); show(); });
  addEventListener("resize", () => { if (drawn) plot(); });
  window.curveOf = (variable) => curve(question, variable);
  readAddress();
  show();
})();
