"""Prints the code of a module's exec.images as text: resources are written as hexadecimal digits, with their alignment in front."""
import re
import sys

text = open(sys.argv[1]).read()
for name in re.findall(r"exec\.image .*? dense_resource<(\w+)>", text):
    digits = re.search(rf'{name}: "0x([0-9A-F]+)"', text).group(1)
    print(bytes.fromhex(digits)[4:].decode())
