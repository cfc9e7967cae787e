"""Adds a folder of licences to the dist-info of a wheel, and the notice that Clp's licence asks for.

usage: wheel_licences.py WHEEL FOLDER
"""
import base64
import hashlib
import pathlib
import sys
import zipfile

NOTICE = """This wheel contains libraries by other authors. Each library's licence lies next to this file.

COIN-OR Clp and CoinUtils are under the Eclipse Public License 1.0. kspec links them statically and does not
change them. Their source is at https://github.com/coin-or/Clp and https://github.com/coin-or/CoinUtils, and
in Debian's source packages clp and coinutils (https://sources.debian.org). Their authors give no warranty
and accept no liability.
"""


def main():
    wheel, folder = map(pathlib.Path, sys.argv[1:])
    with zipfile.ZipFile(wheel) as z:
        files = {i: z.read(i) for i in z.infolist()}
    record = next(i for i in files if i.filename.endswith(".dist-info/RECORD"))
    place = record.filename.removesuffix("RECORD") + "licenses/"
    added = {place + p.name: p.read_bytes() for p in sorted(folder.iterdir())}
    if place + "clp.txt" in added:
        added[place + "NOTICE.txt"] = NOTICE.encode()
    lines = files.pop(record).decode()
    for name, data in added.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines = f"{name},sha256={digest},{len(data)}\n" + lines
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as z:
        for info, data in files.items():
            z.writestr(info, data, zipfile.ZIP_DEFLATED)
        for name, data in added.items():
            z.writestr(name, data)
        z.writestr(record.filename, lines)


main()
