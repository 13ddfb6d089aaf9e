"""Judge a run from its output and files. Pure: text, bytes and facts arrive as arguments, no file is opened here.

``text`` decodes bytes into text, ``extract`` evaluates checks, ``figures`` takes figures of merit, ``judge`` gives the
verdict, ``trim`` shortens a verdict until it fits into an event.
"""
