import { randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { ClientGone } from '../../../../server/exchange/request/request-body.ts';
import { spoolCounts } from '../../../../server/http/body/spool.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  field,
  file,
  multipart,
  nothingIsLeft,
  post,
  rawRequest,
  startUploadServer,
  type Upload,
  type UploadServer,
} from './upload-server.ts';

let server: UploadServer;

beforeAll(async () => {
  server = await startUploadServer();
});
afterAll(() => server.close());
afterEach(async () => {
  server.limits = {};
  server.uploads.length = 0;
  server.errors.length = 0;
  await nothingIsLeft();
  expect(await server.files()).toEqual([]);
});

const BOUNDARY = '------------------------d74496d66958873e';
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

function lastUpload(): Upload {
  const upload = server.uploads.at(-1);
  if (!upload) throw new Error('nothing was received');
  return upload;
}

function lastError(): GatewayError {
  const error = server.errors.at(-1);
  if (!(error instanceof GatewayError)) throw new Error(`no GatewayError: ${error}`);
  return error;
}

const shapes: [string, (string | Buffer)[], object, [string, string][]][] = [
  ['one file after the model', [field('model', 'm'), file('file', 'a.mp3')], { model: 'm' }, [['file', 'a.mp3']]],
  ['one file before the model', [file('file', 'a.mp3'), field('model', 'm')], { model: 'm' }, [['file', 'a.mp3']]],
  [
    'repeated image[] with a mask',
    [file('image[]', 'a.png'), file('image[]', 'b.png'), file('mask', 'm.png'), field('prompt', 'p')],
    { prompt: 'p' },
    [
      ['image[]', 'a.png'],
      ['image[]', 'b.png'],
      ['mask', 'm.png'],
    ],
  ],
  [
    'repeated plain image',
    [file('image', 'a'), file('image', 'b')],
    {},
    [
      ['image', 'a'],
      ['image', 'b'],
    ],
  ],
  ['indexed image[0]', [file('image[0]', 'a'), field('n', '2')], { n: '2' }, [['image[0]', 'a']]],
  [
    'array of scalars',
    [
      field('timestamp_granularities[]', 'word'),
      field('timestamp_granularities[]', 'segment'),
      field('include[]', 'logprobs'),
    ],
    { 'timestamp_granularities[]': ['word', 'segment'], 'include[]': 'logprobs' },
    [],
  ],
  [
    'nested object',
    [field('chunking_strategy[type]', 'server_vad'), field('chunking_strategy[threshold]', '0.5')],
    { 'chunking_strategy[type]': 'server_vad', 'chunking_strategy[threshold]': '0.5' },
    [],
  ],
  ['no file at all', [field('prompt', 'a cat'), field('seconds', '4')], { prompt: 'a cat', seconds: '4' }, []],
  ['an empty field and an empty file', [field('prompt', ''), file('file', 'a', '')], { prompt: '' }, [['file', 'a']]],
  [
    'text in other scripts',
    [field('prompt', 'Zoë 漢字 😀'), file('file', 'Zoë 漢.mp3')],
    { prompt: 'Zoë 漢字 😀' },
    [['file', 'Zoë 漢.mp3']],
  ],
  [
    'a name that objects have',
    [field('__proto__', 'x'), field('constructor', 'y')],
    { ['__proto__']: 'x', constructor: 'y' },
    [],
  ],
  [
    'headers of other spelling and order',
    ['content-type: text/plain; charset=utf-8\r\nCONTENT-DISPOSITION: form-data; name=model\r\n\r\nm'],
    { model: 'm' },
    [],
  ],
  [
    'text sent as octet-stream without a file name',
    [
      'Content-Disposition: form-data; name="hint"\r\nContent-Type: application/octet-stream\r\n\r\nm',
      field('hint', 'n'),
    ],
    { hint: expect.arrayContaining(['m', 'n']) },
    [],
  ],
  ['a path as file name', [file('file', '/home/me/a.mp3')], {}, [['file', 'a.mp3']]],
];

