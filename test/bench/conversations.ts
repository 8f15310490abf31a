/**
 * Streamed conversations for the phase `translated`: the requests of each client API, and the answers of each upstream
 * API in the format of its providers. The model's name tells the upstream what to answer.
 */
import { type Address, clientKey } from './payloads.ts';
import { upstreamStreams } from './upstream-streams.ts';

export const clientWires = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini-generate'] as const;
export type ClientWire = (typeof clientWires)[number];
export const upstreamWires = [...clientWires, 'bedrock-converse'] as const;
export type UpstreamWire = (typeof upstreamWires)[number];
export const saidKinds = ['text', 'thinking', 'arguments'] as const;
/** The content of nearly all events of a stream. */
export type Said = (typeof saidKinds)[number];

export interface Conversation {
  client: ClientWire;
  upstream: UpstreamWire;
  said: Said;
  pace: 'full' | 'paced';
}

export const conversationEvents = { full: 1000, paced: 30 };

/** The model name of a conversation. */
export function modelOf({ upstream, said, pace }: Omit<Conversation, 'client'>): string {
  return `conversation.${upstream}.${said}.${pace}`;
}

/** All models of a provider with this API. */
export function modelsOf(upstream: UpstreamWire): string[] {
  return saidKinds.flatMap((said) => (['full', 'paced'] as const).map((pace) => modelOf({ upstream, said, pace })));
}

export interface UpstreamStream {
  contentType: string;
  begin: Buffer;
  events: Buffer[];
  end: Buffer;
}

const modelName = /conversation\.([a-z-]+)\.(text|thinking|arguments)\.(full|paced)/;
const prepared = new Map<string, { pace: Conversation['pace']; stream: UpstreamStream }>();

/** The answer of the model named in a request; null if it names none of these models. */
export function answerOf(request: string): { pace: Conversation['pace']; stream: UpstreamStream } | null {
  const [model, upstream, said, pace] = modelName.exec(request) ?? [];
  if (model === undefined) return null;
  const known = prepared.get(model);
  if (known) return known;
  const asked = { upstream, said, pace } as Omit<Conversation, 'client'>;
  const write = upstreamStreams[asked.upstream];
  const answer = { pace: asked.pace, stream: write(asked.said, conversationEvents[asked.pace]) };
  prepared.set(model, answer);
  return answer;
}

const question = 'Explain what a reverse proxy does, and when one is useful.';
const tool = { name: 'write', description: 'Writes a text', parameters: { type: 'object', properties: {} } };

const requests: Record<ClientWire, (model: string, hasTool: boolean) => [path: string, body: object]> = {
  'openai-chat': (model, hasTool) => [
    '/v1/chat/completions',
    {
      ...{ model, stream: true, messages: [{ role: 'user', content: question }] },
      ...(hasTool && { tools: [{ type: 'function', function: tool }] }),
    },
  ],
  'openai-responses': (model, hasTool) => [
    '/v1/responses',
    { model, stream: true, store: false, input: question, ...(hasTool && { tools: [{ type: 'function', ...tool }] }) },
  ],
  'anthropic-messages': (model, hasTool) => [
    '/v1/messages',
    {
      ...{ model, stream: true, max_tokens: 4096, messages: [{ role: 'user', content: question }] },
      ...(hasTool && { tools: [{ name: tool.name, input_schema: tool.parameters }] }),
    },
  ],
  'gemini-generate': (model, hasTool) => [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      ...(hasTool && { tools: [{ functionDeclarations: [tool] }] }),
    },
  ],
};

/** The whole request as sent over the socket. */
export function buildConversation(conversation: Conversation, { port }: Address): Buffer {
  const [path, value] = requests[conversation.client](modelOf(conversation), conversation.said === 'arguments');
  const body = Buffer.from(JSON.stringify(value));
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${clientKey}`,
    'anthropic-version: 2023-06-01',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

const endings: Record<ClientWire, string> = {
  'openai-chat': 'data: [DONE]',
  'openai-responses': '"type":"response.completed"',
  'anthropic-messages': '"type":"message_stop"',
  'gemini-generate': '"finishReason":"STOP"',
};

/**
 * Whether the body is a complete stream with all events. A client of Gemini's API receives the arguments of a call in
 * one event.
 */
export function isWholeConversation({ client, said, pace }: Conversation, body: Buffer): boolean {
  const isOneCall = client === 'gemini-generate' && said === 'arguments';
  const least = isOneCall ? 1 : conversationEvents[pace];
  let events = 0;
  for (let at = body.indexOf('data:'); at !== -1; at = body.indexOf('data:', at + 1)) events++;
  return events >= least && body.includes(endings[client]);
}
