import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppendedFile } from '../../../../server/ground/files/log.ts';
import { eventually } from '../../../support/eventually.ts';
import { onlyIf } from '../../../support/only-if.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-appended-'));
  path = join(folder, 'lines');
});
afterEach(() => rmSync(folder, { recursive: true }));

const patientMs = 60_000;
const isLinux = onlyIf(process.platform === 'linux', '/dev/full and pipes that are open for both are Linux’s');

test('lines are in the file in their order, whatever is written while others are on their way', async () => {
  const file = new AppendedFile(path);
  const lines = Array.from({ length: 5_000 }, (_, number) => `${number} ${'x'.repeat(number % 100)}\n`);
  for (const line of lines) {
    file.write(line);
    if (line.startsWith('1')) file.flush();
  }
  await file.finish(patientMs);
  expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  expect([file.unwrittenLines, file.isStuck]).toEqual([0, false]);
});

test('what is written or ended once more after the end reaches no other file that got its number', async () => {
  const file = new AppendedFile(path);
  file.write('one\n');
  await file.finish(patientMs);
  const other = join(folder, 'other');
  // Enough of them that one gets the number.
  const descriptors = Array.from({ length: 20 }, () => openSync(other, 'w'));
  file.write(`${'x'.repeat(100_000)}\n`);
  file.flush();
  await file.finish(patientMs);
  const closed = await Promise.all(descriptors.map(isClosedSoon));
  expect(closed).not.toContain(true);
  for (const descriptor of descriptors) closeSync(descriptor);
  expect([readFileSync(path, 'utf8'), readFileSync(other, 'utf8'), file.unwrittenLines]).toEqual(['one\n', '', 1]);
});

/** Closing runs in the background. */
async function isClosedSoon(descriptor: number): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  try {
    fstatSync(descriptor);
    return false;
  } catch {
    return true;
  }
}

test.runIf(isLinux)('a full disk does not hold up the end, which tells how many lines it did not take', async () => {
  symlinkSync('/dev/full', path);
  const file = new AppendedFile(path);
  for (let line = 0; line < 30_000; line++) file.write('a line\n');
  await file.finish(patientMs);
  expect([file.unwrittenLines, file.isStuck]).toEqual([30_000, false]);
});

test.runIf(isLinux)('a disk that hangs holds up the end no longer than it may', async () => {
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const file = new AppendedFile(path);
  for (let line = 0; line < 30_000; line++) file.write('a line\n');
  await file.finish(50);
  expect(file.isStuck).toBe(true);
  expect(file.unwrittenLines).toBeGreaterThan(0);
  // Frees the thread that writes, for which the end of this process would wait.
  await eventually(() => {
    try {
      readSync(reader, Buffer.alloc(64 * 1024));
    } catch {
      // There is nothing to read at the moment.
    }
    return !file.isStuck;
  });
  closeSync(reader);
});

test('lines beyond what is kept in memory are counted as lost', async () => {
  const file = new AppendedFile(path);
  const long = `${'x'.repeat(10 * 1024 * 1024)}\n`;
  file.write(long);
  file.write(long);
  file.write(long);
  await file.finish(patientMs);
  expect(file.unwrittenLines + readFileSync(path, 'utf8').split('\n').length - 1).toBe(3);
});
