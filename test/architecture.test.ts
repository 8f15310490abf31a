/** Checks the dependency rule of `docs/architecture.md` by reading the imports of all sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lookAtNone, testedWithTeam, worstCases } from './server/worst-cases.ts';

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

/** The folders of the engine, from the bottom: each imports only those before it, types included. */
const engineOrder = [
  'contract',
  'ground',
  'models',
  'transport',
  'apis',
  'secrets',
  'config',
  'providers',
  'routing',
  'store',
  'limits',
  'cache',
  'faults',
  'observability',
  'connect',
  'demo',
  'exchange',
  'cassettes',
  'control',
  'http',
  'data-folder',
  'engine',
  'cli',
  'team',
  'optional-parts.ts',
  'cli.ts',
];

/** The same for the rooms of `exchange/`. The course of a request, `exchange.ts`, stands above them. */
const exchangeOrder = [
  'redact',
  'request',
  'readers',
  'record',
  'translation',
  'plan',
  'outgoing',
  'answer',
  'rescue',
  'course',
  'attempts',
  'capture',
  'faults',
  'cassette',
  'kept',
  'sessions',
  'cache',
  'jobs',
  'companions.ts',
  'realtime',
  'exchange.ts',
];

/** The same for `apis/`; an API's folder stands for those of all APIs. */
const apisOrder = ['json', 'core', 'neutral', 'an API', 'translation', 'registry.ts'];
const apiFolders = apiFoldersIn(join(root, 'server/apis'));

/** What these may import besides themselves, where that is less than all before them. */
const mayImport: Record<string, string[]> = {
  contract: [],
  ground: ['contract', 'package.json'],
  models: ['contract'],
  transport: ['contract', 'ground'],
  apis: ['contract', 'ground', 'models', 'transport'],
  limits: ['contract', 'ground', 'store'],
  cache: ['contract', 'ground'],
  faults: ['contract', 'ground', 'apis'],
  observability: ['contract', 'ground', 'secrets', 'transport'],
  connect: ['contract', 'ground'],
  demo: ['contract', 'ground'],
};

/** What the shell may import: itself, the contract, and the files that open an engine on a data folder. */
const shellMayImport =
  /^(electron\/|server\/contract\/|server\/engine\/(gateway|open-engine|environment)\.ts$|server\/ground\/(version|timers|resource-exhaustion)\.ts$|server\/data-folder\/claim-folder\.ts$|server\/optional-parts\.ts$|server\/connect\/(open-terminal|tool-environment)\.ts$|server\/config\/((json-file-)?persistence|managed-preset|policy-path)\.ts$|server\/secrets\/keychain-(process|libraries)\.ts$)/;

const singleImporters: Record<string, RegExp> = {
  express: /^server\/(http\/|team\/people\/sign-in-routes\.ts$|team\/scim\/scim-routes\.ts$)/,
  multer: /^server\/http\/body\/multipart\.ts$/,
  keytar: /^server\/secrets\/keychain-items\.ts$/,
  '@napi-rs/keyring': /^server\/secrets\/keychain-items\.ts$/,
  undici: /^server\/transport\//,
  ws: /^server\/exchange\/realtime\//,
  'node:sqlite': /^server\/store\/sqlite\/database\.ts$/,
  'openid-client': /^server\/team\/people\/identity-provider\.ts$/,
  pg: /^server\/store\/postgres\//,
  iovalkey: /^server\/team\/valkey\/valkey-link\.ts$/,
  conf: /^server\/config\/persistence\.ts$/,
  'electron-updater': /^electron\/main\.ts$/,
  'electron-store': /^electron\/settings-store\.ts$/,
  commander: /^server\/(cli|team\/verbs)\//,
  pino: /^server\/ground\/files\/log\.ts$/,
  re2js: /^server\/cassettes\/linear-pattern\.ts$/,
  'prom-client': /^server\/observability\//,
  '@opentelemetry/api': /^server\/observability\//,
  '@opentelemetry/sdk-trace': /^server\/observability\//,
  '@opentelemetry/sdk-logs': /^server\/observability\//,
  '@opentelemetry/sdk-metrics': /^server\/observability\//,
};

const exportedName = /^export (?:abstract )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm;
const ownName = /^(?:async )?(?:function\*?|class|const) (\w+)/gm;

