/**
 * What clients and upstreams could send to keep each parser and classifier of the request and answer path busy. A file that
 * takes bytes of theirs is named with the case that goes through it, or among those that look at none
 * (`test/architecture.test.ts` holds that).
 */
import { tmpdir } from 'node:os';
import { errorCodeIn } from '../../server/exchange/error-code.ts';
import { jobWatcher } from '../../server/exchange/job-watcher.ts';
import { RefusedReply } from '../../server/exchange/readers/error-reader.ts';
import { StreamedReply } from '../../server/exchange/readers/events-reader.ts';
import { WholeReply } from '../../server/exchange/readers/whole-reader.ts';
import { redactBytes, redactText } from '../../server/exchange/redact-credential.ts';
import { redactHeaders } from '../../server/exchange/redact-headers.ts';
import { ChatSplice } from '../../server/exchange/rescue/chat-splice.ts';
import { ChatText } from '../../server/exchange/rescue/chat-text.ts';
import { continuedBody } from '../../server/exchange/rescue/continued-body.ts';
import { ResponseSplice } from '../../server/exchange/rescue/response-splice.ts';
import { ResponseText } from '../../server/exchange/rescue/response-text.ts';
import { SplicedReply } from '../../server/exchange/rescue/spliced-events-reader.ts';
import { Tail } from '../../server/exchange/tail.ts';
import { headerParameters } from '../../server/http/body/header-parameters.ts';
import { JsonBody } from '../../server/http/body/json-body.ts';
import { findField } from '../../server/http/body/multipart-splice.ts';
import { Spool } from '../../server/http/body/spool.ts';
import { parseModelList } from '../../server/providers/parse-model-list.ts';
import { classifyAnswer, statusOfError } from '../../server/routing/classify-failure.ts';
import { nearestName } from '../../server/routing/nearest-name.ts';
import { errorIn } from '../../server/routing/upstream-error.ts';
import { estimatePrompt } from '../../server/usage/estimate-prompt.ts';
import { estimateReply } from '../../server/usage/estimate-reply.ts';
import { extractUsage } from '../../server/usage/extract.ts';
import { readErrorBody } from '../../server/wire/error-body.ts';
import { JsonNames } from '../../server/wire/json/json-names.ts';
import { peekJson } from '../../server/wire/json/json-peek.ts';
import { skeletonOf } from '../../server/wire/json/json-skeleton.ts';
import { conversationOf } from '../../server/wire/openai/conversation-id.ts';
import { countChoices } from '../../server/wire/openai/count-choices.ts';
import { judgeWhole, mayGoOn } from '../../server/wire/openai/judge-whole.ts';
import { streamOfWhole } from '../../server/wire/openai/stream-of-whole.ts';
import type { StreamProtocol } from '../../server/wire/openai/stream-protocol.ts';
import { findRoute } from '../../server/wire/routes.ts';
import { UndisputedHost } from '../support/undisputed-host.ts';

export interface WorstCase {
  /** Which files, below `server/`, it goes through. */
  files: string[];
  /** The most that it is given in one turn of the loop. */
  atOnceBytes: number;
  /** What stands again and again between a beginning and an end. */
  inputs: Record<string, Repeated>;
  run(bytes: Buffer): unknown;
}

type Repeated = [beginning: string, repeated: string, end: string];

/** `bytes` of it, about. */
export function inputOf([beginning, repeated, end]: Repeated, bytes: number): Buffer {
  return Buffer.from(beginning + repeated.repeat(Math.ceil(bytes / repeated.length)) + end);
}

const kilobyte = 1024;
const names = new JsonNames(['n', 'model', 'max_tokens', 'error', 'choices', 'id']);
const chat = findRoute('POST', '/chat/completions').route;
const embeddings = findRoute('POST', '/embeddings').route;
const completions = findRoute('POST', '/completions').route;

