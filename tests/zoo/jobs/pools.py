"""One process that waits for its workers: joblib, dask, futures, datasets."""
import os
import sys
import time

from zoo_job import pipe, ready


def work(number):
    if number == 3:
        ready()
        open(pipe()).read()  # stuck
    time.sleep(0.01)
    return number


def joblib():
    import joblib
    joblib.Parallel(n_jobs=2)(
        joblib.delayed(work)(number) for number in range(8))


def executor():
    import concurrent.futures
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(work, range(8)))


def dask():
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1,
                      dashboard_address=None) as cluster:
        with Client(cluster) as client:
            client.gather(client.map(work, range(8), pure=False))


def dask_threads():
    import dask
    dask.compute(*[dask.delayed(work)(number) for number in range(8)],
                 scheduler="threads", num_workers=2)


def encode(row):
    work(row["number"])
    return row


def datasets():
    import datasets
    datasets.Dataset.from_dict({"number": list(range(8))}).map(
        encode, num_proc=2, load_from_cache_file=False)


if __name__ == "__main__":
    os.chdir(os.path.join(os.environ["ZOO_READY"], ".."))
    globals()[sys.argv[1]]()
