// The page: a question (model, facts, what is given) in, an answer shown; every settled question is a step of the
// browser's history, so that back and forward work.
import { make, nominalField, numericField } from "/assets/fields.js";
import { NOTHING, allSaid, condition, options, saying } from "/assets/options.js";

const FEW = 30; // so many features are all shown; of more, those that matter
const FOUND = 12; // so many are found without looking
const ROOM = 200; // so many fields at once
const PATIENCE = 300; // ms until a question under way gives way to a newer one, and until the page says it waits
const $ = (id) => document.getElementById(id);

let model = null; // what the server says of the chosen model
// { model, instance, begun (the instance before edits), against, states, row; and as in NOTHING what was set: within,
// only_up, only_down, near, given (the text as it was typed), frozen, costs, protected, without }
let question = null;
let kept = null; // the instance to compare with
let fields = new Map();
let answered = null; // the last answer
let stale = false; // whether that is of an earlier question, as the one asked last has no answer
let running = null; // the request under way
let turn = 0; // counts the questions, so that of those that wait only the newest is asked
let waiting = 0;
let room = ROOM; // how many fields are shown at most
let parts = new Map(); // of the answer shown: name → { html, element }
let data = null; // the table, if one was given
let largest = Infinity;
const past = [];

const say = (text) => { $("alert").textContent = text; $("alert").hidden = !text; };

const ask = async (path, options = {}) => {
  const response = await fetch(path, options);
  if (response.ok) return response;
  const fault = await response.json().catch(() => ({}));
  throw Object.assign(new Error(fault.error ?? `The server answered ${response.status}.`), { given: fault.given, features: fault.features });
};
const post = (path, body, signal) => ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
const asked = ({ model: _model, begun, row, within, given, ...rest }) => ({ ...rest, ...worlds({ within, given }) });
const worlds = ({ within, given }) => ({
  within: Object.fromEntries(Object.entries(within).map(([name, said]) => [name, condition(said)])), given: lines(given).map(({ text }) => text) });

// The constraints in a text, one a line; empty lines and comments are none.
const lines = (text) => text.split("\n").map((line, at) => ({ text: line.trim(), line: at + 1 })).filter(({ text: said }) => said && !said.startsWith("#"));

// --- the answer

// A slider asks faster than can be answered. An answer that comes soon is waited for and shown, and then the newest
// question is asked; a slow one is given up, which stops its work on the server.
const update = async ({ settled = true, remember = settled } = {}) => {
  const number = turn += 1;
  waiting ||= setTimeout(() => $("explanation").classList.add("waiting"), PATIENCE);
  while (running) {
    const before = running;
    await Promise.race([before.ended, new Promise((done) => { setTimeout(done, before.begun + PATIENCE - performance.now()); })]);
    if (number !== turn) return;
    if (running === before) { before.stop.abort(); running = null; }
  }
  const stop = new AbortController();
  const mine = running = { stop, begun: performance.now(), ended: null };
  await (mine.ended = answerTo(question, stop.signal, remember));
  if (running !== mine) return;
  running = null;
  if (number !== turn) return;
  clearTimeout(waiting);
  waiting = 0;
  $("explanation").classList.remove("waiting");
};

const answerTo = async (mine, signal, remember) => {
  let newest = false;
  try {
    const base = `/api/models/${mine.model}`;
    const [answer, comparison] = await Promise.all([
      post(`${base}/explain`, asked(mine), signal).then((response) => response.json()),
      kept && compared(base, mine, signal),
    ]);
    if (signal.aborted || mine.model !== model.id) return;
    say("");
    showStale(false);
    showFaults([], mine);
    showAtFeatures([]);
    newest = mine === question; // if not, the form shows what is asked next
    if (newest) question = { ...mine, against: answer.explanation.against }; // none, if that class is decided now
    show(answer, comparison, newest);
    performance.mark("answered");
    if (newest && remember) push();
  } catch (fault) {
    if (signal.aborted || !(newest || mine === question)) return;
    showStale(true);
    showFaults(fault.given ?? [], mine);
    showFields(); // what was typed stays
    showPossible();
    const isSeen = showAtFeatures(fault.features ?? []);
    say(fault.given || isSeen ? "" : fault.message);
  }
};

