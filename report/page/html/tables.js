/* The list of functions beside the sandwich. */

const TABLE_ROWS = 400;

/* The rows that are shown of a list, and below them what is said of the rest. */
function withRest(table, count) {
	return count > TABLE_ROWS ? [table, element("p", `${grouped(count - TABLE_ROWS)} more: search to see them`, "more")] : [table];
}

class FunctionTable {
	constructor(host, app) {
		this.host = host;
		this.app = app;
		this.key = "self";
		this.first = -1;
	}
	/* The columns: what they are called, of which kind they are, what they sort by, and what they show of a function. */
	columns() {
		const { app } = this, { profile, weights } = app, { self, total } = weights.functions();
		const share = (name, values) => ({ key: name.toLowerCase(), name, kind: "number", of: (f) => values[f],
			text: (f) => percent(values[f], weights.whole), bar: true });
		const change = (name, key) => ({ key: `${key}-change`, name, kind: "number",
			of: (f) => Math.abs(app.changes.functions.changeOf(f, key) ?? -1),
			cell: (f, cell) => app.changes.functions.fillChange(f, key, cell) });
		/* Of the same whole, so that it can be compared with what is beside it. */
		const before = (key) => ({ key: `${key}-before`, name: "before", kind: "number before",
			of: (f) => weights.baseFunctions()[key][f],
			text: (f) => percent(weights.baseFunctions()[key][f] * weights.baseScale, weights.whole) });
		const list = weights.diff
			? [share("Self", self), before("self"), change("±", "self"), share("Total", total), before("total"), change("±", "total")]
			: [share("Self", self), share("Total", total)];
		return [...list, { key: "object", name: "Object", kind: "object", text: (f) => profile.texts.get(profile.functions.object[f]) },
			{ key: "name", name: "Function", kind: "name", text: (f) => profile.name(f) }];
	}
	listed() {
		const { app } = this, { total } = app.weights.functions(), list = [];
		const before = app.weights.diff ? app.weights.baseFunctions().total : total;
		for (let f = 0; f < app.profile.functions.count; f++)
			if ((total[f] > 0 || before[f] > 0) && (!app.matches || app.matches[f]))
				list.push(f);
		return list;
	}
	show() {
		const { app } = this, { profile } = app, columns = this.columns();
		const list = this.listed(), by = columns.find(({ key }) => key === this.key);
		/* Functions are numbered by name. */
		if (by.of)
			list.sort((a, b) => by.of(b) - by.of(a) || a - b);
		else if (by.kind === "object")
			list.sort((a, b) => (by.text(a) < by.text(b) ? -1 : by.text(a) > by.text(b) ? 1 : a - b));
		this.first = list[0] ?? -1;
		for (const column of columns)
			column.most = column.bar && list.reduce((most, f) => Math.max(most, column.of(f)), 0);
		const table = element("table"), body = element("tbody");
		table.append(this.heading(columns), body);
		for (const f of list.slice(0, TABLE_ROWS)) {
			const line = element("tr");
			for (const column of columns)
				line.append(this.cell(column, f));
			line.dataset.fn = f;
			line.title = `${cut(profile.name(f), 500)}\n${cut(profile.texts.get(profile.functions.object[f]), 200)}`;
			line.classList.toggle("chosen", f === app.fn);
			body.append(line);
		}
		body.addEventListener("click", (event) => {
			const line = event.target.closest("tr[data-fn]");
			if (line)
				app.choose(Number(line.dataset.fn));
		});
		body.addEventListener("contextmenu", (event) => {
			const line = event.target.closest("tr[data-fn]");
			if (!line)
				return;
			event.preventDefault();
			app.menu.show({ fn: Number(line.dataset.fn) }, event.clientX, event.clientY);
		});
		this.host.replaceChildren(...withRest(table, list.length));
	}
	sortBy(key) {
		this.key = key;
		this.show();
		this.host.querySelector("[aria-sort=descending]").focus({ focusVisible: false });
	}
	cell(column, f) {
		const made = element("td", column.text?.(f), column.kind);
		column.cell?.(f, made);
		if (column.most > 0)
			made.style.setProperty("--bar", `${(100 * column.of(f) / column.most).toFixed(1)}%`);
		return made;
	}
	heading(columns) {
		const head = element("thead"), line = element("tr");
		for (const { key, name, kind } of columns) {
			const cell = element("th", name + (key === this.key ? " ▾" : ""), kind);
			cell.setAttribute("aria-sort", key === this.key ? "descending" : "none");
			cell.tabIndex = 0;
			cell.addEventListener("click", () => this.sortBy(key));
			cell.addEventListener("keydown", (event) => {
				if (event.key === "Enter" || event.key === " ") {
					event.preventDefault();
					this.sortBy(key);
				}
			});
			line.append(cell);
		}
		head.append(line);
		return head;
	}
	/* The function with the most of its own, to begin with. */
	busiest() {
		const { self } = this.app.weights.functions();
		return self.reduce((best, value, f) => value > self[best] ? f : best, 0);
	}
}
