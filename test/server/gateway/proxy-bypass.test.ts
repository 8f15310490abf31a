/**
 * A host within a range of NO_PROXY or of `settings.noProxy` is reached directly. Once, prompts and credentials for a
 * server of the local network went through the proxy that was told not to see them.
 */
import { afterEach, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway | undefined;
afterEach(() => gateway?.stop());

const proxies = { httpProxy: 'http://proxy.example:3128' };
/** Never called: its models are listed, so nothing is discovered. */
const provider = { id: 'lan', baseUrl: 'http://10.99.1.2:6011/v1', models: ['m'] };

async function wayTo(env: string | undefined, noProxy: string[]): Promise<(string | null)[] | undefined> {
  gateway = await startGateway({
    config: { providers: [provider], settings: { noProxy, demo: 'off' } },
    ports: { proxies: { ...proxies, noProxy: env } },
  });
  const { ways } = await gateway.gateway.query({ type: 'network' });
  return ways.find((way) => way.provider === 'lan')?.proxies;
}

test.each([
  [undefined, [], 'proxy.example:3128'],
  ['localhost,10.0.0.0/8', [], null],
  [undefined, ['10.0.0.0/8'], null],
  [undefined, ['10.*'], null],
  ['localhost', ['10.99.0.0/16:6011'], null],
  [undefined, ['10.99.1.0/24,corp.example'], null],
  ['192.168.0.0/16', ['10.99.2.0/24'], 'proxy.example:3128'],
])('with NO_PROXY=%s and noProxy %j the way leads over %s', async (env, noProxy, hop) => {
  expect(await wayTo(env, noProxy)).toEqual([hop]);
});

test('a stored entry without effect is told at the start', async () => {
  const notices: string[] = [];
  gateway = await startGateway({
    config: { settings: { noProxy: ['192.168.'], allowedOrigins: ['*'] } },
    ports: { notice: (line) => notices.push(line) },
  });
  expect(notices).toEqual([
    expect.stringMatching(/^settings\.allowedOrigins: "\*" is not an origin of one site.*It has no effect\.$/),
    expect.stringMatching(/^settings\.noProxy: "192\.168\." is not a host.*It has no effect\.$/),
  ]);
});

test('an entry that can match nothing is refused when it is set', async () => {
  gateway = await startGateway();
  const { execute } = gateway.gateway;
  for (const changes of [
    { noProxy: ['10.0.0.0/40'] },
    { noProxy: ['192.168.'] },
    { allowedOrigins: ['https://*'] },
    { allowedOrigins: ['https://app.example/'] },
    { allowedHosts: ['http://nas.local'] },
    { allowedHosts: ['nas.local:4810'] },
  ]) {
    await expect(execute({ type: 'settings.update', changes })).rejects.toMatchObject({
      code: 'invalid_command',
    });
  }
});
