/** How help and tables look in terminals of three widths, with and without colour, and in a pipe. */
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeRequest, requestColumns, requestRow } from '../../../server/cli/describe-request.ts';
import { createOutput } from '../../../server/cli/output.ts';
import { runCommandLine } from '../../../server/cli/program.ts';
import {
  loadWidths,
  moment,
  number,
  optional,
  renderShown,
  type Shown,
  styled,
  table,
} from '../../../server/cli/shown.ts';
import { lookOf, type Terminal } from '../../../server/cli/terminal.ts';
import { optionalParts } from '../../../server/optional-parts.ts';
import { finishedRow } from '../store/sqlite/records.ts';

const nowMs = Date.UTC(2026, 10, 29, 12);
beforeAll(loadWidths);
beforeAll(() => void vi.useFakeTimers({ now: nowMs, toFake: ['Date'] }));
afterAll(() => void vi.useRealTimers());

const request = (id: string, more: Partial<Parameters<typeof finishedRow>[1]> = {}) => ({
  ...finishedRow(id, { startedAt: nowMs - 5 * 60_000, ...more }),
  seq: 1,
});
const failed = request('req_2', { outcome: 'error', status: 502, errorCode: 'upstream_unreachable', costUsd: null });

const shown: Record<string, Shown> = {
  requests: table(requestColumns, [requestRow(request('req_1')), requestRow(failed)], ''),
  'one request': describeRequest(failed),
  states: table(
    ['id', 'state', optional('base url'), number('requests'), 'last used'],
    [
      ['openai', styled('good', 'ok, 120 ms'), 'https://api.openai.com/v1', '12345', moment(nowMs - 90 * 60_000)],
      ['名前のとても長いプロバイダー', styled('bad', 'refused'), 'https://llm.example/v1', '7', moment(null)],
      ['old', styled('off', 'off'), 'https://a-host-with-a-long-name.region.cloud.example/openai/v1', '0', moment(0)],
    ],
    '',
  ),
};

const widths = [60, 80, 140] as const;
const looks = widths.flatMap((width) => [true, false].map((hasColor) => ({ width, hasColor })));

describe.each(Object.entries(shown))('%s', (_, each) => {
  test.each(looks)('at $width columns, colour $hasColor', (look) => {
    const rendered = renderShown(each, look);
    expect(rendered).toMatchSnapshot();
    expect(rendered.includes('\u001b')).toBe(look.hasColor);
  });

  test('in a pipe has no colour, no symbols, and all columns', () => {
    const rendered = renderShown(each, { width: null, hasColor: false });
    expect(rendered).not.toContain('\u001b');
    expect(rendered).not.toMatch(/[✓✗○…]|ago|Left out/);
  });
});

async function helpOf(words: string[], { width, hasColor }: (typeof looks)[number]): Promise<string> {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: width });
  const said = text(stdout);
  const terminal: Terminal = {
    argv: [...words, '--help'],
    env: hasColor ? {} : { NO_COLOR: '1' },
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough(),
    windowFolders: [],
    teamPresets: { policy: '/nowhere' },
  };
  await runCommandLine(terminal, optionalParts.team);
  process.exitCode = undefined;
  stdout.end();
  return said;
}

describe.each(['', 'key create', 'provider add', 'session'])('the help of "%s"', (path) => {
  test.each(looks)('at $width columns, colour $hasColor', async (look) => {
    expect(await helpOf(path.split(' ').filter(Boolean), look)).toMatchSnapshot();
  });
});

test.each([
  { env: {}, isTTY: true, hasColor: true },
  { env: {}, isTTY: false, hasColor: false },
  { env: { NO_COLOR: '1' }, isTTY: true, hasColor: false },
  { env: { NO_COLOR: '' }, isTTY: true, hasColor: true },
  { env: { TERM: 'dumb' }, isTTY: true, hasColor: false },
  { env: { FORCE_COLOR: '1' }, isTTY: false, hasColor: true },
  { env: { FORCE_COLOR: '0' }, isTTY: true, hasColor: false },
  { env: { NO_COLOR: '1' }, isTTY: true, color: 'always' as const, hasColor: true },
  { env: { FORCE_COLOR: '1' }, isTTY: true, color: 'never' as const, hasColor: false },
])('colour: $env, terminal $isTTY, --color $color: $hasColor', ({ env, isTTY, color, hasColor }) => {
  const stream = Object.assign(new PassThrough(), { isTTY });
  expect(lookOf(stream, { env, color }).hasColor).toBe(hasColor);
});

test('names from elsewhere never colour or command a terminal', async () => {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const said = text(stdout);
  const output = createOutput({ stdout, stderr: stdout, env: {} }, false);
  const evil = '\u001b[31mred\u001b]52;c;eA==\u0007';
  output.show(null, [evil, styled('good', evil), table([evil], [[evil], [styled('bad', evil)]], '')]);
  output.fail(new Error(evil));
  stdout.end();
  const shownText = await said;
  const own = ['\u001b[1m', '\u001b[22m', '\u001b[31m', '\u001b[32m', '\u001b[39m'];
  expect(own.reduce((rest, sequence) => rest.replaceAll(sequence, ''), shownText)).not.toContain('\u001b');
  expect(shownText).toContain('\\u001b[31mred');
  expect(shownText).not.toContain('\u001b[31mred');
});

test('what lasts over two seconds is told in a terminal, on one line that is taken away, and not in a pipe', async () => {
  const told = async (isTTY: boolean) => {
    const stderr = Object.assign(new PassThrough(), { isTTY });
    const said = text(stderr);
    const progress = createOutput({ stdout: new PassThrough(), stderr, env: {} }, false).progress();
    progress.at('1 copied');
    vi.setSystemTime(Date.now() + 2_100);
    progress.at('2 copied');
    progress.at('3 copied');
    vi.setSystemTime(Date.now() + 300);
    progress.at('4 copied');
    progress.end();
    stderr.end();
    return said;
  };
  expect(await told(true)).toBe('\r\u001b[K2 copied\r\u001b[K4 copied\r\u001b[K');
  expect(await told(false)).toBe('');
});
