// Draws the flame graph of its page. The data are frames, each caller before its callees. A
// frame has a depth, the number of its label and its own time.

const $ = (id) => document.getElementById(id);
// The address says whether the page shows the CPU time, the wall time with the waits, or only
// the waits. To show another time, the page loads itself again.
const TIMES = ["CPU time", "wall time", "waits"];
const hasWall = $("wall").textContent !== "";
const wantedTime = () => {
    const name = new URLSearchParams(location.hash.slice(1)).get("time");
    return hasWall ? Math.max(TIMES.findIndex((each) => each.split(" ")[0] === name), 0) : 0;
};
const time = wantedTime();
const data = JSON.parse($(time ? "wall" : "data").textContent);
const { names, labels, depths } = data;
const isWait = ([name, file]) => !file && name.startsWith("(waiting");
// The time of a frame or a label that the page shows.
const shownOf = (label, own) => (TIMES[time] !== "waits" || isWait(names[label]) ? own : 0);
const selfs = data.selfs.map((own, frame) => shownOf(labels[frame], own));
const owns = data.own.map((own, label) => shownOf(label, own));
const COUNT = depths.length;
const ROW = 20; // pixels
const LISTED = 500; // most rows of the table
const graph = $("graph");
const canvas = document.querySelector("canvas");
const pen = canvas.getContext("2d");

// --- The frames ------------------------------------------------------------------

const parents = new Int32Array(COUNT);
const ends = new Int32Array(COUNT); // index after the frame's last descendant
const totals = Float64Array.from(selfs);
const lefts = new Float64Array(COUNT); // left edges, in the unit of the totals

function measure() {
    const above = []; // newest frame of each depth
    for (let i = 0; i < COUNT; i++) {
        above[depths[i]] = i;
        parents[i] = i ? above[depths[i] - 1] : 0;
        ends[i] = i + 1;
    }
    for (let i = COUNT - 1; i > 0; i--) {
        totals[parents[i]] += totals[i];
        ends[parents[i]] = Math.max(ends[parents[i]], ends[i]);
    }
    const next = new Float64Array(COUNT); // left edge of the next callee
    for (let i = 1; i < COUNT; i++) {
        lefts[i] = next[i] = next[parents[i]];
        next[parents[i]] += totals[i];
    }
}
measure();

// For each label, the time of all stacks with the label. Each stack counts once.
function wholeTimes() {
    const whole = new Array(names.length).fill(0);
    const onPath = new Int32Array(names.length);
    const path = [];
    for (let i = 0; i < COUNT; i++) {
        while (path.length > depths[i]) onPath[path.pop()]--;
        path.push(labels[i]);
        if (!onPath[labels[i]]++) whole[labels[i]] += totals[i];
    }
    return whole;
}
const wholes = TIMES[time] === "waits" ? wholeTimes() : data.whole;

const [unit, scale, digits] = data.unit;
const grouped = (number, digits) =>
    number
        .toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
        .replaceAll(",", "\u202f");
const amount = (number) => `${grouped(number * scale, digits)}\u00a0${unit}`;
const share = (part, whole) => `${(whole ? (100 * part) / whole : 0).toFixed(2)}\u00a0%`;
const place = (label) => names[label].slice(1).filter(Boolean).join(":");
const fullName = (label) => names[label][0] + (place(label) && ` (${place(label)})`);

// --- State -----------------------------------------------------------------------

let zoom = 0;
let selected = 0;
let hovered = -1;
let wrong = false; // the search text is not a regular expression
let flipped = false; // callers are drawn below callees
let lowest = 0; // depth of the lowest row
let colours, styles; // of the current theme
const hits = new Uint8Array(names.length); // 1: the search has found the label
const holds = (frame, other) => frame <= other && other < ends[frame];

// The address holds zoom and search, so that the browser's Back button undoes a change.
function writeAddress(zoom, query, replace) {
    const pairs = [["zoom", zoom], ["search", query], ["time", time && TIMES[time].split(" ")[0]]];
    const words = new URLSearchParams(pairs.filter((pair) => pair[1]));
    // In an <iframe srcdoc>, "#..." alone would be an address of the page around it.
    if (replace) history.replaceState(null, "", `${location.href.split("#")[0]}#${words}`);
    else location.hash = words;
}

function readAddress() {
    if (time !== wantedTime()) return location.reload();
    const words = new URLSearchParams(location.hash.slice(1));
    const query = words.get("search") ?? "";
    const before = zoom;
    zoom = Math.min(Math.max(Math.trunc(Number(words.get("zoom"))) || 0, 0), COUNT - 1);
    if (zoom !== before) selected = zoom || before;
    if (query !== $("search").value) $("search").value = query;
    $("back").disabled = !zoom;
    search();
    layOut(zoom !== before);
}

