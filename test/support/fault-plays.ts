/** The faults of an upstream, one by one. */
import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { halfOf } from '../../server/faults/edit-event.ts';
import { damagedGzip as damagedBytes } from '../../server/faults/shape-response.ts';
import { type Play, type Scene, sendWhole } from './fault-upstream.ts';
import { json } from './upstream.ts';

/** Written data must have arrived before the connection is reset, because a reset discards it. */
const deliveryMs = 15;
/**
 * The data must also have been read if the reader is in this process: its sockets need turns of the event loop, however
 * late the wait ends.
 */
const deliveryTurns = 4;

const play = (name: string, act: Play['act']): Play => ({ name, act });

/** Resolves with true after this time, or with false when the connection ends before. */
function pause(durationMs: number, { closed }: Scene): Promise<boolean> {
  return setTimeout(durationMs, undefined, { signal: closed }).then(
    () => true,
    () => false,
  );
}

async function delivery(scene: Scene): Promise<void> {
  await pause(deliveryMs, scene);
  for (let turn = 0; turn < deliveryTurns; turn++) await setImmediate();
}

function head({ response, answer }: Scene): void {
  const length = answer.events ? {} : { 'content-length': answer.bytes.length };
  response.writeHead(200, { 'content-type': answer.contentType, ...length });
  response.flushHeaders();
}

function reset({ call, response }: Scene): void {
  call.state = 'broken';
  response.socket?.resetAndDestroy();
}

/**
 * A position in the answer: a share of its bytes (0 to 1), or a number of bytes or events. Negative numbers count from
 * the end.
 */
export type Place = { share: number } | { bytes: number } | { events: number };

function offset({ answer }: Scene, place: Place): number {
  const { length } = answer.bytes;
  if ('share' in place) return Math.floor(length * place.share);
  if ('events' in place) return Buffer.byteLength((answer.events ?? []).slice(0, place.events).join(''));
  return place.bytes < 0 ? length + place.bytes : Math.min(place.bytes, length);
}

function told(place: Place): string {
  if ('share' in place) return `${place.share * 100} %`;
  return 'events' in place ? `event ${place.events}` : `byte ${place.bytes}`;
}

async function writeUpTo(scene: Scene, place: Place): Promise<void> {
  head(scene);
  const bytes = scene.answer.bytes.subarray(0, offset(scene, place));
  if (bytes.length > 0) await new Promise((resolve) => scene.response.write(bytes, resolve));
  await delivery(scene);
}

export const resetBeforeHeaders = play('reset before headers', reset);

export const resetAfterHeaders = play('reset after headers', async (scene) => {
  head(scene);
  await delivery(scene);
  reset(scene);
});

/** Closes the connection cleanly instead of answering. */
export const hangUp = play('hangs up in place of an answer', ({ call, response }) => {
  call.state = 'broken';
  response.socket?.end();
});

export const silence = play('silence', () => {});

export const headersThenSilence = play('headers, then silence', head);

export const slowFirstByte = (delayMs: number) =>
  play(`first byte after ${delayMs} ms`, async (scene) => {
    if (await pause(delayMs, scene)) sendWhole(scene.response, scene.answer);
  });

/** The whole answer in pieces, with a wait before each. */
export const drip = (pieces: number, everyMs: number) =>
  play(`in ${pieces} pieces, one each ${everyMs} ms`, async (scene) => {
    const { bytes } = scene.answer;
    head(scene);
    for (let index = 0; index < pieces; index++) {
      if (!(await pause(everyMs, scene))) return;
      const bound = (number: number) => Math.floor((bytes.length * number) / pieces);
      scene.response.write(bytes.subarray(bound(index), bound(index + 1)));
    }
    scene.response.end();
  });

export const stallAt = (place: Place) => play(`stalls at ${told(place)}`, (scene) => writeUpTo(scene, place));

export const cutAt = (place: Place) =>
  play(`cut at ${told(place)}`, async (scene) => {
    await writeUpTo(scene, place);
    reset(scene);
  });

/** Ends cleanly at the HTTP level, but the answer is incomplete. */
export const endAt = (place: Place) =>
  play(`ends at ${told(place)}`, ({ response, answer, ...rest }) => {
    response.writeHead(200, { 'content-type': answer.contentType });
    response.end(answer.bytes.subarray(0, offset({ response, answer, ...rest }, place)));
  });

/** Half an event among complete ones. */
export const malformedEvent = play('a malformed event', ({ response, answer }) => {
  const [first = '', second = '', ...others] = answer.events ?? [];
  response.writeHead(200, { 'content-type': answer.contentType });
  response.end([first, halfOf(Buffer.from(second)), second, ...others].join(''));
});

/** All events except the last, then a clean end. */
export const missingTerminator = play('no terminal event', ({ response, answer }) => {
  response.writeHead(200, { 'content-type': answer.contentType });
  response.end((answer.events ?? []).slice(0, -1).join(''));
});

/** The whole stream, but the connection stays open. */
export const neverCloses = play('never closes', (scene) => {
  head(scene);
  scene.response.write(scene.answer.bytes);
});

const overloaded = {
  error: { message: 'The server is overloaded.', type: 'server_error', param: null, code: 'server_is_overloaded' },
};

/** The answer up to this place, and then the piece repeated for ever. */
export const goesOnWith = (name: string, place: Place, piece: string, everyMs: number) =>
  play(name, async (scene) => {
    scene.response.writeHead(200, { 'content-type': scene.answer.contentType });
    scene.response.write(scene.answer.bytes.subarray(0, offset(scene, place)));
    while (await pause(everyMs, scene)) scene.response.write(piece);
  });

