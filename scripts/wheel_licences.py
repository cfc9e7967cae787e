"""Adds a folder of licences to the dist-info of a wheel, and the notice that the EPL asks for.

usage: wheel_licences.py WHEEL FOLDER
"""
import base64
import hashlib
import pathlib
import sys
import zipfile

NOTICE = """This wheel carries libraries of others, as Debian builds them; each one's licence is beside this.

COIN-OR Clp and CoinUtils are under the Eclipse Public License 1.0. They are used as shared libraries and
unchanged; their source is at https://github.com/coin-or/Clp and https://github.com/coin-or/CoinUtils, and in
Debian's source packages coinor-libclp and coinutils (https://sources.debian.org). Their authors give no
warranty and take no liability.
"""


def main():
    wheel, folder = map(pathlib.Path, sys.argv[1:])
    with zipfile.ZipFile(wheel) as z:
        files = {i: z.read(i) for i in z.infolist()}
    record = next(i for i in files if i.filename.endswith(".dist-info/RECORD"))
    place = record.filename.removesuffix("RECORD") + "licenses/"
    added = {place + "NOTICE.txt": NOTICE.encode()}
    added.update({place + p.name: p.read_bytes() for p in sorted(folder.iterdir())})
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