function zoomTo(frame) {
    writeAddress(frame, $("search").value);
    readAddress(); // now, since the hashchange event comes later
}

// --- Search ----------------------------------------------------------------------

function search() {
    const text = $("search").value;
    let said = "";
    wrong = false;
    hits.fill(0);
    try {
        const pattern = new RegExp(text, "iu");
        for (let n = 1; text && n < names.length; n++) hits[n] = pattern.test(fullName(n));
        if (text) said = matchedWords();
    } catch (error) {
        wrong = true;
        said = `That is no regular expression: ${error.message.replace(/^.*: /, "")}`;
    }
    $("matched").textContent = said;
}

// Returns the part of a frame's total whose stacks have a match. The match may be a caller
// of the frame.
function matchedIn(frame) {
    let sum = 0;
    for (let i = frame; i; i = parents[i]) if (hits[labels[i]]) return totals[frame];
    for (let i = frame, hit; i < ends[frame]; i = hit ? ends[i] : i + 1) {
        hit = hits[labels[i]];
        if (hit) sum += totals[i];
    }
    return sum;
}

function matchedWords() {
    if (!hits.includes(1)) return "Nothing matches.";
    const words = `Matched ${share(matchedIn(0), totals[0])} · ${amount(matchedIn(0))}`;
    return zoom ? `${words}, ${share(matchedIn(zoom), totals[zoom])} of the zoom` : words;
}

function toMatch(step) {
    for (let n = 1; n <= COUNT; n++) {
        const frame = (selected + step * n + COUNT) % COUNT;
        if (hits[labels[frame]]) return reveal(frame);
    }
}

// --- Drawing ---------------------------------------------------------------------

const widths = new Map(); // widths of letters, in pixels

function widthOf(letter) {
    if (!widths.has(letter)) widths.set(letter, pen.measureText(letter).width);
    return widths.get(letter);
}

function fit(text, room) {
    let used = 0;
    let end = 0; // length that fits with an ellipsis
    for (const letter of text) {
        used += widthOf(letter);
        if (used > room) return end ? `${text.slice(0, end)}…` : "";
        if (used + widthOf("…") <= room) end += letter.length;
    }
    return text;
}

const pixels = (part) => (part * graph.clientWidth) / (totals[zoom] || 1);
const top = (frame) => (flipped ? lowest - depths[frame] : depths[frame]) * ROW;

// Returns the frames to draw: the zoomed frame, its callers, and all descendants at least a
// pixel wide, down to the given depth.
function* visible(deepest) {
    for (let i = zoom; i; i = parents[i]) yield parents[i];
    for (let i = zoom, shown; i < ends[zoom]; i = shown ? i + 1 : ends[i]) {
        shown = (pixels(totals[i]) >= 1 && depths[i] <= deepest) || i === zoom;
        if (shown) yield i;
    }
}

function drawFrame(frame) {
    const label = labels[frame];
    const isCaller = frame !== zoom && holds(frame, zoom);
    const left = isCaller ? 0 : pixels(lefts[frame] - lefts[zoom]);
    const width = isCaller ? graph.clientWidth : pixels(totals[frame]);
    const y = top(frame) - graph.scrollTop;
    if (y <= -ROW || y >= graph.clientHeight) return;
    const fades = !wrong && $("search").value;
    const colour = fades ? styles.faded : colours[data.colours[label]];
    pen.globalAlpha = isCaller ? 0.6 : 1;
    pen.fillStyle = hits[label] ? styles.match : colour;
    pen.fillRect(left, y, Math.max(width - 1, 0.6), ROW - 1);
    if (width > 24) {
        pen.fillStyle = hits[label] ? styles.onMatch : styles.ink;
        const text = width > 400 ? fullName(label) : names[label][0];
        pen.fillText(fit(text, width - 9), left + 4, y + ROW / 2);
    }
    pen.globalAlpha = 1;
    if (frame === hovered || (frame === selected && frame)) {
        pen.strokeStyle = styles.ink;
        pen.lineWidth = frame === selected ? 2 : 1;
        pen.strokeRect(left + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
    }
}

function draw() {
    const { clientWidth: width, clientHeight: height } = graph;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    pen.textBaseline = "middle";
    const deepest = flipped ? lowest - graph.scrollTop / ROW : (graph.scrollTop + height) / ROW;
    for (const frame of visible(deepest)) drawFrame(frame);
}

let due = 0;
function drawSoon() {
    due ||= requestAnimationFrame(() => {
        due = 0;
        $("status").replaceChildren(...describe(hovered < 0 ? selected : hovered));
        if (!graph.hidden) draw();
    });
}

// Sets the height of the graph and the position of the zoomed frame.
function layOut(scrolls) {
    if (graph.hidden) return;
    lowest = 0;
    for (const frame of visible(Infinity)) lowest = Math.max(lowest, depths[frame]);
    const room = Math.floor(graph.clientHeight / ROW);
    $("height").style.height = `${Math.max((lowest + 1) * ROW - graph.clientHeight, 0)}px`;
    if (flipped) lowest = Math.max(lowest, room - 1); // outermost frame at the bottom
    if (scrolls) graph.scrollTop = top(zoom) - (flipped ? room - 3 : 2) * ROW;
    drawSoon();
}

function applyTheme() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    const dark = style.colorScheme === "dark";
    styles = { ink: of("ink"), match: of("match"), onMatch: of("on-match"), faded: of("faded") };
    colours = dark ? data.dark : data.light;
    $("theme").textContent = dark ? "Light" : "Dark";
    drawSoon();
}

