/** Pictures, sound and films. */
import { pattern } from '../../bounded-pattern.ts';
import type { RequestView, Wire } from '../wire.ts';
import { countOf, jsonAnswer, jsonRequest, longList, mediaAnswer, paidCountOf } from './formats.ts';
import { openaiErrors } from './read-error.ts';
import { imageStream, speechStream, transcriptStream } from './typed-stream.ts';

/** `POST /v1/images/…`. */
export const images: Wire = {
  name: 'openai-images',
  operation: 'images',
  errors: openaiErrors,
  request: {
    ...jsonRequest,
    answersAsked: (body) => countOf(body.field('n')),
    answersPaid: (body) => paidCountOf(body.field('n')),
  },
  whole: jsonAnswer(['"b64_json"', '"url"'], longList),
  stream: imageStream,
};

const jsonFormat = pattern(/json/i);

/** Text or subtitles, of which servers know many kinds, rather than JSON. */
function isTextAsked(body: RequestView): boolean {
  const format = body.field('response_format');
  return typeof format === 'string' && format !== '' && !jsonFormat.test(format);
}

/** `POST /v1/audio/transcriptions`. */
export const transcription: Wire = {
  name: 'openai-transcription',
  operation: 'transcription',
  errors: openaiErrors,
  request: { ...jsonRequest, isTextAsked },
  whole: jsonAnswer(['"text"']),
  stream: transcriptStream,
};

/** `POST /v1/audio/translations`. */
export const translation: Wire = { ...transcription, name: 'openai-translation', operation: 'translation' };

/** `POST /v1/audio/speech`. */
export const speech: Wire = {
  name: 'openai-speech',
  operation: 'speech',
  errors: openaiErrors,
  request: jsonRequest,
  whole: mediaAnswer,
  stream: speechStream,
};

/** `/v1/videos`, but for their content. */
export const videos: Wire = {
  name: 'openai-videos',
  operation: 'videos',
  errors: openaiErrors,
  request: jsonRequest,
  whole: jsonAnswer(['"id"']),
  stream: null,
};

/** `GET /v1/videos/{id}/content`. */
export const videoContent: Wire = { ...videos, name: 'openai-video-content', whole: mediaAnswer };
