/**
 * Checks that the files of `build/deploy` for Docker and Kubernetes match the program: its options, variables, probes
 * and times.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createProgram } from '../../server/cli/program.ts';
import { readEnvironment } from '../../server/engine/environment.ts';
import { optionalParts } from '../../server/optional-parts.ts';
import { checkout } from '../support/program.ts';

const read = (name: string) => readFileSync(join(checkout, 'build/deploy', name), 'utf8');

interface ComposeService {
  command: string[];
  environment: Record<string, string>;
  stop_grace_period: string;
  read_only: boolean;
  volumes: string[];
}
/** With the required variable set. */
const composeText = read('compose.yaml').replaceAll(/\$\{PUBLIC_URL:\?[^}]+\}/g, 'https://gateway.example');
const compose = parse(composeText, { merge: true }) as {
  services: Record<string, ComposeService>;
  volumes: Record<string, object>;
};

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  args: string[];
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  volumeMounts: { name: string; mountPath: string }[];
  ports: { name: string }[];
}
const manifestsIn = (file: string) => {
  const manifests = parseAllDocuments(read(file)).map((document) => document.toJS());
  return (kind: string) => manifests.find((each) => each.kind === kind);
};
const manifest = manifestsIn('kubernetes.yaml');
const monitoring = manifestsIn('kubernetes-monitoring.yaml');
const pod = manifest('Deployment').spec.template;
const container: Container = pod.spec.containers[0];

const team = await optionalParts.team?.();

/** Parses options as `serve` does; throws for an unknown option. */
function optionsOf(words: string[]): Record<string, unknown> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = { env: {}, argv: words, stdin: Readable.from([]), stdout, stderr };
  const program = createProgram({ ...terminal, windowFolders: [], teamPresets: { policy: '' } }, team);
  const serve = program.commands.find((command) => command.name() === 'serve') as Command;
  serve.exitOverride().parseOptions(words.slice(1));
  return serve.opts();
}

const variablesOf = (names: readonly string[]) => {
  const env = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  return readEnvironment(env);
};

describe('the compose file', () => {
  const replicas = ['sluice-1', 'sluice-2'].map((name) => compose.services[name] as ComposeService);
  test.each(replicas)('starts replicas as `serve` understands it', ({ command, environment }) => {
    expect(command[0]).toBe('serve');
    expect(optionsOf(command)).toMatchObject({ host: '0.0.0.0', shared: 'valkey://valkey', shutdownDelay: 5 });
    expect(variablesOf(Object.keys(environment)).store).toBe('value of SLUICE_STORE');
    expect(environment.SLUICE_STORE).toContain('env:POSTGRES_PASSWORD@postgres/');
  });
  test.each(replicas)('gives a replica the time that it takes to end', ({ command, stop_grace_period }) => {
    const { shutdownDelay, gracePeriod } = optionsOf(command);
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(Number(shutdownDelay) + Number(gracePeriod) + 5);
  });
  test('gives each replica a data folder of its own that outlives it', () => {
    const folders = replicas.map(({ volumes: [folder = ''] }) => folder.replace(/:\/data$/, ''));
    expect(new Set(folders).size).toBe(replicas.length);
    for (const folder of folders) expect(compose.volumes).toHaveProperty(folder);
  });
  test('has the replicas that nginx balances between', () => {
    const balanced = [...read('nginx.conf').matchAll(/^ +server (\S+):4810 /gm)].map(([, name]) => name);
    expect(balanced).toEqual(Object.keys(compose.services).filter((name) => name.startsWith('sluice')));
  });
});

describe('the Kubernetes manifests', () => {
  test('start replicas as `serve` understands it', () => {
    expect(container.args[0]).toBe('serve');
    expect(optionsOf(container.args)).toMatchObject({ host: '0.0.0.0', shared: 'file:/run/secrets/sluice/shared' });
    expect(variablesOf(container.env.map(({ name }) => name))).toMatchObject({
      store: 'value of SLUICE_STORE',
      passphrase: 'value of SLUICE_PASSPHRASE',
    });
    const secret = manifest('Secret').stringData;
    for (const { valueFrom } of container.env) if (valueFrom) expect(secret).toHaveProperty(valueFrom.secretKeyRef.key);
    const mount = container.volumeMounts.find(({ name }) => name === 'secrets')?.mountPath;
    const files = [...read('kubernetes.yaml').matchAll(new RegExp(`file:${mount}/(\\w+)`, 'g'))].map(([, key]) => key);
    expect(files).toEqual(['shared', 'store']);
    for (const key of files) expect(secret).toHaveProperty(String(key));
    const { credentials } = monitoring('PodMonitor').spec.podMetricsEndpoints[0].authorization;
    expect([credentials.name, secret]).toEqual([
      manifest('Secret').metadata.name,
      expect.objectContaining({ [credentials.key]: '' }),
    ]);
  });
  test('ask the probes, and give a pod the time that it takes to end', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(['/livez', '/livez', '/readyz']);
    const { shutdownDelay, gracePeriod } = optionsOf(container.args);
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(shutdownDelay) + Number(gracePeriod) + 5);
  });
  test('belong together', () => {
    const { labels } = pod.metadata;
    expect(manifest('Deployment').spec.selector.matchLabels).toEqual(labels);
    expect(manifest('Service').spec.selector).toEqual(labels);
    expect(manifest('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
    expect(manifest('NetworkPolicy').spec.podSelector.matchLabels).toEqual(labels);
    for (const { labelSelector } of pod.spec.topologySpreadConstraints)
      expect(labelSelector.matchLabels).toEqual(labels);
    expect(monitoring('PodMonitor').spec.selector.matchLabels).toEqual(labels);
    const { kind, metadata } = manifest('Deployment');
    expect(manifest('HorizontalPodAutoscaler').spec.scaleTargetRef).toMatchObject({ kind, name: metadata.name });
    const [port] = container.ports;
    expect(manifest('NetworkPolicy').spec.ingress[0].ports).toEqual([{ protocol: 'TCP', port: port?.name }]);
    expect(monitoring('PodMonitor').spec.podMetricsEndpoints[0].port).toBe(port?.name);
    const volumes = pod.spec.volumes.map(({ name }: { name: string }) => name);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
  });
  test('give Sluice a folder that it makes itself, since the volume is open to others', () => {
    const mount = container.volumeMounts.find(({ name }) => name === 'data')?.mountPath;
    const folder = container.env.find(({ name }) => name === 'SLUICE_DATA_DIR')?.value ?? '';
    expect(dirname(folder)).toBe(mount);
  });
});
