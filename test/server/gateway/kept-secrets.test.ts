/** Whatever keeps or shows text of requests and answers, it keeps no secret: one walk over all of these places. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createRequestLog } from '../../../server/ground/files/log.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider } from '../../support/gateway.ts';
import { startOtlpCollector } from '../../support/otlp-collector.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { anthropicKey, send, strictAnthropic, thought, toolUse } from '../../support/strict-anthropic.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { gatherEvents, startControlGateway } from '../control/control-gateway.ts';
import {
  configOf,
  filesIn,
  type GroupFields,
  leaksIn,
  plant,
  planted,
  queried,
  storedSecrets,
  witness,
} from './planted-secrets.ts';

interface Walked {
  /** What was read, by place. */
  places: Record<string, string>;
  /** The files of the data folder. */
  files: readonly string[];
}

const stopLater = stopAfterEach();
let cassette: string;
beforeAll(() => {
  cassette = mkdtempSync(join(tmpdir(), 'sluice-kept-secrets-'));
});
afterAll(() => rmSync(cassette, { recursive: true }));

const ways: [how: string, group: () => GroupFields, placesOfTexts: readonly string[]][] = [
  [
    'captured and recorded',
    () => ({ capture: true, cassette: { mode: 'record', folder: cassette } }),
    ['ledger.sqlite', 'cassettes', 'the query request'],
  ],
  ['kept in memory', () => ({}), ['the query request']],
];

describe.each(ways)('where requests are %s', (_how, group, placesOfTexts) => {
  let walked: Walked;
  beforeAll(async () => {
    walked = await walk(group());
  });

  test('no place holds a part of a secret', () => {
    const found = Object.entries(walked.places).flatMap(([place, text]) =>
      leaksIn(text).map((leak) => `${place}: ${leak}`),
    );
    expect(found).toEqual([]);
  });

  test('what was planted is there, but for the secrets', () => {
    for (const place of placesOfTexts) expect([place, walked.places[place]?.includes(witness)]).toEqual([place, true]);
    const noted = [
      'log',
      'the export as CSV',
      'the export as JSON',
      'errors',
      'events',
      'traces',
      'the query sessions',
    ];
    for (const place of noted) expect([place, walked.places[place]?.includes('[redacted]')]).toEqual([place, true]);
    expect(walked.places.metrics).toContain('sluice_requests_total');
    expect(walked.places.webhooks).toContain('provider-down');
  });

  test('every file of the data folder is one that the documentation names', () => {
    const operation = readFileSync(join(import.meta.dirname, '../../../docs/operation.md'), 'utf8');
    const unnamed = walked.files.filter((file) => !operation.includes(`\`${file.replace(/-(?:wal|shm)$/, '')}\``));
    expect(unnamed).toEqual([]);
  });
});

test('what has to come back word for word is kept so, as the documentation says, and nowhere else', async () => {
  const anthropic = await stopLater(startUpstream());
  const chat = await stopLater(startUpstream((_request, response) => json(response, completion({ content: planted }))));
  const thinking = [thought(planted), toolUse('toolu_1', 'look', {})];
  anthropic.answer(strictAnthropic((body, response) => send(response, body, thinking, 'tool_use')));
  const sluice = await stopLater(
    startControlGateway({
      config: {
        groups: [{ id: 'default', cache: {} }],
        providers: [
          mainProvider(chat.baseUrl, { models: ['gpt-x'] }),
          { ...mainProvider(anthropic.origin, { dialect: 'anthropic', models: ['claude-opus-5-5'] }), id: 'thinker' },
        ],
      },
      secrets: { ...storedSecrets, 'provider/thinker/c1': anthropicKey },
    }),
  );
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const tools = [
    { type: 'function' as const, function: { name: 'look', parameters: { type: 'object', properties: {} } } },
  ];
  await sluice.client.chat.completions.create({ model: 'claude-opus-5-5', messages, tools });
  await sluice.client.responses.create({ model: 'claude-opus-5-5', input: planted });
  const cached = async () => {
    const body = JSON.stringify({ model: 'gpt-x', messages, temperature: 0 });
    const response = await sluice.fetch('/chat/completions', { method: 'POST', body });
    return [response.headers.get('x-sluice-cache'), (await response.text()).includes(planted)];
  };
  expect([await cached(), await cached()]).toEqual([
    ['miss', true],
    ['hit', true],
  ]);
  await sluice.record();
  await sluice.gateway.stop(1_000);
  const files = Object.entries(filesIn(sluice.folder));
  const holding = files.flatMap(([file, text]) => (leaksIn(text).length > 0 ? [file.replace(/-wal$/, '')] : []));
  expect(new Set(holding)).toEqual(new Set(['ledger.sqlite', 'responses.sqlite']));
  const security = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8').replaceAll(/\s+/g, ' ');
  for (const kept of ['**Translated responses**', '**Reasoning**', '**The response cache**'])
    expect(security.slice(security.indexOf(kept)).split(' - **')[0]).toContain('word for word');
});

/** Plants all secrets in a gateway that shows and sends all that it can, and reads every place. */
async function walk(group: GroupFields): Promise<Walked> {
  const upstream = await startUpstream();
  const receiver = await startUpstream();
  const collector = await startOtlpCollector();
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const requests = createRequestLog(destination);
  const sluice = await startControlGateway({
    config: {
      ...configOf(upstream, group),
      settings: {
        metrics: 'on',
        telemetry: { endpoint: collector.origin },
        webhooks: [{ url: `${receiver.origin}/hook` }],
        capture: { recent: 'on' },
      },
    },
    secrets: storedSecrets,
    ports: { log: createLog(destination), logRequest: requests.log },
  });
  const events = gatherEvents(sluice.gateway);
  // By then webhooks know the state at the start.
  await events.next('snapshot');
  const errors = await plant(sluice, upstream);
  events.stop();
  requests.flush();
  const read = async (path: string) => (await sluice.control(path)).text();
  const metrics = await fetch(`${sluice.origin}/metrics`, {
    headers: { authorization: `Bearer ${sluice.adminToken}` },
  });
  const shown = {
    ...(await queried(sluice)),
    'the export as CSV': await read('/requests.csv'),
    'the export as JSON': await read('/requests.jsonl'),
    metrics: await metrics.text(),
    events: JSON.stringify(events.messages),
    errors: errors.join('\n'),
  };
  await eventually(() => (receiver.seen.length > 0 ? true : null));
  await sluice.gateway.stop(1_000);
  const files = filesIn(sluice.folder);
  const sent = {
    cassettes: Object.values(filesIn(cassette)).join('\n'),
    log: logged.join('\n'),
    traces:
      collector.deliveries.map(({ body }) => body.toString('latin1')).join('\n') + JSON.stringify(collector.spans),
    webhooks: receiver.seen.map(({ url, body }) => `${url} ${body}`).join('\n'),
  };
  await sluice.stop();
  await Promise.all([collector.stop(), receiver.stop(), upstream.stop()]);
  return { places: { ...shown, ...files, ...sent }, files: Object.keys(files) };
}
