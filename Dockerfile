# A CPU image of adgcl with exactly the versions of container/requirements.txt; docs/container.md says how to use it.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS build
# An index with torch for CPUs: without one it brings what it needs on GPUs, which is several gigabytes.
ARG TORCH_INDEX=""
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/adgcl
# What changes seldom comes first: a change of the source rebuilds none of it.
COPY container/requirements.txt /tmp/requirements.txt
RUN /opt/adgcl/bin/pip install ${TORCH_INDEX:+--extra-index-url "${TORCH_INDEX}"} -r /tmp/requirements.txt
COPY pyproject.toml README.md LICENSE /tmp/source/
COPY src /tmp/source/src
RUN /opt/adgcl/bin/pip install --no-deps /tmp/source

FROM python:${PYTHON}-slim-bookworm
# RDKit draws with X11's libraries, and Numba's threads are those of OpenMP.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 libxrender1 libxext6 libexpat1 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 adgcl \
    && mkdir /data /runs \
    && chown adgcl:adgcl /data /runs
COPY --from=build /opt/adgcl /opt/adgcl
# Whatever is written goes to the volumes: packed data and compiled loops are kept from one container to the next.
ENV PATH=/opt/adgcl/bin:$PATH \
    ADGCL_DATA=/data \
    ADGCL_CACHE=/runs/.cache/packed \
    NUMBA_CACHE_DIR=/runs/.cache/compiled \
    MPLCONFIGDIR=/runs/.cache/matplotlib \
    PYTHONUNBUFFERED=1
# By number: some systems do not resolve names.
USER 1000
WORKDIR /runs
VOLUME ["/data", "/runs"]
ENTRYPOINT ["adgcl"]
CMD ["--help"]
