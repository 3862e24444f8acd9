/* What changed in a comparison from call to call, as -f tree --diff writes it: an indented tree. */

class CallChanges extends ChangeNumbers {
	/* The rows to be shown: those that are searched for, the largest changes, with all that lead to them. */
	wanted() {
		const { call } = this.list, { profile, pattern } = this.app, { tree } = profile, all = [];
		for (let i = 0; i < call.count; i++)
			if (!pattern || pattern.test(profile.name(tree.fn[call.node[i]]).slice(0, 4096)))
				all.push(i);
		all.sort((a, b) => this.sure(b, "call") - this.sure(a, "call") || this.size(b) - this.size(a) || a - b);
		const rowOf = new Map(Array.from(call.node, (node, i) => [node, i])), wanted = new Set();
		for (const i of all.slice(0, TABLE_ROWS))
			for (let row = i; row !== undefined && !wanted.has(row); row = rowOf.get(tree.parent[call.node[row]]))
				wanted.add(row);
		return { wanted, rowOf, rest: all.filter((i) => !wanted.has(i)).length };
	}
	size(i) {
		return Math.abs(this.list.call.now[i] - this.list.call.before[i]);
	}
	/* As lines of a tree: the largest change first, and below it what it calls. */
	lines({ wanted, rowOf }) {
		const { call } = this.list, { tree } = this.app.profile, below = new Map(), lines = [];
		for (const i of [...wanted].sort((a, b) => this.size(b) - this.size(a) || a - b)) {
			const parent = rowOf.get(tree.parent[call.node[i]]) ?? -1;
			below.set(parent, [...below.get(parent) ?? [], i]);
		}
		const todo = (below.get(-1) ?? []).map((i) => ({ i, indent: 0 })).reverse();
		while (todo.length) {
			const { i, indent } = todo.pop(), next = below.get(i) ?? [];
			/* A call that has all of its caller's change does not stand further right. */
			const chain = next.length === 1 && ["before", "now"].every((key) => call[key][next[0]] === call[key][i]);
			lines.push({ i, indent });
			todo.push(...next.map((n) => ({ i: n, indent: indent + !chain })).reverse());
		}
		return lines;
	}
	show(host) {
		const shown = this.wanted(), table = element("table", undefined, "by-function"), head = element("tr");
		const body = element("tbody"), { flags } = this.list.call;
		head.append(...this.headings("call", ""), element("th", "call", "name"));
		table.appendChild(element("thead")).append(head);
		for (const { i, indent } of this.lines(shown))
			body.append(this.line(i, indent));
		table.append(body);
		body.addEventListener("click", (event) => {
			const line = event.target.closest("tr[data-node]");
			if (line)
				this.app.goTo(Number(line.dataset.node));
		});
		const sure = flags.reduce((sum, bits) => sum + (bits & SURE.call ? 1 : 0), 0);
		const rest = shown.rest ? [element("p", `${grouped(shown.rest)} smaller changes: search to see them`, "more")] : [];
		host.replaceChildren(element("div", this.about(sure), "caption"), table, ...rest);
	}
	line(i, indent) {
		const { app } = this, { call } = this.list, { profile, shape } = app, line = element("tr");
		const node = call.node[i], fn = profile.tree.fn[node], name = profile.name(fn);
		const state = !call.before[i] ? "(new) " : !call.now[i] ? "(vanished) " : "";
		const cell = element("td", state + name, "name"), shown = shape.nodeOf ? shape.nodeOf[node] : node;
		cell.style.paddingLeft = `${8 + 10 * Math.min(indent, 40)}px`;
		line.append(...this.cells(i, "call"), cell);
		/* A shape that leaves it out has no box of it. */
		if (shown > 0)
			line.dataset.node = shown;
		line.title = `${cut(name, 500)}\n${cut(profile.texts.get(profile.functions.object[fn]), 200)}`;
		return line;
	}
}
