# Sluice without a desktop. `docker build -t sluice .`; how to run it is in docs/container.md.

# The program is the same for every processor, so it is built once, on the machine's own.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
# Without install scripts, which would compile keytar (a container has no keychain) and download a second Node.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
# The release adds version, revision and source.
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="A gateway that serves the APIs of OpenAI, Anthropic and Gemini over any provider" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production SLUICE_DATA_DIR=/data SLUICE_SECRETS=file
COPY --from=build /src/dist/program /app/program
COPY --from=build /src/dist/window /app/window
RUN mkdir /data && chown node:node /data && ln -s /app/program/cli.js /usr/local/bin/sluice && chmod +x /app/program/cli.js
VOLUME ["/data"]
USER node
EXPOSE 4810
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:4810/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/program/cli.js"]
CMD ["serve", "--host", "0.0.0.0"]
