import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EventLoopMonitor } from '../../../server/ground/event-loop-monitor.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const work = (id: string) => ({
  workLabel: `${id}\nk1\nPOST /v1/chat/completions`,
  labelNumber: 0,
});

test('with more requests than labels are kept, the one at work is named', () => {
  const logPath = join(folder, 'sluice.log');
  const watch = new EventLoopMonitor({ logPath, reportStandstill() {} });
  const works = Array.from({ length: 600 }, (_, index) => work(`req_${index}`));
  for (const each of works) watch.begin(each);
  watch.begin(work('req_other'));
  // Its label was overwritten by later ones.
  watch.begin(works[3] ?? work(''));
  watch.begin(works[599] ?? work(''));
  watch.begin(works[3] ?? work(''));
  watch.start();
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(logPath) || readFileSync(logPath).length === 0) Atomics.wait(pause, 0, 0, 50);
  watch.stop();
  expect(JSON.parse(readFileSync(logPath, 'utf8'))).toMatchObject({ request: 'req_3', key: 'k1' });
});