describe('the engine', () => {
  test('imports only downward', () => {
    expect(upward(engine, engineOrder, (path) => partOf(path))).toEqual([]);
    const wrong = engine.flatMap((source) => {
      const part = partOf(source.path);
      const allowed = mayImport[part];
      return source.imports
        .filter(({ path }) => path !== undefined && partOf(path) !== part && allowed?.includes(partOf(path)) === false)
        .map(({ path }) => `${source.path} imports ${path}; ${part} may import only: ${allowed?.join(', ')}`);
    });
    expect(wrong).toEqual([]);
  });

  test('has no folder that the order does not name', () => {
    const parts = new Set(engine.map(({ path }) => partOf(path)));
    expect([...parts].sort()).toEqual([...engineOrder].sort());
    expect(new Set(roomsOf('exchange'))).toEqual(new Set(exchangeOrder));
    expect(new Set(roomsOf('apis').map(apiOrCore))).toEqual(new Set(apisOrder));
  });

  test('imports only downward between the rooms of exchange', () => {
    const rooms = engine.filter(({ path }) => path.startsWith('server/exchange/'));
    expect(upward(rooms, exchangeOrder, (path) => roomIn('exchange', path))).toEqual([]);
  });

  test('imports only downward between the parts of apis', () => {
    const parts = engine.filter(({ path }) => path.startsWith('server/apis/'));
    expect(upward(parts, apisOrder, (path) => apiOrCore(roomIn('apis', path)))).toEqual([]);
  });

  test('has no circle between its folders, types included', () => {
    expect(circlesBetweenFolders(engine)).toEqual([]);
  });

  test('is built without the team by leaving out its folder and one line', () => {
    const named = sources.flatMap(({ path: from, text, imports }) =>
      from.startsWith('server/team/')
        ? []
        : imports.filter(({ path }) => path?.startsWith('server/team/')).map(({ name }) => ({ from, name, text })),
    );
    expect(named.map(({ from }) => from)).toEqual(['server/optional-parts.ts']);
    expect(named[0]?.text).toContain(`\n  team: () => import('${named[0]?.name}'),\n`);
  });

  test('knows each API by its own folder, the registries and the translation alone', () => {
    const apiOf = (path: string) => apiFolders.find((api) => path.startsWith(`server/apis/${api}/`));
    const mayKnow = (path: string) =>
      path === 'server/apis/registry.ts' ||
      path === 'server/providers/dialects.ts' ||
      path.startsWith('server/apis/translation/');
    const wrong = engine
      .filter(({ path }) => !mayKnow(path))
      .flatMap(({ path: from, imports }) =>
        imports
          .filter(({ path = '' }) => apiOf(path) !== undefined && apiOf(path) !== apiOf(from))
          .map(({ path }) => `${from} imports ${path}`),
      );
    expect(wrong).toEqual([]);
    expect(apiFolders).toEqual(expect.arrayContaining(['openai', 'anthropic', 'gemini', 'bedrock']));
    const paths = engine.map(({ path }) => path);
    for (const api of apiFolders) expect(paths, api).toContain(`server/apis/${api}/routes.ts`);
  });

  test('does no I/O in what an API says, but for the credentials and signatures of providers', () => {
    const wrong = engine
      .filter(({ path }) => /^server\/apis\//.test(path) && !/\/(?:provider|vertex|dialects)\//.test(path))
      .flatMap(({ path: from, imports }) =>
        imports
          .filter(({ isTypeOnly }) => !isTypeOnly)
          .filter(({ path, name }) => path?.startsWith('server/transport/') || /^node:(?:fs|net|https?|tls)/.test(name))
          .map(({ name }) => `${from} imports ${name}`),
      );
    expect(wrong).toEqual([]);
  });

  test('has no ports of more than twelve fields, those that they extend included', () => {
    const declared = engine.flatMap(({ text }) =>
      [...withoutComments(text).matchAll(/interface (\w+)(?: extends ([^{]+))? \{\n([\s\S]*?)\n\}/g)].map(
        ([, name = '', bases = '', body = '']) => ({
          name,
          bases: bases.match(/\w+/g) ?? [],
          fields: body.match(/^ {2}(?:readonly )?\w+\??[:(<]/gm)?.length ?? 0,
        }),
      ),
    );
    const fieldsOf = (name: string): number =>
      declared
        .filter((each) => each.name === name)
        .reduce(
          (most, { bases, fields }) =>
            Math.max(
              most,
              bases.reduce((sum, base) => sum + fieldsOf(base), fields),
            ),
          0,
        );
    const ports = [...new Set(declared.map(({ name }) => name))].filter((name) => name.endsWith('Ports'));
    expect(ports.length).toBeGreaterThan(50);
    expect(ports.filter((name) => fieldsOf(name) > 12)).toEqual([]);
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
    const paths = /^server\/(?:exchange|faults|http|transport|routing|limits|models|providers|apis|team\/people)\//;
    const reads =
      /\bJSON\.parse\(|[(,]\s*\w+\??: (?:readonly )?(?:Buffer|Uint8Array)\b|[(,]\s*(?:text|json|data|body|header|whole): string\b/;
    const readers = engine.filter(({ path, text }) => paths.test(path) && reads.test(withoutComments(text)));
    const known = [...Object.values(worstCases).flatMap((each) => each.readers), ...testedWithTeam, ...lookAtNone];
    const owners = new Map([...owningFiles(ownName), ...owningFiles(exportedName)]);
    const covered = new Set(known.map((name) => owners.get(name)));
    expect(known.filter((name) => !owners.has(name))).toEqual([]);
    expect(readers.map(({ path }) => path).filter((path) => !covered.has(path))).toEqual([]);
    expect([...covered].filter((path) => !readers.some((reader) => reader.path === path))).toEqual([]);
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

describe('the window', () => {
  /** Lowest first. A file may import from its own room and from those before it. */
  const rooms = ['messages', 'state', 'components', 'views', 'shell', 'panel'];
  const window = sources.filter(({ path }) => path.startsWith('renderer/'));
  /** Stylesheets and types included. */
  const arrows = window.flatMap(({ path, imports }) =>
    imports.flatMap(({ path: to }) => (to?.startsWith('renderer/') ? [{ from: path, to }] : [])),
  );
  const written = ({ from, to }: (typeof arrows)[number]) => `${from} imports ${to}`;

  test('imports only downward', () => {
    const floorOf = (path: string) => rooms.indexOf(partOf(path));
    expect(window.filter(({ path }) => floorOf(path) === -1).map(({ path }) => path)).toEqual([]);
    expect(arrows.filter(({ from, to }) => floorOf(to) > floorOf(from)).map(written)).toEqual([]);
  });

  test('has no view that looks into another one', () => {
    const viewOf = (path: string) => /^renderer\/views\/[^/]+\//.exec(path)?.[0] ?? null;
    const wrong = arrows.filter(
      ({ from, to }) => viewOf(from) !== null && viewOf(to) !== null && viewOf(from) !== viewOf(to),
    );
    expect(wrong.map(written)).toEqual([]);
    expect(new Set(window.map(({ path }) => viewOf(path))).size).toBeGreaterThan(5);
  });

  test('has a panel that takes nothing of its screens, and of its frame the look alone', () => {
    const isOfScreens = /^renderer\/(?:views\/|shell\/(?!theme\.ts$|base\.css$))/;
    const ofPanel = arrows.filter(({ from }) => from.startsWith('renderer/panel/'));
    expect(ofPanel.filter(({ to }) => isOfScreens.test(to)).map(written)).toEqual([]);
    expect(ofPanel.length).toBeGreaterThan(20);
  });

  test('has the classes that its components use, and no others', () => {
    const sheets = new Map<string, { used: Set<string>; isChosenFrom: boolean }>();
    const missing: string[] = [];
    for (const { path, text } of window)
      for (const [, name, from = ''] of text.matchAll(/import (\w+) from '([^']+\.module\.css)'/g)) {
        const file = join(dirname(path), from);
        const sheet = sheets.get(file) ?? { used: new Set(), isChosenFrom: false };
        sheets.set(file, sheet);
        for (const [, used = ''] of text.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))) {
          if (!classesIn(file).has(used)) missing.push(`${path} uses .${used}, which ${file} lacks`);
          sheet.used.add(used);
        }
        sheet.isChosenFrom ||= text.includes(`${name}[`);
      }
    expect(missing).toEqual([]);
    const unused = [...sheets].flatMap(([file, { used, isChosenFrom }]) =>
      isChosenFrom ? [] : [...classesIn(file)].filter((name) => !used.has(name)).map((name) => `.${name} of ${file}`),
    );
    expect(unused).toEqual([]);
    expect(sheets.size).toBeGreaterThan(20);
  });

  test('has no circle between its folders, types included', () => {
    expect(circlesBetweenFolders(window)).toEqual([]);
  });
});

/** Folders with a file for each thing of one kind, however short. */
const families = [
  /^electron\//,
  /^renderer\/messages\//,
  /^server\/contract\//,
  /^server\/apis\/(?:openai|anthropic|gemini|bedrock)\//,
  /^server\/cli\/programs\//,
];

describe('all sources', () => {
  test('are found, with what they import', () => {
    const gateway = sources.find(({ path }) => path === 'server/engine/gateway.ts');
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
      .filter(({ path }) => !path.startsWith('renderer/') && path !== 'server/ground/timers.ts')
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

  test('below 40 lines have three readers, or belong to a family', () => {
    const readersOf = new Map(sources.map(({ path }) => [path, new Set<string>()]));
    for (const { path: reader, imports } of sources) {
      for (const { path = '' } of imports) readersOf.get(path)?.add(reader);
    }
    const isShort = ({ path, text }: Source) =>
      text.split('\n').length - 1 < 40 &&
      (readersOf.get(path)?.size ?? 0) < 3 &&
      !families.some((each) => each.test(path));
    const short = sources.filter(isShort).map(({ path }) => path);
    const tolerated = readFileSync(join(root, 'test/short-files.txt'), 'utf8').trim().split('\n');
    expect(short.filter((path) => !tolerated.includes(path))).toEqual([]);
    // Whoever removes or enlarges one removes it from the list, which never grows.
    expect(tolerated.filter((path) => !short.includes(path))).toEqual([]);
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

/** The file of the engine that declares each name. What several files call the same has no owner unless it is exported. */
function owningFiles(declaration: RegExp): Map<string, string> {
  const named = engine.flatMap(({ path, text }) =>
    [...text.matchAll(declaration)].map(([, name = '']) => ({ name, path })),
  );
  const byName = Map.groupBy(named, ({ name }) => name);
  const mayBeShared = declaration === exportedName;
  return new Map(
    named.filter(({ name }) => mayBeShared || byName.get(name)?.length === 1).map(({ name, path }) => [name, path]),
  );
}

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

/** For example `routing` for `server/routing/resolve.ts`, and `gateway.ts` for `server/engine/gateway.ts`. */
function partOf(path: string): string {
  return path.split('/')[1] ?? path;
}

/** The rooms of a folder of the engine: `plan` for `server/exchange/plan/plan.ts`, `exchange.ts` for a file directly in it. */
function roomIn(folder: string, path: string): string {
  return path.startsWith(`server/${folder}/`) ? (path.split('/')[2] ?? '') : '';
}

/** Every folder there that is no part of all APIs. */
function apiFoldersIn(folder: string): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).filter((name) => !apisOrder.includes(name));
}

function roomsOf(folder: string): string[] {
  return engine.map(({ path }) => roomIn(folder, path)).filter((room) => room !== '');
}

function apiOrCore(room: string): string {
  return apiFolders.includes(room) ? 'an API' : room;
}

/** The imports that lead from a part to one that does not stand before it in the order. */
function upward(from: readonly Source[], order: readonly string[], partOf: (path: string) => string): string[] {
  return from.flatMap((source) =>
    source.imports
      .map(({ path = '' }) => ({ path, part: partOf(path) }))
      .filter(({ part }) => order.includes(part) && order.indexOf(part) > order.indexOf(partOf(source.path)))
      .map(({ path }) => `${source.path} imports ${path}`),
  );
}

/** Folders that import each other, directly or through others. A file directly under `server/` is a folder of its own. */
function circlesBetweenFolders(files: readonly Source[]): string[] {
  const folderOf = (path: string) => (dirname(path) === 'server' ? path : dirname(path));
  const folders = Map.groupBy(files, ({ path }) => folderOf(path));
  const merged = [...folders].map(([folder, sourcesIn]) => ({
    path: folder,
    text: '',
    imports: sourcesIn
      .flatMap(({ imports }) => imports)
      // Parts of a screen share its stylesheet.
      .filter(({ path = '' }) => /\.tsx?$/.test(path) && folderOf(path) !== folder && folders.has(folderOf(path)))
      .map(({ name, path = '' }) => ({ name, path: folderOf(path), isTypeOnly: false })),
  }));
  return findCycles(merged);
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

function classesIn(file: string): Set<string> {
  const selectors = readFileSync(join(root, file), 'utf8').replace(/\/\*.*?\*\/|\{[^{}]*\}/gs, ' ');
  return new Set([...selectors.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = '']) => name));
}
