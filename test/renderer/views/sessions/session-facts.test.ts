import { expect, test } from 'vitest';
import {
  folderName,
  sessionFilterOf,
  sessionQueryOf,
  sessionSearchOf,
  toolUsesOf,
} from '../../../../renderer/views/sessions/session-facts.ts';
import { titleOf } from '../../../../server/contract/session-views.ts';

test('calls of one tool are shown together, and those that failed apart', () => {
  const tool = (name: string | null, bytes: number, hasFailed = false) => ({ name, bytes, hasFailed });
  const tools = [tool('Read', 10), tool('Bash', 5, true), tool('Read', 20), tool('Bash', 1), tool(null, 2)];
  expect(toolUsesOf(tools)).toEqual([
    { name: 'Read', argument: null, bytes: 30, hasFailed: false, count: 2 },
    { name: 'Bash', argument: null, bytes: 5, hasFailed: true, count: 1 },
    { name: 'Bash', argument: null, bytes: 1, hasFailed: false, count: 1 },
    { name: null, argument: null, bytes: 2, hasFailed: false, count: 1 },
  ]);
});

test('calls with other arguments are shown apart, as far as all of them are captured', () => {
  const tools = ['Read', 'Read', 'Read'].map((name) => ({ name, bytes: 1, hasFailed: false }));
  const calls = ['a.ts', 'b.ts', 'a.ts'].map((argument) => ({ name: 'Read', argument }));
  const shown = (captured: typeof calls) => toolUsesOf(tools, captured).map(({ argument, count }) => [argument, count]);
  expect(shown(calls)).toEqual([
    ['a.ts', 2],
    ['b.ts', 1],
  ]);
  expect(shown(calls.slice(1))).toEqual([[null, 3]]);
});

test.each([
  [{ name: 'nightly' }, 'Mend it', 'nightly'],
  [{}, 'Mend it', 'Mend it'],
  [{}, null, 'codex, gpt-x'],
  [{ models: [] }, null, 'codex'],
  [{ client: null }, null, 'gpt-x'],
  [{ client: null, models: [] }, null, null],
])('a session of %j that begins with %s is called %s', (facts, opening, title) => {
  const session = { name: null, client: 'codex/1 (x86)', models: ['gpt-x', 'gpt-y'], ...facts };
  const text = { id: '', keyId: null, groupId: null, prompt: null, calls: [], folder: null, branch: null };
  expect(titleOf(session, { ...text, opening })).toBe(title);
  expect(titleOf(session)).toBe(titleOf(session, { ...text, opening: null }));
});

test.each([
  ['/home/ann/gate', 'gate'],
  ['/home/ann/gate/', 'gate'],
  ['C:\\code\\gate', 'gate'],
  ['/', '/'],
])('the folder %s is called %s', (path, name) => {
  expect(folderName(path)).toBe(name);
});

const of = (search: string) => sessionFilterOf(new URLSearchParams(search));

test('a filter of sessions stands in the address', () => {
  const search = '?key=k1&group=default&client=claude-cli%2F2.1&range=24h&state=refused';
  expect(sessionSearchOf(of(search))).toBe(search);
  expect(sessionSearchOf(of('?key=&range=9h&state=gone&other=1'))).toBe('');
});

test('a filter of sessions asks the engine', () => {
  expect(sessionQueryOf(of('?key=k1&group=g&client=c&range=1h&state=refused'), 4_000_000)).toEqual({
    keyId: 'k1',
    groupId: 'g',
    client: 'c',
    sinceMs: 400_000,
    stopped: true,
  });
  expect(sessionQueryOf(of('?state=running'), 0)).toEqual({ running: true });
  expect(sessionQueryOf({}, 0)).toEqual({});
});
