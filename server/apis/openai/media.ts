/** Wires for images, audio and videos. */
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { RequestFormat, RequestView, Wire } from '../core/wire.ts';
import { answerCountOf, openaiUsage, paidCountOf } from './usage/usage.ts';
import { type CommonField, jsonAnswer, jsonRequest, longList, mediaAnswer } from './wire/formats.ts';
import { imageStream, speechStream, transcriptStream } from './wire/streams.ts';

const imagesRequest: RequestFormat<CommonField> = {
  ...jsonRequest,
  answersAsked: (body) => answerCountOf(body.field('n')),
  answersPaid: (body) => paidCountOf(body.field('n')),
};

/** `POST /v1/images/generations`. */
export const images: Wire<CommonField> = {
  name: 'openai-images',
  operation: 'images',
  request: imagesRequest,
  errorName: 'code',
  usage: openaiUsage('images', imagesRequest),
  whole: jsonAnswer(['b64_json', 'url'], longList),
  stream: imageStream,
  rescue: null,
};

/** `POST /v1/images/edits` and `/v1/images/variations`. */
export const imageEdits: Wire<CommonField> = {
  ...images,
  name: 'openai-image-edits',
  usage: openaiUsage('images', imagesRequest, true),
};

const transcriptionFields = [...jsonRequest.fields, 'response_format'] as const;

type TranscriptionField = (typeof transcriptionFields)[number];

const jsonFormat = boundedPattern(/json/i);

/** Whether the format is text or subtitles, of which servers have many kinds, rather than JSON. */
function isTextAsked(body: RequestView<TranscriptionField>): boolean {
  const format = body.field('response_format');
  return typeof format === 'string' && format !== '' && !jsonFormat.test(format);
}

const transcriptionRequest: RequestFormat<TranscriptionField> = {
  ...jsonRequest,
  fields: transcriptionFields,
  isTextAsked,
};

/** `POST /v1/audio/transcriptions`. */
export const transcription: Wire<TranscriptionField> = {
  name: 'openai-transcription',
  operation: 'transcription',
  request: transcriptionRequest,
  errorName: 'code',
  usage: openaiUsage('transcription', transcriptionRequest),
  whole: jsonAnswer(['text']),
  stream: transcriptStream,
  rescue: null,
};

/** `POST /v1/audio/translations`. */
export const translation: Wire<TranscriptionField> = {
  ...transcription,
  name: 'openai-translation',
  operation: 'translation',
  usage: openaiUsage('translation', transcriptionRequest),
};

/** `POST /v1/audio/speech`. */
export const speech: Wire<CommonField> = {
  name: 'openai-speech',
  operation: 'speech',
  request: jsonRequest,
  errorName: 'code',
  usage: openaiUsage('speech', jsonRequest),
  whole: mediaAnswer,
  stream: speechStream,
  rescue: null,
};

/** `/v1/videos`, except for video content. */
export const videos: Wire<CommonField> = {
  name: 'openai-videos',
  operation: 'videos',
  request: jsonRequest,
  errorName: 'code',
  usage: openaiUsage('videos', jsonRequest),
  whole: jsonAnswer(['id']),
  stream: null,
  rescue: null,
};

/** `GET /v1/videos/{id}/content`. */
export const videoContent: Wire<CommonField> = { ...videos, name: 'openai-video-content', whole: mediaAnswer };