/** All events except the last; the connection stays open. */
export const neverEnds = play('no terminal event and never closes', (scene) => {
  head(scene);
  scene.response.write((scene.answer.events ?? []).slice(0, -1).join(''));
});

export const errorInBody = play('an error inside 200', ({ response }) => json(response, overloaded));

export const errorInFirstEvent = play('an error as the first event', ({ response, answer }) => {
  response.writeHead(200, { 'content-type': answer.contentType });
  const name = answer.events?.[0]?.startsWith('event:') ? 'event: error\n' : '';
  response.end(`${name}data: ${JSON.stringify({ type: 'error', ...overloaded })}\n\n`);
});

export interface StatusOptions {
  type?: string;
  code?: string | null;
  headers?: Record<string, string>;
  /** Replaces OpenAI's error body. */
  body?: unknown;
  name?: string;
}

/** An error in OpenAI's format. */
export function status(number: number, options: StatusOptions = {}): Play {
  const { type = number < 500 ? 'invalid_request_error' : 'server_error', code = null, headers = {} } = options;
  const body = options.body ?? { error: { message: `This is ${number}.`, type, param: null, code } };
  return play(options.name ?? [number, code].filter(Boolean).join(' '), ({ response }) =>
    json(response, body, number, headers),
  );
}

const limited = { type: 'requests', code: 'rate_limit_exceeded' };

export const rateLimit = (headers: Record<string, string> = {}, name = '429') =>
  status(429, { ...limited, headers, name });

/** A 429 with a retry delay in Google's format. */
export const googleRateLimit = (retryDelay: string) =>
  status(429, {
    name: `429 of Google, retryDelay ${retryDelay}`,
    body: {
      error: {
        code: 429,
        message: 'Resource has been exhausted.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
      },
    },
  });

export const htmlPage = play('an HTML page with 200', ({ response }) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<!doctype html><html><body>Please sign in to the network.</body></html>');
});

export const damagedGzip = play('damaged gzip', ({ response, answer }) => {
  response.writeHead(200, { 'content-type': answer.contentType, 'content-encoding': 'gzip' });
  response.end(damagedBytes(answer.bytes));
});

export const emptyBody = play('an empty body', ({ response, answer }) => {
  response.writeHead(200, { 'content-type': answer.contentType, 'content-length': 0 }).end();
});

/** Only a status line. */
export const bareStatus = (number: number) =>
  play(`${number} and nothing more`, ({ response }) => {
    response.writeHead(number).end();
  });

export const jsonNull = play('null in place of an answer', ({ response }) => json(response, null));

/** Some upstreams keep a connection alive in this way while they think. */
export const blanks = (everyMs: number) =>
  play(`blanks without end, one each ${everyMs} ms`, async (scene) => {
    scene.response.writeHead(200, { 'content-type': scene.answer.contentType });
    do scene.response.write(' \n');
    while (await pause(everyMs, scene));
  });

/** `content-length` is larger than the body. */
export const tooLongLength = play('content-length too long', ({ call, response, answer }) => {
  response.writeHead(200, { 'content-type': answer.contentType, 'content-length': answer.bytes.length + 100 });
  call.state = 'broken';
  response.write(answer.bytes, () => response.socket?.end());
});

/** `content-length` is smaller than the body. */
export const tooShortLength = play('content-length too short', ({ response, answer }) => {
  response.writeHead(200, { 'content-type': answer.contentType, 'content-length': answer.bytes.length - 20 });
  response.end(answer.bytes);
});

export const redirectLoop = play('a redirect to itself', ({ call, response }) => {
  response.writeHead(302, { location: call.url }).end();
});

/** An endless body at a limited rate. */
export const endless = play('an endless body', async (scene) => {
  const { response, answer } = scene;
  response.writeHead(200, { 'content-type': answer.contentType });
  const piece = answer.events ? ': still thinking\n\n' : 'a'.repeat(128 * 1024);
  if (!answer.events) response.write('{"text":"');
  const ready = () => response.write(piece) || once(response, 'drain', { signal: scene.closed }).catch(() => {});
  do await ready();
  while (await pause(20, scene));
});

/** The whole answer, repeated for ever. */
export const endlessAfterWhole = play('an answer, again and again', async ({ response, answer, closed }) => {
  response.writeHead(200, { 'content-type': answer.contentType });
  const ready = () =>
    response.write(answer.bytes.toString().repeat(64)) || once(response, 'drain', { signal: closed }).catch(() => {});
  while (!closed.aborted) {
    await ready();
    await setImmediate();
  }
});

/** Events although no stream was requested. */
export const streamForPlain = play('a stream of events', ({ response }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
});

/** The correct answer with a wrong content type, or with none. */
export const typed = (contentType: string | null) =>
  play(`an answer called ${contentType ?? 'nothing'}`, ({ response, answer }) => {
    response.writeHead(200, contentType === null ? {} : { 'content-type': contentType });
    response.end(answer.bytes);
  });

/** Random bytes, declared as compressed. */
export const encoded = (encoding: string) =>
  play(`rubbish called ${encoding}`, ({ response, answer }) => {
    response.writeHead(200, { 'content-type': answer.contentType, 'content-encoding': encoding });
    response.end(Buffer.alloc(200, 0x9c));
  });

/** Declared as a stream, but without any line end. */
export const endlessLine = play('an endless line in place of events', async (scene) => {
  scene.response.writeHead(200, { 'content-type': scene.answer.contentType });
  const ready = () =>
    scene.response.write('x'.repeat(65_536)) || once(scene.response, 'drain', { signal: scene.closed }).catch(() => {});
  do await ready();
  while (await pause(2, scene));
});

export const notHttp = play('something that is not HTTP', ({ call, response }) => {
  call.state = 'broken';
  response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
});
