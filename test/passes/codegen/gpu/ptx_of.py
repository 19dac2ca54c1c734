"""Prints the code of a module's exec.images as text: resources are written as hexadecimal digits, with their alignment in front.

Kernels come in the module's order and tables have their names, whatever the parts that they are compiled in."""
import re
import sys

text = open(sys.argv[1]).read()
for name in re.findall(r"exec\.image .*? dense_resource<(\w+)>", text):
    digits = re.search(rf'{name}: "0x([0-9A-F]+)"', text).group(1)
    head, *entries = re.split(r"^(?=\.visible \.entry)", bytes.fromhex(digits)[4:].decode().replace("_of_rest", ""), flags=re.M)
    named = re.compile(r"\.visible \.entry (\w+)")
    entries.sort(key=lambda entry: text.find(f"exec.kernel @{named.match(entry)[1]}("))
    print(head + "".join(entries))