// That the one kept is impossible now is no fault of the question.
const compared = async (base, { instance, within, given }, signal) => {
  const asks = { one: kept, other: instance, ...worlds({ within, given }) };
  try { return await (await post(`${base}/compare`, asks, signal)).json(); } catch (fault) { return { fault: `The one kept cannot be compared: ${fault.message}` }; }
};

// What is shown answers the question before, as this one has no answer.
const showStale = (now) => {
  stale = now;
  $("answer").classList.toggle("stale", stale);
  for (const id of ["keep", "report", "json"]) $(id).disabled = stale;
  for (const id of ["explanation", "without", "compared"]) $(id).inert = stale;
  if (stale) write($("decision"), "No answer to this");
};

const parsed = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html; // made by the server, which escapes every text; the page's policy runs no script in it
  return template.content;
};

const show = (answer, comparison, newest) => {
  answered = answer;
  const { explanation } = answer;
  write($("decision"), explanation.against === null ? `Decision: ${explanation.decision}` : `Decision: ${explanation.decision}, not ${explanation.against}`);
  document.title = `${explanation.decision} · ${model.name} · quia`;
  if (newest) { showAgainst(explanation); $("states").checked = question.states; showFields(); showPossible(); } // before much else is to be laid out, as values force it
  showWithout(answer.without);
  showParts(answer.html);
  $("compared").hidden = !comparison;
  if (comparison) $("comparison").replaceChildren(comparison.fault ? make("p", {}, comparison.fault) : parsed(comparison.html));
};

// A text that is written anew is read aloud anew.
const write = (place, text) => { if (place.textContent !== text) place.textContent = text; };

// Only what changed is made anew, and what was unfolded, scrolled, lit or had the focus stays so.
const showParts = (given) => {
  const article = $("explanation").firstElementChild ?? $("explanation").appendChild(make("article", { class: "quia" }));
  const at = scrollY;
  const focused = article.contains(document.activeElement) && document.activeElement.matches("summary") ? partOf(document.activeElement.parentElement) : null;
  const pressed = article.querySelector('.light[aria-pressed="true"]')?.closest(".card").dataset.fs;
  const fresh = new Map();
  for (const [name, html] of inOrder(given)) {
    const before = parts.get(name);
    const element = before?.html === html ? before.element : parsed(html).firstElementChild;
    if (before?.element !== element) keepFolds(before?.element ?? element, element);
    fresh.set(name, { html, element });
  }
  arrange(article, new Set([...fresh.values()].map(({ element }) => element)));
  if (fresh.get("way")?.element !== parts.get("way")?.element) scrollDrawing(article);
  parts = fresh;
  watchVerdict(article);
  if (focused && !article.contains(document.activeElement)) article.querySelector(`details[data-part="${CSS.escape(focused)}"] > summary`)?.focus({ preventScroll: true });
  if (scrollY !== at) scrollTo(scrollX, at); // a browser may look for what had the focus and is gone
  if (pressed !== undefined && !article.querySelector('.light[aria-pressed="true"]')) article.querySelector(`.card[data-fs="${pressed}"] .light`)?.click();
};

// Whether it hangs on what is protected was asked for by hand, so it stands right below the decision.
const inOrder = (given) => {
  const { verdict, bias, ...others } = given;
  return Object.entries({ ...(verdict && { verdict }), ...(bias && { bias }), ...others });
};

// A part that was unfolded, or folded, by hand stays so in all answers while the page is open; what is folded within
// one, as long as it is in its place.
const folds = new Map(); // data-part → open
const partOf = (details) => details.dataset.part ?? null;
const opened = new WeakMap(); // how a fold was when it came, to tell what was done by hand
const keepFolds = (before, after) => {
  const inner = (element) => [...element.querySelectorAll("details:not([data-part])")];
  const earlier = inner(before);
  inner(after).forEach((details, number) => {
    opened.set(details, details.open);
    const fold = earlier[number];
    if (fold && fold.open !== (opened.get(fold) ?? fold.open)) details.open = fold.open;
  });
  for (const details of after.querySelectorAll("details[data-part]")) if (folds.has(partOf(details))) details.open = folds.get(partOf(details));
};

