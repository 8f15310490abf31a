import { expect, test } from 'vitest';
import { costsNothing } from '../../../server/providers/detect-local.ts';
import { presets } from '../../../server/providers/presets.ts';

const at = (host: string, preset?: string, free?: boolean) => ({
  baseUrl: `http://${host}:11434/v1`,
  ...(preset !== undefined && { preset }),
  ...(free !== undefined && { free }),
});

const loopbacks = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'models.localhost', '127.0.0.1', '127.1', '127.8.9.10', '2130706433'],
  ...['0x7f.0.0.1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
];
const elsewhere = [
  ...['192.168.0.9', '10.0.0.1', '0.0.0.0', '128.0.0.1', '[::2]', '[::ffff:10.0.0.1]', '[fe80::1]', 'ollama.com'],
  ...['localhost.example.com', 'notlocalhost', '127.0.0.1.example.com'],
];
const local = presets.filter(({ isLocal }) => isLocal).map(({ id }) => id);

test.each(local)('%s on this machine costs nothing, however its address is written', (preset) => {
  for (const host of loopbacks) expect(costsNothing(at(host, preset), 'qwen3-coder:30b'), host).toBe(true);
});

test('a server elsewhere, and one that is not known to be local, is not free until it is marked', () => {
  for (const host of elsewhere) expect(costsNothing(at(host, 'ollama'), 'qwen3:8b'), host).toBe(false);
  for (const { id } of presets.filter(({ isLocal }) => !isLocal))
    expect(costsNothing(at('127.0.0.1', id), 'm'), id).toBe(false);
  expect(costsNothing(at('127.0.0.1'), 'm')).toBe(false);
  for (const host of [...elsewhere, '127.0.0.1']) {
    expect(costsNothing(at(host, 'custom', true), 'm')).toBe(true);
    expect(costsNothing(at(host, undefined, true), 'm')).toBe(true);
  }
  expect(costsNothing(at('127.0.0.1', 'ollama', false), 'm')).toBe(false);
});

test.each([
  ...['gpt-oss:120b-cloud', 'deepseek-v3.1:671b-cloud', 'kimi-k2.5:cloud', 'gpt-oss:20b:cloud', 'gpt-oss:cloud:20b'],
  ...['GLM-5:CLOUD', 'someone/qwen3-coder:480b-cloud'],
])('%s runs in Ollama’s cloud, so that nothing says it is free', (model) => {
  expect(costsNothing(at('127.0.0.1', 'ollama'), model)).toBe(false);
  expect(costsNothing(at('192.168.0.9', 'ollama', true), model)).toBe(false);
});

test.each(['cloudy:8b', 'cloud9-coder', 'nimbus-cloudlet:7b', 'qwen3:8b'])('%s runs here', (model) => {
  expect(costsNothing(at('127.0.0.1', 'ollama'), model)).toBe(true);
});
