import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { findPortHolder, parseLsof, parseNetstat, parseProcNetTcp } from '../../../server/cli/port-holder.ts';
import { onlyIf } from '../../support/only-if.ts';

const procNetTcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:12CA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41234 1 0000000000000000 100 0 0 10 0
   1: 0100007F:12CA 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 41999 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:A2CA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 55555 1 0000000000000000 100 0 0 10 0
`;

test('in /proc/net/tcp the port’s listening socket counts, not its connections', () => {
  expect(parseProcNetTcp(procNetTcp, 4810)).toEqual(['41234']);
  expect(parseProcNetTcp(procNetTcp, 4811)).toEqual([]);
});

test('in lsof’s output the first process counts', () => {
  expect(parseLsof('p4242\ncnode\nf21\np4343\ncother\n')).toEqual({ pid: 4242, name: 'node' });
  expect(parseLsof('')).toBeUndefined();
});

test('in netstat’s output the listening line counts, whatever its language', () => {
  const output = `
Aktive Verbindungen

  Proto  Lokale Adresse         Remoteadresse          Status           PID
  TCP    127.0.0.1:4810         127.0.0.1:50123        HERGESTELLT      77
  TCP    127.0.0.1:4810         0.0.0.0:0              ABHÖREN          1234
  TCP    127.0.0.1:14810        0.0.0.0:0              ABHÖREN          99
`;
  expect(parseNetstat(output, 4810)).toBe(1234);
  expect(parseNetstat(output, 4811)).toBeUndefined();
});

test.runIf(onlyIf(process.platform === 'linux', 'processes are looked up in /proc'))(
  'a real listening process is found, and none if nothing listens',
  async () => {
    const source = `require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
    const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(child.stdout, 'data');
    const port = Number(line);
    expect(await findPortHolder(port)).toEqual({ pid: child.pid, name: expect.stringMatching(/^node/) });
    child.kill();
    await once(child, 'exit');
    expect(await findPortHolder(port)).toBeUndefined();
  },
);
