#!/bin/sh
# -f html: the page holds what folded stacks hold. Its script runs in node, without a browser;
# where there is chromium, or PROF_TEST_BROWSER names a browser like it, the page is opened too.
. "$(dirname "$0")/../lib.sh"

make_trace=$build/testdata/make_trace
trace=$work/now.prf
before=$work/before.prf
need "$make_trace" -n 6000 -t 3 -k 200 -O "$make_trace" -o "$trace"
need "$make_trace" -n 4000 -t 2 -k 200 -O "$make_trace" -o "$before"

holds "a page is written" "$report" -q --no-cache -f html "$trace" -o "$work/page.html"
holds "a comparison is written" "$report" -q --no-cache -f html --value=samples --diff "$before" --safe-colors \
	"$trace" -o "$work/diff.html"
holds "folded stacks" "$report" -q --no-cache "$trace" -o "$work/folded"
holds "folded stacks with a base" "$report" -q --no-cache --diff "$before" "$trace" -o "$work/folded2"
for normalize in "" --normalize; do
	holds "a table with a base" "$report" -q --no-cache -f top --value=samples --json $normalize --diff "$before" "$trace" \
		-o "$work/top$normalize"
	holds "a tree with a base" "$report" -q --no-cache -f tree --min=1 --value=samples --json $normalize --diff "$before" \
		"$trace" -o "$work/tree$normalize"
done

unlike "$(cat "$work/page.html")" "https?://" "the page names no address"
is "$(grep -c '<script' "$work/page.html")" 2 "the page has its data and its script"
number "$(wc -c < "$work/page.html") < 10 * 1000 * 1000" "the page is small"
"$report" -q --no-cache -f html "$trace" -o "$work/again.html"
holds "the same trace gives the same page" cmp "$work/page.html" "$work/again.html"