// What is decided stands in the bar where the sentence that says so is out of sight.
const verdictSeen = new IntersectionObserver((entries) => $("answer").classList.toggle("passed", !entries.at(-1).isIntersecting));
let verdict = null;
const watchVerdict = (article) => {
  const now = article.querySelector(".verdict h1");
  if (now === verdict) return;
  if (verdict) verdictSeen.unobserve(verdict);
  verdict = now;
  if (verdict) verdictSeen.observe(verdict);
};

// In the next frame, as the place of the drawing is known when all is laid out.
let scrolled = null;
const scrollDrawing = (article) => requestAnimationFrame(() => {
  const drawing = article.querySelector(".drawing");
  if (!drawing?.clientWidth) return; // folded
  drawing.scrollLeft = scrolled ?? drawing.dataset.root - drawing.clientWidth / 2;
  drawing.addEventListener("scroll", () => { scrolled = drawing.scrollLeft; }, { passive: true });
});

const showAgainst = (explanation) => {
  const others = model.classes.filter((name) => name !== explanation.decision);
  if ($("against").dataset.decision !== explanation.decision || $("against").options.length !== others.length + 1) $("against").replaceChildren(make("option", { value: "" }, "…"), ...others.map((name) => make("option", { value: name }, `${name}?`)));
  $("against").dataset.decision = explanation.decision;
  $("against").value = explanation.against ?? "";
};

const showWithout = (without) => {
  $("without").hidden = !without;
  if (!without) return;
  write($("without"), without.text);
  $("without").className = without.holds ? "without holds" : without.holds === null ? "without" : "without falls";
};

// --- what is possible

const showPossible = () => {
  const { given } = question;
  const said = (model.given ?? []).length + lines(given).length;
  write($("possible-count"), said ? `(${said})` : "");
  if (document.activeElement !== $("given") && $("given").value !== given) $("given").value = given;
  showSet();
};

// All that was set, each of which can be taken back.
const showSet = () => {
  const every = allSaid(question);
  const texts = every.map(({ text }) => text);
  const isBegun = JSON.stringify(settings(question)) === JSON.stringify(beginning());
  $("set").hidden = every.length === 0 && isBegun;
  $("reset").hidden = isBegun;
  if (JSON.stringify(texts) === $("chips").dataset.said) return;
  $("chips").dataset.said = JSON.stringify(texts);
  const had = $("chips").contains(document.activeElement);
  $("chips").replaceChildren(...every.map(({ text, what, name }) => {
    const button = make("button", { type: "button", "aria-label": `Take back: ${text}` }, make("bdi", {}, text), make("span", { "aria-hidden": "true" }, " ×"));
    button.addEventListener("click", () => toggle(what, name, undefined));
    return make("li", {}, button);
  }));
  if (had) ($("chips").querySelector("button") ?? $("facts-title")).focus({ preventScroll: true });
};

// What was set, of a question; and what the page began with.
const settings = (from) => Object.fromEntries(Object.entries(NOTHING).map(([name, none]) => [name, from[name] ?? none]));
const beginning = () => settings({ ...model.possible, given: (model.possible?.given ?? []).join("\n") });
const reset = async () => {
  question = { ...question, ...beginning() };
  for (const field of fields.values()) field.forget();
  $("given").value = question.given;
  await update();
  if (document.activeElement === document.body) $("facts-title").focus({ preventScroll: true }); // the button is gone
};

// What cannot be of what is said of single features, beside it; gives whether all of it is seen there.
const showAtFeatures = (faults) => {
  let seen = faults.length > 0;
  for (const [name, field] of fields) {
    const own = faults.filter(({ feature }) => feature === name);
    if (field.element ? !field.tell(own) && own.length : own.length) seen = false;
  }
  return seen;
};

const buildPossible = () => {
  const own = model.given ?? [];
  $("own-given").hidden = own.length === 0;
  $("own-given").replaceChildren(...own.map((text) => make("li", {}, make("code", {}, text), " (of the model itself)")));
  $("possible").open = own.length + (model.possible?.given ?? []).length > 0;
  $("given").value = "";
  showFaults([], { given: "" });
};

