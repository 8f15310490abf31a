/** Checks the dependency rule of `docs/architecture.md` by reading the imports of all sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lookAtNone, worstCases } from './server/worst-cases.ts';

const root = join(import.meta.dirname, '..');

interface Import {
  /** As written in the import. */
  name: string;
  /** Path from the root for a relative import, otherwise undefined. */
  path: string | undefined;
  isTypeOnly: boolean;
}

interface Source {
  /** Path from the root, with `/`. */
  path: string;
  text: string;
  imports: Import[];
}

const sources = ['server', 'electron', 'renderer'].flatMap((folder) => readSources(join(root, folder)));
const engine = sources.filter((source) => source.path.startsWith('server/'));

/**
 * The folders and files that each folder of the engine, and each file directly under `server/`, may import besides
 * itself. Routing needs the names of secrets, not their values.
 */
const ground = [
  'contract',
  'files',
  'awake-clock.ts',
  'slots.ts',
  'compared-bytes.ts',
  'bounded-pattern.ts',
  'loop-turns.ts',
  'maybe-promise.ts',
  'lru-map.ts',
  'loop-watch.ts',
  'serial-queue.ts',
  'batched-writes.ts',
  'machine-shortage.ts',
  'timers.ts',
];
const data = [
  'cache',
  'config',
  'secrets',
  'ledger',
  'jobs',
  'kept-responses',
  'reasoning',
  'usage',
  'transport',
  'faults',
  'providers',
  'routing',
  'limits',
  'observability',
  'database',
];
const belowGateway = [
  ...ground,
  ...data,
  'store',
  'team',
  'connect',
  'control',
  'exchange',
  'http',
  'translate',
  'wire',
  'log.ts',
  'gateway-ports.ts',
  'version.ts',
];
const belowEngine = [...belowGateway, 'gateway.ts', 'data-folder', 'environment.ts'];
const mayImport: Record<string, string[]> = {
  contract: [],
  'slots.ts': [],
  'batched-writes.ts': [],
  'compared-bytes.ts': [],
  'awake-clock.ts': ['slots.ts', 'timers.ts'],
  'bounded-pattern.ts': [],
  'loop-turns.ts': [],
  'loop-watch.ts': ['contract', 'timers.ts'],
  'machine-shortage.ts': [],
  'timers.ts': [],
  'serial-queue.ts': [],
  'maybe-promise.ts': [],
  'lru-map.ts': [],
  'version.ts': ['package.json'],
  files: ['timers.ts'],
  database: ground,
  'log.ts': ground,
  transport: ground,
  providers: [...ground, 'transport'],
  routing: [...ground, 'providers', 'transport', 'secrets', 'wire'],
  limits: [...ground, 'ledger'],
  usage: ground,
  observability: [...ground, 'secrets', 'transport'],
  ledger: [...ground, 'database'],
  jobs: [...ground, 'database'],
  'kept-responses': [...ground, 'database'],
  reasoning: [...ground, 'database'],
  store: [...ground, 'config', 'secrets', 'database', 'ledger', 'jobs', 'kept-responses', 'reasoning'],
  cache: ground,
  team: [...ground, 'config', 'database', 'ledger', 'limits', 'routing', 'secrets', 'store', 'transport'],
  config: ground,
  secrets: ground,
  demo: ground,
  connect: ground,
  control: [...ground, ...data, 'connect', 'demo', 'team', 'translate', 'wire'],
  wire: ['contract', 'bounded-pattern.ts', 'compared-bytes.ts', 'loop-turns.ts'],
  faults: ['contract', 'bounded-pattern.ts', 'timers.ts', 'wire'],
  translate: ['contract', 'bounded-pattern.ts', 'wire'],
  exchange: [...ground, ...data, 'translate', 'wire'],
  cassettes: [...ground, 'config', 'exchange', 'wire', 'version.ts'],
  http: [...ground, ...data, 'control', 'exchange', 'team', 'wire'],
  'environment.ts': ['transport'],
  'data-folder': ground,
  'gateway-ports.ts': [...ground, ...data, 'team', 'store', 'exchange', 'wire', 'log.ts'],
  'gateway-cassettes.ts': [...belowGateway, 'cassettes'],
  'gateway-control.ts': [...belowGateway, 'gateway-limits.ts', 'gateway-people.ts'],
  'gateway-foundations.ts': [...belowGateway, 'gateway-cassettes.ts'],
  'gateway-limits.ts': belowGateway,
  'gateway-network.ts': belowGateway,
  'gateway-people.ts': belowGateway,
  'gateway-observability.ts': belowGateway,
  'gateway-shadows.ts': belowGateway,
  'gateway.ts': [
    ...belowGateway,
    'gateway-control.ts',
    'gateway-foundations.ts',
    'gateway-network.ts',
    'gateway-observability.ts',
    'gateway-shadows.ts',
  ],
  'open-engine.ts': belowEngine,
  cli: [...belowEngine, 'open-engine.ts', 'cassettes'],
  'cli.ts': ['cli', 'config'],
};

