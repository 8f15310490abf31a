/** OpenAI's streams by the names that their tests use. */
import { chatStream } from '../../../../server/apis/openai/wire/chat-stream.ts';
import {
  imageStream,
  responseStream,
  speechStream,
  transcriptStream,
} from '../../../../server/apis/openai/wire/typed-stream.ts';

export const streams = {
  chat: chatStream,
  responses: responseStream,
  images: imageStream,
  transcription: transcriptStream,
  speech: speechStream,
};

export type StreamName = keyof typeof streams;
