/* The list of functions beside the sandwich, and the list of changed stacks of a comparison. */

const TABLE_ROWS = 400;

class FunctionTable {
	constructor(host, app) {
		this.host = host;
		this.app = app;
		this.key = "self";
	}
	show() {
		const { app } = this, { profile } = app;
		const { self, total } = app.weights.functions();
		const list = [];
		for (let f = 0; f < profile.functions.count; f++)
			if (total[f] > 0 && (!app.matches || app.matches[f]))
				list.push(f);
		const by = this.key === "self" ? self : total;
		list.sort(this.key === "name" ? (a, b) => a - b : (a, b) => by[b] - by[a] || a - b);
		const table = element("table"), body = element("tbody");
		table.append(this.heading(), body);
		for (const f of list.slice(0, TABLE_ROWS)) {
			const line = row([percent(self[f], app.weights.whole), percent(total[f], app.weights.whole), profile.name(f)]);
			line.dataset.fn = f;
			line.title = cut(profile.name(f), 500);
			line.classList.toggle("chosen", f === app.fn);
			body.append(line);
		}
		if (list.length > TABLE_ROWS) {
			const more = row(["", "", `${grouped(list.length - TABLE_ROWS)} more: search to see them`]);
			more.className = "more";
			body.append(more);
		}
		body.addEventListener("click", (event) => {
			const line = event.target.closest("tr[data-fn]");
			if (line)
				app.choose(Number(line.dataset.fn));
		});
		this.host.replaceChildren(table);
	}
	heading() {
		const head = element("thead"), line = row(["Self", "Total", "Function"], "th");
		[...line.children].forEach((cell, i) => {
			const key = ["self", "total", "name"][i];
			cell.setAttribute("aria-sort", key === this.key ? "descending" : "none");
			cell.textContent += key === this.key ? " ▾" : "";
			cell.addEventListener("click", () => {
				this.key = key;
				this.show();
			});
		});
		head.append(line);
		return head;
	}
	/* The function with the most of its own, to begin with. */
	busiest() {
		const { self } = this.app.weights.functions();
		return self.reduce((best, value, f) => value > self[best] ? f : best, 0);
	}
}

class ChangeTable {
	constructor(host, app) {
		this.host = host;
		this.app = app;
	}
	/* Stacks by how much they changed: new and vanished ones are named so. */
	show() {
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
		this.host.replaceChildren(
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