// Of each line that cannot be read what is wrong with it, below the text, which stays as it was typed.
const showFaults = (faults, { given }) => {
  const every = lines(given);
  $("given-faults").hidden = faults.length === 0;
  $("given-faults").replaceChildren(...faults.map(({ place, error }) => make("p", {}, `Line ${every[place].line}: ${error}.`)));
  if (faults.length === 0) { $("given").removeAttribute("aria-invalid"); return; }
  $("given").setAttribute("aria-invalid", "true");
  $("possible").open = true;
};

let typing = 0;
const type = (settled) => {
  clearTimeout(typing);
  if (question.given === $("given").value && !settled) return;
  if (settled && question.given === $("given").value && history.state?.question?.given === question.given) return;
  question = { ...question, given: $("given").value };
  update({ settled });
};

// --- the form

// Fields are made when they are first shown: a model may have thousands. One that was touched stays.
const showFields = () => {
  const wanted = $("filter").value.trim().toLowerCase();
  const many = fields.size > FEW && !$("all").checked;
  const matter = new Set((model.image_shape ? pictured(answered?.explanation) : answered?.mentioned) ?? []);
  const { instance, begun } = question;
  const mine = new Set(allSaid(question).map(({ name }) => name));
  const active = document.activeElement;
  const shown = new Set();
  let more = 0;
  for (const [name, field] of fields) {
    const own = mine.has(name) || instance[name] !== begun[name] || (active !== null && field.element?.contains(active));
    if (wanted ? !name.toLowerCase().includes(wanted) : !own && many && !matter.has(name)) continue;
    if (shown.size >= room && !own) { more += 1; continue; }
    field.element ?? field.build();
    field.set(stale ? undefined : answered?.explanation.states[name]);
    shown.add(field.element);
  }
  $("more").hidden = more === 0;
  $("more").textContent = `Show ${Math.min(more, ROOM)} of ${more.toLocaleString("en")} more`;
  arrange($("fields"), shown);
};

// Of an image the pixels that are marked in the picture: those of the first reason and of the nearest change.
const pictured = (explanation) => [explanation?.sufficient.reasons[0], explanation?.counterfactuals[0]].flatMap((one) => one?.features ?? []);