const documents: Record<string, Repeated> = {
  'one key again and again': ['{', '"n":1,', '"n":1}'],
  'one key in another case': ['{', '"N":1,', '"N":1}'],
  'keys with bad escapes': ['{', '"\\q":1,', '"\\q":1}'],
  'a key with good ones': ['{', '"\\u006dodel":1,', '"n":1}'],
  'keys that are no ASCII': ['{', '"ſ":1,', '"n":1}'],
  'empty objects': ['{"a":[', '{},', '{}]}'],
  'deep lists': ['{"a":[', `${'['.repeat(1000)}${']'.repeat(1000)},`, '1]}'],
  'no end of lists': ['{"a":', '[', ''],
  numbers: ['{"a":[', '1,', '1]}'],
  'one number': ['{"a":', '1', '}'],
  'escaped quotes': ['{"a":"', '\\"', '"}'],
  backslashes: ['{"a":"', '\\\\', '"}'],
  'backslashes after a text': [`{"a":"${'x'.repeat(70_000)}`, '\\\\', '"}'],
  'a string without end': ['{"a":"', '\\"', ''],
  blanks: ['{"a":', ' ', '1}'],
};

const replies: Record<string, Repeated> = {
  ...documents,
  'an id again and again': ['{"choices":[],', '"id":1,', '"id":1}'],
  'errors again and again': ['{', '"error":{"message":"x"},', '"id":1}'],
  'words that a pattern looks for': ['{"error":{"a":[', '"error",', '1]}}'],
  'a long message': ['{"error":{"message":"', 'exceed', '"}}'],
  'a message of blanks': ['{"error":{"message":"maximum', ' ', 'x"}}'],
  'a long code': ['{"error":{"code":"', 'billing_', '"}}'],
  'a long detail': ['{"detail":"', 'context length ', '"}'],
  'many details': ['{"error":{"details":[', '{"retryDelay":"1x"},', '{}]}}'],
  'many choices': ['{"choices":[', '{"index":0},', '{}]}'],
  'a list': ['[', '{"error":1},', '{}]'],
  'vectors of nothing': ['{"data":[{"embedding":[', '[],', '[]]}]}'],
};

const chunk = (delta: string) => `data: {"id":"c","choices":[{"index":0,"delta":${delta}}]}\n\n`;
const begun = chunk('{"content":"So"}');

const events: Record<string, Repeated> = {
  'events without data': [begun, 'data:\n\n', ''],
  'events that are no JSON': [begun, 'data:x\n\n', ''],
  'events that look like JSON': [begun, 'data:{x}\n\n', ''],
  'comments alone': [begun, ':\n\n', ''],
  'empty lines': [begun, '\n', ''],
  'empty lines of CRLF': ['data: 1\r\n\r\n', '\r\n', ''],
  'ends again and again': [begun, 'data: [DONE]\n\n', ''],
  'names alone': [begun, 'event: message    \n\n', ''],
  'numbers alone': [begun, 'data:1\n\n', ''],
  'text in single letters': [begun, chunk('{"content":"a"}'), ''],
  'events of many shapes': [begun, chunk('{"content":"a"}') + chunk('{"reasoning":"b"}') + chunk('{"role":"x"}'), ''],
  'usage in each': [begun, 'data: {"usage":null,"a":1,"usage":{},"choices":[]}\n\n', ''],
  'many choices': [begun, `data: {"choices":[${'{"index":1,"delta":{}},'.repeat(500)}{}]}\n\n`, ''],
  'many lines': [begun, 'data: {\ndata: "a":1\ndata: }\n\n', ''],
  'one event without end': [`${begun}data: {"a":[`, '{},', ''],
  'one event of many lines': [begun, 'data: {\n', '\n\n'],
  'lines that end in CR': ['data: 1\r\r', 'data: x\r', '\r'],
};

function inPieces(bytes: Buffer, length: number, take: (piece: Buffer) => void): void {
  for (let at = 0; at < bytes.length; at += length) take(bytes.subarray(at, at + length));
}

function follow(bytes: Buffer, protocol: StreamProtocol, length: number): void {
  const text = protocol === 'chat' ? new ChatText() : new ResponseText();
  const reply = new StreamedReply(new UndisputedHost(), { protocol, choices: 2, stripUsage: true, text });
  inPieces(bytes, length, (piece) => reply.take(piece));
  reply.end();
}

function goOn(bytes: Buffer, splice: ChatSplice | ResponseSplice): void {
  const text = splice instanceof ChatSplice ? new ChatText() : new ResponseText();
  const reply = new SplicedReply(new UndisputedHost(), { text, splice, foundAs() {} });
  inPieces(bytes, 1_000, (piece) => reply.take(piece));
  reply.end();
}

