"""The same no-op commands through HyperQueue: a server and a two-core worker in this process. usage: ... COUNT DIRECTORY"""

import sys
from pathlib import Path

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

count, directory = int(sys.argv[1]), Path(sys.argv[2])
with LocalCluster(server_dir=str(directory / "server")) as cluster:
    cluster.start_worker(WorkerConfig(cores=2))
    client = cluster.client()
    job = Job(directory)
    for number in range(count):
        job.program(["sh", "-c", f"echo ok {number}"])
    client.wait_for_jobs([client.submit(job)])