# Two functions that many stacks have, but not all, with names that are no part of another's: which
# there are depends on the compiler.
sed 's/ [0-9]*$//' "$work/folded" | tr ';' '\n' | sort | uniq -c | sort -k1,1nr -k2 > "$work/names"
chosen=$(awk -v most="$(($(wc -l < "$work/folded") / 2))" '
	{ all = all "\n" $2 "\n" }
	NF == 2 && $1 < most && $2 ~ /^[a-z_][a-z0-9_]*$/ { list[++n] = $2 }
	END {
		for (i = 1; i <= n && found < 2; i++)
			if (gsub(list[i], "&", all) == 1 && ++found)
				print list[i]
	}' "$work/names")
one=${chosen%%
*} other=${chosen##*
}
if node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' 2> /dev/null; then
	node "$top/tests/cli/views-html.js" "$work/page.html" "$work/folded" > "$work/log" 2>&1
	is "$(cat "$work/log")" "good" "the page's script finds the folded stacks"
	node "$top/tests/cli/views-html.js" "$work/diff.html" "$work/folded2" "$work/top" "$work/top--normalize" \
		"$work/tree" "$work/tree--normalize" > "$work/log" 2>&1
	is "$(cat "$work/log")" "good" "the comparison's script finds both columns, and what changed as -f top and -f tree do"
	# Frames that say whose a stack is are no functions.
	"$report" -q --no-cache -f html --value=samples --group-by=cpu,comm --diff "$before" "$trace" -o "$work/led.html"
	"$report" -q --no-cache --group-by=cpu,comm --diff "$before" "$trace" -o "$work/led"
	for normalize in "" --normalize; do
		"$report" -q --no-cache -f tree --min=1 --value=samples --json --group-by=cpu,comm $normalize --diff "$before" \
			"$trace" -o "$work/led$normalize.tree"
	done
	node "$top/tests/cli/views-html.js" "$work/led.html" "$work/led" "$work/top" "$work/top--normalize" \
		"$work/led.tree" "$work/led--normalize.tree" > "$work/log" 2>&1
	is "$(cat "$work/log")" "good" "... and with first frames of another kind"
	# shaped WHAT NAME OPTIONS...: the page, shaped in the browser, has the stacks that the options give
	shaped() {
		"$report" -q --no-cache "$3" "$trace" -o "$work/shaped"
		node "$top/tests/cli/views-html.js" "$work/page.html" "$work/shaped" "$1" "$2" > "$work/log" 2>&1
		is "$(cat "$work/log")" "good" "$1 in the page is $3"
	}
	shaped hide "$one" "--hide=^$one$"
	shaped focus "$other" "--focus=^$other$"
	shaped once - --collapse-recursion
else
	skip "the page's script finds the folded stacks" "no node, or an old one"
fi

# --open: what is started, and with which page. It is not waited for, so the test does.
mkdir "$work/a b"
cat > "$work/browser" <<-'END'
	#!/bin/sh
	echo start >> "$(dirname "$0")/starts"
	for word; do echo "<$word>"; done > "$(dirname "$0")/started.new"
	sh -c 'kill -PIPE $$; echo "<SIGPIPE is ignored>"' >> "$(dirname "$0")/started.new"
	mv "$(dirname "$0")/started.new" "$(dirname "$0")/started"
END
chmod +x "$work/browser"
# opens BROWSER OPTIONS...: runs it in a folder of its own, and prints what was started
opens() {
	rm -f "$work/started"
	(cd "$work/a b" && BROWSER=$1 && shift && export BROWSER && "$report" --no-cache --open "$@" 2> "$work/said")
	i=0
	while [ ! -e "$work/started" ] && [ $((i += 1)) -lt 600 ]; do sleep 0.1; done
	cat "$work/started"
}
is "$(opens "$work/browser" "$trace")" "<$work/a b/now.prf.html>" "--open shows a page named after the trace, here"
like "$(cat "$work/said")" "prof-report: the page is now.prf.html" "... and says so"
like "$(head -c 15 "$work/a b/now.prf.html")" "^<!DOCTYPE html>" "... which is whole"
is "$(opens "false:$work/browser --new=%s it" -o "x'\$ y" "$trace" | tr '\n' ' ')" "<--new=$work/a b/x'\$ y> <it> " \
	"BROWSER has commands, and %s in one is the page"
(cd "$work/a b" && unset BROWSER DISPLAY WAYLAND_DISPLAY; "$report" --no-cache --open - < "$trace") 2> "$work/said"
is "$?: $(tail -n 1 "$work/said")" "0: prof-report: no browser here (BROWSER names one); the page is trace.prf.html" "no browser: the path is said"
holds "... and the page is there" test -s "$work/a b/trace.prf.html"
"$report" --open -f top "$trace" 2> "$work/said"
is "$?: $(cat "$work/said")" "2: prof-report: --open shows a page: -f html; see prof-report --help" "--open is for pages"
# A start that should not be comes before the one that is waited for.
rm -f "$work/starts"
BROWSER=$work/browser "$report" -q --open "$work/none.prf" -o "$work/none.html" 2> /dev/null
is "$?: $(ls "$work/none.html" 2> /dev/null)" "1: " "where there is no trace there is no page"
opens "$work/browser" -o it.html "$trace" > /dev/null
is "$(wc -l < "$work/starts")" 1 "... and nothing is opened"

if [ -n "$browser" ]; then
	cp "$work/page.html" "$work/keys.html"
	echo "<script>const one = '$one', other = '$other';</script>" >> "$work/keys.html"
	act keys.html <<-'SCRIPT'
		note(by("matched").textContent);
		note(`view ${document.querySelector("#views [aria-pressed=true]").dataset.view}`);
		note(`legend ${by("legend").textContent}`);
		by("search").value = "(";
		by("search").dispatchEvent(new Event("input"));
		note(by("matched").textContent);
		press("Escape");
		for (const key of ["t", "t", "f"])
			press(key);
		note(`start ${document.activeElement.id}`);
		press("ArrowUp");
		note(`walks ${!by("tip").hidden}`);
		by("search").focus();
		press("Escape");
		note(`after Esc ${document.activeElement.id}`);
		by("thread").focus();
		by("thread").selectedIndex = 1;
		by("thread").dispatchEvent(new Event("change"));
		note(`after a choice ${document.activeElement.id}`);
		press("s");
		note(`thread ${by("thread").selectedIndex}, view ${document.querySelector("#views [aria-pressed=true]").dataset.view}`);
		press("f");
		press("0");
		await sleep(20);
		press("ArrowUp");
		press("ArrowUp");
		note(by("tip").textContent.replace(/[^]*total/, "total"));
		const steps = history.length;
		press("m");
		note(`menu ${[...by("menu").querySelectorAll("kbd")].map((key) => key.textContent)}`);
		press("ArrowDown");
		note(`its second ${document.activeElement.textContent}`);
		press("Escape");
		note(`gone ${by("menu").hidden}, ${document.activeElement.id}`);
		by("graph").dispatchEvent(new KeyboardEvent("keydown", { key: "m", bubbles: true, cancelable: true }));
		press("d");
		note(`d leaves it ${by("menu").hidden}, ${document.activeElement.id}`);
		press("d");
		press("h");
		await sleep(20);
		note(`hidden ${location.hash}, ${by("legend").querySelector("button").textContent}`);
		press("e");
		press("r");
		await sleep(20);
		note(`steps ${history.length - steps}, ${location.hash.replace(/[0-9]+/g, "N")}`);
		/* As the browser does for Back; a real one is not to be waited for here. */
		history.replaceState(null, "", "#");
		dispatchEvent(new PopStateEvent("popstate"));
		note(`back ${by("legend").querySelectorAll("button").length}`);
		await sleep(20);
		note(`no step ${history.length - steps}`);
		/* A key that is held down: the first of five comes from the press. */
		const strip = by("strip"), arrow = async (key, repeat) => {
			strip.dispatchEvent(new KeyboardEvent("keydown", { key, repeat }));
			await sleep(20);
			return history.length + location.hash;
		};
		await arrow("ArrowLeft", false);
		const presses = history.length, held = [];
		for (const repeat of [false, true, true, true, true])
			held.push(await arrow("ArrowRight", repeat));
		note(`held ${history.length - presses}, ${new Set(held).size} places`);
		await arrow("ArrowRight", false);
		note(`pressed ${history.length - presses}`);
		strip.dispatchEvent(new MouseEvent("dblclick"));
		press("s");
		by("search").focus();
		by("search").value = other;
		by("search").dispatchEvent(new Event("input"));
		press("Enter");
		note(`found ${by("callers-caption").textContent}, ${document.activeElement.id}`);
		press("Escape");
		/* The list by keys alone. */
		by("functions").focus();
		press("ArrowDown");
		const from = by("functions").querySelectorAll("tbody tr"), at = () => [...from].findIndex((line) => line.matches(".at"));
		const first = at();
		for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "PageDown"])
			press(key);
		note(`list ${first >= 0} ${at()} ${by("status").textContent.startsWith(from[at()].title.split("\n")[0])}`);
		const [wanted] = from[at()].title.split("\n");
		press("x");
		note(`its function ${by("callers-caption").textContent === `Callers of ${wanted}`}`);
		by("functions").focus();
		press("Home");
		press("Enter");
		note(`entered ${by("functions").querySelector("tbody tr").matches(".chosen")}, ${document.activeElement.id}`);
		const heading = by("functions").querySelector("th[aria-sort=none]");
		heading.focus();
		press("Enter");
		note(`sorted ${document.activeElement.textContent}`);
		press("ArrowDown");
		note(`from a heading ${document.activeElement.id} ${!!by("functions").querySelector(".at")}`);
		press("r");
		press("?");
		note(`help ${document.activeElement.id}`);
		press("Escape");
		note(`read ${by("help").hidden}, ${document.querySelector("#views [aria-pressed=true]").dataset.view}, ${by("legend").querySelector("button")?.textContent}, ${document.activeElement.id}`);
		press("r");
		const row = [...by("functions").querySelectorAll("tbody tr")].find((line) => line.textContent.includes(one));
		row.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 9, clientY: 9 }));
		press("h");
		note(`of another row ${by("legend").querySelector("button").textContent}, ${by("menu").hidden}`);
		by("functions").focus();
		press("ArrowDown");
		press("f");
		document.activeElement.blur();
		press("e");
		note(`of no row ${by("legend").querySelectorAll("button").length}`);
	SCRIPT
	show "keys.html#view=icicle&search=main&colour=object" > "$work/dom"
	keys=$(notes "$work/dom")
	like "$(cat "$work/dom")" '6,000 samples' "a browser shows the page, and counts the samples"
	like "$keys" '\[matched [0-9.]+ %\]\[view icicle\]' "... and takes view and search from the address"
	like "$keys" '\[legend [^]]+ [0-9.]+ %' "colours by object have a legend"
	like "$keys" '\[not a regular expression, taken as text: matched' "a wrong search is said"
	like "$keys" '\[start graph\]' "the keys go to the picture at first"
	like "$keys" '\[walks true\]' "... where arrows walk"
	like "$keys" '\[after Esc graph\]' "... and after Esc"
	like "$keys" '\[after a choice graph\]\[thread 1, view sandwich\]' "... and after a choice"
	like "$keys" '\[total [0-9,]+ samples \([0-9.]+ (m?s|µs)\), [0-9.]+ %self ' "samples are also said as CPU time"
	like "$keys" '\[menu Enter,x,e,h,r,y,Y\]\[its second Callers and calleesx\]\[gone true, graph\]' "the menu of a frame"
	like "$keys" '\[d leaves it true, graph\]' "... goes when something else is done"
	like "$keys" '\[hidden #hide=[0-9]+, without .* ✕\]' "a function is hidden, and what is hidden is said"
	like "$keys" '\[steps 2, #hide=N&amp;once=true\]' "each is a step for Back"
	like "$keys" '\[back 0\]\[no step 2\]' "... which takes them back"
	like "$keys" '\[held 1, 5 places\]\[pressed 2\]' "a key that is held down on the strip is one step"
	like "$keys" "\[found Callers of $other, callers\]" "Enter in the search of the sandwich takes the first function"
	like "$keys" '\[list true 15 true\]\[its function true\]' "arrows and other keys walk over the list of functions"
	like "$keys" '\[entered true, callers\]' "... and Enter chooses one"
	like "$keys" '\[sorted Total ▾\]\[from a heading functions true\]' "... and its headings sort it"
	like "$keys" '\[help help\]\[read true, sandwich, recursion once ✕, callers\]' "Esc leaves the help, and nothing else"
	like "$keys" "\[of another row without $one ✕, true\]" "keys of the menu are for its function"
	like "$keys" '\[of no row 1\]' "... and not for that of a list that is not shown"
	unlike "$keys" '\[error' "no error"
	shares=$(grep -o '<option value="[tp][0-9.]*">[0-9.]* %' "$work/dom" | sed 's/.*>//; s/ %//')
	number "$(printf '%s\n' "$shares" | wc -l) >= 3" "threads have shares"
	is "$shares" "$(printf '%s\n' "$shares" | sort -rn)" "... the largest first"
	act diff.html <<-'SCRIPT'
		const first = () => by("legend").querySelector("i").style.background;
		note(`safe ${first()}`);
		by("colour").value = "red-blue";
		by("colour").dispatchEvent(new Event("change"));
		note(`chosen ${first()}`);
		const list = () => by("changes").querySelector("[aria-pressed=true]").textContent, seen = [];
		for (const key of ["c", "c", "c", "c"]) {
			press(key);
			seen.push(`${list()} ${document.activeElement.matches("#changes .list")}`);
		}
		note(`lists ${seen}`);
		press("c");
		press("ArrowDown");
		press("ArrowDown");
		const line = by("changes").querySelectorAll("tbody tr")[1];
		note(`at ${line.matches(".at")}`);
		const node = line.dataset.node;
		press("Enter");
		await sleep(20);
		note(`shown ${location.hash.includes(`zoom=${node}`)}, ${document.activeElement.id}`);
	SCRIPT
	show "diff.html#view=changes&by=constructor" > "$work/dom"
	like "$(notes "$work/dom")" '\[lists By call true,' "a list of changes that there is not is left out of the address"
	show diff.html > "$work/dom"
	keys=$(notes "$work/dom")
	like "$keys" '\[safe rgb\(250, 158, 66\)\]\[chosen rgb' "--safe-colors begins with orange"
	like "$keys" '\[lists By function true,By call true,By stack true,By function true\]' "c turns to the next list of changes"
	like "$keys" '\[at true\]\[shown true, graph\]' "... where keys walk, and show a call in the picture"
	unlike "$keys" '\[chosen rgb\(250, 158, 66\)|\[error' "... and the page has others"
	# The picture does not wait for many threads, but all of them and their process can be chosen, and linked to.
	need "$make_trace" -n 6000 -t 200 -k 1000 -O "$make_trace" -o "$work/threads.prf"
	"$report" -q --no-cache -f html "$work/threads.prf" -o "$work/threads.html"
	act threads.html <<-'SCRIPT'
		const first = by("thread").options.length, last = () => [...by("thread").options].pop().value;
		note(location.hash ? `linked ${by("thread").value} of ${first}` : `at first ${first}`);
		await sleep(1000);
		note(`then ${by("thread").options.length} to ${last()}`);
	SCRIPT
	show threads.html > "$work/dom"
	keys=$(notes "$work/dom")
	threads=$("$report" -q --no-cache --group-by=tid "$work/threads.prf" | sed 's/[; ].*//' | sort -u | wc -l)
	like "$keys" "\[at first 51\]\[then $((threads + 2)) to t[0-9]+\]" "of many threads the largest are there at once, all of them soon after"
	last=$(printf '%s' "$keys" | sed 's/.* to //; s/\].*//')
	show "threads.html#thread=$last" > "$work/dom"
	like "$(notes "$work/dom")" "\[linked $last of $((threads + 2))\]" "... and one of the others can be linked to"
	# Each state has what its event has.
	waits=$top/testdata/fixtures/waits.prf
	"$report" -q --no-cache -f html --wall "$waits" -o "$work/waits.html"
	time_of() {
		"$report" -q --no-cache --value=time "$1" "$waits" | awk '
			{ sum += $NF }
			END { if (sum >= 1e6) printf "%.3f s", sum / 1e6; else printf "%.2f ms", sum / 1e3 }'
	}
	"$report" -q --no-cache -f html --off-cpu --wakers "$waits" -o "$work/wakers.html"
	act wakers.html <<-'SCRIPT'
		note(by("legend").textContent);
	SCRIPT
	show wakers.html > "$work/dom"
	like "$(notes "$work/dom")" '\[.*waker.*off CPU.*user.*preempted.*user' "the legend of waits has wakers, too"
	unlike "$(notes "$work/dom")" '\[.*on CPU' "... and not what is not shown"
	act waits.html <<-'SCRIPT'
		press("ArrowUp");
		note(by("tip").textContent);
		note(by("legend").textContent);
	SCRIPT
	show waits.html > "$work/dom"
	keys=$(notes "$work/dom")
	like "$keys" "on CPU $(time_of --on-cpu), off CPU $(time_of --event=off-cpu), preempted $(time_of --event=preempted)self" \
		"a page of all time says what was work, what was a wait, and what was for lack of a CPU"
	like "$keys" '\[[^]]*thread, process or group.*on CPU.*user.*off CPU.*user.*preempted.*user' "... and each has colours in the legend"
	unlike "$keys" '\[error' "... without an error"
else
	skip "a browser shows the page" "$no_browser"
fi
finish
