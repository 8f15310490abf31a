import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RequestRecord } from '../../../../server/contract/ledger.ts';
import { createLog, createRequestLog, openLogFile } from '../../../../server/ground/files/log.ts';
import { finishedRow } from '../../store/sqlite/records.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The line that a logger writes for these fields. */
function logged(fields: object): string {
  const lines: string[] = [];
  createLog({ write: (line) => void lines.push(line) }).info(fields, 'message');
  return lines.join('');
}

test('fields that hold secrets by their name are not written, however deep and spelled', () => {
  const secret = 'planted-secret';
  for (const name of [
    'authorization',
    'Authorization',
    'apiKey',
    'api_key',
    'api-key',
    'x-api-key',
    'cookie',
    'secret',
  ]) {
    expect(logged({ [name]: secret }), name).not.toContain(secret);
    expect(logged({ request: { headers: { [name]: secret } } }), name).not.toContain(secret);
  }
});

test('an error is written with message, code and cause, without what else hangs on it', () => {
  const cause = Object.assign(new Error('refused'), {
    code: 'ECONNREFUSED',
    headers: { authorization: 'planted-secret' },
  });
  const error = new Error('Bearer planted-secret was sent, and sk-proj-planted-secret too', { cause });
  const line = logged({ error });
  expect(line).not.toContain('planted-secret');
  expect(JSON.parse(line).error).toMatchObject({ name: 'Error', cause: { message: 'refused', code: 'ECONNREFUSED' } });
});

test('a request is a line like all others', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  createLog(destination).info({ id: 'x' }, 'request');
  const requests = createRequestLog(destination);
  requests.log(finishedRow('req_1', { modelAsked: 'a "model"\n', totalMs: 12.6 }));
  expect(lines).toHaveLength(1);
  requests.flush();
  const [usual, request] = lines.map((line) => JSON.parse(line));
  expect(lines[1]).toMatch(/\}\n$/);
  expect(request).toMatchObject({ level: usual.level, msg: usual.msg, id: 'req_1', model: 'a "model"\n', ms: 13 });
  expect(Math.abs(Date.parse(request.time) - Date.parse(usual.time))).toBeLessThan(5_000);
});

test('the time of a request is written to the millisecond', () => {
  const times = ['2026-01-31T12:00:00.005Z', '2026-01-31T12:00:00.999Z', '2026-01-31T12:00:01.000Z'];
  const texts: string[] = [];
  const requests = createRequestLog({ write: (text) => void texts.push(text) });
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const time of times) {
    vi.setSystemTime(time);
    requests.log(finishedRow('req_1'));
  }
  vi.useRealTimers();
  requests.flush();
  const written = texts.join('').trim().split('\n');
  expect(written.map((line) => JSON.parse(line).time)).toEqual(times);
});

test.each<[string, Partial<RequestRecord>, object]>([
  ['route', { route: '/v1/embeddings' }, { route: 'POST /v1/embeddings' }],
  ['method', { method: 'GET' }, { route: 'GET /v1/chat/completions' }],
  ['key', { keyId: 'k2' }, { key: 'k2' }],
  ['model', { modelAsked: 'slow' }, { model: 'slow' }],
  ['provider', { provider: 'other' }, { provider: 'other' }],
  ['status', { status: 201 }, { status: 201 }],
  ['outcome', { outcome: 'client-gone' }, { outcome: 'client-gone' }],
  ['error', { errorCode: 'overloaded' }, { error: 'overloaded' }],
])('a request that differs from the one before in its %s is logged with its own', (_field, different, told) => {
  const lines: string[] = [];
  const requests = createRequestLog({ write: (text: string) => void lines.push(...text.trimEnd().split('\n')) });
  requests.log(finishedRow('req_1'));
  requests.log(finishedRow('req_2', different));
  requests.log(finishedRow('req_3'));
  requests.flush();
  const [first, second, third] = lines.map((line) => ({ ...JSON.parse(line), time: null }));
  expect(second).toEqual({ ...first, id: 'req_2', ...told });
  expect(third).toEqual({ ...first, id: 'req_3' });
});

test('what is logged is in the file once it is closed, and the file is private', async () => {
  const file = openLogFile(folder);
  file.log.info({ port: 1 }, 'started');
  await file.close();
  expect(JSON.parse(readFileSync(file.path, 'utf8'))).toMatchObject({ port: 1, msg: 'started' });
  if (process.platform !== 'win32') expect(statSync(file.path).mode & 0o077).toBe(0);
});

test('a full log is put aside at the start, and three files are kept', async () => {
  const path = join(folder, 'sluice.log');
  for (let start = 1; start <= 5; start++) {
    writeFileSync(path, `${start}`.padEnd(11 * 1024 * 1024));
    await openLogFile(folder).close();
  }
  expect(readdirSync(folder).sort()).toEqual(expect.arrayContaining(['sluice.log.1', 'sluice.log.2']));
  expect(readdirSync(folder)).not.toContain('sluice.log.3');
  expect(readFileSync(`${path}.1`, 'utf8')[0]).toBe('5');
  expect(readFileSync(`${path}.2`, 'utf8')[0]).toBe('4');
});

test('a log that grows beyond its size while the program runs is put aside, and no line is lost', async () => {
  const path = join(folder, 'sluice.log');
  const file = openLogFile(folder);
  const lineCount = 12;
  for (let line = 1; line <= lineCount; line++) file.log.info({ line, filling: 'x'.repeat(1024 * 1024) }, 'long');
  await expect.poll(() => existsSync(`${path}.1`), { timeout: 10_000 }).toBe(true);
  await expect.poll(() => existsSync(path)).toBe(true);
  file.log.info({ line: lineCount + 1 }, 'after');
  await file.close();
  const linesOf = (name: string) =>
    readFileSync(name, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).line);
  await expect
    .poll(() => [...linesOf(`${path}.1`), ...linesOf(path)])
    .toEqual(Array.from({ length: lineCount + 1 }, (_, index) => index + 1));
});

test('a log whose file cannot be opened is written once it can be', async () => {
  const path = join(folder, 'logs');
  writeFileSync(path, 'in its place');
  const file = openLogFile(path);
  file.log.info('lost');
  rmSync(path);
  await expect.poll(() => existsSync(file.path)).toBe(true);
  file.log.info('kept');
  await file.close();
  expect(JSON.parse(readFileSync(file.path, 'utf8'))).toMatchObject({ msg: 'kept' });
});
