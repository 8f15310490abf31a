/** Renewal of prices in a whole gateway: over its proxy, trusting its authorities, from the one public address. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { publicTable, ratesOf } from '../control/prices/public-table.ts';
import { selfSignedCertificate, type TestCertificate } from '../transport/harness.ts';

let certificate: TestCertificate;
beforeAll(() => {
  certificate = selfSignedCertificate('Public tables', 'DNS:raw.githubusercontent.com,DNS:www.ecb.europa.eu');
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A proxy that leads every tunnel to a server with the certificate of the public addresses. */
async function startInternet() {
  const tunnels: string[] = [];
  let table = publicTable();
  const site = https.createServer(certificate, ({ headers: { host } }, response) => {
    response.end(host === 'www.ecb.europa.eu' ? ratesOf('2026-12-01', { USD: 1.25 }) : table);
  });
  const proxy = http.createServer().on('connect', ({ url = '' }, near) => {
    tunnels.push(url);
    const far = net.connect((site.address() as AddressInfo).port, '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
  });
  for (const server of [site, proxy]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
  }
  return {
    tunnels,
    proxies: { httpsProxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
    answerWith(changed: Parameters<typeof publicTable>[0]) {
      table = publicTable(changed);
    },
  };
}

async function start(settings: Record<string, unknown>, isTrusted = true) {
  const internet = await startInternet();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-renewed-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, certificate.cert);
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }];
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
  const upstream = await startUpstream((_request, response) =>
    json(response, { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4-turbo', choices, usage }),
  );
  closing.push(() => upstream.stop());
  const sluice: TestGateway = await startGateway({
    config: {
      providers: [mainProvider(`${upstream.origin}/v1`, { preset: 'openai', models: ['gpt-4-turbo'] })],
      groups: [{ id: 'default' }],
      keys: [
        {
          id: 'k1',
          group: 'default',
          hash: hashOf(testKey),
          limits: { budgets: [{ unit: 'usd', amount: 45, per: 'day' }] },
        },
      ],
      settings: { ...settings, extraCaFiles: isTrusted ? [authority] : [] },
    },
    ports: { proxies: internet.proxies },
    folder,
  });
  closing.push(() => sluice.stop());
  const chat = async () =>
    (await sluice.client.chat.completions.create({ model: 'gpt-4-turbo', messages: [{ role: 'user', content: 'Hi' }] }))
      .id;
  return { internet, sluice, chat };
}

test('new prices count from their click on, and a running budget keeps what is spent', async () => {
  const { internet, sluice, chat } = await start({ renewPrices: 'ask' });
  internet.answerWith({ 'gpt-4-turbo': { input: 20 } });
  const spent = async () => (await sluice.gateway.query({ type: 'keys' }))[0]?.limitUse[0]?.used;
  await chat();
  await eventually(async () => (await spent()) === 10);
  const { renewal } = await sluice.gateway.execute({ type: 'prices.check' });
  expect(renewal).toMatchObject({
    failure: null,
    waiting: [{ entry: 'gpt-4-turbo', before: { input: 10 }, after: { input: 20 } }],
  });
  expect(internet.tunnels).toEqual(['raw.githubusercontent.com:443']);
  expect(await sluice.gateway.execute({ type: 'prices.apply', which: 'plausible' })).toMatchObject({ applied: 1 });
  expect(await spent()).toBe(10);
  await chat();
  await eventually(async () => (await spent()) === 30);
});

test('a certificate that nobody trusts leaves prices as they were', async () => {
  const { sluice } = await start({ renewPrices: 'apply' }, false);
  const { renewal } = await sluice.gateway.execute({ type: 'prices.check' });
  expect(renewal).toMatchObject({ checkedAt: null, failure: expect.stringContaining('certificate') });
});

test('nothing is asked for by default, and the currency asks for a rate alone', async () => {
  const { internet, sluice } = await start({});
  await expect(sluice.gateway.execute({ type: 'prices.check' })).rejects.toMatchObject({ code: 'conflict' });
  expect(internet.tunnels).toEqual([]);
  await sluice.gateway.execute({ type: 'settings.update', changes: { currency: { code: 'EUR', perDollar: null } } });
  await eventually(async () => (await sluice.gateway.query({ type: 'status' })).currency?.perDollar === 0.8);
  expect(internet.tunnels).toEqual(['www.ecb.europa.eu:443']);
});

test.each(['http://127.0.0.1/table.json', 'https://elsewhere.example/table.json'])(
  'no configuration leads renewal to %s',
  async (renewPrices) => {
    const { sluice } = await start({});
    const changes = { renewPrices } as unknown as { renewPrices: 'off' };
    await expect(sluice.gateway.execute({ type: 'settings.update', changes })).rejects.toMatchObject({
      code: 'invalid_command',
    });
  },
);