describe.each([
  ['in memory', 1_000_000],
  ['in a temp file', 0],
])('an upload kept %s', (_where, memoryBytes) => {
  test.each(shapes)('has %s read and every byte kept', async (_name, parts, fields, files) => {
    server.limits = { memoryBytes };
    const sent = multipart(BOUNDARY, parts);
    expect((await post(server, sent, FORM)).status).toBe(200);
    const { body, forwarded } = lastUpload();
    expect(Object.entries(body.fields)).toEqual(Object.entries(fields));
    expect(body.files.map((one) => [one.field, one.filename])).toEqual(files);
    expect(body).toMatchObject({ kind: 'multipart', boundary: BOUNDARY, contentType: FORM, size: sent.length });
    expect(forwarded.equals(sent)).toBe(true);
  });

  test('keeps a preamble, an epilogue and a quoted boundary', async () => {
    server.limits = { memoryBytes };
    const sent = Buffer.concat([
      Buffer.from('preamble\r\n'),
      multipart('a b:c', [field('model', 'm')]),
      Buffer.from('epilogue'),
    ]);
    await post(server, sent, 'Multipart/Form-Data; charset=utf-8; Boundary="a b:c"');
    const { body, forwarded } = lastUpload();
    expect({ ...body.fields }).toEqual({ model: 'm' });
    expect(body.boundary).toBe('a b:c');
    expect(forwarded.equals(sent)).toBe(true);
  });

  test('comes whole from the openai client', async () => {
    server.limits = { memoryBytes };
    const client = new OpenAI({ apiKey: 'k', baseURL: `${server.url}/v1`, maxRetries: 0 });
    const image = (name: string) => toFile(randomBytes(2_000), name, { type: 'image/png' });
    await client.images.edit({
      image: [await image('a.png'), await image('b.png')],
      mask: await image('m.png'),
      prompt: 'p',
      model: 'gpt-image-1',
      n: 2,
    });
    await client.images.edit({ image: await image('a.png'), prompt: 'p' });
    await client.audio.transcriptions.create({
      file: await toFile(randomBytes(2_000), 'speech.mp3'),
      model: 'whisper-1',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      chunking_strategy: { type: 'server_vad', threshold: 0.5 },
      include: ['logprobs'],
    });
    await client.videos.create({ prompt: 'a cat', seconds: '4' });
    expect(
      server.uploads.map(({ body }) => [{ ...body.fields }, body.files.map((one) => [one.field, one.filename])]),
    ).toEqual([
      [
        { prompt: 'p', model: 'gpt-image-1', n: '2' },
        [
          ['mask', 'm.png'],
          ['image[]', 'a.png'],
          ['image[]', 'b.png'],
        ],
      ],
      [{ prompt: 'p' }, [['image', 'a.png']]],
      [
        {
          model: 'whisper-1',
          response_format: 'verbose_json',
          'timestamp_granularities[]': ['word', 'segment'],
          'chunking_strategy[type]': 'server_vad',
          'chunking_strategy[threshold]': '0.5',
          'include[]': 'logprobs',
        },
        [['file', 'speech.mp3']],
      ],
      [{ prompt: 'a cat', seconds: '4' }, []],
    ]);
    for (const { sent, forwarded } of server.uploads) expect(forwarded.equals(sent)).toBe(true);
  });
});

test('25 MB of audio pass byte for byte', async () => {
  const sent = multipart(BOUNDARY, [field('model', 'whisper-1'), file('file', 'a.wav', randomBytes(25 * 1024 * 1024))]);
  expect((await post(server, sent, FORM)).status).toBe(200);
  expect(lastUpload().body.files).toEqual([{ field: 'file', filename: 'a.wav', contentType: 'application/x-test' }]);
  expect(lastUpload().forwarded.equals(sent)).toBe(true);
});