const chatSoFar = { kind: 'chat', id: 'c', created: 1, model: 'm', isFinished: false } as const;
const responseSoFar = {
  kind: 'response',
  isFinished: false,
  response: { id: 'r' },
  before: [],
  open: null,
  message: { item: { id: 'm' }, index: 0, events: new Set<string>() },
  nextIndex: 1,
  nextSequenceNumber: 1,
} as const;
const spoken = (text: string) =>
  `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"${text}"}\n\n`;

const secret = { id: 'c', headers: { authorization: 'Bearer aaaaaaaaaaaaaaaa' } };

export const worstCases: Record<string, WorstCase> = {
  'a look at JSON': {
    atOnceBytes: 256 * kilobyte,
    files: ['json/json-peek', 'json/json-scan', 'json/json-tokens', 'json/json-names'].map(inHttp),
    inputs: documents,
    run: (bytes) => peekJson(bytes, names),
  },
  "a request's body": {
    atOnceBytes: 256 * kilobyte,
    files: [
      ...['json-body', 'prompt-fingerprint', 'count-choices', 'conversation-id'].map((name) =>
        inHttp(`request/${name}`),
      ),
      ...['json-splice', 'json-elements'].map((name) => inHttp(`json/${name}`)),
      'http/json/join-bytes.ts',
    ],
    inputs: {
      messages: ['{"stream":true,"model":"x","messages":[', '{},', '{}]}'],
      'messages of nobody': ['{"stream":true,"model":"x","messages":[', '{"role":""},', '{}]}'],
      'messages in words': ['{"model":"x","messages":[', '"\\"",', '1]}'],
      prompts: ['{"stream":true,"model":"x","prompt":[', '[],', '1]}'],
      blanks: ['{"stream":true,"model":"x","prompt":[', ' ', '1]}'],
      options: ['{"stream":true,"model":"x","stream_options":{', '"include_usage":null,', '"a":1}}'],
      'a long choice': ['{"stream":true,"model":"x","n":[', '1,', '1]}'],
    },
    run: (bytes) => {
      const body = new JsonBody(bytes);
      for (const route of [chat, completions]) countChoices(route, body);
      return [conversationOf(body), body.fingerprint(), body.sendable('y', true)];
    },
  },
  'the rest of an answer that is asked for': {
    atOnceBytes: 256 * kilobyte,
    files: ['http/rescue/continued-body.ts'],
    inputs: { messages: ['{"messages":[', '{},', '{}]}'], ...documents },
    run: (bytes) => continuedBody(bytes, 'so far', { message: {}, request: { a: 1 } }),
  },
  'the brackets of a long reply': {
    atOnceBytes: 8 * 1024 * kilobyte,
    files: ['http/json/json-skeleton.ts'],
    inputs: documents,
    run: skeletonOf,
  },
  'a whole reply': {
    atOnceBytes: 256 * kilobyte,
    files: [
      'http/reply/judge-whole.ts',
      'http/json/parse-object.ts',
      'http/reply/event-beginning.ts',
      'http/stream/stream-of-whole.ts',
    ],
    inputs: replies,
    run: (bytes) => {
      for (const route of [chat, embeddings]) {
        judgeWhole(bytes, route, 'json');
        mayGoOn(bytes, route);
      }
      if (bytes.length <= 1024 * 1024) streamOfWhole(bytes.toString(), 'chat');
    },
  },
  'a whole reply as it comes': {
    atOnceBytes: 256 * kilobyte,
    files: ['http/reply/whole-reply.ts'],
    inputs: { ...replies, blanks: ['', ' ', ''] },
    run: (bytes) => {
      const reply = new WholeReply(new UndisputedHost());
      inPieces(bytes, 100, (piece) => reply.take(piece));
      reply.end();
    },
  },
  'an error': {
    atOnceBytes: 1024 * kilobyte,
    files: ['http/reply/error-body.ts', 'http/reply/refused-reply.ts', 'http/client-reply.ts'],
    inputs: replies,
    run: (bytes) => {
      const error = errorIn(readErrorBody(bytes));
      if (error) statusOfError(error);
      for (const status of [400, 403, 404, 413, 429, 500]) {
        classifyAnswer({ status, headers: {}, error, isAboutJob: false });
      }
      const host = new UndisputedHost();
      const reply = new RefusedReply(host);
      inPieces(bytes, 1_000, (piece) => host.isOver || reply.take(piece));
      if (!host.isOver) reply.end();
      reply.dispose();
    },
  },
  'the code of an error in a stream': {
    atOnceBytes: 16 * kilobyte,
    files: ['http/reply-relay.ts', 'http/reply/error-code.ts', 'http/json/find-member.ts'],
    inputs: {
      errors: ['', '"error"', ''],
      codes: ['"error"', '"code"', ''],
      'codes and blanks': ['"error"', '"code"           ', ''],
    },
    run: (bytes) => errorCodeIn(bytes.toString()),
  },
  'a stream': {
    atOnceBytes: 64 * kilobyte,
    files: [
      'transport/sse-gate.ts',
      ...[
        'streamed-reply',
        'stream-event',
        'known-events',
        'event-shape',
        'stream-text',
        'chat-text',
        'text-bytes',
      ].map((name) => inHttp(`stream/${name}`)),
      ...['stream-protocol', 'usage-stripper'].map((name) => inHttp(`stream/${name}`)),
      'http/json/json-ends.ts',
    ],
    inputs: events,
    run: (bytes) => {
      follow(bytes, 'chat', 16_384);
      follow(bytes, 'chat', 10);
    },
  },
  'a stream of a response': {
    atOnceBytes: 64 * kilobyte,
    files: ['http/stream/response-text.ts'],
    inputs: { ...events, deltas: [spoken('a'), spoken('a'), ''], items: ['', 'data: {"output_index":1}\n\n', ''] },
    run: (bytes) => follow(bytes, 'responses', 16_384),
  },
  'a stream that goes on with another': {
    atOnceBytes: 64 * kilobyte,
    files: ['http/rescue/spliced-reply.ts', 'http/rescue/chat-splice.ts', 'http/rescue/text-match.ts'],
    inputs: { ...events, 'the same in single letters': ['', chunk('{"content":"a"}'), ''] },
    run: (bytes) => {
      const soFar = { ...chatSoFar, text: 'a'.repeat(bytes.length) };
      goOn(bytes, new ChatSplice({ soFar, isContinuation: false, stripUsage: true }));
    },
  },
  'a response that goes on with another': {
    atOnceBytes: 64 * kilobyte,
    files: ['http/rescue/response-splice.ts'],
    inputs: {
      'the same in single letters': [
        'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}\n\n',
        spoken('a'),
        '',
      ],
    },
    run: (bytes) => goOn(bytes, new ResponseSplice({ ...responseSoFar, text: 'a'.repeat(bytes.length) })),
  },
  'the id of a new job': {
    atOnceBytes: 256 * kilobyte,
    files: ['http/job-watcher.ts'],
    inputs: {
      'a response again and again': ['', '"response":{', ''],
      'an id without value': ['"response":{', '"id"', ''],
      braces: ['{"a":"', '}', ''],
    },
    run: (bytes) => {
      for (const type of ['text/event-stream', 'application/json']) {
        const match = findRoute('POST', '/responses');
        const owner = { groupId: 'g', keyId: 'k', providerId: 'p', credentialId: null, model: null };
        const jobs = { remember() {}, forget() {}, find: () => null, list: () => ({ jobs: [], hasMore: false }) };
        const watch = jobWatcher(jobs as never, { match, store: true, owner });
        watch?.begin(200, type, {});
        inPieces(bytes, 10, (piece) => watch?.take(piece));
      }
    },
  },
  'the usage at the end of a reply': {
    atOnceBytes: 256 * kilobyte,
    files: ['http/reply/tail.ts', 'usage/extract.ts', 'usage/estimate-reply.ts'],
    inputs: {
      'usage again and again': ['', '"usage":{', ''],
      'usage of nothing': ['', '"usage":{},', ''],
      'usage that is no JSON': ['', '"usage":{x},', ''],
      durations: ['', '"duration":', ''],
      'events that are no JSON': ['', 'data:{x}\n', ''],
      escapes: ['', '\\u0041', ''],
      backslashes: ['', '\\', ''],
    },
    run: (bytes) => {
      for (const type of ['text/event-stream', 'application/json']) {
        const tail = new Tail();
        inPieces(bytes, 1_000, (piece) => tail.push(piece));
        extractUsage('transcription', tail.bytes, type, {});
        estimateReply({ tail: tail.bytes, bytes: tail.totalBytes, contentType: type });
      }
    },
  },
  "a prompt's tokens": {
    atOnceBytes: 64 * 1024 * kilobyte,
    files: ['usage/estimate-prompt.ts', 'usage/estimate-tokens.ts'],
    inputs: {
      ...documents,
      messages: ['{"messages":[', '{},', '{}]}'],
      pictures: ['{"messages":["', ';base64,"', '"]}'],
      'long pictures': ['{"messages":["data:image/png;base64,', 'A', '"]}'],
    },
    run: estimatePrompt,
  },
  'the parameters of a header': {
    atOnceBytes: 16 * kilobyte,
    files: ['http/request/header-parameters.ts'],
    inputs: {
      blanks: ['a;', ' ', 'x'],
      escapes: ['a; b="', '\\"', ''],
      semicolons: ['a', ';', ''],
      parameters: ['a', '; b=c', ''],
    },
    run: (bytes) => headerParameters(bytes.toString()),
  },
  'the parts of an upload': {
    atOnceBytes: 256 * kilobyte,
    files: ['http/request/multipart-splice.ts'],
    inputs: {
      parts: ['--b', '\r\n\r\n\r\n--b', '--\r\n'],
      'beginnings of delimiters': ['--b\r\n\r\n', '\r\n--', '\r\n--b--'],
      dispositions: ['--b\r\n', 'Content-Disposition: form-data;\r\n ', '\r\n\r\nx\r\n--b--'],
    },
    run: async (bytes) => {
      const spool = new Spool({ folder: tmpdir(), memoryBytes: Number.POSITIVE_INFINITY });
      await new Promise<void>((resolve) => spool.write(bytes, () => resolve()));
      await spool.finish();
      const body = {
        spool,
        contentType: '',
        boundary: 'b',
        fields: { model: ['a', 'b'] },
        files: [],
        size: bytes.length,
      };
      await findField({ kind: 'multipart', ...body }, 'model').catch(() => null);
      await spool.dispose();
    },
  },
  'what must not be shown': {
    atOnceBytes: 64 * kilobyte,
    files: ['http/redact-credential.ts'],
    inputs: {
      'nearly the secret': ['', 'aaaaaaaaaaaaaaab', ''],
      tokens: ['', '-eyJ', ''],
      addresses: ['', '://a', ''],
    },
    run: (bytes) => {
      redactText(bytes.toString(), secret);
      redactBytes(bytes, secret);
      // Node takes no longer headers.
      redactHeaders({ a: bytes.toString('latin1', 0, 16_384) }, secret);
    },
  },
  'a list of models': {
    atOnceBytes: 256 * kilobyte,
    files: ['providers/parse-model-list.ts'],
    inputs: { names: ['{"data":[', '{"id":"a"},', '{}]}'], nothing: ['[', '{},', '{}]'], ...documents },
    run: (bytes) => parseModelList(bytes, 'x'),
  },
  'a name that is nearly one': {
    atOnceBytes: 256 * kilobyte,
    files: [],
    inputs: { 'long names': ['', `${'a'.repeat(250)}\n`, ''] },
    run: (bytes) => nearestName('b'.repeat(250), bytes.toString().split('\n')),
  },
};

function inHttp(name: string): string {
  return `http/${name}.ts`;
}

/** These keep, copy or pass on bytes and look at none; or leave it to a library that does it natively or in pieces. */
export const lookAtNone = [
  'http/accounting.ts',
  'http/attempt-notes.ts',
  'http/capture.ts',
  'http/control-event-streams.ts',
  'http/reply/reply-body.ts',
  'http/reply/reply-clock.ts',
  'http/reply/reply-inspector.ts',
  'http/reply/send-error.ts',
  'http/request/multipart.ts',
  'http/request/read-body.ts',
  'http/request/spool.ts',
  'http/rescue/downloaded-reply.ts',
  'http/stream/stream-decoder.ts',
  'http/video-list.ts',
  'transport/read-reply.ts',
  'transport/transport.ts',
  'transport/tunnel.ts',
  'providers/model-cache.ts',
  'providers/probe.ts',
  'routing/any-key.ts',
  'routing/key-secret.ts',
];
