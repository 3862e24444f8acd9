/* The controls above the picture: filled from the profile, and the keys that stand for them. */

const LEGEND_OBJECTS = 8;

const KEYS = [
	["f i s", "flame, icicle, sandwich"], ["c", "changes of a comparison: by function, by call, by stack"], ["a", "source and instructions of a frame's function, where the page has them (--code)"],
	["/ or Ctrl-F", "search: a regular expression, any case"],
	["click, Enter", "zoom to a frame"], ["double click, x", "callers and callees of a frame's function"],
	["arrows", "walk over the frames, or the rows of a list; Tab goes from one to the other"], ["Backspace", "zoom out one frame"],
	["m, right click", "what can be done with a frame"],
	["e h r", "only stacks with a frame's function; without it; recursion once"], ["y Y", "copy a frame's name, or its stack"],
	["l", "long chains of calls folded, or all of them"],
	["Back, Forward", "what was shown before: the browser's own keys"],
	["Esc, 0", "leave the search; show everything again"],
	["p", "only while 1 thread of the process ran, 2, ..., where the page knows it (--value=latency, --parallelism)"],
	["o", "order boxes by name or by weight"], ["t", "colours: kind, object, name; of a comparison red and blue, or orange and purple, which colour-blind people tell apart"], ["w", "comparison: widths of now or before"],
	["n", "comparison: what was before scaled to the same total, or not"],
	["d", "dark or light"], ["drag over the strip", "a span of time; double click: all of it"],
	["click a thread's name", "that thread only"], ["?", "this list"],
];

/* So many are there with the first picture, the others a moment after it. */
const THREADS_AT_FIRST = 50, THREADS_AFTER_MS = 200;

function addOption(select, value, text) {
	const made = element("option", cut(text, 60));
	made.value = value;
	select.append(made);
}

