#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a page of prof-report takes until its first picture is on the screen.

usage: first-picture.py [--runs N] [--browser PROGRAM] PAGE...

A headless browser (chromium, or $PROF_TEST_BROWSER) opens each page, one after the other in each
round, every time as a new process with an empty profile, from a server in this program. The time is
that from the beginning of the navigation to the end of the first frame that is painted after the page's
script says that it is ready: loading, unpacking, layout and painting, not the start of the browser.
Prints for each page its size, the median with the smallest and largest time, and the median of the
script's own part.
"""
import argparse
import http.server
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.parse

# Where it goes to tells the times: a page may connect to nothing.
WATCH = b"""<script>
(function wait() {
	const { ready } = document.documentElement.dataset;
	if (ready === undefined)
		requestAnimationFrame(wait);
	else
		requestAnimationFrame(() => location.replace(`/times?${performance.now()}&${ready}`));
})();
</script></body>"""
PATIENCE = 60


class Server(http.server.HTTPServer):
    """Has `page`, the bytes to serve; `times` is [picture, script] in ms once `told` is set."""
    page = b""
    times = None

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.told = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        body = self.server.page if url.path == "/page" else b""
        self.send_response(200 if url.path in ("/page", "/times") else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if url.path == "/times":
            self.server.times = [float(value) for value in url.query.split("&")]
            self.server.told.set()


def measure(server, browser):
    server.told.clear()
    with tempfile.TemporaryDirectory() as profile, subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--user-data-dir=" + profile,
             "--window-size=1160,800", "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_port}/page"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        told = server.told.wait(PATIENCE)
        os.killpg(process.pid, 9)
        process.wait()
    if not told:
        sys.exit(f"first-picture.py: no picture within {PATIENCE} s")
    return server.times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--browser", default=os.environ.get("PROF_TEST_BROWSER") or shutil.which("chromium"))
    parser.add_argument("pages", nargs="+", metavar="PAGE")
    arguments = parser.parse_args()
    if not arguments.browser:
        sys.exit("first-picture.py: no chromium; --browser names a browser like it")
    server = Server()
    pages = {}
    for name in arguments.pages:
        with open(name, "rb") as file:
            pages[name] = file.read()
    times = {name: [] for name in pages}
    for _ in range(arguments.runs):
        for name, page in pages.items():
            server.page = page.replace(b"</body>", WATCH) if b"</body>" in page else page + WATCH
            times[name].append(measure(server, arguments.browser))
    print("| page | size | first picture, ms | of it the script |\n|---|---|---|---|")
    for name, page in pages.items():
        picture = [one for one, _ in times[name]]
        script = statistics.median(own for _, own in times[name])
        print(f"| {name} | {len(page) / 1e6:.2f} MB | {statistics.median(picture):.0f} "
              f"({min(picture):.0f} to {max(picture):.0f}) | {script:.0f} |")


if __name__ == "__main__":
    main()
