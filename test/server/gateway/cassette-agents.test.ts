/**
 * A coding agent installed from npm performs a task with a tool. It is recorded once, and then replayed without a
 * model.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CassetteSuite } from '../../support/cassette-suite.ts';
import { mainProvider, type TestGateway } from '../../support/gateway.ts';
import {
  type CodingAgent,
  codingAgents,
  findProgram,
  programTimeoutMs,
  runProgram,
} from '../../support/installed-programs.ts';
import { noteFile, noteReaders, noteText } from '../../support/note-readers.ts';
import { onlyIf } from '../../support/only-if.ts';

const suite = new CassetteSuite().use();
const recordedAgents = codingAgents.filter(({ command }) => command === 'codex');

/**
 * Text that differs between two runs of an agent: its working directory, and what its shell tool reports about a call.
 */
const settings = {
  version: 1,
  ignoreText: ['sluice-agent-\\w+/\\w+', 'Chunk ID: \\w+', 'Wall time: [\\d.]+ seconds'],
};

const { chat: reader } = noteReaders;
if (!reader) throw new Error('There is no model behind chat completions.');

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'sluice-agent-'));
  writeFileSync(join(suite.folder, 'cassette.json'), JSON.stringify(settings));
});
afterEach(() => rmSync(parent, { recursive: true, force: true, maxRetries: 3 }));

/** With a separate HOME. */
async function run(program: string, { setUp }: CodingAgent, { origin }: TestGateway, model: string) {
  const folder = mkdtempSync(join(parent, 'home'));
  writeFileSync(join(folder, noteFile), noteText);
  const { parameters, env } = setUp({ origin, model, folder });
  return runProgram(program, { parameters: parameters(`What does ${noteFile} say?`), folder, env });
}

describe.each(recordedAgents)('$package', (agent) => {
  const program = findProgram(agent.command);
  const isFound = onlyIf(program !== null, `${agent.command} is not found (npm install ${agent.package})`);

  test.runIf(isFound)(
    'replays its run from the cassette without a model',
    { timeout: 2 * programTimeoutMs + 30_000 },
    async () => {
      suite.upstream.answer(reader.script);
      const provider = mainProvider(suite.upstream.baseUrl, { models: [reader.model], ...reader.dialect });
      const recording = await suite.open('record', { providers: [provider] });
      const first = await run(program ?? '', agent, recording.gateway, reader.model);
      expect(first.said, first.complained).toContain(noteText);
      await recording.cassette.close();
      const asked = suite.upstream.seen.length;
      expect(recording.cassette.summary).toMatchObject({ recorded: asked, failed: 0 });
      const { gateway, cassette } = await suite.open('replay');
      const again = await run(program ?? '', agent, gateway, reader.model);
      expect({ said: again.said, exitCode: again.exitCode }, again.complained).toEqual({
        said: first.said,
        exitCode: 0,
      });
      expect(cassette.summary).toMatchObject({ hits: asked, misses: 0, unused: [] });
      expect(suite.upstream.seen).toHaveLength(asked);
    },
  );
});
