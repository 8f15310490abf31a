import { expect, test } from 'vitest';
import { isLoopback, nameOfAddress, reachableOrigin } from '../../../server/contract/address.ts';

/** The guard refuses `0.0.0.0` as a Host, so it must never be shown as an address. */
test.each([
  ['127.0.0.1', 'http://127.0.0.1:4810'],
  ['0.0.0.0', 'http://127.0.0.1:4810'],
  ['::', 'http://127.0.0.1:4810'],
  ['::1', 'http://[::1]:4810'],
  ['192.168.1.7', 'http://192.168.1.7:4810'],
])('what listens on %s is reached at %s', (host, origin) => {
  expect(reachableOrigin({ host, port: 4810 })).toBe(origin);
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['localhost', true],
  ['localhost.', true],
  ['ollama.localhost', true],
  ['[::1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['[::ffff:7f00:1]', true],
  ['0.0.0.0', false],
  ['192.168.1.7', false],
  ['[fd00::1]', false],
  ['localhost.example.com', false],
])('the host %s is this machine: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test.each([
  ['http://127.0.0.1:47311/v1', 'localhost-47311'],
  ['http://localhost:1234/v1', 'localhost-1234'],
  ['http://localhost/v1', 'localhost'],
  ['http://192.168.1.7:8000/v1', '192.168.1.7'],
  ['http://nas.local:8000/v1', 'nas'],
  ['http://gpu-box:8000/v1', 'gpu-box'],
  ['https://api.deepseek.com/v1', 'deepseek'],
  ['https://example.com', 'example'],
  ['https://llm.example.co.uk/v1', 'example'],
  ['https://203.0.113.5/v1', '203.0.113.5'],
  ['no address', undefined],
])('the service at %s would be called %s', (baseUrl, name) => {
  expect(nameOfAddress(baseUrl)).toBe(name);
});
