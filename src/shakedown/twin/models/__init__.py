"""Models of what machines do: noise, slow nodes, collectives, memory, storage. Pure numbers in, pure numbers out."""
