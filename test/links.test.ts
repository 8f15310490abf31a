/** Checks the documents that people read: that their links lead somewhere, and that the README is short. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const documents = [...globSync('*.md', { cwd: root }), ...globSync('docs/*.md', { cwd: root })].map((path) =>
  path.replaceAll('\\', '/'),
);
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Without examples, in which brackets and number signs mean something else. */
function prose(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '');
}

/** Of each heading, as GitHub makes them: lower case, without punctuation, numbered where one occurs again. */
function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...prose(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words.replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '').replaceAll(/\s/g, '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

interface Link {
  path: string;
  anchor: string;
}

/** The relative ones, with paths from the root. */
function linksOf(document: string): Link[] {
  const plain = prose(read(document)).replaceAll(/`[^`\n]*`/g, '');
  return [...plain.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor = ''] = target.split('#');
      const from = path === '' ? document : join(dirname(document), path);
      return { path: normalize(from).replaceAll('\\', '/'), anchor };
    });
}

/** What is wrong with a link; undefined if it leads somewhere. */
function problemOf({ path, anchor }: Link): string | undefined {
  if (!existsSync(join(root, path))) return `${path} does not exist`;
  if (anchor === '' || !path.endsWith('.md') || anchorsOf(read(path)).includes(anchor)) return undefined;
  return `${path} has no heading ${anchor}`;
}

const engineFolders = readdirSync(join(root, 'server'));
/** Named like files: protocols of OpenTelemetry. */
const notFiles = ['http/protobuf', 'http/json'];

/** Files of the engine, or tests of it, that the document names and that do not exist: `exchange/plan/plan`. */
function missingFilesOf(document: string): string[] {
  return [...read(document).matchAll(/`(?:server\/)?((?:[\w-]+\/)+[\w-]+)(?:\.ts)?`/g)]
    .map(([, path = '']) => path)
    .filter((path) => engineFolders.includes(path.split('/')[0] ?? '') && !notFiles.includes(path))
    .filter((path) => !['', '.ts', '.json'].some((ending) => existsSync(join(root, `server/${path}${ending}`))))
    .filter((path) => !existsSync(join(root, `test/server/${path}.test.ts`)));
}

describe('the documents', () => {
  test.each(documents.filter((path) => path !== 'CHANGELOG.md'))('%s names files that exist', (document) => {
    expect(missingFilesOf(document)).toEqual([]);
  });

  test.each(documents)('%s has no dead links', (document) => {
    expect(linksOf(document).flatMap((link) => problemOf(link) ?? [])).toEqual([]);
  });

  test('are all reached from the README', () => {
    const reached = new Set<string>(['README.md']);
    for (const document of reached) {
      for (const { path } of linksOf(document)) if (documents.includes(path)) reached.add(path);
    }
    expect(documents.filter((path) => !reached.has(path))).toEqual([]);
  });

  test('are checked by rules that find dead links', () => {
    expect(linksOf('README.md').length).toBeGreaterThan(20);
    expect(problemOf({ path: 'docs/nothing.md', anchor: '' })).toBe('docs/nothing.md does not exist');
    expect(problemOf({ path: 'docs/api.md', anchor: 'nothing' })).toBe('docs/api.md has no heading nothing');
    expect(anchorsOf('# `a` & b: c\n\n## Once\n\n## Once\n')).toEqual(['a--b-c', 'once', 'once-1']);
  });
});

describe('the README', () => {
  const lines = read('README.md').split('\n');

  test('has at most 250 lines', () => expect(lines.length - 1).toBeLessThanOrEqual(250));

  test('says on its first screen how each kind of user starts', () => {
    const screen = lines.slice(0, 35).join('\n');
    for (const place of ['on a desktop', 'in a terminal', 'on a server']) {
      expect(screen).toMatch(new RegExp(String.raw`^\| ${place} \| \`[^\`]+\` \|`, 'm'));
    }
  });
});
