"""Opens a page of `tessera explain --html` in headless Chromium and prints what its script made of it.

  page.py FILE.html [--need VALUES]    prints the page's summary; exit code 1 where the script failed, or drew fewer than VALUES values.
Without chromium it says so, and that is all.
"""
import re, shutil, subprocess, sys, tempfile


def main():
    file, need = sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("no chromium: the page was not opened")
        return
    text = open(file).read()
    if re.search(r"""(src|href)\s*=\s*["']?(https?:)?//|@import|url\(""", text):
        sys.exit("the page asks for something from outside")
    # The page as it is, and one line ahead of it that shows what a script throws.
    watch = '<script>window.onerror = (m, s, l) => { document.documentElement.dataset.error = m + " at line " + l; };</script>'
    with tempfile.TemporaryDirectory() as directory:
        watched = f"{directory}/page.html"
        open(watched, "w").write(text.replace("<head>", "<head>" + watch, 1))
        run = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", f"--user-data-dir={directory}/profile",
                              "--virtual-time-budget=10000", "--dump-dom", f"file://{watched}"], capture_output=True, text=True, timeout=120)
    opened = run.stdout[:2000]
    error, ready = re.search(r'data-error="([^"]*)"', opened), re.search(r'data-ready="((\d+) values[^"]*)"', opened)
    if error or not ready:
        sys.exit(f"the page's script failed: {error[1] if error else 'it did not end'}\n{run.stderr[-500:]}")
    if cut := re.search(r'<p class="mend"><b>\w+</b>: ….*?<br>|<p title="[^"]*">….*?</p>', run.stdout):
        sys.exit(f"a sentence has lost its beginning: {cut[0]}")
    print(ready[1])
    if int(ready[2]) < need:
        sys.exit(f"{ready[2]} values where {need} are expected")


if __name__ == "__main__":
    main()
