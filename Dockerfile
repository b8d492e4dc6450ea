# The image of one node. Not tested with a Docker engine. See docs/operators/docker.md.

# Node 24.21.0 on Debian 12 for amd64 and arm64. A tag can be moved, so this line pins the digest. It comes from several
# independent public Dockerfiles, not from the registry. To check it, or to find a newer one:
# docker buildx imagetools inspect node:24-bookworm-slim
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY contract contract
COPY client client
COPY console console
COPY server server
COPY docs docs
# Installs exactly the lock file, or fails.
RUN npm ci --no-audit --no-fund
RUN npm run build

# The dependencies of production, in the versions of the lock file. None needs an install script.
FROM ${NODE_IMAGE} AS production
WORKDIR /opt/espalier
COPY package.json package-lock.json .npmrc LICENSE ./
COPY contract/package.json contract/package.json
COPY client/package.json client/package.json
COPY console/package.json console/package.json
COPY server/package.json server/package.json
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY --from=build /src/contract/dist contract/dist
COPY --from=build /src/client/dist client/dist
COPY --from=build /src/console/dist console/dist
COPY --from=build /src/server/dist server/dist
COPY server/bin server/bin

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Espalier" \
  org.opencontainers.image.description="A self-hosted server for token-secured graph access to one shared tree of folders" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="0.1.0"
COPY --from=production /opt/espalier /opt/espalier
# Kubernetes needs a numeric user for "runAsNonRoot". The server writes only to /data, which belongs to this user.
RUN install --directory --owner=10001 --group=10001 --mode=0700 /data
WORKDIR /data
VOLUME /data
USER 10001:10001
ENV NODE_ENV=production ESPALIER_HOST=0.0.0.0 ESPALIER_PORT=8080
EXPOSE 8080
STOPSIGNAL SIGTERM
# Checks that the process responds. If it has a certificate, the check uses HTTPS but does not verify the certificate.
# Load balancers should check /readyz instead: if the database is unreachable, restarting the container does not help.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "const { ESPALIER_HOST: host, ESPALIER_PORT: port, ESPALIER_BASE_PATH: base, ESPALIER_TLS_CERT_FILE: cert } = process.env; const hostname = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host; require(cert ? 'node:https' : 'node:http').get({ hostname, port, path: (base ?? '') + '/livez', rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/espalier/server/bin/espalier.js"]
CMD ["serve"]
