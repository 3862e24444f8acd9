/*
 * What changed in a comparison: by function and by call, with the statistics that report/difference/change.c
 * made, or by stack.
 */

/* The bits of enum html_change_flag. */
const WAS = 1, IS = 2, SURE = { self: 4, total: 8, call: 8 }, RENAMED = 16;
const LINEAGES = [[RENAMED, "renamed", " from "], [32, "inlined", " into "], [64, "was inlined", " into "]];

/* The numbers of one row: of a function's "self" or "total", or of a "call". */
class ChangeNumbers {
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
		return Boolean((this.list[side].flags ?? this.list.flags)[i] & SURE[side]);
	}
	interval(i, side) {
		const { low, high } = this.list[side], digits = this.digits();
		return Number.isNaN(low[i]) ? "" : `[${signed(low[i], digits)}, ${signed(high[i], digits)}]`;
	}
	chance(i, side) {
		const p = this.list[side].p[i];
		return Number.isNaN(p) ? "" : p < 0.00001 ? "<0.00001" : p.toFixed(5);
	}
	/* The change, with a star and in colour where it is sure. */
	fill(i, side, cell) {
		const { before, now } = this.list[side], change = now[i] - before[i], sure = this.sure(i, side);
		cell.textContent = signed(change, this.digits()) + (sure ? "*" : "\u2007");
		cell.style.color = sure ? this.app.colours.textOfChange(change) : "";
		cell.classList.toggle("sure", sure);
	}
	/* The headings of a side's columns; `title` comes before those that another side has, too. */
	headings(side, title) {
		const columns = [["before", "value"], ["now", "value"], ["change", ""], ["95 % interval", "interval"], ["p", "chance"]];
		return columns.map(([name, kind]) => element("th", kind === "chance" || kind === "interval" ? name : title + name, `number ${kind} of-${side}`));
	}
	cells(i, side) {
		const digits = this.digits(), made = (text, kind) => element("td", text, `number ${kind} of-${side}`);
		const { before, now } = this.list[side], change = made("", "change");
		this.fill(i, side, change);
		return [made(before[i].toFixed(digits), "value"), made(now[i].toFixed(digits), "value"), change,
			made(this.interval(i, side), "interval"), made(this.chance(i, side), "chance")];
	}
	/* `count` rows of `things` have surely changed. */
	about(count) {
		const { head } = this.list, { app } = this, digits = this.digits();
		const runs = (side) => `${counted(head.runs[side], "run")} of ${head.totals[side].toFixed(digits)} ${head.unit}`;
		const chance = !head.noise ? "how far such values vary by chance is known from several runs only"
			: `${grouped(count)} surely changed (*: more than ${head.runs[0] + head.runs[1] > 2 ? "the runs vary by chance"
				: "sampling noise; how far runs vary is known from several only"}, p < ${head.alpha} for all rows together)`;
		return `before: ${runs(0)}${app.scale === "same" ? " (scaled)" : ""}; now: ${runs(1)}; ${chance}` +
			(app.partial() ? OF_THE_WHOLE : "");
	}
}

class FunctionChanges extends ChangeNumbers {
	/* A function's row; -1: none. */
	rowOf(fn) {
		return fn < 0 ? -1 : (this.list.rowOf[fn] - 1) >> 1;
	}
	/* Of the functions that are one row, the one that takes most. */
	functionOf(i) {
		const { weights } = this.app;
		const now = weights.functions().total, before = weights.baseFunctions().total;
		let best = -1;
		for (let f = 0; f < this.list.rowOf.length; f++)
			if (this.rowOf(f) === i && (best < 0 || now[f] + before[f] > now[best] + before[best]))
				best = f;
		return best;
	}
	/* Its row, if that is shown there: that of a renamed function is not at its old name, too. */
	rowAt(fn) {
		const i = this.rowOf(fn);
		return i >= 0 && this.list.rowOf[fn] - 1 & 1 ? -1 : i;
	}
	changeOf(fn, side) {
		const i = this.rowAt(fn);
		return i < 0 ? undefined : this.list[side].now[i] - this.list[side].before[i];
	}
	state(i) {
		const flags = this.list.flags[i], lineage = LINEAGES.find(([bit]) => flags & bit);
		if (lineage) {
			const [, state, word] = lineage, other = cut(this.app.profile.texts.get(this.list.other[i]), 200);
			return state + (other && word + other);
		}
		return !(flags & WAS) ? "new" : !(flags & IS) ? "vanished" : "";
	}
	fillChange(fn, side, cell) {
		const i = this.rowAt(fn);
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
	/* Whether the search finds a row, by its name or the one that it had. */
	found(i) {
		const { app, list } = this, names = list.flags[i] & RENAMED ? [list.name[i], list.other[i]] : [list.name[i]];
		return !app.pattern || names.some((name) => app.pattern.test(app.profile.texts.get(name).slice(0, 4096)));
	}
	show(host) {
		const { list } = this, table = element("table", undefined, "by-function");
		const wanted = [], sure = list.flags.reduce((sum, bits) => sum + (bits & (SURE.self | SURE.total) ? 1 : 0), 0);
		for (let i = 0; i < list.count; i++)
			if (this.found(i))
				wanted.push(i);
		const body = element("tbody");
		for (const i of wanted.slice(0, TABLE_ROWS))
			body.append(this.line(i));
		body.addEventListener("click", (event) => {
			const line = event.target.closest("tr[data-row]");
			if (line)
				this.app.choose(this.functionOf(Number(line.dataset.row)));
		});
		table.append(this.heading(), body);
		host.replaceChildren(element("div", this.about(sure), "caption"), ...withRest(table, wanted.length));
	}
	heading() {
		const head = element("thead"), line = element("tr");
		for (const side of ["self", "total"])
			line.append(...this.headings(side, `${side} `));
		line.append(element("th", "function", "name"));
		head.append(line);
		return head;
	}
	line(i) {
		const { app, list } = this, { texts } = app.profile, line = element("tr");
		for (const side of ["self", "total"])
			line.append(...this.cells(i, side));
		const name = texts.get(list.name[i]), state = this.state(i);
		line.append(element("td", (state && `(${state}) `) + name, "name"));
		line.dataset.row = i;
		line.title = `${cut(name, 500)}\n${cut(texts.get(list.object[i]), 200)}`;
		return line;
	}
}

const CHANGES_BY = { function: "By function", call: "By call", stack: "By stack" };

/* All of them, and the buttons that choose one. */
class Changes {
	constructor(host, app) {
		this.host = host;
		this.app = app;
		this.by = "function";
		this.functions = new FunctionChanges(app);
		this.lists = { function: this.functions, call: new CallChanges(app), stack: new StackChanges(app) };
	}
	show() {
		const choice = element("div", undefined, "choice"), list = element("div", undefined, "list walked");
		list.tabIndex = 0;
		for (const [by, text] of Object.entries(CHANGES_BY)) {
			const button = element("button", text);
			button.dataset.by = by;
			button.setAttribute("aria-pressed", by === this.by);
			button.addEventListener("click", () => this.turnTo(by));
			choice.append(button);
		}
		this.lists[this.by].show(list);
		this.host.replaceChildren(choice, list);
	}
	turnTo(by) {
		this.by = by;
		this.app.setView("changes");
	}
	turn() {
		const all = Object.keys(CHANGES_BY), { view } = this.app;
		this.turnTo(view === "changes" ? all[(all.indexOf(this.by) + 1) % all.length] : this.by);
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
