import { afterEach, expect, test } from 'vitest';
import { createKeySecret } from '../../../../server/routing/key-secret.ts';
import { type ControlGateway, refusalOf, startControlGateway } from '../control-gateway.ts';

let sluice: ControlGateway;
afterEach(() => sluice.stop());

const start = async (env: Record<string, string>, providers: { id: string; baseUrl: string }[] = []) => {
  sluice = await startControlGateway({ config: { providers }, ports: { env } });
};
const offered = async () =>
  (await sluice.gateway.query({ type: 'environment-credentials' })).map((each) => each.variable);

test('credentials in the environment are told by name, one of each service, in the order of the presets', async () => {
  await start({
    GOOGLE_API_KEY: 'sk-g2',
    GEMINI_API_KEY: 'sk-g1',
    GROQ_API_KEY: 'sk-groq',
    HOME: '/root',
    XAI_API_KEY: '',
  });
  const answer = await sluice.gateway.query({ type: 'environment-credentials' });
  expect(answer).toEqual([
    { preset: 'gemini', variable: 'GEMINI_API_KEY' },
    { preset: 'groq', variable: 'GROQ_API_KEY' },
  ]);
});

test('a key of Sluice itself is no credential of a provider', async () => {
  await start({ OPENAI_API_KEY: createKeySecret() });
  expect(await offered()).toEqual([]);
});

test('what is used by reference is not offered, and comes back with the end of its use', async () => {
  await start({ GROQ_API_KEY: 'sk-groq' });
  await sluice.gateway.execute({
    type: 'provider.add',
    provider: { preset: 'groq', models: ['m'] },
    credentials: [{ reference: 'env:GROQ_API_KEY' }],
  });
  expect(await offered()).toEqual([]);
  await sluice.gateway.execute({ type: 'provider.remove', id: 'groq' });
  expect(await offered()).toEqual(['GROQ_API_KEY']);
});

test('a copy goes into the secret store and is not offered again', async () => {
  await start({ GROQ_API_KEY: ' sk-groq-4711\n' });
  const { provider } = await sluice.gateway.execute({
    type: 'provider.add',
    provider: { preset: 'groq', models: ['m'] },
    credentials: [{ variable: 'GROQ_API_KEY' }],
  });
  expect(provider.credentials).toMatchObject([{ reference: 'keychain', hasSecret: true }]);
  expect(await sluice.secrets.get('provider/groq/c1')).toBe('sk-groq-4711');
  expect(await sluice.configText()).not.toContain('4711');
  expect(await offered()).toEqual([]);
});

test('a variable that is not there, or holds what no header can, adds nothing', async () => {
  await start({ GROQ_API_KEY: 'sk-\u{1f511}' });
  for (const variable of ['NO_SUCH', 'GROQ_API_KEY']) {
    const add = sluice.gateway.execute({
      type: 'provider.add',
      provider: { preset: 'groq', models: ['m'] },
      credentials: [{ variable }],
    });
    expect(await refusalOf(add)).toMatchObject({ code: 'invalid_command', message: expect.stringContaining(variable) });
  }
  expect(await sluice.gateway.query({ type: 'config' })).toMatchObject({ revision: 1 });
});