test('text that the parser takes for a file comes whole, however much there is', async () => {
  const text = 'x'.repeat(4 * 1024 * 1024);
  const hint = `Content-Disposition: form-data; name="hint"\r\nContent-Type: application/octet-stream\r\n\r\n${text}`;
  const sent = multipart(BOUNDARY, [hint, file('file', 'a', randomBytes(500_000)), field('model', 'm')]);
  expect((await post(server, sent, FORM)).status).toBe(200);
  expect(lastUpload().body.fields).toMatchObject({ hint: text, model: 'm' });
  expect(lastUpload().forwarded.equals(sent)).toBe(true);
});

test('16 images pass byte for byte', async () => {
  const images = Array.from({ length: 16 }, (_, index) =>
    file('image[]', `${index}.png`, randomBytes(100_000 + index)),
  );
  const sent = multipart(BOUNDARY, [...images, field('prompt', 'all of them')]);
  expect((await post(server, sent, FORM)).status).toBe(200);
  expect(lastUpload().body.files.map(({ filename }) => filename)).toEqual(images.map((_, index) => `${index}.png`));
  expect(lastUpload().forwarded.equals(sent)).toBe(true);
});

test('200 uploads at once are kept apart', async () => {
  server.limits = { memoryBytes: 20_000 };
  const bodies = Array.from({ length: 200 }, (_, index) =>
    multipart(BOUNDARY, [field('n', `${index}`), file('file', 'a', randomBytes(index * 200))]),
  );
  const replies = await Promise.all(bodies.map((body) => post(server, body, FORM)));
  expect(replies.every(({ status }) => status === 200)).toBe(true);
  expect(server.uploads).toHaveLength(200);
  for (const { body, forwarded } of server.uploads) expect(bodies[Number(body.fields.n)]?.equals(forwarded)).toBe(true);
});

describe('a limit', () => {
  test('on the whole body refuses an announced length before reading', async () => {
    server.limits = { maxBytes: 1000 };
    const { socket, reply } = await rawRequest(server.port, `Content-Type: ${FORM}\r\nContent-Length: 1001`);
    await eventually(() => reply().includes('\r\n\r\n'));
    expect(reply()).toMatch(/^HTTP\/1\.1 413 /);
    expect(lastError().code).toBe('too_large');
    socket.destroy();
  });

  test('on the whole body refuses a chunked upload while the client is still sending', async () => {
    server.limits = { maxBytes: 100_000, memoryBytes: 50_000 };
    const { socket, reply } = await rawRequest(server.port, `Content-Type: ${FORM}\r\nTransfer-Encoding: chunked`);
    const chunk = (bytes: Buffer) =>
      socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
    chunk(Buffer.from(`--${BOUNDARY}\r\n`));
    chunk(file('file', 'a', randomBytes(60_000)));
    await eventually(async () => (await server.files()).length === 1);
    chunk(randomBytes(60_000));
    await eventually(() => reply().includes('\r\n\r\n'));
    expect(reply()).toMatch(/^HTTP\/1\.1 413 /);
    expect(await server.files()).toEqual([]);
    // The rest is read and discarded, so that a client that reads the answer only at the end receives it.
    for (let sent = 0; sent < 100; sent++) chunk(Buffer.alloc(400_000));
    await new Promise((resolve) => socket.write('0\r\n\r\n', resolve));
    socket.destroy();
  });

  test('lets a body of exactly its size pass', async () => {
    const body = multipart(BOUNDARY, [file('file', 'a', randomBytes(5_000))]);
    server.limits = { maxBytes: body.length };
    expect((await post(server, body, FORM)).status).toBe(200);
    server.limits = { maxBytes: body.length - 1 };
    expect((await post(server, body, FORM)).status).toBe(413);
  });

  test.each([
    [
      'on one field',
      [field('prompt', 'x'.repeat(8 * 1024 * 1024 + 1))],
      'too_large',
      'The field "prompt" is larger than the limit of 8388608 bytes.',
    ],
    [
      'on all fields together',
      Array(5).fill(field('a[]', 'x'.repeat(7 * 1024 * 1024))),
      'too_large',
      'All text together is larger than the limit of 33554432 bytes.',
    ],
    [
      'on text without a file name',
      [
        `Content-Disposition: form-data; name="a"\r\nContent-Type: application/octet-stream\r\n\r\n${'x'.repeat(8 * 1024 * 1024 + 1)}`,
      ],
      'too_large',
      'A part without a file name is larger than the limit of 8388608 bytes.',
    ],
    ['on the number of parts', Array(1001).fill(field('a[]', '1')), 'too_many_parts', 'At most 1000 parts are taken.'],
  ])('%s does not wait for the rest', async (_name, parts, code, message) => {
    const body = multipart(BOUNDARY, parts);
    const { socket, reply } = await rawRequest(
      server.port,
      `Content-Type: ${FORM}\r\nContent-Length: ${body.length + 10}`,
    );
    socket.write(body);
    await eventually(() => reply().includes('\r\n\r\n'));
    expect(lastError()).toMatchObject({ code, message });
    socket.destroy();
  });

  test('of 1000 parts lets 1000 pass', async () => {
    expect((await post(server, multipart(BOUNDARY, Array(1000).fill(field('a[]', '1'))), FORM)).status).toBe(200);
    expect(lastUpload().body.fields['a[]']).toHaveLength(1000);
  });
});

