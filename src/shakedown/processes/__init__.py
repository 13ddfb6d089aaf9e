"""Starting, watching and ending processes on this machine. Nothing here knows what a test or a build is.

``reactor``      waiting: file descriptors, timers, signals, other threads
``spawn``        starting one process in a session of its own
``table``        what /proc says of processes
``identity``     naming one process so that its name is never taken by another
``tree``         ending a whole process tree, and knowing that it is dead
``orphans``      processes that escaped their parents and were handed to us
``framed_pipe``  messages to a helper process and back
``allowance``    how many files and processes we may have
"""