class Controls {
	constructor(app) {
		this.app = app;
		this.on = app.on;
	}
	fill() {
		const { app, on } = this, { head } = app.profile, { diff } = app.weights;
		document.title = on.title.textContent = cut(head.title || "prof", 100);
		on.title.title = head.title;
		addOption(on.thread, "all", head.threads.length === 1 ? `The only ${head.threadsAre}` : `All ${head.threads.length} ${head.threadsAre}s`);
		this.threads = this.listThreads();
		this.addThreads(THREADS_AT_FIRST);
		const { running } = app.weights;
		addOption(on.running, "all", "Any number of threads");
		for (const range of running.ranges)
			addOption(on.running, range.value, `${percent(range.time, running.time)}  ${running.text(range)}`);
		on.running.hidden = !running.any;
		if (diff)
			for (const [key, { name }] of Object.entries(DIFFERENCES))
				addOption(on.colour, key, `Colours: ${name}`);
		for (const key of ["kind", "object", "name"])
			addOption(on.colour, key, `Colours: ${key}`);
		on.width.hidden = on.scale.hidden = on.changesButton.hidden = !diff;
		on.codeButton.hidden = !app.code.any;
		on.scale.value = app.scale;
		on.time.hidden = head.slices < 2;
	}
	/* Processes of several threads and threads, those with the largest shares first. */
	listThreads() {
		const { head } = this.app.profile, sums = threadSums(this.app.profile), processes = new Map(), list = [];
		head.threads.forEach((thread, i) => {
			const one = processes.get(thread.process) ?? { sum: 0, count: 0, thread };
			one.sum += sums[i];
			one.count++;
			processes.set(thread.process, one);
			list.push({ value: `t${i}`, text: thread.label, sum: sums[i] });
		});
		for (const [process, { sum, count, thread }] of processes)
			if (count > 1)
				list.push({ value: `p${process}`, text: `Process ${thread.pid} ${thread.comm}`, sum });
		return list.sort((a, b) => b.sum - a.sum);
	}
	/* The next ones of the list; all of thousands take longer to lay out than the picture. */
	addThreads(count = Infinity) {
		for (const { value, text, sum } of this.threads.splice(0, count))
			addOption(this.on.thread, value, `${percent(sum, this.app.profile.head.total)}  ${text}`);
	}
	listen() {
		const { app, on } = this;
		for (const button of document.querySelectorAll("#views button"))
			button.addEventListener("click", () => app.setView(button.dataset.view));
		on.search.addEventListener("input", () => app.search(on.search.value));
		/* A letter typed after a choice is a key of the page, not the next choice. */
		for (const select of [on.thread, on.running, on.colour, on.width, on.scale, on.order])
			select.addEventListener("change", () => app.focus());
		on.thread.addEventListener("change", () => app.setThread(on.thread.value));
		on.running.addEventListener("change", () => app.setRunning(on.running.value));
		on.colour.addEventListener("change", () => app.setScheme(on.colour.value));
		on.width.addEventListener("change", () => { app.width = on.width.value; app.paint(); });
		on.scale.addEventListener("change", () => app.setScale(on.scale.value));
		on.order.addEventListener("change", () => { app.order = on.order.value; app.paint(); });
		on.reset.addEventListener("click", () => app.reset());
		on.theme.addEventListener("click", () => app.setDark(!app.colours.dark));
		on.helpButton.addEventListener("click", () => this.help());
		document.addEventListener("keydown", (event) => this.key(event));
		addEventListener("resize", () => app.paint());
		addEventListener("popstate", () => app.address.goBack());
	}
	key(event) {
		const { app, on } = this, find = event.key === "f" && (event.ctrlKey || event.metaKey);
		if (event.key === "Escape" && !on.help.hidden) {
			this.help();
		} else if (event.key === "Escape") {
			on.tip.hidden = true;
			app.menu.hide();
			if (on.search.value || document.activeElement === on.search)
				app.search("");
			else
				app.reset();
			app.focus();
		} else if (event.key === "Enter" && event.target === on.search) {
			if (app.view === "sandwich")
				app.choose(app.table.first);
			app.focus();
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
		const { app, on } = this, next = (select) => select.options[(select.selectedIndex + 1) % select.options.length].value;
		const deeds = {
			f: () => app.setView("flame"), i: () => app.setView("icicle"), s: () => app.setView("sandwich"),
			c: () => app.changes.turn(), d: () => app.setDark(!app.colours.dark), "?": () => this.help(),
			0: () => app.reset(), t: () => app.setScheme(next(on.colour)),
			o: () => { app.order = on.order.value = next(on.order); app.paint(); },
			w: () => { if (app.weights.diff) { app.width = on.width.value = next(on.width); app.paint(); } },
			n: () => { if (app.weights.diff) app.setScale(next(on.scale)); },
			p: () => { if (app.weights.running.any) app.setRunning(next(on.running)); },
			m: () => this.menu(), l: () => app.toggleChains(),
			e: () => app.focusOn(app.pointedFunction()), h: () => app.hide(app.pointedFunction()), r: () => app.toggleRecursion(),
			y: () => { if (app.pointedFunction() >= 0) app.copy(app.profile.name(app.pointedFunction())); },
			Y: () => { const frame = app.pointedFrame(); if (frame) app.copy(app.stackOf(frame.flame, frame.node)); },
			a: () => app.showCode(app.pointedFunction()),
			x: () => app.choose(app.pointedFunction()),
		};
		deeds[key]?.();
		return key in deeds;
	}
	/* Beside the frame that the keyboard has gone to, or for the chosen function. */
	menu() {
		const { app } = this, frame = app.pointedFrame(), fn = app.pointedFunction();
		if (fn < 0)
			return;
		app.tip.hide();
		const place = (frame?.flame.scroller ?? this.on.functions).getBoundingClientRect();
		const box = frame?.flame.boxes.find(({ node }) => node === frame.node);
		const y = box ? frame.flame.top(box.row) - frame.flame.scroller.scrollTop + ROW : 40;
		app.menu.show(frame ?? { fn }, place.left + (box?.x ?? 20) + 10, place.top + y);
	}
	legend() {
		const { profile, colours, weights, matches } = this.app, items = [];
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
			const used = new Set(profile.functions.kind), names = profile.head.kinds.filter((_, i) => used.has(i));
			const kind = ({ hue, saturation, light }, name) => item(colours.shade(hue, saturation, light, 0), name);
			/* Commands, wakers and the like have one colour in all states. */
			for (const name of names.filter((name) => !(name in OFF_CPU)))
				kind(KINDS[name], name);
			for (const state of weights.states) {
				if (weights.waits.length)
					items.push(element("b", STATES[state].name));
				for (const name of names.filter((name) => name in OFF_CPU))
					kind(STATES[state].kinds[name], name);
			}
		}
		if (colours.scheme === "object")
			for (const [object, share] of this.objects())
				item(colours.ofObject(object), `${cut(profile.texts.get(object) || "no object", 40)} ${percent(share, weights.whole)}`);
		for (const [text, undo] of this.app.shape.parts()) {
			const button = element("button", `${cut(text, 60)} ✕`);
			button.title = `${cut(text, 500)}: a click takes it back`;
			button.addEventListener("click", () => {
				this.app.reshape(undo);
				this.app.focus();
			});
			items.unshift(button);
		}
		if (matches)
			item(this.app.colourOfMatch(), "found");
		if (profile.head.slices > 1)
			items.push(element("span", `over time: ${colours.dark ? "brighter" : "darker"} is more, drag to select a span`, "hint"));
		this.on.legend.replaceChildren(...items);
	}
	/* The objects with the largest shares of their own, as [text, weight]. */
	objects() {
		const { profile, weights } = this.app, { functions } = profile, { self } = weights.functions(), sums = new Map();
		for (let f = 0; f < functions.count; f++)
			sums.set(functions.object[f], (sums.get(functions.object[f]) ?? 0) + self[f]);
		return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]).slice(0, LEGEND_OBJECTS);
	}
	help() {
		const { head } = this.app.profile, list = element("dl");
		const about = [["trace", head.title], ["host", head.host], ["kernel", head.kernel], ["command", head.command],
			["compared with", head.diff?.title]].filter(([, text]) => text);
		for (const [key, text] of [...KEYS, ...about])
			list.append(element("dt", key), element("dd", cut(text, 2000)));
		this.on.help.replaceChildren(element("b", "prof: keys, and what this is"), list);
		this.on.help.hidden = !this.on.help.hidden;
		if (this.on.help.hidden)
			this.app.focus();
		else
			this.on.help.focus({ focusVisible: false });
	}
}
