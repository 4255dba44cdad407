#!/usr/bin/env python3
"""Computes Diario's rows and hashes a second time, from the documents, and compares.

The documents in `schema/format/` are all that this program and the package `diario_format` beside
it were written from. It ends with 0 if everything agrees, with 1 if something differs, and with 2
if it was called wrongly.
"""

import argparse
import os
import sys

from diario_format import check_log, schemas, vectors
from diario_format.primitives import FormatError

DIFFERENCES_SHOWN_MAX = 20
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_SCHEMA = os.path.join(REPOSITORY, "schema")


def report(differences):
    """Says what differs, the first of them in full; the exit code."""
    for text in differences[:DIFFERENCES_SHOWN_MAX]:
        print(text, file=sys.stderr)
    if len(differences) > DIFFERENCES_SHOWN_MAX:
        print(f"... and {len(differences) - DIFFERENCES_SHOWN_MAX} more", file=sys.stderr)
    return 1 if differences else 0


def run_vectors(arguments):
    count, differences = vectors.run(arguments.folder)
    print(f"{count} values of vectors compared, {len(differences)} differ")
    return report(differences)


def run_log(arguments):
    packs = schemas.read_packs(arguments.schema or DEFAULT_SCHEMA)
    if arguments.schema is None:
        packs = [pack for pack in packs if pack.name == "engine"]
    lines, notes, problems = check_log.run(
        arguments.folder, packs, arguments.export, arguments.space
    )
    for line in lines:
        print(line)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return report(problems)


def folder(text):
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return text


def parser():
    main_parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = main_parser.add_subparsers(dest="command", required=True)

    command = commands.add_parser("vectors", help="recompute every value of the golden vectors")
    command.add_argument("folder", type=folder, help="the folder with the *.json files")
    command.set_defaults(run=run_vectors)

    command = commands.add_parser("log", help="read and check a data directory")
    command.add_argument("folder", type=folder, help="the folder that holds `.diario`")
    command.add_argument("--schema", type=folder, default=None,
                         help="packs to know beside those that the directory holds "
                              "(only `engine`, from this repository)")
    command.add_argument("--export", action="store_true",
                         help="print the events as lines of JSON instead of the summary")
    command.add_argument("--space", default=None, help="export this space only")
    command.set_defaults(run=run_log)
    return main_parser


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    arguments = parser().parse_args()
    try:
        return arguments.run(arguments)
    except FormatError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
