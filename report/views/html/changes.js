/*
 * What changed in a comparison: by function, with the statistics that report/views/change.c made,
 * or by stack.
 */

/* The bits of enum html_change_flag. */
const WAS = 1, IS = 2, SURE = { self: 4, total: 8 };

class FunctionChanges {
	constructor(app) {
		this.app = app;
	}
	/* As they are, or by shares of the total. */
	get list() {
		return this.app.profile.changes[this.app.scale];
	}
	digits() {
		return this.list.head.unit === "s" ? 3 : 0;
	}
	sure(i, side) {
		return Boolean(this.list.flags[i] & SURE[side]);
	}
	/* A function's row; -1: none. */
	rowOf(fn) {
		return fn < 0 ? -1 : this.list.rowOf[fn] - 1;
	}
	/* Of the functions that are one row, the one that takes most. */
	functionOf(i) {
		const { rowOf } = this.list, { weights } = this.app;
		const now = weights.functions().total, before = weights.baseFunctions().total;
		let best = -1;
		for (let f = 0; f < rowOf.length; f++)
			if (rowOf[f] === i + 1 && (best < 0 || now[f] + before[f] > now[best] + before[best]))
				best = f;
		return best;
	}
	changeOf(fn, side) {
		const i = this.rowOf(fn);
		return i < 0 ? undefined : this.list[side].now[i] - this.list[side].before[i];
	}
	interval(i, side) {
		const { low, high } = this.list[side], digits = this.digits();
		return Number.isNaN(low[i]) ? "" : `[${signed(low[i], digits)}, ${signed(high[i], digits)}]`;
	}
	chance(i, side) {
		const p = this.list[side].p[i];
		return Number.isNaN(p) ? "" : p < 0.00001 ? "<0.00001" : p.toFixed(5);
	}
	state(i) {
		const flags = this.list.flags[i];
		return !(flags & WAS) ? "new" : !(flags & IS) ? "vanished" : "";
	}
	/* The change, with a star and in colour where it is sure. */
	fill(i, side, cell) {
		const { before, now } = this.list[side], change = now[i] - before[i], sure = this.sure(i, side);
		cell.textContent = signed(change, this.digits()) + (sure ? "*" : "\u2007");
		cell.style.color = sure ? this.app.colours.textOfChange(change) : "";
		cell.classList.toggle("sure", sure);
	}
	fillChange(fn, side, cell) {
		const i = this.rowOf(fn);
		if (i >= 0)
			this.fill(i, side, cell);
	}
	/* All that is known of one function, in words. */
	words(fn) {
		const i = this.rowOf(fn), digits = this.digits(), { unit } = this.list.head;
		if (i < 0)
			return "";
		return ["self", "total"].map((side) => {
			const { before, now } = this.list[side], interval = this.interval(i, side), chance = this.chance(i, side);
			return `${side} ${before[i].toFixed(digits)} → ${now[i].toFixed(digits)} ${unit}: ` +
				signed(now[i] - before[i], digits) + (interval && ` ${interval}`) +
				(chance && `, p ${chance}`) + (this.sure(i, side) ? "*" : "");
		}).join(" · ");
	}
	about() {
		const { head, flags } = this.list, { app } = this, digits = this.digits();
		const runs = (side) => `${counted(head.runs[side], "run")} of ${head.totals[side].toFixed(digits)} ${head.unit}`;
		const sure = flags.reduce((sum, bits) => sum + (bits & (SURE.self | SURE.total) ? 1 : 0), 0);
		const chance = !head.noise ? "how far such values vary by chance is known from several runs only"
			: `${grouped(sure)} surely changed (*: more than ${head.runs[0] + head.runs[1] > 2 ? "the runs vary by chance"
				: "sampling noise; how far runs vary is known from several only"}, p < ${head.alpha} for all rows together)`;
		return `before: ${runs(0)}${app.scale === "same" ? " (scaled)" : ""}; now: ${runs(1)}; ${chance}` +
			(app.partial() ? OF_THE_WHOLE : "");
	}
	show(host) {
		const { app, list } = this, { texts } = app.profile, table = element("table", undefined, "by-function");
		const wanted = [];
		for (let i = 0; i < list.count; i++)
			if (!app.pattern || app.pattern.test(texts.get(list.name[i]).slice(0, 4096)))
				wanted.push(i);
		const body = element("tbody");
		for (const i of wanted.slice(0, TABLE_ROWS))
			body.append(this.line(i));
		if (wanted.length > TABLE_ROWS)
			body.append(moreRows(wanted.length - TABLE_ROWS, 11));
		body.addEventListener("click", (event) => {
			const line = event.target.closest("tr[data-row]");
			if (line)
				app.choose(this.functionOf(Number(line.dataset.row)));
		});
		table.append(this.heading(), body);
		host.replaceChildren(element("div", this.about(), "caption"), table);
	}
	heading() {
		const head = element("thead"), line = element("tr");
		for (const side of ["self", "total"])
			for (const [name, kind] of [["before", "value"], ["now", "value"], ["change", ""], ["95 % interval", "interval"], ["p", "chance"]])
				line.append(element("th", kind === "chance" || kind === "interval" ? name : `${side} ${name}`, `number ${kind} of-${side}`));
		line.append(element("th", "function", "name"));
		head.append(line);
		return head;
	}
	line(i) {
		const { app, list } = this, { texts } = app.profile, line = element("tr"), digits = this.digits();
		for (const side of ["self", "total"]) {
			const add = (text, kind) => line.appendChild(element("td", text, `number ${kind} of-${side}`));
			add(list[side].before[i].toFixed(digits), "value");
			add(list[side].now[i].toFixed(digits), "value");
			this.fill(i, side, add("", "change"));
			add(this.interval(i, side), "interval");
			add(this.chance(i, side), "chance");
		}
		const name = texts.get(list.name[i]), state = this.state(i);
		line.append(element("td", (state && `(${state}) `) + name, "name"));
		line.dataset.row = i;
		line.title = `${cut(name, 500)}\n${cut(texts.get(list.object[i]), 200)}`;
		return line;
	}
}

