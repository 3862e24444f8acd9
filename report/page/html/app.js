/* The page: holds its parts together, and paints what is selected the way that is asked for. */

/* By more than a tenth. */
function lengthsDiffer(a, b) {
	return Math.abs(a - b) > Math.max(a, b) / 10;
}

const OF_THE_WHOLE = "; all threads, all of the time, all stacks";

class App {
	constructor(profile) {
		this.profile = profile;
		this.shape = new Shape(profile);
		this.colours = new Colours(profile);
		this.weights = new Weights(profile, this.shape);
		this.view = "flame";
		this.thread = this.running = "all";
		this.order = "name";
		this.width = "now";
		this.scale = this.usualScale = profile.head.diff?.normalize ? "same" : "as-is";
		this.fn = -1;
		this.matches = null;
		const byId = (id) => document.getElementById(id);
		this.on = Object.fromEntries(["title", "search", "matched", "thread", "running", "colour", "width", "scale", "order", "reset",
			"theme", "legend", "time", "strip", "graph", "sandwich", "functions", "callers", "callees", "changes", "code",
			"status", "tip", "menu", "help"].map((id) => [id, byId(id)]));
		this.on.helpButton = byId("help-button");
		this.on.changesButton = byId("changes-button");
		this.on.codeButton = byId("code-button");
		this.flame = new Flame(this.on.graph, this, { up: true, bare: false });
		this.callers = new Flame(this.on.callers, this, { up: true, bare: true });
		this.callees = new Flame(this.on.callees, this, { up: false, bare: true });
		this.table = new FunctionTable(this.on.functions, this);
		this.changes = new Changes(this.on.changes, this);
		this.code = new Code(this.on.code, this);
		this.strip = new Strip(this.on.strip, profile, {
			changed: (repeats) => {
				this.address.repeats = repeats;
				this.selected();
			},
			dropped: () => this.address.save(),
			pointed: (event, slice, line) => this.tip.overStrip(this.strip, event, slice, line),
			pick: (thread) => this.setThread(thread === undefined ? "all" : `t${thread}`),
		});
		this.tip = new Tip(this.on.tip, this);
		this.menu = new Menu(this.on.menu, this);
		this.lists = new Lists([this.on.functions, this.on.changes, this.on.code], this);
		this.address = new Address(this);
		this.controls = new Controls(this);
		this.controls.fill();
		this.controls.listen();
	}
	get tree() {
		return this.shape.tree;
	}
	/* Counts what is selected again, and what of it was searched for. */
	recount() {
		const { from, to } = this.strip;
		this.weights.select({ from, to, thread: this.thread, running: this.running, scale: this.scale });
		this.findMatches();
	}
	selected() {
		this.recount();
		this.paint();
	}
	/* Whether less than all of the recording is shown, of which the statistics of a comparison are. */
	partial() {
		return this.thread !== "all" || !this.strip.whole || this.shape.nodeOf !== null;
	}
	/* -------- drawing -------- */
	paint() {
		const flat = this.view === "flame" || this.view === "icicle";
		this.on.graph.hidden = !flat;
		this.on.sandwich.hidden = this.view !== "sandwich";
		this.on.changes.hidden = this.view !== "changes";
		this.on.code.hidden = this.view !== "code";
		for (const button of document.querySelectorAll("#views button"))
			button.setAttribute("aria-pressed", button.dataset.view === this.view);
		this.menu.hide();
		this.controls.legend();
		/* First, because what is drawn after it takes the height that it leaves. */
		this.strip.draw(this.stripStyle());
		if (flat)
			this.paintFlame();
		else if (this.view === "sandwich")
			this.paintSandwich();
		else if (this.view === "code")
			this.paintCode();
		else
			this.changes.show();
		this.status();
		this.address.save();
	}
	paintFlame() {
		const { diff, baseTotal, total } = this.weights, widths = diff && this.width === "base" ? baseTotal : total;
		const turned = this.flame.up !== (this.view === "flame");
		this.flame.up = this.view === "flame";
		this.flame.show(this.tree, widths, this.order === "weight");
		if (turned)
			this.flame.toRoot();
		/* A page that has just been opened stands there already. */
		if (this.zoomNext < this.tree.count && (this.zoomNext || this.flame.zoom || this.flame.cursor >= 0)) {
			this.flame.cursor = this.zoomNext || -1;
			this.flame.zoom = this.zoomNext;
			this.flame.arrange(false);
			this.flame.reveal(this.zoomNext);
		}
		this.zoomNext = undefined;
	}
	paintSandwich() {
		if (this.fn < 0)
			this.fn = this.table.busiest();
		this.table.show();
		const n = this.profile.functions.count;
		const { weights } = this, beside = (now, base, waits) => [now, ...(weights.diff ? [base] : []), ...waits];
		const selves = beside(weights.self, weights.baseSelf, weights.waitSelf);
		const totals = beside(weights.total, weights.baseTotal, weights.waitTotal);
		this.paintPart(this.callers, callersOf(this.tree, this.fn, totals, n));
		this.paintPart(this.callees, calleesOf(this.tree, this.fn, selves, n));
		const name = cut(this.profile.name(this.fn), 200);
		const words = weights.diff ? this.changes.functions.words(this.fn) + (this.partial() ? OF_THE_WHOLE : "") : "";
		document.getElementById("callers-caption").textContent = `Callers of ${name}` + (words && ` · ${words}`);
		document.getElementById("callees-caption").textContent = `What ${name} calls`;
	}
	paintCode() {
		if (this.fn < 0)
			this.fn = this.code.functionOf(0);
		this.code.show();
	}
	paintPart(flame, { tree, self }) {
		const totals = self.map((values) => tree.totals(values));
		flame.totals = totals;
		/* By name, those of a function that is called from everywhere are a comb. */
		flame.show(tree, totals[0], true);
		if (tree.count > 1)
			flame.zoom = 1;
		flame.arrange(true);
	}
	status() {
		const { head } = this.profile, { whole, waits, diff, baseTotal } = this.weights;
		const time = head.latency ? " of latency" : waits.length ? " of all threads' time" : " of CPU time";
		const parts = [withTime(whole, head) + (head.unit === "us" ? time : "")];
		if (!this.strip.whole) {
			const at = (slice) => (slice * head.slice_ns / 1e9).toFixed(3);
			parts.push(`from ${at(this.strip.from)} to ${at(this.strip.to)} s`);
		}
		const range = this.weights.running.ranges.find(({ value }) => value === this.running);
		if (range)
			parts.push(`while ${this.weights.running.text(range)}`);
		if (whole !== head.total)
			parts.push(`${percent(whole, head.total)} of ${weight(head.total, head.unit)}`);
		if (diff)
			parts.push(`before${head.diff.title ? ` (${cut(head.diff.title, 60)})` : ""}: ${weight(baseTotal[0], head.unit)}` +
				(this.scale === "same" ? ", scaled to the same total" : this.runsDiffer()));
		parts.push(counted(head.threads.length, head.threadsAre), `recorded for ${(head.duration_ns / 1e9).toFixed(2)} s`);
		this.on.status.replaceChildren(parts.join(" · "));
		/* All boxes of a longer recording have grown. */
		if (diff && this.scale !== "same" && lengthsDiffer(head.duration_ns, head.diff.duration_ns))
			this.on.status.append(" · ", element("span", `before: recorded for ${(head.diff.duration_ns / 1e9).toFixed(2)} s; ` +
				"key n compares shares of the total", "bad"));
		if (head.lost)
			this.on.status.append(" · ", element("span", `${counted(head.lost, "sample")} lost`, "bad"));
		if (!head.complete)
			this.on.status.append(" · ", element("span", "the recording has no end: something may be missing", "bad"));
	}
	/* Boxes show as many runs before as there are now. */
	runsDiffer() {
		const { runs } = this.profile.changes[this.scale].head;
		return runs[0] === runs[1] ? "" : `, ${counted(runs[0], "run")} scaled to ${runs[1]}`;
	}
	stripStyle() {
		const dark = this.colours.dark;
		return { dark, text: this.style("--text"), dim: this.style("--dim"), accent: this.style("--accent"),
			bad: this.style("--bad"), veil: dark ? "#15181cb0" : "#ffffffb0" };
	}
	style(name) {
		return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	}
	/* -------- what the flames ask for -------- */
	name(fn) {
		return this.profile.name(fn);
	}
	hover(flame, node, event) {
		this.tip.hover(flame, node, event);
	}
	pointed(flame, node) {
		this.tip.pointed(flame, node);
	}
	menuFor(flame, node, x, y) {
		if (flame.chains.has(node))
			return flame.zoomTo(node);
		this.tip.hide();
		this.menu.show({ fn: flame.tree.fn[node], flame, node }, x, y);
	}
	changed() {
		this.address.save();
	}
	baseOf(flame, node) {
		return (flame === this.flame ? this.weights.baseTotal : flame.totals[1])[node] * this.weights.baseScale;
	}
	/* What of it each of the states has that the page has, as [state, weight]. */
	statesOf(flame, node) {
		const { states, waits, waitTotal, diff } = this.weights;
		const totals = flame === this.flame ? waitTotal : flame.totals.slice(diff ? 2 : 1), parts = waits.map((_, i) => totals[i][node]);
		const rest = this.nowOf(flame, node) - parts.reduce((sum, part) => sum + part, 0);
		return states.map((state) => [state, state ? parts[waits.indexOf(state)] : rest]);
	}
	nowOf(flame, node) {
		return flame === this.flame ? this.weights.total[node] : flame.total[node];
	}
	colourOfMatch() {
		return this.colours.dark ? "hsl(300 75% 70%)" : "hsl(300 85% 72%)";
	}
	colour(flame, node) {
		const fn = flame.tree.fn[node];
		if (this.matches && (flame.chains.get(node) ?? [node]).some((n) => this.matches[flame.tree.fn[n]]))
			return this.colourOfMatch();
		if (this.colours.scheme in DIFFERENCES) {
			const now = this.nowOf(flame, node), base = this.baseOf(flame, node);
			return this.colours.difference((now - base) / (Math.max(now, base) || 1));
		}
		const [[state]] = this.weights.waits.length ? this.statesOf(flame, node).sort((a, b) => b[1] - a[1]) : [[0]];
		return this.colours.of(fn, state);
	}
	/* -------- search -------- */
	findMatches() {
		const text = this.on.search.value;
		let pattern = null, wrong = "";
		this.on.search.classList.remove("wrong");
		try {
			pattern = text && new RegExp(text, "i");
		} catch {
			this.on.search.classList.add("wrong");
			wrong = "not a regular expression, taken as text: ";
			pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
		}
		this.pattern = pattern;
		this.matches = null;
		this.on.matched.textContent = "";
		if (!pattern)
			return;
		const n = this.profile.functions.count;
		this.matches = new Uint8Array(n);
		for (let f = 0; f < n; f++)
			this.matches[f] = pattern.test(this.profile.name(f).slice(0, 4096));
		let matched = 0;
		this.tree.outermost((f) => this.matches[f], (node) => { matched += this.weights.total[node]; });
		this.on.matched.textContent = `${wrong}matched ${percent(matched, this.weights.whole)}`;
	}
	search(text) {
		this.on.search.value = text;
		this.findMatches();
		this.paint();
	}
	/* -------- what people do -------- */
	setView(view) {
		if (!this.has(view))
			return;
		this.view = view;
		this.tip.hide();
		this.paint();
		this.focus();
	}
	/* Whether the page has such a view. */
	has(view) {
		return ["flame", "icicle", "sandwich"].includes(view) || (view === "changes" && this.weights.diff) ||
			(view === "code" && this.code.any);
	}
	/* Where the arrow keys are heard: the picture, or the list. */
	focus() {
		const code = this.on.code.querySelector(".lines");
		const changes = this.on.changes.querySelector(".list");
		const place = { sandwich: this.on.callers, changes, code }[this.view] ?? this.on.graph;
		place.focus({ preventScroll: true, focusVisible: false });
	}
	/* The picture and node that the keyboard has gone to. */
	pointedFrame() {
		const flat = this.view === "flame" || this.view === "icicle";
		const flame = flat ? this.flame : this.view === "sandwich" &&
			[this.callers, this.callees].find(({ scroller }) => scroller === document.activeElement);
		return flame && flame.cursor > 0 && !flame.chains.has(flame.cursor) ? { flame, node: flame.cursor, fn: flame.tree.fn[flame.cursor] } : null;
	}
	/* Its function or that of the row that the keyboard has gone to, or else the chosen one. */
	pointedFunction() {
		const line = this.lists.at();
		if (line)
			return this.functionOf(line.dataset);
		const flat = this.view === "flame" || this.view === "icicle";
		return this.pointedFrame()?.fn ?? (flat ? -1 : this.fn);
	}
	/* Of a list's row. */
	functionOf({ fn, row, node }) {
		return fn !== undefined ? Number(fn) : row !== undefined ? this.changes.functions.functionOf(Number(row)) : this.tree.fn[Number(node)];
	}
	choose(fn) {
		if (fn < 0)
			return;
		this.fn = fn;
		this.setView("sandwich");
	}
	showCode(fn) {
		if (!this.code.any || fn < 0)
			return;
		this.fn = fn;
		this.setView("code");
	}
	/* -------- what of the stacks is shown -------- */
	reshape(change) {
		change(this.shape);
		this.shape.build();
		this.flame.zoom = 0; /* a node of another tree */
		this.flame.cursor = -1;
		this.zoomNext = undefined;
		this.selected();
	}
	focusOn(fn) {
		if (fn >= 0)
			this.reshape((shape) => { shape.focus = fn; });
	}
	hide(fn) {
		if (fn >= 0)
			this.reshape((shape) => { shape.hidden.add(fn); });
	}
	toggleRecursion() {
		this.reshape((shape) => { shape.once = !shape.once; });
	}
	toggleChains() {
		for (const flame of [this.flame, this.callers, this.callees]) {
			flame.folding = !flame.folding;
			flame.open.clear();
		}
		this.paint();
	}
	/* Outermost first, as in folded stacks. */
	stackOf(flame, node) {
		const names = [];
		for (let n = node; n > 0; n = flame.tree.parent[n])
			names.push(this.profile.name(flame.tree.fn[n]));
		return (flame === this.callers ? names : names.reverse()).join(";");
	}
	async copy(text) {
		let done = true;
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			/* Not every browser lets a page from a file do that. */
			const area = document.body.appendChild(element("textarea", text));
			area.select();
			done = document.execCommand("copy");
			area.remove();
			this.focus();
		}
		this.on.status.textContent = done ? `copied: ${cut(text, 300)}` : "the browser does not let this page copy";
	}
	chosen(fn) {
		this.choose(fn);
	}
	goTo(node) {
		this.width = this.weights.total[node] > 0 ? "now" : "base";
		this.on.width.value = this.width;
		this.setView(this.flame.up ? "flame" : "icicle");
		this.flame.cursor = node;
		this.flame.zoomTo(node);
	}
	setThread(thread) {
		this.controls.addThreads();
		if (![...this.on.thread.options].some((option) => option.value === thread))
			return;
		this.thread = thread;
		this.on.thread.value = thread;
		this.selected();
	}
	setRunning(running) {
		this.running = this.on.running.value = running;
		this.selected();
	}
	setScheme(scheme) {
		if (![...this.on.colour.options].some((option) => option.value === scheme))
			return;
		this.colours.use(scheme);
		this.on.colour.value = scheme;
		this.paint();
	}
	setScale(scale) {
		this.scale = this.on.scale.value = scale;
		this.selected();
	}
	setDark(dark) {
		document.documentElement.classList.toggle("dark", dark);
		this.colours.dark = dark;
		this.on.theme.textContent = dark ? "Light" : "Dark";
		this.setScheme(this.colours.scheme);
	}
	reset() {
		this.on.search.value = "";
		this.thread = this.on.thread.value = "all";
		this.running = this.on.running.value = "all";
		this.flame.zoom = 0;
		this.zoomNext = undefined;
		this.shape.clear();
		this.strip.from = 0;
		this.strip.to = this.strip.slices;
		this.selected();
	}
}

async function start() {
	const began = performance.now(), data = document.getElementById("data");
	try {
		const bytes = await inflated(bytesFromBase64(data.textContent));
		data.textContent = "";
		const app = new App(readProfile(bytes));
		app.address.restore();
		app.setDark(matchMedia("(prefers-color-scheme: dark)").matches);
		app.focus();
		document.documentElement.dataset.ready = Math.round(performance.now() - began);
		setTimeout(() => app.controls.addThreads(), THREADS_AFTER_MS);
	} catch (error) {
		document.getElementById("status").textContent = `This page cannot be shown: ${error.message}`;
		throw error;
	}
}

start();
