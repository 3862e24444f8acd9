/* Sources and instructions of the functions that the page has them of, as -f annotate writes them. */

class Code {
	constructor(host, app) {
		this.host = host;
		this.app = app;
		this.listings = app.profile.listings;
		this.picked = -1;
		/* Functions of a comparison are the same in whatever object they are. */
		const key = (name, object) => app.weights.diff ? name : `${name} ${object}`;
		this.keys = this.listings.map(({ name, object }) => key(name, object));
		this.keyOf = ({ name, object }, f) => key(name[f], object[f]);
	}
	/* The function's listing, -1 for none: of several the one that was picked, or else the first. */
	of(f) {
		const wanted = f < 0 ? null : this.keyOf(this.app.profile.functions, f);
		return wanted !== null && this.keys[this.picked] === wanted ? this.picked : this.keys.indexOf(wanted);
	}
	pick(i) {
		this.picked = i;
		this.app.showCode(this.functionOf(i));
	}
	get any() {
		return this.listings.length > 0;
	}
	/* The listing's function: of those that are one row, the first that the page has. */
	functionOf(i) {
		const { functions } = this.app.profile;
		for (let f = 0; f < functions.count; f++)
			if (this.keyOf(functions, f) === this.keys[i])
				return f;
		return -1;
	}
	show() {
		const { app } = this, chosen = this.of(app.fn), { texts } = app.profile;
		const list = element("div", undefined, "list walked"), lines = element("div", undefined, "lines");
		const table = element("table"), body = table.appendChild(element("tbody"));
		this.listings.forEach(({ name, object }, i) => {
			const line = body.appendChild(element("tr", undefined, i === chosen ? "chosen" : ""));
			line.append(element("td", texts.get(name), "name"));
			line.title = `${cut(texts.get(name), 500)}\n${cut(texts.get(object), 200)}`;
			line.dataset.fn = this.functionOf(i);
			line.addEventListener("click", () => this.pick(i));
		});
		list.append(element("div", "Largest self values", "caption"), table);
		list.tabIndex = lines.tabIndex = 0;
		lines.append(chosen < 0 ? this.missing() : this.listing(chosen));
		this.host.replaceChildren(list, lines);
	}
	missing() {
		const name = this.app.profile.name(this.app.fn);
		return element("p", `The page has sources and instructions of ${counted(this.listings.length, "function")}; ` +
			`of ${cut(name, 200)}: prof-report -f annotate --function='…'`, "caption");
	}
	/* A row begins with what was counted: self, or else total further right, in percent and as numbers. */
	listing(i) {
		const text = plainLines(new TextDecoder().decode(this.listings[i].bytes)), lines = text.trimEnd().split("\n");
		const made = element("pre");
		let block = [];
		for (const line of lines) {
			const row = made.appendChild(element("span", line + "\n", line.startsWith("#") ? "remark" : ""));
			const [, self] = /^ {0,3}(\d+\.\d\d) +\d/.exec(line) ?? [];
			if (self > 0)
				block.push({ row, self });
			if (line.startsWith("self %"))
				block = this.heat(block);
		}
		this.heat(block);
		return made;
	}
	/* Lines, and instructions, each beside the hottest of their own; an empty block to go on with. */
	heat(block) {
		const most = block.reduce((m, { self }) => Math.max(m, self), 0);
		for (const { row, self } of block)
			row.style.setProperty("--heat", `${Math.round(6 + 44 * self / most)}%`);
		return [];
	}
}
