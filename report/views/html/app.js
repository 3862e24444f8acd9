/* The page: what is selected, how it is shown, and the keys. */

const KEYS = [
	["f i s c", "flame, icicle, sandwich; changes of a comparison"],
	["/ or Ctrl-F", "search: a regular expression, any case"],
	["click, Enter", "zoom to a frame"], ["double click, x", "callers and callees of a frame's function"],
	["arrows", "walk over the frames"], ["Backspace", "zoom out one frame"],
	["Esc, 0", "leave the search; show everything again"],
	["o", "order boxes by name or by weight"], ["t", "colours: kind, object, name; of a comparison red and blue, or orange and purple, which colour-blind people tell apart"], ["w", "comparison: widths of now or before"],
	["n", "comparison: what was before scaled to the same total, or not"],
	["d", "dark or light"], ["drag over the strip", "a span of time; double click: all of it"],
	["click a thread's name", "that thread only"], ["?", "this list"],
];

class App {
	constructor(profile) {
		this.profile = profile;
		this.tree = profile.tree;
		this.colours = new Colours(profile);
		this.diff = Boolean(profile.head.diff);
		this.offCpu = profile.head.sources.some(([, off]) => off);
		this.view = "flame";
		this.thread = "all";
		this.order = "name";
		this.width = "now";
		this.scale = profile.head.diff?.normalize ? "same" : "as-is";
		this.fn = -1;
		this.matches = null;
		const byId = (id) => document.getElementById(id);
		this.on = Object.fromEntries(["title", "search", "matched", "thread", "colour", "width", "scale", "order", "reset",
			"theme", "legend", "time", "strip", "graph", "sandwich", "functions", "callers", "callees", "changes",
			"status", "tip", "help"].map((id) => [id, byId(id)]));
		this.on.helpButton = byId("help-button");
		this.on.changesButton = byId("changes-button");
		this.flame = new Flame(this.on.graph, this, true);
		this.callers = new Flame(this.on.callers, this, true);
		this.callees = new Flame(this.on.callees, this, false);
		this.table = new FunctionTable(this.on.functions, this);
		this.changes = new ChangeTable(this.on.changes, this);
		this.strip = new Strip(this.on.strip, profile, {
			changed: () => this.selected(),
			pointed: (event, slice, line) => this.overStrip(event, slice, line),
			pick: (thread) => this.setThread(thread === undefined ? "all" : `t${thread}`),
		});
		this.fillControls();
		this.listen();
	}
	/* -------- what is selected -------- */
	threadMask() {
		const { threads, sources } = this.profile.head, [kind, id] = [this.thread[0], this.thread.slice(1)];
		return Uint8Array.from(sources, ([thread]) => kind === "a" ||
			(kind === "t" ? thread === Number(id) : String(threads[thread].process) === id));
	}
	/* Adds up the cells in the selected span of time and threads. */
	select() {
		const { cells, base, head } = this.profile, { tree } = this, mask = this.threadMask();
		const { from, to } = this.strip, self = new Float64Array(tree.count);
		const off = this.offCpu ? new Float64Array(tree.count) : null;
		for (let i = 0; i < cells.count; i++) {
			const slice = cells.slice[i];
			if (slice < from)
				continue;
			if (slice >= to)
				break;
			const source = cells.source[i];
			if (!mask[source])
				continue;
			self[cells.node[i]] += cells.value[i];
			if (off && head.sources[source][1])
				off[cells.node[i]] += cells.value[i];
		}
		this.self = self;
		this.total = tree.totals(self);
		this.offSelf = off;
		this.offTotal = off && tree.totals(off);
		this.whole = this.total[0];
		if (this.diff) {
			this.baseSelf = new Float64Array(tree.count);
			for (let i = 0; i < base.count; i++)
				this.baseSelf[base.node[i]] += base.value[i];
			this.baseTotal = tree.totals(this.baseSelf);
			const before = this.baseTotal[0];
			this.baseScale = this.scale === "same" && before ? this.whole / before : 1;
		}
		this.sums = null;
	}
	functionTotals() {
		return this.sums ??= functionTotals(this.tree, this.profile.functions.count, this.self, this.total);
	}
	selected() {
		this.select();
		this.findMatches();
		this.paint();
	}
	/* -------- drawing -------- */
	paint() {
		const flat = this.view === "flame" || this.view === "icicle";
		this.on.graph.hidden = !flat;
		this.on.sandwich.hidden = this.view !== "sandwich";
		this.on.changes.hidden = this.view !== "changes";
		for (const button of document.querySelectorAll("#views button"))
			button.setAttribute("aria-pressed", button.dataset.view === this.view);
		this.legend();
		/* Before the rest, for its height decides how much room there is. */
		this.strip.draw(this.stripStyle());
		if (flat)
			this.paintFlame();
		else if (this.view === "sandwich")
			this.paintSandwich();
		else
			this.changes.show();
		this.status();
		this.changed();
	}
	paintFlame() {
		const widths = this.diff && this.width === "base" ? this.baseTotal : this.total;
		const turned = this.flame.up !== (this.view === "flame");
		this.flame.up = this.view === "flame";
		this.flame.show(this.tree, widths, this.tree.places(widths, this.order === "weight"));
		if (turned)
			this.flame.toRoot();
	}
	paintSandwich() {
		if (this.fn < 0)
			this.fn = this.table.busiest();
		this.table.show();
		const n = this.profile.functions.count;
		const beside = (now, base, off) => [now, ...(this.diff ? [base] : []), ...(off ? [off] : [])];
		const selves = beside(this.self, this.baseSelf, this.offSelf);
		const totals = beside(this.total, this.baseTotal, this.offTotal);
		this.paintPart(this.callers, callersOf(this.tree, this.fn, totals, n));
		this.paintPart(this.callees, calleesOf(this.tree, this.fn, selves, n));
		const name = cut(this.profile.name(this.fn), 200);
		document.getElementById("callers-caption").textContent = `Callers of ${name}`;
		document.getElementById("callees-caption").textContent = `What ${name} calls`;
	}
	paintPart(flame, { tree, self }) {
		const totals = self.map((values) => tree.totals(values));
		flame.totals = totals;
		flame.show(tree, totals[0], tree.places(totals[0], this.order === "weight"));
		if (tree.count > 1)
			flame.zoom = 1;
		flame.arrange(true);
	}
	status() {
		const { head } = this.profile;
		const parts = [weight(this.whole, head.unit) + (head.unit === "us" ? (this.offCpu ? " of all threads' time" : " of CPU time") : "")];
		if (!this.strip.whole) {
			const at = (slice) => (slice * head.slice_ns / 1e9).toFixed(3);
			parts.push(`from ${at(this.strip.from)} to ${at(this.strip.to)} s`);
		}
		if (this.whole !== head.total)
			parts.push(`${percent(this.whole, head.total)} of ${weight(head.total, head.unit)}`);
		if (this.diff)
			parts.push(`before${head.diff.title ? ` (${cut(head.diff.title, 60)})` : ""}: ${weight(this.baseTotal[0], head.unit)}` +
				(this.scale === "same" ? ", scaled to the same total" : ""));
		parts.push(counted(head.threads.length, "thread"), `recorded for ${(head.duration_ns / 1e9).toFixed(2)} s`);
		this.on.status.replaceChildren(parts.join(" · "));
		if (head.lost)
			this.on.status.append(" · ", element("span", `${grouped(head.lost)} samples lost`, "bad"));
		if (!head.complete)
			this.on.status.append(" · ", element("span", "the recording has no end: something may be missing", "bad"));
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
	baseOf(flame, node) {
		return (flame === this.flame ? this.baseTotal : flame.totals[1])[node] * this.baseScale;
	}
	/* What of it was waiting. */
	offOf(flame, node) {
		if (!this.offTotal)
			return 0;
		return flame === this.flame ? this.offTotal[node] : flame.totals[this.diff ? 2 : 1][node];
	}
	nowOf(flame, node) {
		return flame === this.flame ? this.total[node] : flame.total[node];
	}
	colourOfMatch() {
		return this.colours.dark ? "hsl(300 75% 70%)" : "hsl(300 85% 72%)";
	}
	colour(flame, node) {
		const fn = flame.tree.fn[node];
		if (this.matches?.[fn])
			return this.colourOfMatch();
		if (this.colours.scheme in DIFFERENCES) {
			const now = this.nowOf(flame, node), base = this.baseOf(flame, node);
			return this.colours.difference((now - base) / (Math.max(now, base) || 1));
		}
		const off = this.offOf(flame, node);
		return this.colours.of(fn, off * 2 > this.nowOf(flame, node));
	}
	hover(flame, node, event) {
		const { tip } = this.on;
		tip.hidden = node < 0;
		if (node < 0)
			return;
		tip.replaceChildren(...this.describe(flame, node));
		const place = tip.getBoundingClientRect();
		const right = event.clientX + 14 + place.width > innerWidth, low = event.clientY + 18 + place.height > innerHeight;
		tip.style.left = Math.max(2, right ? event.clientX - 10 - place.width : event.clientX + 14) + "px";
		tip.style.top = Math.max(2, low ? event.clientY - 12 - place.height : event.clientY + 18) + "px";
	}
	pointed(flame, node) {
		const place = this.on.tip;
		place.hidden = node < 0;
		if (node < 0)
			return;
		place.replaceChildren(...this.describe(flame, node));
		place.style.left = "12px";
		place.style.top = Math.max(2, innerHeight - place.getBoundingClientRect().height - 40) + "px";
	}
	describe(flame, node) {
		const { profile } = this, { head, functions, texts } = profile, { tree } = flame, fn = tree.fn[node];
		const total = this.nowOf(flame, node);
		let self = total;
		for (let c = node + 1; c < tree.end[node]; c = tree.end[c])
			self -= this.nowOf(flame, c);
		const lines = [element("b", cut(profile.name(fn), 1000))];
		const say = (text) => lines.push(element("span", text));
		if (fn >= 0) {
			const object = texts.get(functions.object[fn]), file = texts.get(functions.file[fn]);
			say([KINDS[functions.kind[fn]].name, cut(object, 200)].filter(Boolean).join(" · "));
			if (file)
				say(cut(file, 300) + (functions.line[fn] ? `:${functions.line[fn]}` : ""));
		}
		say(`total ${weight(total, head.unit)}, ${percent(total, this.whole)}` + (flame.zoom > 0
			? `, ${percent(total, this.nowOf(flame, flame.zoom))} of the zoom` : ""));
		say(`self ${weight(self, head.unit)}, ${percent(self, this.whole)}`);
		if (this.diff) {
			const base = this.baseOf(flame, node);
			say(`before ${weight(base, head.unit)}, ${base ? (total - base > 0 ? "+" : "") +
				((total - base) / base * 100).toFixed(1) + " %" : "new"}`);
		}
		return lines;
	}
	overStrip(event, slice, line) {
		const { tip } = this.on, { head } = this.profile;
		tip.hidden = !event || event.offsetX < STRIP_LABEL || line >= this.strip.rows.length;
		if (tip.hidden)
			return;
		tip.replaceChildren(element("b", cut(this.strip.labels[line], 100)),
			element("span", `${(slice * head.slice_ns / 1e9).toFixed(3)} s: ${weight(this.strip.rows[line][slice], head.unit)}`));
		tip.style.left = Math.min(event.clientX + 14, innerWidth - 220) + "px";
		tip.style.top = event.clientY + 18 + "px";
	}
	/* -------- search -------- */
	findMatches() {
		const text = this.on.search.value;
		let pattern = null;
		this.on.search.classList.remove("wrong");
		try {
			pattern = text && new RegExp(text, "i");
		} catch {
			this.on.search.classList.add("wrong");
			pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
		}
		this.matches = null;
		this.on.matched.textContent = "";
		if (!pattern)
			return;
		const n = this.profile.functions.count;
		this.matches = new Uint8Array(n);
		for (let f = 0; f < n; f++)
			this.matches[f] = pattern.test(this.profile.name(f).slice(0, 4096));
		let matched = 0;
		this.tree.outermost((f) => this.matches[f], (node) => { matched += this.total[node]; });
		this.on.matched.textContent = `matched ${percent(matched, this.whole)}`;
	}
	search(text) {
		this.on.search.value = text;
		this.findMatches();
		this.paint();
	}
	/* -------- what people do -------- */
	setView(view) {
		if (view === "changes" && !this.diff)
			return;
		this.view = view;
		this.on.tip.hidden = true;
		this.paint();
	}
	choose(fn) {
		if (fn < 0)
			return;
		this.fn = fn;
		this.setView("sandwich");
	}
	chosen(fn) {
		this.choose(fn);
	}
	goTo(node) {
		this.width = this.total[node] > 0 ? "now" : "base";
		this.on.width.value = this.width;
		this.setView(this.flame.up ? "flame" : "icicle");
		this.flame.cursor = node;
		this.flame.zoomTo(node);
	}
	setThread(thread) {
		if (![...this.on.thread.options].some((option) => option.value === thread))
			return;
		this.thread = thread;
		this.on.thread.value = thread;
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
		this.flame.zoom = 0;
		this.strip.from = 0;
		this.strip.to = this.strip.slices;
		this.selected();
	}
	legend() {
		const { profile, colours } = this, items = [];
		const item = (colour, name) => {
			const mark = element("i"), line = element("span");
			mark.style.background = colour;
			line.append(mark, name);
			items.push(line);
		};
		if (colours.scheme in DIFFERENCES) {
			item(colours.difference(1), "new or more");
			item(colours.difference(0), "the same");
			item(colours.difference(-1), "less or vanished");
		} else if (colours.scheme === "kind") {
			const used = new Set(profile.functions.kind);
			KINDS.forEach((kind, i) => {
				if (used.has(i))
					item(colours.shade(kind.hue, kind.saturation, kind.light, 0), kind.name + (i < 2 && this.offCpu ? ", on CPU" : ""));
			});
			for (const kind of this.offCpu ? [OFF_CPU, OFF_CPU_KERNEL] : [])
				item(colours.shade(kind.hue, kind.saturation, kind.light, 0), kind.name);
		}
		if (this.matches)
			item(this.colourOfMatch(), "found");
		if (profile.head.slices > 1)
			items.push(element("span", `over time: ${colours.dark ? "brighter" : "darker"} is more, drag to select a span`, "hint"));
		this.on.legend.replaceChildren(...items);
	}
	help() {
		const { head } = this.profile, list = element("dl");
		const about = [["trace", head.title], ["host", head.host], ["kernel", head.kernel], ["command", head.command],
			["compared with", head.diff?.title]].filter(([, text]) => text);
		for (const [key, text] of [...KEYS, ...about])
			list.append(element("dt", key), element("dd", cut(text, 2000)));
		this.on.help.replaceChildren(element("b", "prof: keys, and what this is"), list);
		this.on.help.hidden = !this.on.help.hidden;
	}
	/* -------- controls -------- */
	fillControls() {
		const { head } = this.profile, { on } = this;
		const option = (select, value, text) => {
			const made = element("option", cut(text, 60));
			made.value = value;
			select.append(made);
		};
		document.title = on.title.textContent = cut(head.title || "prof", 100);
		on.title.title = head.title;
		option(on.thread, "all", head.threads.length === 1 ? "The only thread" : `All ${head.threads.length} threads`);
		let process = "";
		head.threads.forEach((thread, i) => {
			const more = head.threads[i + 1]?.process === thread.process;
			if (process !== thread.process && more)
				option(on.thread, `p${thread.process}`, `Process ${thread.pid} ${thread.comm}`);
			process = thread.process;
			option(on.thread, `t${i}`, thread.label);
		});
		if (this.diff)
			for (const [key, { name }] of Object.entries(DIFFERENCES))
				option(on.colour, key, `Colours: ${name}`);
		for (const key of ["kind", "object", "name"])
			option(on.colour, key, `Colours: ${key}`);
		on.width.hidden = on.scale.hidden = on.changesButton.hidden = !this.diff;
		on.scale.value = this.scale;
		on.time.hidden = head.slices < 2;
		if (this.diff)
			this.colours.use(head.diff.safe ? "orange-purple" : "red-blue");
	}
	listen() {
		const { on } = this;
		for (const button of document.querySelectorAll("#views button"))
			button.addEventListener("click", () => this.setView(button.dataset.view));
		on.search.addEventListener("input", () => this.search(on.search.value));
		on.thread.addEventListener("change", () => this.setThread(on.thread.value));
		on.colour.addEventListener("change", () => this.setScheme(on.colour.value));
		on.width.addEventListener("change", () => { this.width = on.width.value; this.paint(); });
		on.scale.addEventListener("change", () => this.setScale(on.scale.value));
		on.order.addEventListener("change", () => { this.order = on.order.value; this.paint(); });
		on.reset.addEventListener("click", () => this.reset());
		on.theme.addEventListener("click", () => this.setDark(!this.colours.dark));
		on.helpButton.addEventListener("click", () => this.help());
		document.addEventListener("keydown", (event) => this.key(event));
		addEventListener("resize", () => this.paint());
	}
	key(event) {
		const { on } = this, find = event.key === "f" && (event.ctrlKey || event.metaKey);
		if (event.key === "Escape") {
			on.help.hidden = on.tip.hidden = true;
			if (on.search.value || document.activeElement === on.search)
				this.search("");
			else
				this.reset();
			on.search.blur();
		} else if (find || (event.key === "/" && event.target !== on.search)) {
			on.search.focus();
			on.search.select();
		} else if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select")) {
			return;
		} else if (!this.letter(event.key)) {
			return;
		}
		event.preventDefault();
	}
	letter(key) {
		const { on } = this, next = (select) => select.options[(select.selectedIndex + 1) % select.options.length].value;
		const deeds = {
			f: () => this.setView("flame"), i: () => this.setView("icicle"), s: () => this.setView("sandwich"),
			c: () => this.setView("changes"), d: () => this.setDark(!this.colours.dark), "?": () => this.help(),
			0: () => this.reset(), t: () => this.setScheme(next(on.colour)),
			o: () => { this.order = on.order.value = next(on.order); this.paint(); },
			w: () => { if (this.diff) { this.width = on.width.value = next(on.width); this.paint(); } },
			n: () => { if (this.diff) this.setScale(next(on.scale)); },
			x: () => { if (this.flame.cursor > 0) this.choose(this.tree.fn[this.flame.cursor]); },
		};
		deeds[key]?.();
		return key in deeds;
	}
	/* -------- the address: what is shown can be linked to -------- */
	changed() {
		const state = new URLSearchParams(), { strip, on } = this, put = (key, value, usual) => {
			if (value !== usual)
				state.set(key, value);
		};
		put("view", this.view, "flame");
		put("search", on.search.value, "");
		put("thread", this.thread, "all");
		put("from", strip.from, 0);
		put("to", strip.to, strip.slices);
		put("zoom", this.flame.zoom, 0);
		put("colour", this.colours.scheme, on.colour.options[0].value);
		put("order", this.order, "name");
		put("width", this.width, "now");
		put("scale", this.scale, this.profile.head.diff?.normalize ? "same" : "as-is");
		if (this.view === "sandwich")
			put("function", this.fn, -1);
		try {
			history.replaceState(null, "", "#" + state);
		} catch {
			/* A page that may not change its address works all the same. */
		}
	}
	restore() {
		const state = new URLSearchParams(location.hash.slice(1)), { strip, on } = this;
		const number = (key, low, high, usual) => {
			const value = Number(state.get(key) ?? usual);
			return Number.isInteger(value) && value >= low && value <= high ? value : usual;
		};
		const among = (select, key) => [...select.options].some((option) => option.value === state.get(key));
		const view = state.get("view");
		if (["flame", "icicle", "sandwich", "changes"].includes(view) && (view !== "changes" || this.diff))
			this.view = view;
		on.search.value = state.get("search") ?? "";
		if (among(on.thread, "thread"))
			this.thread = on.thread.value = state.get("thread");
		if (among(on.order, "order"))
			this.order = on.order.value = state.get("order");
		if (among(on.width, "width"))
			this.width = on.width.value = state.get("width");
		if (among(on.scale, "scale"))
			this.scale = on.scale.value = state.get("scale");
		if (among(on.colour, "colour"))
			this.colours.use(state.get("colour"));
		strip.from = number("from", 0, strip.slices - 1, 0);
		strip.to = number("to", strip.from + 1, strip.slices, strip.slices);
		this.fn = number("function", 0, this.profile.functions.count - 1, -1);
		const zoom = number("zoom", 0, this.tree.count - 1, 0);
		this.select();
		this.findMatches();
		this.setDark(matchMedia("(prefers-color-scheme: dark)").matches);
		if (zoom) {
			this.flame.cursor = zoom;
			this.flame.zoomTo(zoom);
		}
	}
}

async function start() {
	const began = performance.now(), data = document.getElementById("data");
	try {
		const own = location.hash.includes("inflate=own");
		const bytes = await inflated(bytesFromBase64(data.textContent), Number(data.dataset.size), own);
		data.textContent = "";
		const app = new App(readProfile(bytes));
		app.restore();
		document.documentElement.dataset.ready = Math.round(performance.now() - began);
	} catch (error) {
		document.getElementById("status").textContent = `This page cannot be shown: ${error.message}`;
		throw error;
	}
}

start();
