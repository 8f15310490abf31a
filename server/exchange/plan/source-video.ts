/** Finds the finished video that a request starts from: `{"video": {"id": …}}` in JSON, or the same in a form. */

import type { RequestView } from '../../apis/core/wire.ts';
import { JsonNames } from '../../apis/json/json-names.ts';
import { peekJson } from '../../apis/json/json-peek.ts';
import { GatewayError } from '../../contract/errors.ts';
import { isObject } from '../../contract/is-object.ts';

const idName = new JsonNames(['id']);
const openingBrace = 0x7b;
/** Maximum size of the object that names a video. */
const maxBytes = 4096;

/** Null if the body names none, or contains the video itself. */
export function sourceVideoOf(body: RequestView): string | null {
  const raw = body.raw('video');
  if (raw?.bytes[0] === openingBrace) refuseAmbiguous(raw.bytes);
  // SDKs write the members of an object into a form one by one.
  const video = body.field('video') ?? body.field('video[id]');
  return idOf(typeof video === 'string' && video.trimStart().startsWith('{') ? parseUnambiguous(video) : video);
}

function idOf(video: unknown): string | null {
  const id = isObject(video) ? video.id : video;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** Rejects objects that parsers read differently: the video that Sluice looks up must be the one that the upstream uses. */
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

function parseUnambiguous(text: string): unknown {
  refuseAmbiguous(Buffer.from(text));
  return JSON.parse(text);
}
