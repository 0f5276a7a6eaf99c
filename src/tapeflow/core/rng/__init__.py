"""Random number streams: the seeds of graphs and operations, and the counters that numbers are drawn from."""
