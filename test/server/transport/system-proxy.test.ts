import { expect, test } from 'vitest';
import { createSystemProxies, isForSystem, parsePacAnswer } from '../../../server/transport/proxy-choice.ts';

test.each<[string, (string | null)[], string[]]>([
  ['DIRECT', [null], []],
  ['', [null], []],
  ['PROXY proxy.example:8080', ['http://proxy.example:8080/'], []],
  ['PROXY one.example:1; HTTPS two.example:2 ;DIRECT', ['http://one.example:1/', 'https://two.example:2/', null], []],
  ['http [fd00::7]:3128', ['http://[fd00::7]:3128/'], []],
  ['SOCKS5 socks.example:1080; DIRECT', [null], ['SOCKS5 socks.example:1080']],
  ['SOCKS socks.example:1080', [], ['SOCKS socks.example:1080']],
  ['PROXY :::', [], ['PROXY :::']],
])('the answer %j names the ways %j', (answer, hops, unusable) => {
  expect(parsePacAnswer(answer)).toEqual({ hops: hops.map((hop) => hop && new URL(hop)), unusable });
});

test('the system is asked once for each address, and again after it was forgotten', async () => {
  const asked: string[] = [];
  const system = createSystemProxies(async (url) => {
    asked.push(url);
    return 'PROXY proxy.example:8080';
  });
  for (const origin of ['https://a.example', 'https://a.example', 'https://b.example']) await system.chainTo(origin);
  expect(asked).toEqual(['https://a.example/', 'https://b.example/']);
  system.forget();
  await system.chainTo('https://a.example');
  expect(asked).toHaveLength(3);
});

test('a system that cannot say has no proxy', async () => {
  const system = createSystemProxies(() => Promise.reject(new Error('no such service')));
  expect(await system.chainTo('https://a.example')).toEqual({ hops: [null], unusable: [] });
});

test.each([
  ['is asked where nothing else says anything', 'system', 'https://a.example', {}, true],
  ['is not asked where it cannot be', 'system', 'https://a.example', { askSystem: undefined }, false],
  ['comes after the environment', 'system', 'https://a.example', { httpsProxy: 'http://env.example:1' }, false],
  ['is not asked for what NO_PROXY names', 'system', 'https://a.example', { noProxy: '.example' }, false],
  ['is not asked for this machine', 'system', 'http://127.0.0.1:11434', {}, false],
  ['is not asked for a provider that has a proxy of its own', 'http://mine.example:1', 'https://a.example', {}, false],
  ['is not asked for a provider that goes directly', 'direct', 'https://a.example', {}, false],
] as const)('the system %s', (_what, choice, origin, settings, expected) => {
  expect(isForSystem(choice, origin, { askSystem: async () => 'DIRECT', ...settings })).toBe(expected);
});