describe('a malformed upload', () => {
  const good = multipart(BOUNDARY, [field('model', 'm'), file('file', 'a', randomBytes(2_000))]);

  test.each([
    ['without a boundary', good, 'multipart/form-data'],
    ['with an empty boundary', good, 'multipart/form-data; boundary=""'],
    ['with another boundary', good, 'multipart/form-data; boundary=other'],
    ['of another multipart type', good, `multipart/mixed; boundary=${BOUNDARY}`],
    ['with a malformed content type', good, `multipart/form-data; boundary=${BOUNDARY}; x`],
    ['without its end', good.subarray(0, -4), FORM],
    ['cut inside a file', good.subarray(0, 1_000), FORM],
    ['cut inside a header', good.subarray(0, BOUNDARY.length + 20), FORM],
    ['that is empty', Buffer.alloc(0), FORM],
    ['that is no multipart', Buffer.from('{"model":"m"}'), FORM],
    ['with a broken part header', multipart(BOUNDARY, ['Content Disposition\r\n\r\nm']), FORM],
    ['with a field without name', multipart(BOUNDARY, ['Content-Disposition: form-data\r\n\r\nm']), FORM],
    ['with a file without name', multipart(BOUNDARY, ['Content-Disposition: form-data; filename="a"\r\n\r\nm']), FORM],
  ])('%s is refused', async (_name, body, contentType) => {
    expect((await post(server, body, contentType)).status).toBe(400);
    expect(lastError().code).toBe('malformed_multipart');
  });

  test('without a body is refused', async () => {
    const { socket, reply } = await rawRequest(server.port, `Content-Type: ${FORM}`);
    await eventually(() => reply().includes('\r\n\r\n'));
    expect(lastError().message).toBe('The request has no body.');
    socket.destroy();
  });
});

test.each([
  ['in memory', 1_000_000],
  ['in a temp file', 10_000],
])('a client that goes away in mid-upload leaves nothing behind %s', async (_where, memoryBytes) => {
  server.limits = { memoryBytes };
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => rawRequest(server.port, `Content-Type: ${FORM}\r\nContent-Length: 1000000`)),
  );
  for (const { socket } of clients)
    socket.write(Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n`), file('file', 'a', randomBytes(60_000))]));
  await eventually(() => spoolCounts.spools === 20 && spoolCounts.files === (memoryBytes > 60_000 ? 0 : 20));
  for (const { socket } of clients) socket.destroy();
  await eventually(() => server.errors.length === 20);
  expect(server.errors.every((error) => error instanceof ClientGone)).toBe(true);
});

test('a disk that cannot be written is not called the fault of the client', async () => {
  server.limits = { memoryBytes: 0, folder: '/nonexistent/folder' };
  expect((await post(server, multipart(BOUNDARY, [field('model', 'm')]), FORM)).status).toBe(500);
  expect(server.errors.at(-1)).toMatchObject({ code: 'ENOENT' });
});
