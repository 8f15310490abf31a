/** Sluice's own requests to identity providers and team gateways use the same proxies as those to providers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlGateway, refusalOf, startControlGateway } from '../../control/control-gateway.ts';
import { roles } from './signed-in.ts';

const asked: (string | undefined)[] = [];
const proxy = createServer().on('connect', (request, socket) => {
  asked.push(request.url);
  socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
});
let sluice: ControlGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const httpsProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  sluice = await startControlGateway({
    config: { settings: { people: { issuer: 'https://login.example', clientId: 'sluice', roles } } },
    ports: { proxies: { httpsProxy }, people: { publicOrigin: 'https://gateway.example', trustedProxies: [] } },
  });
});
afterAll(async () => {
  await sluice.stop();
  proxy.close();
});

test('a sign-in asks the identity provider through the proxy', async () => {
  const response = await fetch(`${sluice.origin}/control/device`, { method: 'POST', body: '{}' });
  expect((await response.json()).error.code).toBe('sign_in_failed');
  expect(asked).toContain('login.example:443');
});

test('joining asks the team gateway through the proxy', async () => {
  const refused = await refusalOf(sluice.gateway.execute({ type: 'team.join', url: 'https://team.example' }));
  expect(refused).toMatchObject({ code: 'upstream_unreachable', problem: { code: 'gateway-away' } });
  expect(asked).toContain('team.example:443');
});
