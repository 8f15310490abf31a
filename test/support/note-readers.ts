/**
 * A scripted model behind each API. It reads a note with the shell tool of the coding agent that calls it, and repeats
 * the text. The text appears nowhere but in the tool's result.
 */
import * as anthropic from './strict-anthropic.ts';
import * as chat from './strict-chat.ts';
import * as gemini from './strict-gemini.ts';
import * as responses from './strict-responses.ts';
import { json, type Script } from './upstream.ts';

type Json = Record<string, unknown>;

export const noteFile = 'note.txt';
export const noteText = 'The ferry leaves at 17:42 from pier “Grüße”.';

const command = `cat ${noteFile}`;
/** The shell tools of Claude Code, opencode, Codex, and of Gemini CLI and Qwen Code, with their arguments. */
const shellArguments: Record<string, Json> = {
  Bash: { command, description: 'Read the note' },
  bash: { command, description: 'Read the note' },
  exec_command: { cmd: command },
  run_shell_command: { command, description: 'Read the note', is_background: false },
};

interface Turn {
  /** The final answer, or the answer if no shell tool is offered: agents also make calls for titles and the like. */
  text: string;
  call: { name: string; input: Json } | null;
}

function turnFor({ tools, ...body }: Json): Turn {
  if (JSON.stringify(body).includes(noteText)) return { text: `The note says: ${noteText}`, call: null };
  const offered = JSON.stringify(tools ?? []);
  const shell = Object.entries(shellArguments).find(([name]) => offered.includes(`"name":"${name}"`));
  return shell ? { text: 'I look.', call: { name: shell[0], input: shell[1] } } : { text: 'A note', call: null };
}

const thought = 'It is in the file.';

const chatModel = chat.strictChat((body, response) => {
  const { text, call } = turnFor(body);
  const message = call
    ? { reasoning_content: thought, content: text, tool_calls: [chat.toolCall('call_1', call.name, call.input)] }
    : { content: text };
  const finish = call ? 'tool_calls' : 'stop';
  if (body.stream !== true) return json(response, chat.completion(message, finish));
  const calls = (message.tool_calls ?? []).map((each, index) => ({ tool_calls: [{ index, ...each }] }));
  const thoughts = call ? [{ reasoning_content: thought }] : [];
  chat.sendStream(response, chat.streamOf([...thoughts, { content: text }, ...calls], finish));
}, withPlainResults);

/** Its own, or the placeholder that it takes for the calls of other models. */
const hasSignature = (details: unknown) =>
  JSON.stringify(details) === JSON.stringify([detail]) ||
  (Array.isArray(details) && details.some(({ data }) => data === 'skip_thought_signature_validator'));

const detail = { type: 'reasoning.encrypted', data: 'U0lH', id: 'call_1', format: 'google-gemini-v1', index: 0 };

/** Gemini 3 behind OpenRouter, which tells the signature after the call and wants it back. */
const routedModel = chat.strictChat((body, response) => {
  const { text, call } = turnFor(body);
  const called = (body.messages as Json[]).filter(({ tool_calls }) => tool_calls !== undefined);
  if (!called.every(({ reasoning_details: details }) => hasSignature(details))) {
    const message = 'Gemini models require OpenRouter reasoning details to be preserved in each request.';
    return json(response, { error: { message, code: 400 } }, 400);
  }
  const calls = call ? [chat.toolCall('call_1', call.name, call.input)] : [];
  const finish = call ? 'tool_calls' : 'stop';
  const details = { reasoning_details: [detail] };
  if (body.stream !== true)
    return json(
      response,
      chat.completion({ content: text, ...(call ? { tool_calls: calls, ...details } : {}) }, finish),
    );
  const deltas = calls.map((each, index) => ({ tool_calls: [{ index, ...each }] }));
  chat.sendStream(response, chat.streamOf([{ content: text }, ...deltas, details], finish));
}, withPlainResults);

