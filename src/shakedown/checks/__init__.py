"""From what a run left behind to its verdict, pure: text, bytes and facts arrive as arguments, nothing is opened here.

``text`` makes readable text of bytes, ``extract`` evaluates checks, ``figures`` takes figures of merit, ``judge`` gives the
verdict, ``trim`` makes it fit an event.
"""
