/** What clients and providers name themselves never commands the terminal of the person who reads about them. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../server/cli/program.ts';
import { visible, visibleOutput } from '../../../server/cli/visible-output.ts';
import { optionalParts } from '../../../server/optional-parts.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { endProgramsAfterEach, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();
const stopLater = stopAfterEach();

/** Clipboard (OSC 52), cursor up, erased line, C1's CSI and OSC, DEL, backspace, bell, return, direction of text. */
const evil = 'up\u001b]52;c;eA==\u0007\u001b[1A\u001b[2K\u009b31m\u009d0;x\u009c\u007f\b\r\u202e\u2066z';
const commanding = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

describe('the output', () => {
  test('shows each control character by its number, and keeps lines, tabs and text', () => {
    expect(visible(`a\tb\n${'\u001b'}[31m é 😀\r\n`)).toBe('a\tb\n\\u001b[31m é 😀\r\n');
    expect(visible(evil)).not.toMatch(commanding);
  });

  test('of JSON keeps its meaning', () => {
    const value = { name: evil };
    const shown = visible(JSON.stringify(value, null, 2));
    expect(shown).not.toMatch(commanding);
    expect(JSON.parse(shown)).toEqual(value);
  });

  test('is made visible wherever a piece ends', async () => {
    const stream = new PassThrough();
    const shown = visibleOutput(stream);
    for (const byte of Buffer.from(`é${evil}\r\n`)) shown.write(Buffer.of(byte));
    shown.end();
    expect(await text(stream)).toBe(visible(`é${evil}\r\n`));
  });
});

/** All commands that only show something. */
const shows = /(^| )(?:list|show|log|status|usage|doctor|export|explain|names|errors)$/;
const needsMore = /^(?:judge|login|join|token|people|audit|team-preset)/;

function verbsOf(command: Command, before = ''): string[] {
  return command.commands.flatMap((each) => {
    const name = `${before}${each.name()}`;
    return [name, ...verbsOf(each, `${name} `)];
  });
}

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
const team = await optionalParts.team?.();
const program = createProgram({ argv: [], env: {}, windowFolders: [], teamPresets: { policy: '' }, ...streams }, team);
const listing = verbsOf(program).filter((name) => shows.test(name) && !needsMore.test(name));

test('of no command commands the terminal, whatever was named, sent or answered', async () => {
  const upstream = await stopLater(
    startUpstream((_request, response) => json(response, { data: [{ id: `m${evil}` }], error: { message: evil } })),
  );
  const folder = temporaryFolder();
  const { ready } = await serve(folder);
  const run = async (parameters: string[]) => {
    const said = await runVerb([...parameters, '--data-dir', folder], { env: { UPSTREAM_KEY: 'x' } });
    for (const output of [said.stdout, said.stderr]) {
      expect(
        commanding.exec(output.replaceAll('\r\n', '\n')),
        `${parameters.join(' ')}: ${JSON.stringify(output)}`,
      ).toBeNull();
    }
    return said;
  };
  const credential = ['--credential-env', 'UPSTREAM_KEY'];
  await run([
    'provider',
    'add',
    '--id',
    'main',
    '--name',
    evil,
    '--url',
    upstream.baseUrl,
    '--models',
    `m${evil}`,
    ...credential,
  ]);
  await run(['key', 'create', evil]);
  await run(['alias', 'put', `a${evil}`, 'main/x']);
  for (const model of [`m${evil}`, `none${evil}`]) {
    for (const path of ['/chat/completions', '/responses', '/messages']) {
      await fetch(ready.baseUrl + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ready.key}`,
          'content-type': 'application/json',
          'user-agent': Buffer.from('evil\u009b31m/1').toString('latin1'),
          'x-session-id': 's\u009b2K',
        },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: evil }], input: evil, user: evil }),
      }).then((response) => response.text());
    }
  }
  const told: string[] = [];
  for (const verb of [
    ...listing,
    'log --errors',
    'log --export csv',
    'log --export jsonl',
    ...['model', 'key', 'group', 'provider', 'client'].map((by) => `usage --by ${by}`),
  ]) {
    const words = verb.split(' ');
    if (/explain|show/.test(verb)) words.push(`m${evil}`);
    const plain = await run(words);
    const asJson = verb.includes('--export') ? plain : await run([...words, '--json']);
    told.push(plain.stdout, plain.stderr);
    if (asJson.code === 0 && !verb.includes('csv'))
      for (const line of asJson.stdout.startsWith('{\n') || asJson.stdout.startsWith('[')
        ? [asJson.stdout]
        : asJson.stdout.split('\n'))
        if (line.trim() !== '') expect(() => JSON.parse(line), `${verb}: ${line}`).not.toThrow();
  }
  expect(told.join('\n')).toContain('\\u001b]52;c;eA==');
}, 60_000);
