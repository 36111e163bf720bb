// The page: its controls say what is asked, in texts; the server alone reads and checks them.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const root = document.documentElement;
  const ZERO_ONE = "classification_error"; // of a sign alone
  const AXES = ["x", "start", "stop", "by", "across", "up", "colour"];
  const { colours: COLOURS, ranges: RANGES } = JSON.parse($("facts").textContent);
  let ask = null, answered = true, waiting = false, number = 0, asked = 0, spinner = 0;
  let tab = "curve", pins = [], address = "", copies = {}, loading = true, ended = false;
  // How long each answer took from the change of a control to the next frame, in milliseconds.
  const latencies = (window.latencies = []);

  // ---- the question, as texts ----
  const text = (id) => $(id).value.trim();
  function texts() {
    const found = { model: document.querySelector("[name=model]:checked").value, tab };
    for (const control of all(".control")) {
      const name = control.dataset.field;
      if (!control.dataset.models.split(" ").includes(found.model)) continue;
      if (control.classList.contains("several"))
        found[name] = all("input:checked", control).map((box) => box.value).join(",");
      else if (control.classList.contains("choice"))
        found[name] = $(name).value === "…" ? text(`${name}-other`) : $(name).value;
      else found[name] = text(name);
    }
    if ($("best-ridge").checked) found.ridge = "optimal";
    for (const name of AXES) found[name] = text(name);
    if (!isGain(found.colour)) found.colour = "error";
    if (found.target !== "sign" && found.by === ZERO_ONE) found.by = "test_error";
    found.x_scale = $("x_scale").checked ? "log" : "linear";
    found.y_scale = $("y_scale").checked ? "log" : "linear";
    return found;
  }

  function show(values) {
    document.querySelector(`[name=model][value=${values.model}]`).checked = true;
    for (const control of all(".control")) {
      const name = control.dataset.field, value = values[name];
      if (value === undefined) continue;
      if (control.classList.contains("several"))
        for (const box of all("input", control)) box.checked = value.split(",").includes(box.value);
      else if (control.classList.contains("choice")) choose(name, value);
      else if (name === "ridge") {
        $("best-ridge").checked = value === "optimal";
        $("ridge").value = value === "optimal" ? "0.1" : value;
        place("ridge");
      } else { $(name).value = value.replace("inf", "∞"); place(name); }
    }
    for (const name of AXES) if (values[name] !== undefined) $(name).value = values[name];
    if (!isGain(values.colour)) $("colour").value = values.by;
    $("x_scale").checked = values.x_scale === "log";
    $("y_scale").checked = values.y_scale === "log";
    tab = values.tab;
    arrange();
  }

  // A map shows an error, which is that of the curve, too, or a gain.
  const isGain = (name) => name.startsWith("gain_");

  function choose(name, value) {
    const known = all("option", $(name)).some((option) => option.value === value);
    $(name).value = known ? value : "…";
    $(`${name}-other`).hidden = known;
    if (!known) $(`${name}-other`).value = value;
  }

  // ---- sliders ----
  function value(slider) {
    const { low, high, scale, left, right } = slider.dataset;
    const t = slider.value / 1000, a = Number(low), b = Number(high);
    if (t === 0 && left) return left;
    if (t === 1 && right) return right === "inf" ? "∞" : right;
    if (scale === "log") return String(Number((a * (b / a) ** t).toPrecision(3)));
    const found = a + t * (b - a);
    return scale === "whole" ? String(Math.round(found)) : String(Number(found.toPrecision(3)));
  }
  function place(name) {
    const slider = $(`${name}-slider`);
    if (!slider) return;
    const { low, high, scale, left, right } = slider.dataset;
    const given = text(name).replace("∞", "inf");
    const a = Number(low), b = Number(high), x = given === "inf" ? Infinity : Number(given);
    let t = scale === "log" ? Math.log(x / a) / Math.log(b / a) : (x - a) / (b - a);
    if (Number.isNaN(t)) t = 0;
    const inner = (u) => Math.min(Math.max(u, left ? 0.001 : 0), right ? 0.999 : 1);
    t = given === left ? 0 : given === right ? 1 : inner(t);
    slider.value = Math.round(1000 * t);
    slider.setAttribute("aria-valuetext", text(name));
  }

  // ---- a slider that plays: it moves on whenever its last answer is drawn ----
  const FRAMES = 150;
  let played = null;
  function play(slider, button) {
    const other = played?.button !== button;
    pause();
    if (!other) return;
    played = { slider, button };
    button.textContent = "■";
    if (Number(slider.value) >= 1000) slider.value = 0;
    advance();
  }
  function pause() {
    if (played) played.button.textContent = "▶";
    played = null;
  }
  function advance() {
    if (!played) return;
    const { slider } = played, { low, high, scale } = slider.dataset;
    const step = scale === "whole" ? 1000 / (high - low) : 1000 / FRAMES;
    if (slider.disabled || Number(slider.value) >= 1000) { pause(); return; }
    played.at = Math.min(1000, Math.max(played.at ?? 0, Number(slider.value)) + step);
    slider.value = Math.round(played.at);
    slider.dispatchEvent(new Event("input"));
  }

  // ---- what applies ----
  function arrange() {
    const { model } = texts();
    for (const control of all(".control"))
      control.hidden = !control.dataset.models.split(" ").includes(model);
    for (const select of ["x", "across", "up"]) {
      for (const option of all("option", $(select))) option.hidden = option.disabled = option.dataset.model !== model;
      const wanted = $(select).value;
      const fits = all("option", $(select)).filter((option) => !option.disabled);
      const same = fits.find((option) => option.value === wanted);
      (same ?? fits[select === "up" ? 1 : 0]).selected = true;
    }
    for (const button of all("[role=tab]")) {
      const chosen = button.dataset.tab === tab;
      button.setAttribute("aria-selected", chosen);
      button.tabIndex = chosen ? 0 : -1;
    }
    $("answer").setAttribute("aria-labelledby", `tab-${tab}`);
    for (const axes of all(".axes")) axes.hidden = axes.dataset.tab !== tab;
    const beside = tab === "curve" && $("by").value === "test_error";
    $("networks-start").disabled = !beside;
    if (!beside && !running) note("networks-note", "Networks are simulated along the curve of the test error.");
    else if (!running && $("networks-note").textContent.startsWith("Networks are")) note("networks-note", "");
  }

  let reasons = {};
  function disable() {
    for (const zeroOne of all(`option[value=${ZERO_ONE}]`)) {
      zeroOne.disabled = texts().target !== "sign";
      if (zeroOne.disabled && zeroOne.selected) zeroOne.parentElement.value = "test_error";
    }
    for (const control of all(".control")) {
      const name = control.dataset.field, reason = reasons[name] ?? "";
      const inputs = all("input, select", control).filter((input) => input.id !== "best-ridge");
      const pointless = control.classList.contains("several") ? false : reason !== "";
      for (const input of inputs) if (!input.name) input.disabled = pointless;
      control.classList.toggle("disabled", pointless);
      note(`${name}-note`, reason);
      const refused = {};
      for (const box of all(".options input, option", control)) {
        const why = reasons[`${name}:${box.value}`] ?? "";
        box.disabled = why !== "" && !box.checked;
        (box.closest("label") ?? box).title = why;
        if (why) (refused[why] ??= []).push((box.closest("label") ?? box).textContent.trim());
      }
      if (!reason && Object.keys(refused).length) {
        const words = Object.entries(refused).map(([why, which]) => `not ${which.join(", ")}: ${why}`);
        note(`${name}-note`, words.join("; "));
      }
    }
    // A choice of one value or best: the box beside it stays.
    if (reasons.ridge && tab !== "spectrum" && !$("best-ridge").checked) $("best-ridge").disabled = true;
    else $("best-ridge").disabled = false;
  }

  function note(id, message, fault = false) {
    const place = $(id);
    if (!place) return false;
    if (place.textContent === message && place.classList.contains("fault") === fault) return true;
    place.textContent = place.title = message;
    place.classList.toggle("fault", fault);
    return true;
  }

  function blame(faults) {
    for (const control of all(".control")) {
      control.classList.remove("faulty");
      for (const input of all("input, select", control)) input.removeAttribute("aria-invalid");
    }
    for (const place of all(".note.fault")) note(place.id, "");
    if ($("status").classList.contains("fault")) status("");
    for (const [name, message] of faults) {
      const control = document.querySelector(`.control[data-field="${CSS.escape(name)}"]`);
      if (control) {
        control.classList.add("faulty");
        all("input, select", control)[0].setAttribute("aria-invalid", "true");
        note(`${name}-note`, message, true);
      } else if (["x", "start", "stop", "x_scale", "by", "across", "up"].includes(name)) note("axes-note", message, true);
      else if (name === "pin") note("pin-note", message, true);
      else status(message, true);
    }
  }

  function status(message, fault = false) {
    $("status").textContent = message;
    $("status").classList.toggle("fault", fault);
  }

  // ---- to and from the server ----
  function say(message) { if (ask) ask.text = JSON.stringify(message); }

  // One question at a time is on its way: the newest, once the last has been answered.
  function change() {
    if (loading) return;
    delete root.dataset.done;
    if (!answered) { waiting = true; return; }
    answered = false;
    number += 1;
    asked = performance.now();
    wait();
    say({ kind: "view", number, texts: texts(), pins: pins.map((pin) => pin.join("|")), theme: look() });
  }

  function wait() {
    clearTimeout(spinner);
    spinner = setTimeout(() => { $("spinner").hidden = ended; }, 200);
  }

  function next() {
    answered = true;
    if (waiting) { waiting = false; change(); }
  }

  function receive(message) {
    if (message.texts) {
      show(message.texts);
      pins = message.pins.map((pin) => [pin.slice(0, pin.indexOf("|")), pin.slice(pin.indexOf("|") + 1)]);
      loading = false;
    }
    if (message.legend && differs("legend", message.legend)) listLegend(message.legend);
    if (message.networks) { receiveNetworks(message.networks); return; }
    if (message.file) { download(message.file); return; }
    if (message.exported !== undefined) { note("export-note", message.exported, message.fault); return; }
    if (message.number !== number || loading) return; // what came before the greeting comes again
    if (message.faults) {
      // What is on the screen is then not what the fields say.
      $("copy").disabled = message.faults.length > 0;
      reasons = message.reasons ?? reasons;
      if (differs("notes", [reasons, message.faults])) {
        disable();
        blame(message.faults);
      }
    }
    if (message.address !== undefined) {
      ({ address, copies } = message);
      showCopies();
      afterwards(() => {
        showTitle(message.title);
        if (differs("pins", [pins, root.dataset.theme])) listPins();
      });
      clearTimeout(addressing);
      addressing = setTimeout(writeAddress, 150);
    }
    if (message.certificate) afterwards(() => status(message.certificate));
    if (message.failed) afterwards(() => status(message.failed, true));
    if (message.certificate || message.done) {
      const since = asked;
      requestAnimationFrame(() => setTimeout(() => {
        if (since) latencies.push(performance.now() - since);
        if (since === asked) asked = 0;
        write();
      }));
      next();
    }
    if (message.done && answered) {
      clearTimeout(spinner);
      afterwards(() => {
        if (message.number !== number || root.dataset.done) return; // a remark is no further answer
        $("spinner").hidden = true;
        root.dataset.done = number;
        if (played) setTimeout(advance, played.slider.dataset.scale === "whole" ? 600 : 20);
      });
    }
  }

  // What is written beside the plot waits until it is drawn, so that the page is laid out once.
  let unwritten = [], writing = 0;
  function afterwards(task) {
    unwritten.push(task);
    clearTimeout(writing);
    writing = setTimeout(write, 100);
  }
  function write() {
    const tasks = unwritten;
    unwritten = [];
    for (const task of tasks) task();
  }

  // Whether something differs from what was last shown of it.
  const last = {};
  function differs(name, value) {
    const now = JSON.stringify(value);
    if (last[name] === now) return false;
    last[name] = now;
    return true;
  }

  // "tanh network, sin target: α = 1, λ = 2", with its symbols in italics.
  function showTitle(title) {
    if ($("title").textContent === title) return;
    const [words, values = ""] = title.split(": ");
    const count = values.split(", ").length;
    const parts = values.split(", ").map((part, k) => {
      const span = document.createElement("span"), symbol = document.createElement("i");
      symbol.textContent = /^.*?(?= = )|λ$/u.exec(part)?.[0] ?? "";
      const at = part.indexOf(symbol.textContent);
      const comma = k + 1 < count ? ", " : "";
      span.append(part.slice(0, at), symbol, part.slice(at + symbol.textContent.length) + comma);
      return span;
    });
    $("title").replaceChildren(`${words}: `, ...parts);
  }

  // Browsers take only so many addresses in a second: it is written when a slider rests.
  let addressing = 0;
  function writeAddress() {
    document.title = `${$("title").textContent} – giantstep`;
    history.replaceState(null, "", address ? `?${address}` : location.pathname);
  }

  function listLegend(entries) {
    const SVG = "http://www.w3.org/2000/svg";
    $("legend").replaceChildren(...entries.map(([label, colour, width, dash]) => {
      const item = document.createElement("li"), sample = document.createElementNS(SVG, "svg");
      sample.setAttribute("aria-hidden", "true");
      const mark = document.createElementNS(SVG, width ? "line" : "circle");
      const at = width ? { x1: 0, x2: 24, y1: 6, y2: 6, "stroke-width": width, "stroke-dasharray": dash.join(" ") }
        : { cx: 12, cy: 6, r: 3.5, fill: "none", "stroke-width": 1.6 };
      for (const [name, given] of Object.entries({ ...at, stroke: colour })) mark.setAttribute(name, given);
      sample.append(mark);
      item.append(sample, label);
      return item;
    }));
  }

  // ---- pins ----
  function listPins() {
    const list = $("pins");
    const colours = COLOURS[root.dataset.theme];
    list.replaceChildren(...pins.map(([name, query], k) => {
      const item = document.createElement("li");
      const swatch = Object.assign(document.createElement("span"), { className: "swatch" });
      swatch.style.background = colours[(k + 1) % colours.length];
      const field = Object.assign(document.createElement("input"), { type: "text", value: name, maxLength: 60, title: query });
      field.setAttribute("aria-label", `name of pin ${k + 1}`);
      field.addEventListener("change", () => { pins[k][0] = clean(field.value); change(); });
      const back = Object.assign(document.createElement("button"), { type: "button", textContent: "↩", title: "Ask this question again" });
      back.setAttribute("aria-label", `ask ${name} again`);
      back.addEventListener("click", () => { location.search = recalled(query); });
      const away = Object.assign(document.createElement("button"), { type: "button", textContent: "×", title: "Remove" });
      away.setAttribute("aria-label", `remove ${name}`);
      away.addEventListener("click", () => { pins.splice(k, 1); change(); });
      item.append(swatch, field, back, away);
      return item;
    }));
    if (!pins.length) note("pin-note", "A pinned curve stays while the question changes.");
    else note("pin-note", "");
    $("pin").disabled = pins.length >= 6;
  }
  const clean = (name) => name.replaceAll("|", " ").trim() || "pin";
  function recalled(query) {
    const now = new URLSearchParams(address), then = new URLSearchParams(query);
    for (const name of ["tab", "x", "start", "stop", "x_scale", "y_scale", "across", "up", "colour"])
      if (now.has(name)) then.set(name, now.get(name));
    for (const pin of now.getAll("pin")) then.append("pin", pin);
    return then.toString();
  }
  $("pin").addEventListener("click", () => {
    const query = new URLSearchParams(address);
    for (const name of ["tab", "x", "start", "stop", "x_scale", "y_scale", "across", "up", "colour", "pin"]) query.delete(name);
    const name = clean($("pin-name").value || suggested());
    pins.push([name, query.toString()]);
    $("pin-name").value = "";
    change();
  });
  function suggested() {
    const words = $("title").textContent.split(": ")[1] ?? "pin";
    return words.split(", ").slice(0, 2).join(", ");
  }

  // ---- networks ----
  let running = false;
  $("networks-start").addEventListener("click", () => {
    if (running) say({ kind: "stop" });
    else say({ kind: "networks", dimension: text("networks-dimension"), networks: text("networks-count"), turn: Math.random() });
  });
  function receiveNetworks(told) {
    running = told.fraction !== undefined && !told.done;
    $("networks-start").textContent = running ? "Stop" : "Simulate";
    $("networks-progress").hidden = !running;
    $("networks-progress").value = told.fraction ?? 0;
    if (told.fault !== undefined) note("networks-note", told.fault, true);
    else if (told.stopped) note("networks-note", "Stopped.");
    else note("networks-note", told.note ?? (running ? "simulating …" : ""));
    root.dataset.networks = running ? "running" : told.done ? "done" : "none";
  }

  // ---- copies, exports ----
  function showCopies() {
    for (const [name, copy] of Object.entries(copies)) {
      $(`copy-${name}`).textContent = copy;
      $(`copy-${name}`).parentElement.hidden = !copy; // a tab may have no panel
    }
  }
  $("copy").addEventListener("click", () => $("copies").showModal());
  for (const button of all("[data-copy]"))
    button.addEventListener("click", async () => {
      writeAddress();
      const what = button.dataset.copy === "address" ? location.href : copies[button.dataset.copy];
      try { await navigator.clipboard.writeText(what); toast("Copied"); }
      catch { toast("The browser keeps the clipboard: please select the text"); }
    });
  $("export").addEventListener("click", () => { note("export-note", ""); $("exports").showModal(); });
  for (const button of all("[data-format]"))
    button.addEventListener("click", () => {
      note("export-note", "drawing …");
      say({ kind: "export", name: text("figure-name"), format: button.dataset.format, turn: Math.random() });
    });
  $("make-figure").addEventListener("click", () => {
    note("export-note", "writing …");
    say({ kind: "export", name: text("figure-name"), turn: Math.random() });
  });
  function download({ name, content }) {
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    note("export-note", `${name}: ${bytes.length} bytes`);
    window.lastFile = { name, content };
  }
  let fading = 0;
  function toast(message) {
    $("toast").textContent = message;
    $("toast").classList.add("shown");
    clearTimeout(fading);
    fading = setTimeout(() => $("toast").classList.remove("shown"), 2200);
  }

  // ---- events ----
  for (const slider of all("input[type=range]")) {
    const name = slider.id.replace(/-slider$/, "");
    slider.addEventListener("input", () => {
      $(name).value = value(slider);
      slider.setAttribute("aria-valuetext", $(name).value);
      change();
    });
  }
  for (const button of all(".play"))
    button.addEventListener("click", () => play($(button.id.replace(/-play$/, "-slider")), button));
  for (const control of all(".control")) {
    const name = control.dataset.field;
    for (const input of all("input[type=text]", control))
      input.addEventListener("change", () => { place(name); change(); });
    for (const box of all("input[type=checkbox]", control)) box.addEventListener("change", change);
    for (const select of all("select", control))
      select.addEventListener("change", () => {
        const other = select.value === "…";
        $(`${name}-other`).hidden = !other;
        if (other) $(`${name}-other`).focus();
        else change();
      });
  }
  for (const radio of all("[name=model]")) radio.addEventListener("change", () => { arrange(); change(); });
  for (const name of ["start", "stop", "x_scale", "y_scale", "across", "up"]) $(name).addEventListener("change", change);
  for (const [name, other] of [["by", "colour"], ["colour", "by"]])
    $(name).addEventListener("change", () => {
      if (!isGain($(name).value) && !isGain($(other).value)) $(other).value = $(name).value;
      change();
    });
  $("x").addEventListener("change", () => {
    // Another parameter has a range and a scale of its own.
    const [start, stop, scale] = RANGES[$("x").value];
    $("start").value = start;
    $("stop").value = stop;
    $("x_scale").checked = scale === "log";
    change();
  });
  all("[role=tab]").forEach((button, k, buttons) => {
    button.addEventListener("click", () => { tab = button.dataset.tab; arrange(); change(); });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const other = buttons[(k + step + buttons.length) % buttons.length];
      other.focus();
      other.click();
    });
  });
  $("question").addEventListener("submit", (event) => event.preventDefault());
  $("reset").addEventListener("click", () => { location.search = ""; });
  $("preset").addEventListener("change", () => { if ($("preset").value) location.search = $("preset").value; });
  $("show-model").addEventListener("click", () => {
    $("model-question").textContent = $("title").textContent;
    $("model").showModal();
  });

  // ---- how the page looks: each choice has a button, and is kept by the browser ----
  const LOOKS = { theme: ["light", "dark"], large: ["no", "yes"], help: ["no", "yes"] };
  function dress(name, value) {
    root.dataset[name] = value;
    $(name).setAttribute("aria-pressed", value === LOOKS[name][1]);
  }
  for (const [name, values] of Object.entries(LOOKS)) {
    let kept = null;
    try { kept = localStorage.getItem(name); } catch { /* a private window */ }
    const dark = name === "theme" && matchMedia("(prefers-color-scheme: dark)").matches;
    dress(name, kept ?? values[Number(dark)]);
    $(name).addEventListener("click", () => {
      dress(name, values[1 - values.indexOf(root.dataset[name])]);
      try { localStorage.setItem(name, root.dataset[name]); } catch { /* a private window */ }
      if (name !== "help") change();
    });
  }
  const look = () => root.dataset.theme + (root.dataset.large === "yes" ? " large" : "");

  // A page that is left takes its processes along; one that comes back starts again.
  addEventListener("pagehide", () => say({ kind: "leave" }));
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // ---- start: Bokeh connects, then the server says what the address asked ----
  wait();
  function begin() {
    const bokeh = window.Bokeh?.documents?.[0];
    const answer = bokeh?.get_model_by_name("answer");
    if (!answer) {
      if (performance.now() > 30000) status("The server does not answer. Please reload the page.", true);
      setTimeout(begin, 15);
      return;
    }
    ask = bokeh.get_model_by_name("ask");
    answer.properties.text.change.connect(() => receive(JSON.parse(answer.text)));
    say({ kind: "hello", theme: look() });
    setInterval(watch, 2000);
  }
  async function watch() {
    try {
      await fetch("/static/js/bokeh.min.js", { method: "HEAD", cache: "no-store" });
    } catch {
      ended = true;
      pause();
      $("spinner").hidden = true;
      status("The server has ended.", true);
      return;
    }
    // Another server at the same address, or one that has forgotten this page, does not know it.
    if (ended) location.reload();
  }
  begin();
})();
