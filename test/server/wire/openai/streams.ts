/** OpenAI's streams by the names that their tests use. */
import { chatStream } from '../../../../server/wire/openai/chat-stream.ts';
import {
  imageStream,
  responseStream,
  speechStream,
  transcriptStream,
} from '../../../../server/wire/openai/typed-stream.ts';

export const streams = {
  chat: chatStream,
  responses: responseStream,
  images: imageStream,
  transcription: transcriptStream,
  speech: speechStream,
};

export type StreamName = keyof typeof streams;