/** What the shell may import: itself, the contract, and the files that open an engine on a data folder. */
const shellMayImport =
  /^(electron\/|server\/contract\/|server\/(gateway|open-engine|environment|version|timers|machine-shortage)\.ts$|server\/data-folder\/claim-folder\.ts$|server\/config\/((json-file-)?persistence|managed-preset|policy-path)\.ts$|server\/secrets\/keychain-process\.ts$)/;

const singleImporters: Record<string, RegExp> = {
  express: /^server\/http\//,
  multer: /^server\/http\/body\/multipart\.ts$/,
  keytar: /^server\/secrets\/keychain\.ts$/,
  undici: /^server\/transport\//,
  ws: /^server\/exchange\/realtime\//,
  'node:sqlite': /^server\/database\/database\.ts$/,
  'openid-client': /^server\/team\/people\/identity-provider\.ts$/,
  pg: /^server\/store\/postgres\//,
  iovalkey: /^server\/team\/valkey\/valkey-link\.ts$/,
  conf: /^server\/config\/conf-persistence\.ts$/,
  'electron-updater': /^electron\/main\.ts$/,
  'electron-store': /^electron\/settings-store\.ts$/,
  commander: /^server\/cli\//,
  pino: /^server\/log\.ts$/,
  re2js: /^server\/cassettes\/linear-pattern\.ts$/,
  'prom-client': /^server\/observability\//,
  '@opentelemetry/api': /^server\/observability\//,
  '@opentelemetry/sdk-trace': /^server\/observability\//,
  '@opentelemetry/sdk-metrics': /^server\/observability\//,
};

