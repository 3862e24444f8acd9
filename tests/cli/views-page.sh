#!/bin/sh
# -f html in a browser: what clicks, drags and keys do to the picture, with stacks that are written here.
. "$(dirname "$0")/../lib.sh"

once_is_enough
cd "$work" || exit 1
make_trace=$build/testdata/make_trace
need "$make_trace" -n 6000 -t 3 -k 200 -O "$make_trace" -o now.prf
need "$make_trace" -n 4000 -t 2 -k 200 -O "$make_trace" -o before.prf
need "$report" -q --no-cache --diff before.prf now.prf -o diff.html
cp diff.html table.html
[ -n "$browser" ] || skip_all "$no_browser"

# What is said by pictures alone: the texts that are drawn from then on.
drawn='
	const drawn = [], fillText = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
		drawn.push(text);
		fillText.call(this, text, ...place);
	};'

# Each of a1 to a8 calls the next one and something else, so that none of it is a chain, and a8 calls a chain.
calls=a1
for i in 2 3 4 5 6 7 8; do
	echo "$calls;x$i 10"
	calls="$calls;a$i"
done > calls.folded
echo "$calls;b1;b2;b3;b4;b5;b6;b7 100" >> calls.folded
need "$report" -q --from-folded calls.folded -o calls.html
cp calls.html keys.html
act calls.html <<-'SCRIPT'
	const graph = by("graph"), { left, bottom } = graph.getBoundingClientRect();
	/* As a mouse does on the box at the left of a row, counted from that of "all". */
	const on = (type, row, detail) => graph.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, detail,
		clientX: left + 20, clientY: bottom - 18 * row - 9 }));
	for (const detail of [1, 2])
		on("click", 8, detail);
	await sleep(20);
	note(`zoomed ${location.hash}`);
	on("dblclick", 8, 2);
	note(by("callers-caption").textContent);
	press("0");
	press("f");
	await sleep(20);
	/* The chain: its first call, one box for those between. */
	for (const detail of [1, 2])
		on("click", 10, detail);
	on("dblclick", 10, 2);
	await sleep(20);
	note(`chain ${location.hash}`);
SCRIPT
show calls.html > dom
like "$(notes dom)" '\[zoomed #zoom=8\]\[Callers of a8\]' "a double click opens the frame that was clicked, not one that came to its place"
like "$(notes dom)" '\[chain \]' "... and a chain of calls is unfolded by it"

