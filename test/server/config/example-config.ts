/**
 * The documented example of a declarative configuration file. It is a contract with scripts, so it must stay readable
 * for ever.
 */
export const exampleConfig = {
  version: 2,
  providers: [
    {
      id: 'main',
      dialect: 'openai',
      baseUrl: 'http://127.0.0.1:4010/v1',
      credentials: [{ id: 'c1', secret: 'env:MAIN_API_KEY' }],
      models: ['gpt-x', '*'],
      timeouts: { connectMs: 5000, firstByteMs: 60000, idleMs: 120000 },
    },
  ],
  aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-x', priority: 0, weight: 1 }] }],
  groups: [{ id: 'default', models: ['*'], providers: ['*'] }],
  keys: [{ id: 'k1', group: 'default', secret: 'env:SLUICE_KEY' }],
} as const;

/** The example with another address for its provider. */
export function exampleAt(baseUrl: string) {
  const [main] = exampleConfig.providers;
  return { ...exampleConfig, providers: [{ ...main, baseUrl }] };
}
