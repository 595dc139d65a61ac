# The app in a container: docker build -t regard . && docker run --rm -p 127.0.0.1:8765:8765 regard
# It prints the address with its token. Models are kept in /home/regard/.cache; mount a volume there to keep them between runs.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN python -m venv /opt/regard \
    && /opt/regard/bin/pip install --no-cache-dir -c constraints.txt ".[demo,figures,studies,data]"

FROM python:3.12-slim-bookworm
LABEL org.opencontainers.image.title="regard" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --create-home --uid 10001 regard
COPY --from=build /opt/regard /opt/regard
ENV PATH=/opt/regard/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER regard
WORKDIR /home/regard
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8765), 4)"]
ENTRYPOINT ["regard"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8765", "--no-browser"]
