import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { refusalsListedPerMinute } from '../../../server/contract/request-views.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider } from '../../support/gateway.ts';
import { type MetricFamily, readPrometheusText } from '../../support/prometheus-text.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, type ControlGatewayOptions, startControlGateway } from '../control/control-gateway.ts';

const usage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };
const good = {
  id: 'x',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a secret answer' } }],
  usage,
};

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: ControlGateway;

beforeEach(async () => {
  upstream = await stopLater(startUpstream((_request, response) => json(response, good)));
});

async function start(settings: object, options: ControlGatewayOptions = {}): Promise<void> {
  sluice = await stopLater(
    startControlGateway({
      secrets: { 'provider/main/c1': 'upstream-secret' },
      ...options,
      config: { providers: [mainProvider(upstream.baseUrl)], settings, ...options.config },
    }),
  );
}

function ask(body: object = {}): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const asked = { model: 'gpt-4o', messages: [{ role: 'user', content: 'a secret question' }], ...body };
  return sluice.fetch('/chat/completions', { ...init, body: JSON.stringify(asked) }).then((each) => each.text());
}

const scrape = (token = sluice.adminToken) =>
  fetch(`${sluice.origin}/metrics`, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } });

async function metrics(): Promise<Map<string, MetricFamily>> {
  const response = await scrape();
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return readPrometheusText(await response.text());
}

function valueIn(families: Map<string, MetricFamily>, name: string, labels: Record<string, string> = {}) {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  return family?.samples.find(
    (each) => each.name === name && Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  )?.value;
}

/** Reads the metrics once this many requests are counted, because clients receive their answers slightly earlier. */
const metricsAfter = (requests: number) =>
  eventually(async () => {
    const read = await metrics();
    const counted = read.get('sluice_requests_total')?.samples.reduce((sum, { value }) => sum + value, 0);
    return counted === requests ? read : null;
  });

const about = { group: 'default', provider: 'main', model: 'gpt-4o' };