/* Both, and the buttons that choose between them. */
class Changes {
	constructor(host, app) {
		this.host = host;
		this.app = app;
		this.by = "function";
		this.functions = new FunctionChanges(app);
		this.stacks = new StackChanges(app);
	}
	show() {
		const choice = element("div", undefined, "choice"), list = element("div", undefined, "list");
		for (const [by, text] of [["function", "By function"], ["stack", "By stack"]]) {
			const button = element("button", text);
			button.dataset.by = by;
			button.setAttribute("aria-pressed", by === this.by);
			button.addEventListener("click", () => {
				this.by = by;
				this.app.paint();
			});
			choice.append(button);
		}
		(this.by === "function" ? this.functions : this.stacks).show(list);
		this.host.replaceChildren(choice, list);
	}
}

class StackChanges {
	constructor(app) {
		this.app = app;
	}
	/* Stacks by how much they changed: new and vanished ones are named so. */
	show(host) {
		const { app } = this, { profile, tree } = app, list = [];
		for (let n = 1; n < tree.count; n++) {
			const now = app.weights.self[n], base = app.weights.baseSelf[n] * app.weights.baseScale;
			if ((now || base) && (!app.matches || this.matched(n)))
				list.push({ n, now, base, change: now - base });
		}
		list.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.n - b.n);
		const table = element("table"), head = element("thead"), body = element("tbody");
		head.append(row(["Change", "Before", "Now", "", "Stack, leaf first"], "th"));
		for (const { n, now, base, change } of list.slice(0, TABLE_ROWS)) {
			const what = !base ? "new" : !now ? "vanished" : change > 0 ? "more" : change < 0 ? "less" : "same";
			const line = row([(change > 0 ? "+" : "") + grouped(change), grouped(base), grouped(now), what,
				this.stack(n)]);
			line.dataset.node = n;
			line.title = cut(this.stack(n), 2000);
			body.append(line);
		}
		const count = (test) => list.filter(test).length;
		host.replaceChildren(
			element("div", `${grouped(count((l) => !l.base))} new, ${grouped(count((l) => !l.now))} vanished, ` +
				`${grouped(count((l) => l.now && l.base && l.change))} changed stacks; the largest changes first`,
				"caption"), table);
		table.append(head, body);
		body.addEventListener("click", (event) => {
			const line = event.target.closest("tr[data-node]");
			if (line)
				app.goTo(Number(line.dataset.node));
		});
	}
	matched(n) {
		for (; n > 0; n = this.app.tree.parent[n])
			if (this.app.matches[this.app.tree.fn[n]])
				return true;
		return false;
	}
	stack(n) {
		const names = [];
		for (; n > 0 && names.length < 60; n = this.app.tree.parent[n])
			names.push(this.app.profile.name(this.app.tree.fn[n]));
		return names.join(" ← ");
	}
}
