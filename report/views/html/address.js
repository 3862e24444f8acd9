/* The page's address: what is shown can be linked to. */

class Address {
	constructor(app) {
		this.app = app;
	}
	/* Puts what is shown into the address. */
	save() {
		const state = new URLSearchParams(), { app } = this, { strip, on } = app, put = (key, value, usual) => {
			if (value !== usual)
				state.set(key, value);
		};
		put("view", app.view, "flame");
		put("search", on.search.value, "");
		put("thread", app.thread, "all");
		put("from", strip.from, 0);
		put("to", strip.to, strip.slices);
		put("zoom", app.flame.zoom, 0);
		put("colour", app.colours.scheme, on.colour.options[0].value);
		put("order", app.order, "name");
		put("width", app.width, "now");
		put("scale", app.scale, app.profile.head.diff?.normalize ? "same" : "as-is");
		if (app.view === "sandwich" || app.view === "code")
			put("function", app.fn, -1);
		if (app.view === "changes")
			put("by", app.changes.by, "function");
		try {
			history.replaceState(null, "", "#" + state);
		} catch {
			/* A page that may not change its address works all the same. */
		}
	}
	/* Shows what the address says; what is wrong in it is left out. */
	restore() {
		const state = new URLSearchParams(location.hash.slice(1)), { app } = this, { strip, on } = app;
		const number = (key, low, high, usual) => {
			const value = Number(state.get(key) ?? usual);
			return Number.isInteger(value) && value >= low && value <= high ? value : usual;
		};
		const among = (select, key) => [...select.options].some((option) => option.value === state.get(key));
		const view = state.get("view");
		if (app.has(view))
			app.view = view;
		app.changes.by = state.get("by") === "stack" ? "stack" : "function";
		on.search.value = state.get("search") ?? "";
		if (among(on.thread, "thread"))
			app.thread = on.thread.value = state.get("thread");
		if (among(on.order, "order"))
			app.order = on.order.value = state.get("order");
		if (among(on.width, "width"))
			app.width = on.width.value = state.get("width");
		if (among(on.scale, "scale"))
			app.scale = on.scale.value = state.get("scale");
		if (among(on.colour, "colour"))
			app.colours.use(state.get("colour"));
		strip.from = number("from", 0, strip.slices - 1, 0);
		strip.to = number("to", strip.from + 1, strip.slices, strip.slices);
		app.fn = number("function", 0, app.profile.functions.count - 1, -1);
		const zoom = number("zoom", 0, app.tree.count - 1, 0);
		app.recount();
		app.setDark(matchMedia("(prefers-color-scheme: dark)").matches);
		if (zoom) {
			app.flame.cursor = zoom;
			app.flame.zoomTo(zoom);
		}
	}
}
