"""Starting, watching and ending processes on this machine. Nothing here knows what a test or a build is.

``reactor``      waiting: for descriptors, timers, signals, other threads
``steady``       a time that no setting of the clock changes
``spawn``        starting one process in a session of its own
``table``        what /proc says of processes
``identity``     naming a process so that no other process ever has the same name
``tree``         ending a whole tree of processes, and knowing that it is dead
``orphans``      processes that outlived their parents and became our children
``witness``      a second process that sees when a child ended while this one stood still
``file_sync``    making a file durable in a process of its own
``framed_pipe``  messages to and from a helper process
``allowance``    how many files and processes this user may have
"""
