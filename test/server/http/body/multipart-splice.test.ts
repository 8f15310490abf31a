import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findField, withField } from '../../../../server/http/body/incoming-body.ts';
import type { MultipartBody } from '../../../../server/http/body/multipart.ts';
import { Spool, spoolCounts } from '../../../../server/http/body/spool.ts';
import { tries } from '../../../support/sweep.ts';
import { field, file, multipart, readAll } from './upload-server.ts';

const BOUNDARY = '----formdata-undici-012345678901';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-splice-'));
});
afterAll(async () => {
  expect(spoolCounts).toEqual({ spools: 0, files: 0 });
  await rm(folder, { recursive: true });
});

interface Spooled {
  bytes: Buffer;
  fields?: MultipartBody['fields'];
  memoryBytes?: number;
  boundary?: string;
}

/** Runs `use` on a body in the state in which `receiveMultipart` leaves it. */
async function spooled<Result>(given: Spooled, use: (body: MultipartBody) => Promise<Result>): Promise<Result> {
  const { bytes, fields = { model: 'old' }, memoryBytes = 1_000_000, boundary = BOUNDARY } = given;
  const spool = new Spool({ folder, memoryBytes });
  try {
    await new Promise<void>((resolve, reject) => spool.write(bytes, (error) => (error ? reject(error) : resolve())));
    await spool.finish();
    return await use({
      kind: 'multipart',
      spool,
      contentType: '',
      boundary,
      fields,
      files: [],
      ranges: [],
      size: bytes.length,
    });
  } finally {
    await spool.dispose();
  }
}

/** The body with the model "new-model", after checking its announced length. */
function renamed(given: Spooled): Promise<string> {
  return spooled(given, async (body) => {
    const outgoing = await withField(body, 'model', 'new-model');
    const first = await readAll(outgoing);
    expect(first.length).toBe(outgoing.length);
    expect((await readAll(outgoing)).equals(first)).toBe(true);
    return first.toString('latin1');
  });
}

describe.each([
  ['in memory', 1_000_000],
  ['in a file', 0],
])('of an upload %s', (_where, memoryBytes) => {
  test.each<[string, (string | Buffer)[]]>([
    ['before the file', [field('prompt', 'p'), field('model', 'old'), file('file', 'a')]],
    ['after the file', [file('file', 'a'), field('model', 'old'), field('prompt', 'p')]],
    ['alone', [field('model', 'old')]],
    [
      'with other spelling',
      ['content-type: text/plain\r\nCONTENT-DISPOSITION:form-data;\r\n NAME=model\r\n\r\nold', file('file', 'a')],
    ],
    [
      'beside names that look like it',
      [field('models', 'old1'), field('model[]', 'old2'), file('model', 'old.bin'), field('model', 'old')],
    ],
    ['with an empty file name', ['Content-Disposition: form-data; name="model"; filename=""\r\n\r\nold']],
    ['beside a file whose name pretends to be it', [file('file', 'x\\"; name=\\"model'), field('model', 'old')]],
  ])('a field %s is replaced in place', async (_name, parts) => {
    const bytes = multipart(BOUNDARY, parts);
    const expected = bytes.toString('latin1').replace('\r\n\r\nold\r\n', '\r\n\r\nnew-model\r\n');
    expect(expected).not.toBe(bytes.toString('latin1'));
    expect(await renamed({ bytes, memoryBytes })).toBe(expected);
  });

  test('an empty field is filled', async () => {
    const bytes = multipart(BOUNDARY, [field('model', ''), file('file', 'a')]);
    const expected = multipart(BOUNDARY, [field('model', 'new-model'), file('file', 'a')]).toString();
    expect(await renamed({ bytes, memoryBytes, fields: { model: '' } })).toBe(expected);
  });

  test('every occurrence is replaced', async () => {
    const parts = (model: string, other: string) => [field('model', model), file('file', 'a'), field('model', other)];
    const bytes = multipart(BOUNDARY, parts('one', 'two'));
    const expected = multipart(BOUNDARY, parts('new-model', 'new-model')).toString();
    expect(await renamed({ bytes, memoryBytes, fields: { model: ['one', 'two'] } })).toBe(expected);
  });

  test.each([
    ['', ''],
    ['a preamble\r\n', 'an epilogue'],
    ['\r\n', ''],
  ])('a missing field becomes the first part after the preamble %j', async (preamble, epilogue) => {
    const whole = (parts: (string | Buffer)[]) =>
      Buffer.concat([Buffer.from(preamble), multipart(BOUNDARY, parts), Buffer.from(epilogue)]);
    const bytes = whole([file('file', 'a'), field('prompt', 'p')]);
    const expected = whole([field('model', 'new-model'), file('file', 'a'), field('prompt', 'p')]).toString();
    expect(await renamed({ bytes, memoryBytes, fields: { prompt: 'p' } })).toBe(expected);
  });

  test('a file that contains look-alikes fools nobody', async () => {
    const inner = multipart('other', [field('model', 'inner')]).toString();
    const content = `--${BOUNDARY}\r\n${field('model', 'x')}\n--${BOUNDARY}\r\n\r\n--${BOUNDARY.slice(0, -1)}\r\n${inner}\r\r\n-${BOUNDARY}`;
    const bytes = multipart(BOUNDARY, [file('file', 'a', `text${content}`), field('model', 'old')]);
    const expected = bytes.toString().replace('\r\n\r\nold\r\n', '\r\n\r\nnew-model\r\n');
    expect(await renamed({ bytes, memoryBytes })).toBe(expected);
  });
});