/** Qwen Code sends results in parts, which OpenAI and Ollama accept but some other services do not. */
function withPlainResults(body: Json): Json {
  const messages = (body.messages as Json[]).map((message) =>
    message.role === 'tool' && Array.isArray(message.content)
      ? { ...message, content: (message.content as Json[]).map(({ text }) => text).join('') }
      : message,
  );
  return { ...body, messages };
}

const responsesModel = responses.strictResponses((body, response) => {
  const { text, call } = turnFor(body);
  const calls = call ? [responses.callWith('call_1', call.name, call.input)] : [];
  const thoughts = call ? [responses.reasoningWith(thought)] : [];
  const whole = responses.responseWith([...thoughts, responses.messageWith(text), ...calls]);
  if (body.stream === true) chat.sendStream(response, responses.streamOfResponse(whole));
  else json(response, whole);
});

const anthropicModel = anthropic.strictAnthropic((body, response) => {
  const { text, call } = turnFor(body);
  const thoughts = call ? [anthropic.thought(thought)] : [];
  const calls = call ? [anthropic.toolUse('toolu_1', call.name, call.input)] : [];
  anthropic.send(response, body, [...thoughts, anthropic.text(text), ...calls], call ? 'tool_use' : 'end_turn');
});

const geminiModel = gemini.strictGemini(({ verb, body }, response) => {
  if (verb === 'countTokens') return json(response, { totalTokens: 30 });
  const { text, call } = turnFor(body);
  const signature = { thoughtSignature: 'c2ln' };
  const calls = call ? [{ functionCall: { name: call.name, args: call.input }, ...signature }] : [];
  const thoughts = call ? [{ text: thought, thought: true }] : [];
  // Gemini 3 signs a text after it.
  const parts = [...thoughts, { text }, ...(call ? calls : [{ text: '', ...signature }])];
  if (verb === 'generateContent') return json(response, gemini.answered(parts));
  const last = parts.length - 1;
  const events = parts.map((part, at) => (at === last ? gemini.answered([part]) : gemini.generated([part])));
  gemini.sendEvents(response, events);
});

export interface NoteReader {
  /** With its provider, in the form that a program uses. */
  model: string;
  dialect: Json;
  secret: string;
  /** The path of the provider's base URL. */
  basePath: string;
  script: Script;
  /** The part of its thoughts that must be sent back. */
  seal: string;
  /** Its provider gets requests of chat clients as they are, which may drop its thoughts. */
  isForOtherApis?: true;
}

/** By provider name. */
export const noteReaders: Record<string, NoteReader> = {
  chat: {
    model: 'kimi-k2-thinking',
    dialect: { serves: ['chat'] },
    secret: 'k',
    basePath: '/v1',
    script: chatModel,
    seal: `"reasoning_content":"${thought}"`,
  },
  responses: {
    model: 'gpt-5.4',
    dialect: { serves: ['responses'] },
    secret: 'k',
    basePath: '/v1',
    script: responsesModel,
    seal: '"encrypted_content":"gAAAAsealed"',
  },
  anthropic: {
    model: 'claude-opus-5-5',
    dialect: { dialect: 'anthropic' },
    secret: anthropic.anthropicKey,
    basePath: '',
    script: anthropicModel,
    seal: anthropic.signatureOf(thought),
  },
  gemini: {
    model: 'gemini-3-pro',
    dialect: { dialect: 'gemini' },
    secret: gemini.geminiKey,
    basePath: '/v1beta',
    script: geminiModel,
    seal: '"thoughtSignature":"c2ln"',
  },
  openrouter: {
    model: 'google/gemini-3-pro-preview',
    dialect: { preset: 'openrouter', serves: ['chat'] },
    secret: 'k',
    basePath: '/v1',
    script: routedModel,
    seal: '"reasoning_details":[{',
    isForOtherApis: true,
  },
};
