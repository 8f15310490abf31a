/** Which finished video a request is to be made from, where its body names one: `{"video": {"id": …}}`, or the same in a form. */
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import { JsonNames } from '../wire/json/json-names.ts';
import { peekJson } from '../wire/json/json-peek.ts';
import type { RequestView } from '../wire/wire.ts';

const idName = new JsonNames(['id']);
const openingBrace = 0x7b;
/** Of the object that names a video: it has an id. */
const maxBytes = 4096;

/** Null where it names none, or brings the video along. */
export function sourceVideoOf(body: RequestView): string | null {
  const raw = body.raw('video');
  if (raw?.bytes[0] === openingBrace) refuseAmbiguous(raw.bytes);
  // SDKs write the members of an object into a form one by one.
  const video = body.field('video') ?? body.field('video[id]');
  return idOf(typeof video === 'string' && video.trimStart().startsWith('{') ? parsed(video) : video);
}

function idOf(video: unknown): string | null {
  const id = isObject(video) ? video.id : video;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** The owner that Sluice looks up has to be that of the video which the upstream will find there. */
function refuseAmbiguous(video: Buffer): void {
  const peek = video.length <= maxBytes ? peekJson(video, idName) : null;
  if (peek?.ok && !peek.ambiguous.has('id')) return;
  throw new GatewayError(
    'invalid_value',
    'Invalid \'video\': it is an object with one "id", written once and without escapes.',
    {
      param: 'video',
    },
  );
}

function parsed(text: string): unknown {
  refuseAmbiguous(Buffer.from(text));
  return JSON.parse(text);
}