test('delimiters and headers cut at every place by a read are found', async () => {
  const readBytes = 64 * 1024;
  const tail = file('file', 'b', Buffer.alloc(readBytes + 100, 'b'));
  const head = multipart(BOUNDARY, [file('file', 'a', '')]).length;
  for (let shift = -150; shift < 80; shift++) {
    const filler = Buffer.alloc(readBytes - head + shift, 'a');
    const bytes = multipart(BOUNDARY, [file('file', 'a', filler), field('model', 'old'), tail]);
    const [range, ...others] = await spooled({ bytes, memoryBytes: 0 }, (body) => findField(body, 'model'));
    expect(others).toEqual([]);
    expect(bytes.toString('latin1', range?.start, range?.end)).toBe('old');
  }
});

test('a field behind a large file is found without reading the file', async () => {
  const bytes = multipart(BOUNDARY, [file('file', 'a', randomBytes(3_000_000)), field('model', 'old')]);
  await spooled({ bytes, memoryBytes: 0 }, async (body) => {
    let read = 0;
    const assemble = body.spool.assemble.bind(body.spool);
    body.spool.assemble = (segments) => {
      const assembled = assemble(segments);
      read += assembled.length;
      return assembled;
    };
    expect(await findField(body, 'model')).toHaveLength(1);
    expect(read).toBeLessThan(100_000);
  });
});

test('a part whose headers never end is refused', async () => {
  const bytes = Buffer.from(`--${BOUNDARY}\r\nX: ${'x'.repeat(20_000)}`);
  await expect(renamed({ bytes })).rejects.toMatchObject({ code: 'malformed_multipart' });
  await expect(renamed({ bytes: Buffer.from('no part'), fields: {} })).rejects.toMatchObject({
    code: 'malformed_multipart',
  });
});

test('whatever the parts are, only the model changes', async () => {
  const name = fc.constantFrom('model', 'prompt', 'image[]', 'file', 'a b', 'x-model');
  const disposition = 'Content-Disposition: form-data; name="model"';
  const piece = fc.constantFrom(
    '\r\n',
    '\r',
    '\n',
    '--',
    BOUNDARY,
    `--${BOUNDARY}`,
    `\r\n--${BOUNDARY.slice(1)}`,
    disposition,
    'x',
  );
  const value = fc
    .array(piece, { maxLength: 5 })
    .map((pieces) => pieces.join(''))
    .filter((text) => !`\r\n${text}`.includes(`\r\n--${BOUNDARY}`));
  const part = fc.record({ name, value, isFile: fc.boolean() });
  const rendered = (parts: { name: string; value: string; isFile: boolean }[]) =>
    multipart(
      BOUNDARY,
      parts.map((one) => (one.isFile ? file(one.name, 'f', one.value) : field(one.name, one.value))),
    );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), fc.boolean(), async (parts, inMemory) => {
      const models = parts.filter((one) => one.name === 'model' && !one.isFile).map((one) => one.value);
      const fields: MultipartBody['fields'] = models.length === 0 ? {} : { model: models };
      const expected = parts.map((one) => (one.name === 'model' && !one.isFile ? { ...one, value: 'new-model' } : one));
      if (models.length === 0) expected.unshift({ name: 'model', value: 'new-model', isFile: false });
      const actual = await renamed({ bytes: rendered(parts), fields, memoryBytes: inMemory ? 1_000_000 : 0 });
      if (actual !== rendered(expected).toString()) throw new Error(actual);
    }),
    { numRuns: tries(2_000) },
  );
});
