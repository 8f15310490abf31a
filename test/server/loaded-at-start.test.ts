/** The cost of a gateway's start depends on what is imported, so features that are off must not be imported. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const modules = importedAtOnce(['server/engine/open-engine.ts', 'server/cli/serve.ts']);

/** The files that every gateway loads of an optional feature, to check whether it is on. */
const asking: Record<string, readonly string[]> = {
  cache: ['answer-cache.ts'],
  cassettes: [],
  connect: [],
  demo: [],
  'exchange/faults': ['fault-companion.ts'],
  'exchange/realtime': [],
  faults: ['fault-switch.ts'],
  'store/postgres': [],
  ...Object.fromEntries(
    ['', '/health-hints', '/joining', '/people', '/scim', '/valkey', '/verbs'].map((room) => [`team${room}`, []]),
  ),
  observability: ['gen-ai.ts', 'observability.ts', 'request-tracing.ts'],
};

test.each(Object.entries(asking))('a start loads nothing of %s but what asks whether it is on', (part, files) => {
  expect(existsSync(join(root, 'server', part))).toBe(true);
  const ofPart = modules.filter((path) => dirname(path) === `server/${part}`);
  expect(ofPart.sort()).toEqual(files.map((file) => `server/${part}/${file}`));
});

test.each([
  '@opentelemetry',
  '@smithy',
  'conf',
  'google-auth-library',
  'iovalkey',
  'openid-client',
  'pg',
  'prom-client',
  're2js',
  'ws',
])('a start loads no package %s', (name) => {
  const importing = modules.filter((path) => new RegExp(`^import (?!type\\b)[^;]*'${name}[/']`, 'm').test(read(path)));
  expect(importing).toEqual([]);
});

test('a start loads the exchange', () => {
  expect(modules).toContain('server/exchange/exchange.ts');
});

function importedAtOnce(entries: readonly string[]): string[] {
  const reached = new Set(entries);
  for (const path of reached) {
    for (const [, from, bare] of read(path).matchAll(
      /^(?:import|export) (?!type\b)[^;]*? from '(\.[^']+)'|^import '(\.[^']+)'/gm,
    )) {
      const imported = join(root, dirname(path), from ?? bare ?? '');
      if (existsSync(imported)) reached.add(relative(root, imported));
    }
  }
  return [...reached];
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
