import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isResourceExhaustion, limitIn, limitOf } from '../../../server/ground/resource-exhaustion.ts';
import { onlyIf } from '../../support/only-if.ts';

const coded = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])('%s is the machine’s own', (code) => {
  const error = coded(code, { address: '127.0.0.1' });
  expect(isResourceExhaustion(error)).toBe(true);
  expect(isResourceExhaustion(new Error('could not connect', { cause: error }))).toBe(true);
  expect(isResourceExhaustion(new AggregateError([error, error]))).toBe(true);
});

test.each(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOSPC'])('%s is not', (code) => {
  expect(isResourceExhaustion(coded(code))).toBe(false);
});

test('a machine without IPv6 is not short of ports', () => {
  const noIpv6 = coded('EADDRNOTAVAIL', { address: '::1' });
  expect(isResourceExhaustion(noIpv6)).toBe(false);
  expect(isResourceExhaustion(new AggregateError([noIpv6, coded('ECONNREFUSED')]))).toBe(false);
});

test('a call whose number Node does not know by name is one', () => {
  expect(isResourceExhaustion(coded('ERR_SYSTEM_ERROR', { errno: 24 }))).toBe(process.platform !== 'win32');
  expect(isResourceExhaustion(coded('ERR_SYSTEM_ERROR', { errno: 5 }))).toBe(false);
});

test('the limit on descriptors is read on Linux and in a report of Node', () => {
  const limits = (open: string) => `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            ${open}                4096                 files
`;
  expect([limitIn(limits('64')), limitIn(limits('unlimited')), limitIn('')]).toEqual([64, null, null]);
  expect(limitOf({ userLimits: { open_files: { soft: 10_240, hard: 'unlimited' } } })).toBe(10_240);
  expect([limitOf({ userLimits: { open_files: { soft: 'unlimited' } } }), limitOf({})]).toEqual([null, null]);
  if (process.platform !== 'win32') expect(limitOf(process.report.getReport())).toBeGreaterThan(0);
});

test.runIf(onlyIf(process.platform === 'linux', 'sets the limit by ulimit'))(
  'out of descriptors, the addresses of the machine and the look-up of a name do not fail for other reasons',
  () => {
    const source = (file: string) => join(import.meta.dirname, '../../../server', file);
    const script = `
      import { lookup } from 'node:dns/promises';
      import { openSync } from 'node:fs';
      import { isResourceExhaustion } from '${source('ground/resource-exhaustion.ts')}';
      import { machineAddresses } from '${source('transport/network-watch.ts')}';
      const before = machineAddresses();
      let shortage;
      const name = () => lookup('localhost').then(() => 'found', (error) => isResourceExhaustion(error));
      await name();
      try { for (;;) openSync('/dev/null', 'r'); } catch (error) { shortage = isResourceExhaustion(error); }
      const same = before.size > 0 && before.isSubsetOf(machineAddresses());
      process.stdout.write(JSON.stringify({ shortage, same, name: await name() }));
    `;
    const parameters = [process.execPath, '--input-type=module', '-e', script];
    const printed = execFileSync('sh', ['-c', 'ulimit -n 64 && exec "$0" "$@"', ...parameters], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ shortage: true, same: true, name: true });
  },
);
