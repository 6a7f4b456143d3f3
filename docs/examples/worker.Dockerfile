# A worker for `bench run --engine dask`: build it in the folder that holds your scenarios and strategies.
#   docker build -f worker.Dockerfile -t bench-worker .
#   docker run --rm bench-worker tcp://SCHEDULER:8786
FROM python:3.11-slim
RUN pip install --no-cache-dir "agent-memory-bench[cluster]" s3fs
# What a strategy is loaded from lies at the same path as where the run is started; its hashes are compared.
WORKDIR /work
COPY . /work
# One thread: a worker measures one case at a time. A nanny starts it again where it dies.
ENTRYPOINT ["dask", "worker", "--nthreads", "1", "--nworkers", "auto"]