describe('/metrics', () => {
  test('counts requests, attempts, tokens and cost', async () => {
    await start({ metrics: 'on', prices: { 'gpt-4o': { input: 1, cachedInput: 0.5, output: 10 } } });
    await ask();
    await ask();
    const families = await metricsAfter(2);
    expect(valueIn(families, 'sluice_requests_total', { ...about, outcome: 'ok' })).toBe(2);
    expect(valueIn(families, 'sluice_attempts_total', { provider: 'main', outcome: 'ok' })).toBe(2);
    expect(valueIn(families, 'sluice_tokens_total', { ...about, type: 'input' })).toBe(200);
    expect(valueIn(families, 'sluice_tokens_total', { ...about, type: 'output' })).toBe(40);
    expect(valueIn(families, 'sluice_tokens_total', { ...about, type: 'cached_input' })).toBe(80);
    expect(valueIn(families, 'sluice_cost_usd_total', about)).toBeCloseTo((2 * (60 * 1 + 40 * 0.5 + 20 * 10)) / 1e6, 9);
    expect(valueIn(families, 'sluice_first_byte_seconds_count', about)).toBe(2);
    expect(valueIn(families, 'sluice_request_duration_seconds_count', about)).toBe(2);
    expect(valueIn(families, 'sluice_requests_running')).toBe(0);
    expect(valueIn(families, 'sluice_requests_waiting')).toBe(0);
    expect(valueIn(families, 'sluice_provider_state', { provider: 'main', state: 'ok' })).toBe(1);
    expect(valueIn(families, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(valueIn(families, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
  });

  test('counts refusals over a limit that have no row, and these leave no capture', async () => {
    await start(
      { metrics: 'on' },
      { config: { groups: [{ id: 'default', capture: true, limits: { requestsPerMinute: 1 } }] } },
    );
    const begunAt = Date.now();
    const sent = 3 * refusalsListedPerMinute;
    for (let count = 0; count < sent; count++) await ask();
    const families = await metricsAfter(sent);
    const minutes = Math.floor(Date.now() / 60_000) - Math.floor(begunAt / 60_000) + 1;
    const errors = families.get('sluice_requests_total')?.samples.filter(({ labels }) => labels.outcome === 'refused');
    expect(errors?.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThanOrEqual(sent - minutes);
    await sluice.gateway.stop(1_000);
    const database = new DatabaseSync(join(sluice.folder, 'ledger.sqlite'), { readOnly: true });
    const count = (table: string) => Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count);
    const [rows, captures] = [count('requests'), count('captures')];
    database.close();
    expect(rows).toBeLessThanOrEqual(minutes * (refusalsListedPerMinute + 1));
    expect(captures).toBe(rows);
  });

  test('shows a request that runs, and how a failed one and its attempts ended', async () => {
    await start({ metrics: 'on' }, { config: { groups: [{ id: 'default', policy: { retries: 0, fallbacks: 0 } }] } });
    const hold = Promise.withResolvers<void>();
    upstream.answer(async (_request, response) => {
      await hold.promise;
      json(response, { error: { message: 'no', type: 'server_error', code: 'server_error' } }, 500);
    });
    const asked = ask();
    await eventually(async () => (valueIn(await metrics(), 'sluice_requests_running') === 1 ? true : null));
    hold.resolve();
    await asked;
    const families = await metricsAfter(1);
    expect(valueIn(families, 'sluice_requests_total', { ...about, outcome: 'error' })).toBe(1);
    expect(valueIn(families, 'sluice_attempts_total', { provider: 'main', outcome: 'transient' })).toBe(1);
  });

  test('contains neither secrets nor what was said', async () => {
    await start({ metrics: 'on' });
    await ask();
    await metricsAfter(1);
    const text = await (await scrape()).text();
    for (const planted of ['secret', 'sk-test', 'upstream-secret', sluice.adminToken, 'question']) {
      expect(text).not.toContain(planted);
    }
  });

  test('bounds the time series that clients can cause by names of models', async () => {
    await start({ metrics: 'on' });
    for (let number = 0; number < 310; number++) await ask({ model: `made-up-${number}` });
    const families = await metricsAfter(310);
    const requests = families.get('sluice_requests_total')?.samples ?? [];
    expect(requests.length).toBe(301);
    expect(valueIn(families, 'sluice_requests_total', { ...about, model: 'other' })).toBe(10);
  });

  test('counts requests without a key in one series', async () => {
    await start({ metrics: 'on' });
    await fetch(`${sluice.baseUrl}/models`);
    await fetch(`${sluice.baseUrl}/models`, { headers: { authorization: 'Bearer sk-planted' } });
    expect(valueIn(await metrics(), 'sluice_unauthenticated_requests_total')).toBe(2);
  });
});

describe('access to /metrics', () => {
  test('needs the admin token, or the token for metrics, which opens nothing else', async () => {
    await start({ metrics: 'on', metricsToken: 'env:SCRAPE_TOKEN' }, { ports: { env: { SCRAPE_TOKEN: 'read-only' } } });
    expect((await scrape()).status).toBe(200);
    expect((await scrape('read-only')).status).toBe(200);
    for (const wrong of ['', 'wrong', 'sk-test key with spaces', 'env:SCRAPE_TOKEN']) {
      expect((await scrape(wrong)).status).toBe(403);
    }
    const query = {
      method: 'POST',
      headers: { authorization: 'Bearer read-only', 'content-type': 'application/json' },
    };
    const refused = await sluice.control('/query', { ...query, body: '{"type":"status"}' });
    expect(refused.status).toBe(403);
  });

  test('is for the admin alone if the token for metrics is missing', async () => {
    await start({ metrics: 'on', metricsToken: 'env:NOT_SET' });
    expect((await scrape('')).status).toBe(403);
    expect((await scrape('undefined')).status).toBe(403);
    expect((await scrape()).status).toBe(200);
  });

  test('is refused to pages of other origins', async () => {
    await start({ metrics: 'on' });
    const headers = { authorization: `Bearer ${sluice.adminToken}`, origin: 'https://evil.example' };
    expect((await fetch(`${sluice.origin}/metrics`, { headers })).status).toBe(403);
  });

  test('does not exist while metrics are off, which can change at any time', async () => {
    await start({});
    expect((await scrape()).status).toBe(404);
    await sluice.gateway.execute({ type: 'settings.update', changes: { metrics: 'on' } });
    await eventually(async () => ((await scrape()).status === 200 ? true : null));
    await sluice.gateway.execute({ type: 'settings.update', changes: { metrics: 'off' } });
    await eventually(async () => ((await scrape()).status === 404 ? true : null));
  });
});

const dashboardPath = join(import.meta.dirname, '../../../build/observability/grafana-dashboard.json');
const alertsPath = join(import.meta.dirname, '../../../build/deploy/kubernetes-monitoring.yaml');

test('the Grafana dashboard and the alerts ask only for metrics and labels that exist', async () => {
  expect(existsSync(dashboardPath)).toBe(true);
  const dashboard: { panels: { title: string; targets?: { expr: string }[] }[] } = JSON.parse(
    readFileSync(dashboardPath, 'utf8'),
  );
  const rules = parseAllDocuments(readFileSync(alertsPath, 'utf8')).map((document) => document.toJS());
  const alerts: { expr: string; annotations: object }[] = rules.find(({ kind }) => kind === 'PrometheusRule').spec
    .groups[0].rules;
  for (const { annotations } of alerts) expect(annotations).toEqual({ summary: expect.any(String) });
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(shown.length).toBeGreaterThan(8);
  const expressions = [...shown, ...alerts.map(({ expr }) => expr)];
  await start({ metrics: 'on', prices: { 'gpt-4o': { input: 1, cachedInput: 0.5, output: 10 } } });
  await ask();
  const families = await metricsAfter(1);
  /** The labels of each metric name; null if nothing was counted, as for answers too short to have a speed. */
  const labels = new Map<string, Set<string> | null>();
  for (const { name, type, samples } of families.values()) {
    // Prometheus itself adds the label `job`.
    const own = samples.length > 0 ? new Set(['job', ...samples.flatMap((each) => Object.keys(each.labels))]) : null;
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) labels.set(name + suffix, own);
  }
  for (const expression of expressions) {
    const named = expression.match(/\b(?:sluice|process)_\w+/g) ?? [];
    expect(named.length, expression).toBeGreaterThan(0);
    const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    const matched = [...expression.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label);
    // That one exists only with --shared.
    for (const name of named.filter((each) => each !== 'sluice_shared_counts_up')) {
      const own = labels.get(name);
      const unknown = own ? [...grouped, ...matched].filter((label) => !own.has(label)) : [];
      expect(labels.has(name), `${name} in ${expression}`).toBe(true);
      expect(unknown, `labels of ${name} in ${expression}`).toEqual([]);
    }
  }
});
