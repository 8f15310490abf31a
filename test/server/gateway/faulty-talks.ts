/** A short conversation of each official client with a healthy provider, in which faults on purpose can occur. */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, sendStream, streamOf, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

export const words = ['One ', 'two ', 'three ', 'four ', 'five ', 'six ', 'größer.'];
const pieces = ['{"city":', '"Zürich",', '"days":3}'];

/** The arguments of the call in the reply to a request with tools. */
export const callArguments = pieces.join('');

const callPiece = (text: string, index: number) => ({
  tool_calls: [
    {
      index: 0,
      ...(index === 0 && { id: 'call_1', type: 'function' }),
      function: { ...(index === 0 && { name: 'weather' }), arguments: text },
    },
  ],
});

export interface Talks {
  upstream: ScriptedUpstream;
  gateway: TestGateway;
  /** Enables faults for the clients' key. */
  start(...rules: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startTalks(): Promise<Talks> {
  const upstream = await startUpstream(
    strictChat((body, response) => {
      const deltas = body.tools ? pieces.map(callPiece) : words.map((content) => ({ content }));
      if (body.stream) sendStream(response, streamOf(deltas, body.tools ? 'tool_calls' : 'stop'));
      else json(response, completion({ content: words.join('') }));
    }),
  );
  const gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] },
  });
  return {
    upstream,
    gateway,
    start: (...rules) => gateway.gateway.execute({ type: 'faults.start', key: 'k1', rules, seed: 1 }),
    stop: async () => {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

export interface Outcome {
  /** The text that the program received. */
  text?: string;
  /** The class of the error that it received. */
  error?: string;
  /** The text received before the error. Absent if there was none, or if the client does not report it. */
  heard?: string;
  status?: number | undefined;
}

interface TalkOptions {
  stream: boolean;
  /** Default: none. */
  retries?: number;
  /** The client's timeout. Default: its own. */
  timeoutMs?: number;
}

/** A conversation with one of the clients. */
export type Talk = (gateway: TestGateway, options: TalkOptions) => Promise<Outcome>;

export const question = { role: 'user' as const, content: 'Count.' };

async function outcome(talk: (hear: (text: string) => void) => Promise<string>): Promise<Outcome> {
  let heard = '';
  try {
    const text = await talk((piece) => {
      heard += piece;
    });
    return { text };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isTyped =
      error instanceof OpenAI.APIError || error instanceof Anthropic.APIError || error instanceof ApiError;
    return {
      error: error.constructor.name,
      ...(heard !== '' && { heard }),
      ...(isTyped && { status: error.status }),
    };
  }
}

const openai: Talk = (gateway, { stream, retries = 0, timeoutMs }) =>
  outcome(async (hear) => {
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries: retries, timeout: timeoutMs });
    const asked = { model: 'gpt-x', messages: [question] };
    if (!stream) return (await client.chat.completions.create(asked)).choices[0]?.message.content ?? '';
    let text = '';
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
      const piece = chunk.choices[0]?.delta.content ?? '';
      text += piece;
      hear(piece);
    }
    return text;
  });

const anthropic: Talk = (gateway, { stream, retries = 0, timeoutMs }) =>
  outcome(async () => {
    const client = new Anthropic({ baseURL: gateway.origin, apiKey: testKey, maxRetries: retries, timeout: timeoutMs });
    const asked = { model: 'gpt-x', max_tokens: 100, messages: [question] };
    const message = stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
    return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  });

const gemini: Talk = (gateway, { stream, retries = 0, timeoutMs }) =>
  outcome(async () => {
    const client = new GoogleGenAI({
      apiKey: testKey,
      httpOptions: {
        baseUrl: gateway.origin,
        ...(retries > 0 && { retryOptions: { attempts: retries + 1 } }),
        ...(timeoutMs !== undefined && { timeout: timeoutMs }),
      },
    });
    const asked = { model: 'gpt-x', contents: 'Count.' };
    if (!stream) return (await client.models.generateContent(asked)).text ?? '';
    let text = '';
    for await (const chunk of await client.models.generateContentStream(asked)) text += chunk.text ?? '';
    return text;
  });

export const clients = { openai, anthropic, gemini };