describe('the engine', () => {
  test('imports only downward', () => {
    const wrong = engine.flatMap((source) => {
      const part = partOf(source.path);
      const allowed = mayImport[part] ?? [];
      return source.imports
        .filter(({ path }) => path !== undefined && partOf(path) !== part && !allowed.includes(partOf(path)))
        .map(({ path }) => `${source.path} imports ${path}; ${part} may import only: ${allowed.join(', ')}`);
    });
    expect(wrong).toEqual([]);
  });

  test('has no folder or top-level file that the rule does not name', () => {
    const parts = new Set(engine.map(({ path }) => partOf(path)));
    expect([...parts].filter((part) => !(part in mayImport))).toEqual([]);
    expect(Object.keys(mayImport).filter((part) => !parts.has(part))).toEqual([]);
  });

  test('knows each API by its own folders and the registry alone', () => {
    const folderOf = (path: string) => /^server\/wire\/(?!json\/)\w+\//.exec(path)?.[0];
    const isOfApi = (path: string, folder: string) =>
      path.startsWith(folder) || path.startsWith(folder.replace(/^server\/wire\/(\w+)\/$/, 'server/translate/$1-'));
    const wrong = engine.flatMap((source) =>
      source.imports
        .filter(({ path }) => path !== undefined && folderOf(path) !== undefined)
        .filter(
          ({ path = '' }) => source.path !== 'server/wire/registry.ts' && !isOfApi(source.path, folderOf(path) ?? ''),
        )
        .map(({ path }) => `${source.path} imports ${path}`),
    );
    expect(wrong).toEqual([]);
    expect(engine.filter(({ path }) => path.startsWith('server/wire/openai/')).length).toBeGreaterThan(5);
  });

  test('imports nothing from the shell or the window', () => {
    const wrong = engine.flatMap(({ path, imports }) =>
      imports
        .filter(
          (each) => each.name.startsWith('electron') || (each.path !== undefined && !each.path.startsWith('server/')),
        )
        .filter((each) => each.path !== 'package.json')
        .map((each) => `${path} imports ${each.name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('tests every file that reads untrusted input with its worst input', () => {
    const paths = /^server\/(?:exchange|faults|http|transport|routing|usage|limits|jobs|providers|translate|wire)\//;
    const reads =
      /\bJSON\.parse\(|[(,]\s*\w+\??: (?:readonly )?(?:Buffer|Uint8Array)\b|[(,]\s*(?:text|json|data|body|header|whole): string\b/;
    const readers = engine.filter(({ path, text }) => paths.test(path) && reads.test(withoutComments(text)));
    const known = [...Object.values(worstCases).flatMap(({ files }) => files), ...lookAtNone];
    expect(readers.map(({ path }) => path.slice('server/'.length)).filter((path) => !known.includes(path))).toEqual([]);
    expect(known.filter((path) => !readers.some((reader) => reader.path === `server/${path}`))).toEqual([]);
  });

  test('is imported by the shell only through its entry points and the contract', () => {
    const wrong = sources
      .filter(({ path }) => !path.startsWith('server/'))
      .flatMap(({ path, imports }) => {
        const allowed = path.startsWith('renderer/') ? /^(renderer|server\/contract)\// : shellMayImport;
        return imports
          .filter((each) => each.path !== undefined && !allowed.test(each.path))
          .map((each) => `${path} imports ${each.path}`);
      });
    expect(wrong).toEqual([]);
  });
});

describe('the shell', () => {
  const shell = sources.filter(({ path }) => path.startsWith('electron/'));

  test('handles IPC in one file only', () => {
    const wrong = shell.filter(
      ({ path, text }) => path !== 'electron/ipc.ts' && /\bipcMain\b/.test(withoutComments(text)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('gives its preload nothing but the table of calls', () => {
    const preload = shell.find(({ path }) => path === 'electron/preload.ts');
    expect(preload?.imports.map(({ name }) => name)).toEqual(['electron', '../server/contract/ipc.ts']);
  });
});

describe('all sources', () => {
  test('are found, with what they import', () => {
    const gateway = sources.find(({ path }) => path === 'server/gateway.ts');
    expect(gateway?.imports.map(({ path }) => path)).toContain('server/http/app.ts');
    expect(sources.some(({ path }) => path.startsWith('renderer/'))).toBe(true);
  });

  test('import each of these packages in one place only', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .filter(({ name }) => singleImporters[packageOf(name)]?.test(path) === false)
        .map(({ name }) => `${path} imports ${name}, which only ${singleImporters[packageOf(name)]?.source} may`),
    );
    expect(wrong).toEqual([]);
  });

  test('import without cycles', () => {
    expect(findCycles(sources)).toEqual([]);
  });

  test('the engine and the window import one another in one direction, types included', () => {
    const asIfRun = sources
      .filter(({ path }) => !path.startsWith('electron/'))
      .map((source) => ({ ...source, imports: source.imports.map((each) => ({ ...each, isTypeOnly: false })) }));
    expect(findCycles(asIfRun)).toEqual([]);
  });

  test('read process.env in the two entries only', () => {
    const entries = ['server/cli.ts', 'electron/main.ts'];
    const wrong = sources.filter(
      ({ path, text }) => !entries.includes(path) && /\bprocess\.env\b/.test(withoutComments(text)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('set timers whose exceptions do not end the process', () => {
    const setsTimer = /(?<![.\w])set(?:Timeout|Interval)\(/;
    const waitsOnly = ({ imports }: Source) => imports.some(({ name }) => name === 'node:timers/promises');
    const wrong = sources
      .filter(({ path }) => !path.startsWith('renderer/') && path !== 'server/timers.ts')
      .filter((source) => !waitsOnly(source) && setsTimer.test(withoutComments(source.text)));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('have no barrels: no file only re-exports others', () => {
    const isBarrel = ({ text }: Source) => {
      const statements = withoutComments(text)
        .trim()
        .split(/;\s*\n?/)
        .filter(Boolean);
      return (
        statements.length > 0 &&
        statements.every((statement) =>
          /^export\s+(type\s+)?(\*|\{[^}]*\})\s*(as\s+\w+\s+)?from\b/.test(statement.trim()),
        )
      );
    };
    expect(sources.filter(isBarrel).map(({ path }) => path)).toEqual([]);
    expect(sources.filter(({ path }) => /\/index\.tsx?$/.test(path)).map(({ path }) => path)).toEqual([]);
  });

  test('have no meaningless names', () => {
    const nameless = /(^|\/)(utils?|helpers?|shared|common|misc|manager)(\/|\.|-)/;
    expect(sources.map(({ path }) => path).filter((path) => nameless.test(path))).toEqual([]);
  });

  test('write relative imports with their extension', () => {
    const wrong = sources
      .filter(({ path }) => path.startsWith('server/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter((each) => each.path !== undefined && !/\.(ts|json)$/.test(each.name))
          .map((each) => `${path}: ${each.name}`),
      );
    expect(wrong).toEqual([]);
  });
});

function readSources(folder: string): Source[] {
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => /\.tsx?$/.test(entry) && !entry.endsWith('.d.ts'))
    .map((entry) => readSource(join(folder, entry)));
}

function readSource(file: string): Source {
  const path = fromRoot(file);
  const text = readFileSync(file, 'utf8');
  return { path, text, imports: findImports(file, text) };
}

/** Static imports, re-exports, and `import()` with a literal. */
function findImports(file: string, text: string): Import[] {
  const code = withoutComments(text);
  const statements = code.matchAll(
    /^(?:import|export)\s+(type\s+)?[^;'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
  );
  return [...statements].map(([, type, from, bare, lazy]) => {
    const name = from ?? bare ?? lazy ?? '';
    return {
      name,
      path: name.startsWith('.') ? fromRoot(join(dirname(file), name)) : undefined,
      isTypeOnly: Boolean(type),
    };
  });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

function fromRoot(file: string): string {
  return relative(root, file).split(sep).join('/');
}

/** For example `routing` for `server/routing/resolve.ts`, and `gateway.ts` for `server/gateway.ts`. */
function partOf(path: string): string {
  return path.split('/')[1] ?? path;
}

function packageOf(name: string): string {
  if (name.startsWith('.') || name.startsWith('node:')) return name;
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Type imports do not count, because they do not exist at run time. */
function findCycles(all: readonly Source[]): string[] {
  const targets = new Map(
    all.map(({ path, imports }) => [
      path,
      imports.flatMap((each) => (each.isTypeOnly || !each.path ? [] : [each.path])),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]) => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' → '));
    if (start !== -1 || done.has(path)) return;
    for (const next of targets.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
}