// --- The text of a frame ---------------------------------------------------------

function element(tag, ...inside) {
    const made = document.createElement(tag);
    made.append(...inside);
    return made;
}

// Shows the name and the figures.
function describe(frame) {
    const about = Math.round((data.samples * totals[frame]) / (totals[0] || 1));
    const figures = [["total", share(totals[frame], totals[0]), amount(totals[frame])]];
    if (data.samples && !time) figures[0].push(`~${grouped(about, 0)} sample${about === 1 ? "" : "s"}`);
    figures.push(["self", share(selfs[frame], totals[0]), amount(selfs[frame])]);
    if (zoom && frame > zoom && holds(zoom, frame))
        figures.push(["of the zoom", share(totals[frame], totals[zoom])]);
    const row = ([what, ...rest]) => element("div", element("span", what), rest.join(" · "));
    return [element("b", fullName(labels[frame])), ...figures.map(row)];
}

function leave() {
    hovered = -1;
    $("tip").hidden = true;
    drawSoon();
}

function hover(event) {
    const tip = $("tip");
    leave();
    hovered = frameAt(event.offsetX, event.offsetY);
    canvas.style.cursor = hovered < 0 ? "" : "pointer";
    if (hovered < 0) return;
    tip.hidden = false;
    tip.replaceChildren(...describe(hovered));
    const { width, height } = tip.getBoundingClientRect();
    const below = event.clientY + 18 + height < innerHeight;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${below ? event.clientY + 18 : event.clientY - height - 12}px`;
}

function frameAt(x, y) {
    const row = Math.floor((y + graph.scrollTop) / ROW);
    const depth = flipped ? lowest - row : row;
    const at = lefts[zoom] + (x * totals[zoom]) / graph.clientWidth;
    let frame = zoom;
    while (depths[frame] > depth) frame = depth < 0 ? -1 : parents[frame];
    while (frame >= 0 && depths[frame] < depth) {
        let callee = frame + 1;
        while (callee < ends[frame] && lefts[callee] + totals[callee] <= at) callee = ends[callee];
        frame = callee < ends[frame] && pixels(totals[callee]) >= 1 ? callee : -1;
    }
    return frame;
}

// --- The functions ---------------------------------------------------------------

let order = "self";
const sortings = {
    self: (a, b) => owns[b] - owns[a],
    total: (a, b) => wholes[b] - wholes[a],
    name: (a, b) => names[a][0].localeCompare(names[b][0]),
    place: (a, b) => place(a).localeCompare(place(b), "en", { numeric: true }),
};

function row(label) {
    const figures = (number) => [share(number, totals[0]), amount(number)];
    const cells = [...figures(owns[label]), ...figures(wholes[label])];
    cells.push(names[label][0], place(label));
    const made = element("tr", ...cells.map((text) => element("td", text)));
    made.tabIndex = 0;
    made.onclick = () => {
        show(false);
        writeAddress(0, `^${fullName(label).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$`);
    };
    return made;
}

function fillTable() {
    const filters = !wrong && $("search").value;
    const found = [...names.keys()].filter((n) => n && (!filters || hits[n]) && wholes[n]);
    $("rows").replaceChildren(...found.sort(sortings[order]).slice(0, LISTED).map(row));
    for (const head of document.querySelectorAll("th"))
        head.ariaSort = head.dataset.key === order ? "descending" : null;
    const count = `${grouped(found.length, 0)} of ${grouped(names.length - 1, 0)} functions`;
    const more = found.length > LISTED ? `, of which the first ${LISTED} are here` : "";
    $("listed").textContent = `${count}${more}. A click searches for one in the graph.`;
}

function show(table) {
    graph.hidden = $("status").hidden = table;
    $("table").hidden = !table;
    $("tab-graph").ariaSelected = !table;
    $("tab-table").ariaSelected = table;
    if (table) fillTable();
    else layOut(false);
}

// --- The user's actions ----------------------------------------------------------

// Selects a frame and scrolls to it, with another zoom if that is needed.
function reveal(frame) {
    let to = zoom;
    while (!holds(to, frame) && !holds(frame, to)) to = parents[to];
    if (totals[frame] * graph.clientWidth < totals[to]) to = frame;
    if (to !== zoom) zoomTo(to);
    selected = frame;
    const least = top(frame) + ROW - graph.clientHeight;
    graph.scrollTop = Math.max(Math.min(graph.scrollTop, top(frame)), least);
    drawSoon();
}

function walk(key) {
    const parent = parents[selected];
    let to = selected;
    if (key === (flipped ? "ArrowDown" : "ArrowUp")) to = parent;
    else if (key === "ArrowUp" || key === "ArrowDown") to = Math.min(selected + 1, ends[selected] - 1);
    else if (key === "ArrowRight" && ends[selected] < ends[parent]) to = ends[selected];
    else if (key === "ArrowLeft") for (let i = parent + 1; i < selected; i = ends[i]) to = i;
    reveal(to);
}

// A new search replaces the previous one in the browser's history.
function typed() {
    writeAddress(zoom, $("search").value, true);
    search();
    if (graph.hidden) fillTable();
    else drawSoon();
}

function clear() {
    if (!$("search").value) return zoom ? zoomTo(0) : $("search").blur();
    $("search").value = "";
    typed();
}

function flip() {
    flipped = !flipped;
    $("direction").textContent = flipped ? "Callers above" : "Callers below";
    layOut(true);
}

// Goes to the next time, with the same search. The frames of another time have other numbers,
// so the zoom ends. readAddress() then loads the page.
function switchTime() {
    if (!hasWall) return;
    const words = new URLSearchParams();
    const next = (time + 1) % TIMES.length;
    if ($("search").value) words.set("search", $("search").value);
    if (next) words.set("time", TIMES[next].split(" ")[0]);
    location.hash = words;
}

function switchTheme() {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    applyTheme();
}

const everywhere = {
    "/": () => $("search").select(),
    Escape: clear,
    t: () => show(!graph.hidden),
    d: switchTheme,
    w: switchTime,
    "?": () => $("keys").showModal(),
};
const inGraph = {
    n: () => toMatch(1),
    N: () => toMatch(-1),
    Enter: () => zoomTo(selected),
    Backspace: () => zoom && zoomTo(parents[zoom]),
    Home: () => zoomTo(0),
    i: flip,
};

function press(event) {
    const { key, target } = event;
    const typing = target === $("search");
    const clicks = key === "Enter" && target.closest("button, th, tr");
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    if (typing && key === "Enter") graph.hidden || (graph.focus(), toMatch(1));
    else if (clicks) target.click();
    else if (typing && key !== "Escape") return;
    else if (Object.hasOwn(everywhere, key)) everywhere[key]();
    else if (!graph.hidden && key.startsWith("Arrow")) walk(key);
    else if (!graph.hidden && Object.hasOwn(inGraph, key)) inGraph[key]();
    else return;
    leave(); // hide the tooltip, so that the key's effect is visible
    event.preventDefault();
}

canvas.onmousemove = hover;
canvas.onmouseleave = leave;
canvas.onclick = (event) => {
    const frame = frameAt(event.offsetX, event.offsetY);
    if (frame >= 0) zoomTo(frame);
};
graph.onscroll = drawSoon;
onresize = () => layOut(false);
onhashchange = readAddress;
onkeydown = press;
$("search").oninput = typed;
$("back").onclick = () => zoomTo(parents[zoom]);
$("direction").onclick = flip;
$("theme").onclick = switchTheme;
$("time").onclick = switchTime;
$("time").textContent = `Show ${TIMES[(time + 1) % TIMES.length]}`;
$("time").hidden = !hasWall;
if (time) document.querySelector(".facts li").textContent = `${amount(totals[0])} of ${TIMES[time]}`;
$("help").onclick = everywhere["?"];
$("tab-graph").onclick = () => show(false);
$("tab-table").onclick = () => show(true);
for (const head of document.querySelectorAll("th")) {
    head.tabIndex = 0;
    head.onclick = () => fillTable((order = head.dataset.key));
}
matchMedia("(prefers-color-scheme: dark)").onchange = applyTheme;
document.querySelector("table").classList.add("sorts");
$("tools").hidden = false;
applyTheme();
show(false);
readAddress();
