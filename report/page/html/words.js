/* Numbers and times as people read them. */

function cut(text, length) {
	return text.length > length ? text.slice(0, length - 1) + "…" : text;
}

/* The name without what does not fit of the namespaces and classes around it; at last only a part of it. */
function cutName(name, length) {
	/* Each box that is drawn asks for it: a name of megabytes is not searched. */
	if (name.length <= length || name.length > 1000)
		return cutMiddle(name, length);
	const parts = [0, ...scopes(name)].map((at) => name.slice(at)), fits = parts.findIndex((text) => text.length <= length);
	if (fits < 0)
		return cutMiddle(parts.at(-1), length);
	const room = length - parts[fits].length - "…::".length;
	return (room < 3 ? "" : parts[fits - 1].slice(0, room) + "…::") + parts[fits];
}

/* Where the names begin that follow a "::", but not one within brackets. */
function scopes(name) {
	const places = [];
	for (let i = 0, depth = 0; i < name.length; i++) {
		depth += "<([{".includes(name[i]) - (">)]}".includes(name[i]) && depth > 0);
		if (!depth && name[i] === ":" && name[i - 1] === ":")
			places.push(i + 1);
	}
	return places;
}

/* Of a longer text its beginning and its end: in names of functions the end says most. */
function cutMiddle(text, length) {
	if (text.length <= length)
		return text;
	const begin = Math.floor((length - 1) / 3);
	return text.slice(0, begin) + "…" + text.slice(text.length - (length - 1 - begin));
}

function grouped(number) {
	return Math.round(number).toLocaleString("en-US");
}

function percent(part, whole) {
	const share = whole > 0 ? 100 * part / whole : 0;
	return share.toFixed(share && share < 0.1 ? 3 : share < 10 ? 2 : 1) + " %";
}

function shortSeconds(seconds, step) {
	const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step))));
	return seconds.toFixed(digits) + " s";
}

function counted(number, thing) {
	return `${grouped(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/* A weight in the profile's unit; times come in us. */
function weight(value, unit) {
	if (unit !== "us")
		return `${grouped(value)} ${value === 1 && unit === "samples" ? "sample" : unit}`;
	if (value >= 1e6)
		return (value / 1e6).toFixed(value >= 1e7 ? 2 : 3) + " s";
	if (value >= 1e3)
		return (value / 1e3).toFixed(2) + " ms";
	return `${grouped(value)} µs`;
}

/* With the CPU time that samples stand for, where it is the same for all. */
function withTime(value, head) {
	return weight(value, head.unit) + (head.unit === "samples" && head.sample_ns
		? ` (${weight(value * head.sample_ns / 1000, "us")})` : "");
}

function element(tag, text, name) {
	const made = document.createElement(tag);
	if (text !== undefined)
		made.textContent = text;
	if (name)
		made.className = name;
	return made;
}

/* With its sign, also if it rounds to nothing. */
function signed(number, digits) {
	const text = Math.abs(number).toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, digits ? "" : ",");
	return (number < 0 ? "−" : "+") + text;
}

/* A table row; numbers are set to the right, the last cell takes what room there is. */
function row(cells, tag) {
	const made = element("tr");
	cells.forEach((text, i) => {
		made.append(element(tag ?? "td", text, i === cells.length - 1 ? "name" : "number"));
	});
	return made;
}