act keys.html <<-SCRIPT
	$drawn
	const chain = () => { press("o"); press("o"); return drawn.splice(0).some((text) => text.startsWith("⋯")); };
	note(\`folded \${chain()}\`);
	press("l");
	note(\`then \${chain()}\`);
	press("l");
	note(\`again \${chain()}\`);
	note(\`rows \${drawn.filter((text) => text.includes("more row"))}\`);
	by("graph").parentElement.style.flex = "0 0 90px";
	await sleep(50);
	dispatchEvent(new Event("resize"));
	await sleep(50);
	note(\`low \${drawn.splice(0).filter((text) => text.includes("more row")).pop()}\`);
	by("graph").scrollTop = 36;
	by("graph").dispatchEvent(new Event("scroll"));
	note(\`scrolled \${drawn.splice(0).filter((text) => text.includes("more row"))}\`);
	/* Of a page that may not copy, and of one that may. */
	press("ArrowUp");
	press("ArrowUp");
	document.execCommand = () => false;
	navigator.clipboard && Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
	press("y");
	await sleep(20);
	note(by("status").textContent);
	let copied;
	Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copied = text; } } });
	press("ArrowUp");
	press("Y");
	await sleep(20);
	note(\`\${by("status").textContent} \${copied}\`);
	press("y");
	await sleep(20);
	note(\`\${by("status").textContent} \${copied}\`);
SCRIPT
show keys.html > dom
keys=$(notes dom)
like "$keys" '\[folded true\]\[then false\]\[again true\]' "l shows long chains of calls, and folds them"
like "$keys" '\[rows \]\[low (▲|▼) [0-9]+ more rows\]' "a low window says how many rows are out of sight"
like "$keys" '\[scrolled ▲ 2 more rows,▼ [0-9]+ more rows\]' "... on both sides"
like "$keys" '\[the browser does not let this page copy\]' "y says when the browser does not copy"
like "$keys" '\[copied: a1;a2 a1;a2\]\[copied: a2 a2\]' "... and what it has copied, Y the stack"
unlike "$keys" '\[error' "no error"

# A span of time is a step for Back, and so are a search and the totals of a comparison.
act diff.html <<-'SCRIPT'
	const strip = by("strip"), { left, top, width } = strip.getBoundingClientRect();
	const point = (type, x) => strip.dispatchEvent(new PointerEvent(type, { bubbles: true, clientX: left + x, clientY: top + 5 }));
	const begun = history.length, steps = async (what) => {
		await sleep(20);
		note(`${what} ${history.length - begun}, ${location.hash.replace(/[0-9]+/g, "N")}`);
	};
	strip.setPointerCapture = () => {}; /* there is no pointer */
	point("pointerdown", 300);
	for (let x = 310; x < 400; x += 10) {
		point("pointermove", x);
		await sleep(5);
	}
	await steps("dragging");
	point("pointerup", 400);
	await steps("dragged");
	const there = location.hash;
	press("Escape");
	await steps("Esc");
	/* As the browser does for Back; a real one is not to be waited for here. */
	history.replaceState(null, "", there);
	dispatchEvent(new PopStateEvent("popstate"));
	await steps(`back ${/from [0-9.]+ to [0-9.]+ s/.test(by("status").textContent)}`);
	by("search").focus();
	for (const text of ["o", "op", "opt"]) {
		by("search").value = text;
		by("search").dispatchEvent(new Event("input"));
		await sleep(5);
	}
	await steps("typed");
	press("Escape");
	await steps("left");
	press("n");
	await steps("scaled");
SCRIPT
show diff.html > dom
keys=$(notes dom)
like "$keys" '\[dragging 0, \]\[dragged 1, #from=N&amp;to=N\]' "a span of time that is dragged is one step"
like "$keys" '\[Esc 2, \]\[back true 2, #from=N&amp;to=N\]' "... and after Esc Back returns to it"
like "$keys" '\[typed 3, #search=opt&amp;from=N&amp;to=N\]\[left 4, #from=N&amp;to=N\]' "a search is one step, whatever is typed, and its end"
like "$keys" '\[scaled 5, #from=N&amp;to=N&amp;scale=same\]' "other totals are a step"
unlike "$keys" '\[error' "no error"

# The sandwich of a comparison has the objects, and what was before.
act table.html <<-'SCRIPT'
	const cells = (line) => [...line.children].map((cell) => cell.textContent.trim());
	note(`headings ${cells(by("functions").querySelector("thead tr"))}`);
	const line = by("functions").querySelector("tbody tr"), [self, selfBefore] = cells(line);
	const [, before, now] = /self ([0-9.]+) → ([0-9.]+) s/.exec(by("callers-caption").textContent);
	note(`before ${Math.abs(parseFloat(selfBefore) / parseFloat(self) - before / now) < 0.02}, ${line.children[6].textContent}`);
	const shown = (kind) => getComputedStyle(by("functions").querySelector(`td.${kind}`)).display !== "none";
	note(`${innerWidth > 1500 ? "wide" : "narrow"} ${shown("before")} ${shown("object")}`);
SCRIPT
for size in 1600 1000; do
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --window-size=$size,800 \
		--dump-dom "file://$work/table.html#view=sandwich" > table.$size 2> said
done
like "$(notes table.1600)" '\[headings Self ▾,before,±,Total,before,±,Object,Function\]\[before true, (\[kernel\]|make_trace)\]\[wide true true\]' \
	"the sandwich of a comparison has objects and shares before"
like "$(notes table.1000)" '\[narrow false true\]' "... the latter where there is room"

# Inlined functions have a colour of their own.
need "$report" -q --no-cache "$top/testdata/fixtures/cpp.prf" -o inlined.html
act inlined.html <<-SCRIPT
	const hues = new Set(), fillRect = CanvasRenderingContext2D.prototype.fillRect;
	CanvasRenderingContext2D.prototype.fillRect = function (...place) {
		const [r, g, b] = this.fillStyle.slice(1).match(/../g).map((part) => parseInt(part, 16));
		hues.add(g > r + 20 && b > r + 20);
		fillRect.call(this, ...place);
	};
	const paint = () => { hues.clear(); press("o"); return hues.has(true); };
	const inlined = [...by("legend").querySelectorAll("span")].find(({ textContent }) => textContent === "inlined");
	note(\`legend \${inlined.querySelector("i").style.background}\`);
	note(\`boxes \${paint()}\`);
SCRIPT
show inlined.html > dom
like "$(notes dom)" '\[legend rgb\([0-9, ]+\)\]\[boxes true\]' "inlined functions have a colour, in the picture and the legend"
finish