// Makes these the children, in their order, and moves none that is in its place, which would lose the focus.
const arrange = (parent, children) => {
  for (const child of [...parent.children]) if (!children.has(child)) child.remove();
  let place = parent.firstElementChild;
  for (const child of children) {
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
};

const build = () => {
  fields = new Map(model.variables.map((variable, number) => [variable.name, lazyField(variable, number)]));
  $("fields").replaceChildren();
  $("all-label").hidden = fields.size <= FEW;
  $("filter-label").hidden = fields.size <= FOUND;
  $("all-count").textContent = String(fields.size);
  $("filter").value = "";
  room = ROOM;
  buildPossible();
};

const lazyField = (variable, number) => {
  const { name } = variable;
  let control = null;
  let more = null;
  let last = [];
  const field = { element: null };
  field.build = () => {
    control = (variable.kind === "numeric" ? numericField : nominalField)(variable, number, edit);
    more = options(variable, number, toggle);
    field.element = make("div", { class: variable.kind === "nominal" ? "field named" : "field", role: "group", "aria-label": name },
      make("div", { class: "top" }, make("label", { class: "name", for: control.labelled }, name), more.tags, ...(control.top ? [control.top] : [])),
      make("div", { class: "control" }, ...control.parts),
      ...(variable.tested ? [] : [make("span", { class: "counts" }, "never tested by the model")]),
      more.shown);
  };
  field.set = (state) => {
    const { instance, begun, near, within, costs, ...lists } = question;
    const now = [instance[name], state, begun[name], near[name], within[name], costs[name],
      ...["frozen", "only_up", "only_down", "protected", "without"].map((what) => lists[what].includes(name))];
    if (now.every((one, at) => Object.is(one, last[at]))) return;
    last = now;
    control.set(instance[name]);
    control.place(state, instance[name]);
    field.element.classList.toggle("gone", more.set(question, state));
  };
  field.tell = (faults) => more.tell(faults);
  field.forget = () => { last = []; more?.forget(); }; // what was typed and could not be said
  return field;
};

const edit = (name, value, settled) => {
  if (settled && Object.is(question.instance[name], value) && history.state?.question?.instance?.[name] === value) return;
  question = { ...question, instance: { ...question.instance, [name]: value } };
  update({ settled });
};

// What a card says would change the decision, with the values that the server found nearest to the present ones.
const tryOut = async (button) => {
  question = { ...question, instance: { ...question.instance, ...JSON.parse(button.dataset.set) } };
  await update();
  if (document.activeElement === document.body) $("answer").focus({ preventScroll: true }); // the button is gone
};

const toggle = (what, name, value) => {
  question = saying(question, what, name, value);
  update();
};

// --- history

const push = () => {
  const state = { question, kept };
  if (JSON.stringify(history.state) === JSON.stringify(state)) return;
  history[history.state?.question ? "pushState" : "replaceState"](state, "", `${location.pathname}${question.states ? "?states" : ""}#${past.length + 1}`);
  past.unshift({ state, decision: answered.explanation.decision, text: difference(past[0]?.state.question, question) });
  past.length = Math.min(past.length, 30);
  $("history").hidden = past.length < 2;
  $("past").replaceChildren(...past.map((entry) => {
    const button = make("button", { type: "button" }, `${entry.decision} — ${entry.text}`);
    button.addEventListener("click", () => restore(entry.state, { remember: true }));
    return make("li", {}, button);
  }));
};

const difference = (before, now) => {
  if (!before || before.model !== now.model) return "begin";
  const changed = Object.keys(now.instance).filter((name) => before.instance[name] !== now.instance[name]);
  if (changed.length > 2) return now.row ? `row ${now.row}` : `${changed.length} facts changed`;
  if (changed.length) return changed.map((name) => `${name}: ${now.instance[name]}`).join(", ");
  if (before.states !== now.states) return now.states ? "in states" : "as wide as true";
  if (before.against !== now.against) return now.against === null ? "why" : `why not ${now.against}`;
  if (before.given !== now.given) return "what is possible";
  const [earlier, later] = [before, now].map((one) => allSaid({ ...NOTHING, ...one }).map(({ text }) => text));
  const added = later.filter((text) => !earlier.includes(text));
  return (added.length ? added : earlier.filter((text) => !later.includes(text)).map((text) => `no longer ${text}`)).join(", ") || "asked again";
};

const restore = async (state, { remember = false } = {}) => {
  if (!state?.question) return;
  if (state.question.model !== model?.id) await choose(state.question.model, { begin: false });
  ({ question, kept } = state);
  question = { ...NOTHING, ...question };
  question.begun ??= question.instance;
  question.states ??= false;
  if (question.row) $("row").value = question.row;
  await update({ remember });
};

// --- models and rows

// The address may ask for reasons in states, and says so where the page was asked.
const wantsStates = () => ![null, "0", "false"].includes(new URLSearchParams(location.search).get("states"));

const choose = async (id, { begin = true, described = null } = {}) => {
  try {
    model = described ?? await (await ask(`/api/models/${encodeURIComponent(id)}`)).json();
  } catch (fault) { say(fault.message); return; }
  say("");
  kept = null;
  answered = null;
  parts = new Map();
  scrolled = null;
  $("explanation").replaceChildren();
  delete $("against").dataset.decision;
  $("model").value = model.id;
  $("welcome").hidden = true;
  $("work").hidden = false;
  build();
  if (!begin) return;
  question = { model: model.id, instance: model.example, begun: model.example, against: null, states: wantsStates(), row: null, ...beginning() };
  if (data) await pick(1);
  else await update();
};

const pick = async (number) => {
  const wanted = Math.min(Math.max(1, number || 1), data.rows);
  $("row").value = wanted;
  try {
    const { rows: [row] } = await (await ask(`/api/rows?start=${wanted}&count=1`)).json();
    const known = Object.fromEntries(model.variables.filter(({ name }) => name in row).map(({ name }) => [name, row[name]]));
    const instance = { ...model.example, ...known };
    question = { ...question, instance, begun: instance, against: null, row: wanted };
    await update();
  } catch (fault) { say(fault.message); }
};

const list = (models) => {
  $("model").replaceChildren(...models.map(({ id, name }) => make("option", { value: id }, name)));
  $("model-picker").hidden = models.length < 1;
};

const drop = async (file) => {
  if (!file) return;
  if (file.size > largest) { say(`${file.name} holds ${file.size.toLocaleString("en")} bytes; at most ${largest.toLocaleString("en")} are read.`); return; }
  say(`Reading ${file.name} …`);
  try {
    const described = await (await ask(`/api/models?name=${encodeURIComponent(file.name.slice(0, 200))}`,
      { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file })).json();
    list((await (await ask("/api/models")).json()).models);
    await choose(described.id, { described });
  } catch (fault) { say(fault.message); }
};

const save = (name, blob) => {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// --- wiring

$("model").addEventListener("change", () => choose($("model").value));
$("file").addEventListener("change", () => { drop($("file").files[0]); $("file").value = ""; });
$("against").addEventListener("change", () => { question = { ...question, against: $("against").value || null }; update(); });
$("states").addEventListener("change", () => { question = { ...question, states: $("states").checked }; update(); });
$("explanation").addEventListener("click", (event) => {
  const button = event.target.closest(".try") ?? event.target.closest(".card.change")?.querySelector(".try");
  if (button) tryOut(button);
});
$("explanation").addEventListener("toggle", (event) => { // which does not bubble
  const { target } = event;
  if (partOf(target)) folds.set(partOf(target), target.open);
  if (target.open && target.querySelector(".drawing")) scrollDrawing($("explanation"));
}, { capture: true });
$("reset").addEventListener("click", reset);
$("given").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => type(false), 2 * PATIENCE); });
$("given").addEventListener("change", () => type(true));
const showFromStart = () => { room = ROOM; showFields(); };
$("filter").addEventListener("input", showFromStart);
$("all").addEventListener("change", showFromStart);
$("more").addEventListener("click", () => { room += ROOM; showFields(); });
$("row").addEventListener("change", () => pick($("row").valueAsNumber));
$("row-before").addEventListener("click", () => pick($("row").valueAsNumber - 1));
$("row-after").addEventListener("click", () => pick($("row").valueAsNumber + 1));
$("keep").addEventListener("click", () => { kept = question.instance; update(); });
$("stop").addEventListener("click", () => { kept = null; update(); });
$("json").addEventListener("click", () => save("quia-explanation.json", new Blob([JSON.stringify(answered.explanation, null, 2)], { type: "application/json" })));
$("report").addEventListener("click", async () => {
  try { save("quia-report.html", await (await post(`/api/models/${model.id}/report`, asked(question))).blob()); } catch (fault) { say(fault.message); }
});
// On a narrow screen either the answer is seen or the form.
const turnTo = (facts) => {
  document.body.classList.toggle("at-facts", facts);
  $("turn").setAttribute("aria-expanded", String(facts));
  write($("turn"), facts ? "See the answer" : "Change the facts");
  scrollTo(0, 0);
};
$("turn").addEventListener("click", () => {
  turnTo(!document.body.classList.contains("at-facts"));
  (document.body.classList.contains("at-facts") ? $("facts-title") : $("answer")).focus({ preventScroll: true });
});
document.querySelector(".skip").addEventListener("click", () => turnTo(false));
document.addEventListener("click", (event) => { if (!$("menu").contains(event.target)) $("menu").open = false; });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !$("menu").open) return;
  if ($("menu").contains(document.activeElement)) $("menu").firstElementChild.focus();
  $("menu").open = false;
});
addEventListener("popstate", (event) => restore(event.state));
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dragging"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dragging"); });
addEventListener("drop", (event) => { event.preventDefault(); document.body.classList.remove("dragging"); drop(event.dataTransfer?.files[0]); });

history.scrollRestoration = "manual"; // an answer takes the place of another, and is read on from where one was

const begin = async () => {
  const found = await (await ask("/api/models")).json();
  ({ data, largest } = found);
  list(found.models);
  if (data) {
    $("row-picker").hidden = false;
    $("row-count").textContent = `of ${data.rows.toLocaleString("en")}`;
  }
  if (found.models.some(({ id }) => id === history.state?.question?.model)) await restore(history.state);
  else if (found.models.length) await choose(found.models[0].id);
  else $("welcome").hidden = false;
};
begin().catch((fault) => say(fault.message));
