/**
 * One provider per API. All give the same answers, each in the format of its API, and refuse what such services refuse.
 */
import type { Json } from '../server/apis/translation/translating.ts';
import * as anthropic from './strict-anthropic.ts';
import * as converse from './strict-bedrock.ts';
import { bedrockKey } from './strict-bedrock.ts';
import * as chat from './strict-chat.ts';
import * as gemini from './strict-gemini.ts';
import * as responses from './strict-responses.ts';
import { json, type Script } from './upstream.ts';

export interface Call {
  name: string;
  given: Json;
}

/** Either a text, or tool calls after a thought. */
export type Reply = { text: string } | { thought: string; calls: readonly Call[] };

export interface AnsweringProvider {
  model: string;
  config: Json;
  /** Path of its base URL. */
  basePath: string;
  secret: string;
  /** The part of a thought that must be sent back. */
  sealOf(thought: string): string;
  /** @param reply chooses the reply by the request's body */
  script(reply: (body: Json) => Reply): Script;
}

const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];
/** Each call in a conversation has its own id. */
const idOf = ({ name, given }: Call) => `${name}_${Buffer.from(JSON.stringify(given)).toString('hex').slice(0, 40)}`;

function chatDeltas(reply: Reply): Json[] {
  if ('text' in reply) return halves(reply.text).map((content) => ({ content }));
  const calls = reply.calls.map((call, index) => ({ index, ...chat.toolCall(idOf(call), call.name, call.given) }));
  return [{ reasoning_content: reply.thought }, ...calls.map((call) => ({ tool_calls: [call] }))];
}

function chatMessage(reply: Reply): Json {
  if ('text' in reply) return { content: reply.text };
  const calls = reply.calls.map((call) => chat.toolCall(idOf(call), call.name, call.given));
  return { reasoning_content: reply.thought, tool_calls: calls };
}

function responseItems(reply: Reply): Json[] {
  if ('text' in reply) return [responses.messageWith(reply.text)];
  const calls = reply.calls.map((call) => responses.callWith(idOf(call), call.name, call.given));
  return [responses.reasoningWith(reply.thought), ...calls];
}

function claudeBlocks(reply: Reply): Json[] {
  if ('text' in reply) return [anthropic.text(reply.text)];
  const calls = reply.calls.map((call) => anthropic.toolUse(idOf(call), call.name, call.given));
  return [anthropic.thought(reply.thought), ...calls];
}

const thoughtSignature = Buffer.from('a signature').toString('base64');

function geminiParts(reply: Reply): Json[] {
  if ('text' in reply) return halves(reply.text).map((text) => ({ text }));
  const calls = reply.calls.map(({ name, given }, index) => ({
    functionCall: { name, args: given },
    ...(index === 0 && { thoughtSignature }),
  }));
  return [{ text: reply.thought, thought: true }, ...calls];
}

function converseContent(reply: Reply): Json[] {
  if ('text' in reply) return [{ text: reply.text }];
  const calls = reply.calls.map((call) => converse.toolUse(idOf(call), call.name, call.given));
  return [converse.reasoned(reply.thought, 'c2ln'), ...calls];
}

export const answeringProviders: Readonly<Record<string, AnsweringProvider>> = {
  chat: {
    model: 'kimi-k2-thinking',
    config: { serves: ['chat'] },
    basePath: '/v1',
    secret: 'k',
    sealOf: (thought) => `"reasoning_content":"${thought}"`,
    script: (reply) =>
      chat.strictChat((body, response) => {
        const said = reply(body);
        const finish = 'text' in said ? 'stop' : 'tool_calls';
        if (body.stream === true) chat.sendStream(response, chat.streamOf(chatDeltas(said), finish));
        else json(response, chat.completion(chatMessage(said), finish));
      }),
  },
  responses: {
    model: 'gpt-5.4',
    config: { serves: ['responses'] },
    basePath: '/v1',
    secret: 'k',
    sealOf: () => '"encrypted_content":"gAAAAsealed"',
    script: (reply) =>
      responses.strictResponses((body, response) => {
        const whole = responses.responseWith(responseItems(reply(body)), { model: body.model });
        if (body.stream === true) chat.sendStream(response, responses.streamOfResponse(whole));
        else json(response, whole);
      }),
  },
  anthropic: {
    model: 'claude-opus-5-5',
    config: { dialect: 'anthropic' },
    basePath: '',
    secret: anthropic.anthropicKey,
    sealOf: (thought) => anthropic.signatureOf(thought),
    script: (reply) =>
      anthropic.strictAnthropic((body, response) => {
        const said = reply(body);
        anthropic.send(response, body, claudeBlocks(said), 'text' in said ? 'end_turn' : 'tool_use');
      }),
  },
  gemini: {
    model: 'gemini-3-pro',
    config: { dialect: 'gemini' },
    basePath: '/v1beta',
    secret: gemini.geminiKey,
    sealOf: () => `"thoughtSignature":"${thoughtSignature}"`,
    script: (reply) =>
      gemini.strictGemini(({ verb, body }, response) => {
        const parts = geminiParts(reply(body));
        if (verb === 'generateContent') return json(response, gemini.answered(parts));
        const last = parts.length - 1;
        const events = parts.map((part, index) => (index === last ? gemini.answered : gemini.generated)([part]));
        gemini.sendEvents(response, events);
      }),
  },
  bedrock: {
    model: 'openai.gpt-oss-120b-1:0',
    config: { dialect: 'bedrock' },
    basePath: '',
    secret: bedrockKey,
    sealOf: (thought) => `"reasoningContent":{"reasoningText":{"text":"${thought}","signature":"c2ln"}}`,
    script: (reply) =>
      converse.strictConverse((asked, response) => {
        const said = reply(asked.body);
        converse.sendConverse(response, asked, converseContent(said), 'text' in said ? 'end_turn' : 'tool_use');
      }),
  },
};
