/* What can be done with a frame: beside it after a right click, or the key m. */

class Menu {
	constructor(place, app) {
		this.place = place;
		this.app = app;
		document.addEventListener("pointerdown", (event) => {
			if (!place.contains(event.target))
				this.hide();
		});
		place.addEventListener("keydown", (event) => this.key(event));
	}
	hide() {
		const focused = this.place.contains(document.activeElement);
		this.place.hidden = true;
		if (focused)
			this.app.focus();
	}
	/* `target` has a function, and of a frame its picture and node. */
	show(target, x, y) {
		const { app, place } = this, { fn, flame, node } = target, { shape } = app;
		const items = [[app.profile.name(fn), null]];
		if (flame)
			items.push(["Zoom", "Enter", () => flame.zoomTo(node)]);
		items.push(["Callers and callees", "x", () => app.choose(fn)]);
		if (app.code.any)
			items.push(["Source and instructions", "a", () => app.showCode(fn)]);
		items.push(["Only stacks with it", "e", () => app.focusOn(fn)], ["Hide it", "h", () => app.hide(fn)],
			[shape.once ? "All of a recursion" : "Recursion once", "r", () => app.toggleRecursion()],
			["Copy name", "y", () => app.copy(app.profile.name(fn))]);
		if (flame)
			items.push(["Copy stack", "Y", () => app.copy(app.stackOf(flame, node))]);
		this.deeds = new Map(items.map(([, key, deed]) => [key, deed]));
		place.replaceChildren(...items.map((item) => this.item(...item)));
		place.hidden = false;
		const size = place.getBoundingClientRect();
		place.style.left = Math.max(2, Math.min(x, innerWidth - size.width - 2)) + "px";
		place.style.top = Math.max(2, Math.min(y, innerHeight - size.height - 2)) + "px";
		place.querySelector("button").focus({ focusVisible: false });
	}
	item(text, key, deed) {
		if (!deed)
			return element("b", cut(text, 200));
		const made = element("button", text);
		made.append(element("kbd", key));
		made.addEventListener("click", () => {
			this.hide();
			deed();
		});
		return made;
	}
	/* Arrows walk over it, and the keys of its items are for its function; others do what they do elsewhere. */
	key(event) {
		const { key } = event, step = (key === "ArrowDown") - (key === "ArrowUp");
		/* Enter is for the item that has the focus. */
		if (event.ctrlKey || event.altKey || event.metaKey || key === "Enter")
			return;
		if (step) {
			const buttons = [...this.place.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
			buttons[(at + step + buttons.length) % buttons.length].focus();
		} else if (key === "Escape" || key === "m") {
			this.hide();
		} else if (this.deeds.has(key)) {
			this.hide();
			this.deeds.get(key)();
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}
}
