/**
 * The most expensive input that clients and upstreams could send to each parser and classifier for requests and
 * answers. Each file that handles such bytes is named, by something it declares, with the case that covers it, or in the
 * list of those that inspect none (`test/architecture.test.ts` checks that).
 */
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { plainFlavour } from '../../server/apis/core/chat-flavour.ts';
import { readError } from '../../server/apis/core/errors/error-body.ts';
import { errorNameIn, statusOfError } from '../../server/apis/core/errors/error-names.ts';
import { asUtf8, isPlausibleBeginning, readJson } from '../../server/apis/core/errors/read-whole.ts';
import { toldWaitMs } from '../../server/apis/core/errors/told-wait.ts';
import { failureBy, tellError } from '../../server/apis/core/errors/verdict.ts';
import { recordingIn } from '../../server/apis/core/recordings/recording-length.ts';
import { conversationOf } from '../../server/apis/core/requests/client-session.ts';
import { isPathSegment, isUnambiguousSegment } from '../../server/apis/core/requests/segments.ts';
import { toolResultsOf, turnStepOf } from '../../server/apis/core/requests/turn-step.ts';
import { answerFacts } from '../../server/apis/core/usage/call-facts.ts';
import { readPriceTerms } from '../../server/apis/core/usage/price-terms.ts';
import { estimatePrompt, likelyPromptTokens, mostPromptTokens } from '../../server/apis/core/usage/prompt-estimate.ts';
import { JsonNames } from '../../server/apis/json/json-names.ts';
import { countValues } from '../../server/apis/json/json-nodes.ts';
import { peekJson } from '../../server/apis/json/json-peek.ts';
import { sourceOfUrl } from '../../server/apis/neutral/media.ts';
import { realtimeSession } from '../../server/apis/openai/realtime.ts';
import { ChatSplice, ChatText } from '../../server/apis/openai/rescue/chat.ts';
import { continuedBody } from '../../server/apis/openai/rescue/rescue.ts';
import { ResponseSplice, ResponseText } from '../../server/apis/openai/rescue/response.ts';
import { estimateAnswer } from '../../server/apis/openai/usage/estimate-answer.ts';
import { extractUsage } from '../../server/apis/openai/usage/usage.ts';
import { openaiTerms } from '../../server/apis/openai/usage/usage-shapes.ts';
import { chatFitting } from '../../server/apis/openai/wire/fit-request.ts';
import { GatewayError } from '../../server/contract/errors.ts';
import { nearestName } from '../../server/contract/nearest-name.ts';
import { ErrorReader } from '../../server/exchange/attempts/choose-reader.ts';
import { FlowCount } from '../../server/exchange/capture/attempt-capture.ts';
import { createJobObserver, createObjectObserver } from '../../server/exchange/jobs/object-ownership.ts';
import { outgoingQuery } from '../../server/exchange/outgoing/outgoing-request.ts';
import { EventsReader } from '../../server/exchange/readers/events-reader.ts';
import type { RequestFacts, ResponseReader } from '../../server/exchange/readers/response-reader.ts';
import { WholeReader } from '../../server/exchange/readers/whole-reader.ts';
import { ResponseExcerpt } from '../../server/exchange/record/response-taps.ts';
import { findSecrets } from '../../server/exchange/redact/find-secrets.ts';
import { notedText, redactBytes, redactHeaders, redactText } from '../../server/exchange/redact/redact-credential.ts';
import { Redactor } from '../../server/exchange/redact/redactor.ts';
import { SplicedEventsReader } from '../../server/exchange/rescue/rescue.ts';
import { SessionTracker } from '../../server/exchange/sessions/session-companion.ts';
import { headerParameters } from '../../server/http/body/content-headers.ts';
import { FormGuard } from '../../server/http/body/form-guard.ts';
import { findField } from '../../server/http/body/incoming-body.ts';
import { JsonBody, withoutTrailingCommas } from '../../server/http/body/json-body.ts';
import { searchOf } from '../../server/http/body/passthrough-body.ts';
import { Spool } from '../../server/http/body/spool.ts';
import { listStyle } from '../../server/providers/find-api.ts';
import { parseModelList } from '../../server/providers/list-models.ts';
import { Connection, problemOfHead } from '../../server/transport/connection-pools.ts';
import { leastWorkOf } from '../support/cpu-work.ts';
import { findRoute } from '../support/routes.ts';
import { type StreamName, streams } from './apis/openai/streams.ts';
import { worstCitations, worstPairs } from './apis/translation/worst-pairs.ts';
import { worstTranslations } from './apis/translation/worst-translations.ts';
import { worstClouds, worstConverse, worstGemini, worstMessages } from './apis/worst-apis.ts';
import { worstFaults, worstHistories } from './exchange/worst-exchanges.ts';

export interface WorstCase {
  /** An exported name of each file that the case covers. */
  readers: string[];
  /** The most bytes that it receives in one turn of the event loop. */
  atOnceBytes: number;
  inputs: Record<string, WorstInput>;
  run(bytes: Buffer): unknown;
}

type Repeated = [beginning: string, repeated: string, end: string];

/** A text with a repeated part, or one that is built with about so many bytes. */
export type WorstInput = Repeated | ((bytes: number) => string);

/** About `bytes` bytes of it. */
export function inputOf(input: WorstInput, bytes: number): Buffer {
  if (typeof input === 'function') return Buffer.from(input(bytes));
  const [beginning, repeated, end] = input;
  return Buffer.from(beginning + repeated.repeat(Math.ceil(bytes / repeated.length)) + end);
}

const kilobyte = 1024;

/** Reads them at once, and then in pieces. */
function readHead(bytes: Buffer): void {
  for (const size of [bytes.length, 16]) {
    let at = 0;
    const socket = new Socket();
    socket.read = () => {
      at += size;
      return at - size < bytes.length ? bytes.subarray(at - size, at) : null;
    };
    const connection = new Connection(socket);
    connection.begin();
    for (let pieces = 0; pieces < bytes.length; pieces += size) socket.read();
    connection.problemOfHead();
    socket.destroy();
  }
  problemOfHead(bytes, bytes.length + 1);
}
const names = new JsonNames(['n', 'model', 'max_tokens', 'error', 'choices', 'id']);
const chat = findRoute('POST', '/chat/completions').route;
const response = findRoute('POST', '/responses').route;
const embeddings = findRoute('POST', '/embeddings').route;
const completions = findRoute('POST', '/completions').route;
const speech = findRoute('POST', '/audio/speech').route;

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

/** Most of this input is eventually refused. */
function refused(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

function read(bytes: Buffer, reader: ResponseReader, length: number): void {
  for (let at = 0; at < bytes.length; at += length) {
    const steps = reader.read(bytes.subarray(at, at + length));
    if (steps.some(({ kind }) => lastKinds.has(kind))) return;
  }
  reader.end();
}

const lastKinds = new Set<string>(['fail', 'hand-over', 'break', 'complete', 'reread']);

function follow(bytes: Buffer, protocol: StreamName, length: number): void {
  const text = protocol === 'chat' ? new ChatText() : new ResponseText();
  const options = { format: streams[protocol], answers: 2, stripUsage: true, text, headers: {} };
  read(bytes, new EventsReader(options), length);
}

function goOn(bytes: Buffer, splice: ChatSplice | ResponseSplice): void {
  const isChat = splice instanceof ChatSplice;
  const text = isChat ? new ChatText() : new ResponseText();
  const format = isChat ? streams.chat : streams.responses;
  read(bytes, new SplicedEventsReader({ format, text, splice, headers: {} }), 1_000);
}

const head = { status: 200, headers: { 'content-type': 'application/json' } };
const asked = (route: RequestFacts['route']): RequestFacts => ({
  route,
  method: 'POST',
  isStreamAsked: true,
  isTextAsked: false,
  isTranslated: false,
  isKept: false,
});

const chatSoFar = { id: 'c', created: 1, model: 'm', isFinished: false } as const;
const responseSoFar = {
  isFinished: false,
  storedId: 'r',
  response: { id: 'r' },
  before: [],
  open: null,
  message: { item: { id: 'm' }, index: 0, events: new Set<string>() },
  nextIndex: 1,
  nextSequenceNumber: 1,
} as const;
const spoken = (text: string) =>
  `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"${text}"}\n\n`;

const secrets = ['aaaaaaaaaaaaaaaa'];
const redactor = new Redactor(secrets);

const refusesMuch = {
  ...plainFlavour,
  request: { seed: 'random_seed' },
  messages: { reasoning_content: null, name: null },
  roles: { developer: 'system' },
  joinsTexts: true,
  wantsReasoning: 'of all' as const,
  signsCalls: 'reasoning_details' as const,
};

/** What translates: the longer half of all. */
export const worstTranslating: Record<string, WorstCase> = {
  ...worstHistories,
  ...worstCitations,
  ...worstTranslations,
  ...worstPairs,
};

/** What reads. */
export const worstReading: Record<string, WorstCase> = {
  ...worstMessages,
  ...worstGemini,
  ...worstConverse,
  ...worstClouds,
  ...worstFaults,
  'a look at JSON': {
    atOnceBytes: 256 * kilobyte,
    readers: ['peekJson', 'JsonScan', 'hasLongRun', 'JsonNames'],
    inputs: documents,
    run: (bytes) => peekJson(bytes, names),
  },
  'a body with commas that JSON does not have': {
    atOnceBytes: 256 * kilobyte,
    readers: ['withoutTrailingCommas'],
    inputs: {
      ...documents,
      'commas alone': ['{"a":[', ',', ']}'],
      'commas after each value': ['{"a":[', '[1,],', ']}'],
    },
    run: (bytes) => withoutTrailingCommas(bytes),
  },
  "a request's body": {
    atOnceBytes: 256 * kilobyte,
    readers: [
      'readJsonBody',
      'openingDigest',
      'toolResultsOf',
      'lastElement',
      'turnStepOf',
      'SessionTracker',
      'completions',
      'usageEdits',
      'beginningOfList',
      'joinBytes',
      'openaiUsage',
      'WatchedMembers',
      'chatFitting',
    ],
    inputs: {
      'a long video': ['{"model":"x","video":{', '"a":1,', '"id":"b"}}'],
      messages: ['{"stream":true,"model":"x","messages":[', '{},', '{}]}'],
      'messages of nobody': ['{"stream":true,"model":"x","messages":[', '{"role":""},', '{}]}'],
      'messages in words': ['{"model":"x","messages":[', '"\\"",', '1]}'],
      prompts: ['{"stream":true,"model":"x","prompt":[', '[],', '1]}'],
      blanks: ['{"stream":true,"model":"x","prompt":[', ' ', '1]}'],
      options: ['{"stream":true,"model":"x","stream_options":{', '"include_usage":null,', '"a":1}}'],
      'a text to be spoken': ['{"model":"x","input":"', '\u{1F30D}', '"}'],
      'a last message of quotes': ['{"model":"x","messages":[{"a":"', '\\"', '"}]}'],
      'a long last message of names': ['{"model":"x","messages":[{"a":[', '{"role":"x"},', '1]}]}'],
      'a last message in brackets': ['{"model":"x","input":[{},[', '[],', '1]]}'],
      'results of tools': ['{"model":"x","messages":[', '{"role":"tool","content":"\\\\\\""},', '{"role":"tool"}]}'],
      'parts with results': [
        '{"model":"x","messages":[{"role":"user","content":[',
        '{"type":"tool_result","content":[]},',
        '{"type":"tool_result"}]}]}',
      ],
      'members that a service refuses': [
        '{"model":"x","messages":[',
        '{"role":"developer","reasoning_content":"","name":1,"content":[{"type":"text","text":"a"}]},',
        '{}]}',
      ],
      'calls without a signature': [
        '{"model":"x","messages":[',
        '{"role":"assistant","tool_calls":[{"id":"a"}]},',
        '{}]}',
      ],
      'calls of one message': ['{"model":"x","messages":[{"role":"assistant","tool_calls":[', '{"id":"a"},', '{}]}]}'],
      'one message of such members': ['{"model":"x","messages":[{', '"reasoning_content":"",', '"a":1}]}'],
      'a request of such members': ['{"model":"x",', '"seed":1,', '"a":1}'],
      'a long choice': ['{"stream":true,"model":"x","n":[', '1,', '1]}'],
    },
    run: (bytes) => {
      const body = new JsonBody(bytes);
      for (const { wire } of [chat, completions]) wire.request.answersPaid(body);
      speech.wire.usage.hints(body, 0);
      const book = new SessionTracker({
        sessionStates: { stopped: () => [], budgetUsedUsd: () => 0 },
        joined() {},
      });
      const asked = {
        requestId: 'r',
        startedAt: 0,
        keyId: 'k',
        headers: {},
        body,
        secrets: ['k'],
        previousResponseId: null,
        isByConversation: true,
      };
      const marks = [1, 2].map(() => book.markFor({ ...asked, format: {} }));
      return [
        conversationOf(body),
        turnStepOf(body),
        toolResultsOf(body),
        marks,
        body.sendable({ model: 'y', askUsage: true }),
        chatFitting.fitted(body.outline, refusesMuch, () => 'x'),
      ];
    },
  },
  'the URL of a picture': {
    atOnceBytes: 256 * kilobyte,
    readers: ['sourceOfUrl'],
    inputs: {
      'a text in escapes': ['data:image/svg+xml;utf8,', '%3C', ''],
      'a text with bad escapes': ['data:image/svg+xml,', '%', ''],
      parameters: ['data:image/png', ';a=b', ';base64,AAAA'],
      commas: ['data:', ',', ''],
      'no comma': ['data:', 'a', ''],
    },
    run: (bytes) => sourceOfUrl(bytes.toString('latin1')),
  },
  'a body that is passed on': {
    atOnceBytes: 64 * kilobyte,
    readers: ['IdSearch', 'MemberMeanings', 'searchOf'],
    inputs: {
      ...documents,
      'many ids': ['{"file_ids":[', '"a",', '"b"]}'],
      'one id again and again': ['{', '"file_id":"a",', '"file_id":"b"}'],
      'backslashes before a quote': ['{"file_id":"', '\\\\"', ''],
      'addresses of files': ['{"url":["', 'files/files/', '"]}'],
      'short texts that never end': ['', '"\\"', ''],
    },
    run: (bytes) => refused(() => void searchOf('text/plain').take(bytes)),
  },
  'a form that is passed on': {
    atOnceBytes: 64 * kilobyte,
    readers: ['FormSearch', 'idsInParameters'],
    inputs: {
      fields: ['', '--b\r\nContent-Disposition: form-data; name="file_id"\r\n\r\na\r\n', '--b--'],
      'a long value': ['--b\r\nContent-Disposition: form-data; name="file_id"\r\n\r\n', 'a', '\r\n--b--'],
      'almost boundaries': ['--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n', '\r\n-', '\r\n--b--'],
      parameters: ['', 'file_id=a&', ''],
      brackets: ['', 'a[', '=1'],
    },
    run: (bytes) => {
      refused(() => void searchOf('multipart/form-data; boundary=b').take(bytes));
      refused(() => void searchOf('application/x-www-form-urlencoded').take(bytes));
    },
  },
  'an answer that may tell of a new object': {
    atOnceBytes: 256 * kilobyte,
    readers: ['createObjectObserver'],
    inputs: {
      ...documents,
      braces: ['{"a":"', '}', ''],
      'objects in lists': ['{"data":[', '{"id":"a"},', '{}]}'],
      'a long file': ['{"file":{', '"id":"a",', '"b":1}}'],
    },
    run: (bytes) => {
      const owner = { groupId: 'g', keyId: 'k', providerId: 'p', credentialId: null, model: null };
      const jobs = { rememberNew() {} };
      const watch = createObjectObserver(jobs as never, {
        method: 'POST',
        requestIds: [],
        onlyId: null,
        objectMember: 'id',
        owner,
        size: () => null,
      });
      watch?.begin(200, 'application/json', {});
      inPieces(bytes, 1_000, (piece) => watch?.take(piece));
    },
  },
  'the rest of an answer that is asked for': {
    atOnceBytes: 256 * kilobyte,
    readers: ['continuedBody'],
    inputs: { messages: ['{"messages":[', '{},', '{}]}'], ...documents },
    run: (bytes) => continuedBody(bytes, 'so far', { message: {}, request: { a: 1 } }),
  },
  'a whole answer': {
    atOnceBytes: 256 * kilobyte,
    readers: ['isJsonString', 'parseObject', 'sseFraming'],
    inputs: replies,
    run: (bytes) => {
      for (const { wire } of [chat, embeddings]) {
        readJson(asUtf8(bytes), wire, { isFramed: false, passesUnread: true });
        isPlausibleBeginning(bytes, wire);
      }
    },
  },
  'a whole answer as it comes': {
    atOnceBytes: 256 * kilobyte,
    readers: ['WholeReader'],
    inputs: { ...replies, blanks: ['', ' ', ''] },
    run: (bytes) => read(bytes, new WholeReader(asked(chat), head), 100),
  },
  'the head of an answer': {
    atOnceBytes: 64 * kilobyte,
    readers: ['watchesConnection', 'problemOfHead'],
    inputs: {
      'interim answers': ['', 'HTTP/1.1 100 Continue\r\n\r\n', ''],
      'an interim answer without end': ['HTTP/1.1 100 Continue\r\n', 'a: b\r\n', ''],
      'lines without end': ['HTTP/1.1 200 OK\r\n', 'a', ''],
      'line ends': ['HTTP/1.1 200 OK', '\r', ''],
      'short headers': ['HTTP/1.1 200 OK\r\n', 'a:\r\n', ''],
      colons: ['HTTP/1.1 200 OK\r\n', ':', '\r\n\r\n'],
      lengths: ['HTTP/1.1 200 OK\r\n', 'content-length: 1\r\n', '\r\n'],
    },
    run: readHead,
  },
  'a told wait': {
    atOnceBytes: 64 * kilobyte,
    readers: ['toldWaitMs'],
    inputs: {
      commas: ['', ',', ''],
      numbers: ['', '1,', '1'],
      digits: ['', '1', 's'],
      units: ['', '1m', 's'],
    },
    run: (bytes) => {
      const value = bytes.toString('latin1');
      toldWaitMs({ 'retry-after': value, 'retry-after-ms': value }, true);
      toldWaitMs({ 'x-ratelimit-reset-tokens': value, [`x-ratelimit-${value}reset`]: '1s' }, true);
    },
  },
  'an error': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['readError', 'errorOf', 'ErrorReader', 'ClientResponse'],
    inputs: replies,
    run: (bytes) => {
      const { error, isPage } = readError(bytes);
      if (error) statusOfError(error);
      for (const status of [400, 403, 404, 413, 429, 500]) {
        failureBy({ status, headers: {}, error, isPage, isAboutJob: false });
        tellError({ status, error, isPage });
      }
      read(bytes, new ErrorReader(asked(chat), { ...head, status: 500 }), 1_000);
    },
  },
  'an event of a session': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['realtimeSession', 'SessionAccounting', 'SessionRelay'],
    inputs: {
      types: ['{"type":"response.done","response":{"output":[', '"response.created",', '1]}}'],
      'the beginnings of types': ['{"type":"response.done","output":[', '"response.d",', '1]}'],
      arrays: ['"response.create"', '[', ''],
      keys: ['{"type":"response.done",', '"usage":{},', '"usage":{}}'],
    },
    run: (bytes) => {
      realtimeSession.readServerEvent(bytes);
      realtimeSession.readResponseCreate(bytes);
    },
  },
  'the code of an error in a stream': {
    atOnceBytes: 16 * kilobyte,
    readers: ['Attempt', 'errorNameIn', 'findMember'],
    inputs: {
      errors: ['', '"error"', ''],
      codes: ['"error"', '"code"', ''],
      'codes and blanks': ['"error"', '"code"           ', ''],
    },
    run: (bytes) => errorNameIn(bytes.toString(), 'code'),
  },
  'a stream': {
    atOnceBytes: 64 * kilobyte,
    readers: [
      'EventsReader',
      'EventShape',
      'DroppedEvents',
      'takeEvents',
      'ChatText',
      'TextBytes',
      'SseGate',
      'LineEnds',
      'readEvent',
      'kindOfRest',
      'withoutUsage',
      'endOfString',
    ],
    inputs: events,
    run: (bytes) => {
      follow(bytes, 'chat', 16_384);
      follow(bytes, 'chat', 10);
    },
  },
  'a stream of a response': {
    atOnceBytes: 64 * kilobyte,
    readers: ['ResponseText'],
    inputs: { ...events, deltas: [spoken('a'), spoken('a'), ''], items: ['', 'data: {"output_index":1}\n\n', ''] },
    run: (bytes) => follow(bytes, 'responses', 16_384),
  },
  'a stream that goes on with another': {
    atOnceBytes: 64 * kilobyte,
    readers: ['SplicedEventsReader', 'ChatSplice', 'TextMatch'],
    inputs: { ...events, 'the same in single letters': ['', chunk('{"content":"a"}'), ''] },
    run: (bytes) => {
      const soFar = { ...chatSoFar, text: 'a'.repeat(bytes.length) };
      goOn(bytes, new ChatSplice({ soFar, isContinuation: false, stripUsage: true }));
    },
  },
  'a response that goes on with another': {
    atOnceBytes: 64 * kilobyte,
    readers: ['ResponseSplice'],
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
    readers: ['createJobObserver'],
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
        const watch = createJobObserver(jobs as never, {
          match,
          store: true,
          stored: null,
          owner,
          created() {},
          deleted() {},
        });
        watch?.begin(200, type, {});
        inPieces(bytes, 10, (piece) => watch?.take(piece));
      }
    },
  },
  'the usage at the end of a reply': {
    atOnceBytes: 256 * kilobyte,
    readers: [
      'ResponseExcerpt',
      'estimateAnswer',
      'membersOfBeginning',
      'readReportedUsage',
      'countsAt',
      'readPriceTerms',
      'answerFacts',
    ],
    inputs: {
      'usage again and again': ['', '"usage":{', ''],
      'usage of nothing': ['', '"usage":{},', ''],
      'usage that is no JSON': ['', '"usage":{x},', ''],
      durations: ['', '"duration":', ''],
      'events that are no JSON': ['', 'data:{x}\n', ''],
      'events of an unusual price': ['', 'data:{"service_tier":"priority"}\n', ''],
      'an unusual price again and again': ['{"a":[', '"priority",', '1]}'],
      escapes: ['', '\\u0041', ''],
      backslashes: ['', '\\', ''],
    },
    run: (bytes) => {
      for (const type of ['text/event-stream', 'application/json']) {
        const tail = new ResponseExcerpt();
        inPieces(bytes, 1_000, (piece) => tail.push(piece));
        const answer = { ...tail.kept(type), whole: bytes };
        extractUsage('transcription', answer, {});
        extractUsage('chat', answer, {});
        readPriceTerms(answer, openaiTerms);
        for (const { facts } of [chat.wire.usage, response.wire.usage]) if (facts) answerFacts(answer, facts);
        estimateAnswer(answer);
      }
    },
  },
  "a prompt's tokens": {
    atOnceBytes: 64 * 1024 * kilobyte,
    readers: ['estimatePrompt', 'estimateTokens', 'payloadsIn'],
    inputs: {
      ...documents,
      messages: ['{"messages":[', '{},', '{}]}'],
      pictures: ['{"messages":["', ';base64,"', '"]}'],
      'capital pictures': ['{"messages":["', '"data:;BASE64,\\n",', '"]}'],
      files: ['{"messages":[', `{"data":"${'A'.repeat(1100)}"},`, '1]}'],
      'long pictures': ['{"messages":["data:image/png;base64,', 'A', '"]}'],
    },
    run: (bytes) => [
      estimatePrompt(bytes, { prompts: ['messages'], schemas: [] }),
      likelyPromptTokens({ size: bytes.length, captured: bytes }),
      mostPromptTokens(bytes),
    ],
  },
  'the times of the events of a captured stream': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['FlowCount'],
    inputs: { lines: ['', 'a\n', ''], 'empty lines': ['', '\n', ''], events: ['', 'data: 1\r\n\r\n', ''] },
    run: (bytes) => {
      const count = new FlowCount();
      for (let step = 0; step < 2; step++) count.take(bytes, step * 1e9);
      return count.flow;
    },
  },
  'the parameters of a header': {
    atOnceBytes: 16 * kilobyte,
    readers: ['headerParameters'],
    inputs: {
      blanks: ['a;', ' ', 'x'],
      escapes: ['a; b="', '\\"', ''],
      semicolons: ['a', ';', ''],
      parameters: ['a', '; b=c', ''],
    },
    run: (bytes) => headerParameters(bytes.toString()),
  },
  'the header of a recording': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['recordingIn', 'boxedSeconds', 'framedSeconds', 'webmSeconds'],
    inputs: {
      'chunks of nothing': ['RIFF\0\0\0\0WAVE', 'aaaa\0\0\0\0', ''],
      'boxes of nothing': ['\0\0\0\x08ftyp', '\0\0\0\x08moov', ''],
      'pages of nothing': [`OggS${'\0'.repeat(24)}OpusHead${'\0'.repeat(40)}`, 'OggS', ''],
      'beginnings of frames': ['', '\xff\xf3', ''],
      'tags in tags': ['', 'ID3\x04\0\0\0\0\0\0', ''],
      clusters: ['\x1a\x45\xdf\xa3\x80', '\x1f\x43\xb6\x75\xff', ''],
      blocks: ['\x1a\x45\xdf\xa3\x80\x1f\x43\xb6\x75\xff\xe7\x81\0', '\xa3\x80', ''],
    },
    run: (bytes) => recordingIn({ size: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) }),
  },
  'the parts of an upload': {
    atOnceBytes: 256 * kilobyte,
    readers: ['FormGuard', 'DelimiterScan'],
    inputs: {
      parts: ['--b', '\r\n\r\n\r\n--b', '--\r\n'],
      'beginnings of delimiters': ['--b\r\n\r\n', '\r\n--', '\r\n--b--'],
      dispositions: ['--b\r\n', 'Content-Disposition: form-data;\r\n ', '\r\n\r\nx\r\n--b--'],
    },
    run: async (bytes) => {
      const guard = new FormGuard('b');
      refused(() => inPieces(bytes, 1_000, (piece) => guard.take(piece)));
      const spool = new Spool({ folder: tmpdir(), memoryBytes: Number.POSITIVE_INFINITY });
      await new Promise<void>((resolve) => spool.write(bytes, () => resolve()));
      await spool.finish();
      const body = {
        spool,
        contentType: '',
        boundary: 'b',
        fields: { model: ['a', 'b'] },
        files: [],
        ranges: [],
        size: bytes.length,
      };
      await findField({ kind: 'multipart', ...body }, 'model').catch(() => null);
      await spool.dispose();
    },
  },
  'what must not be shown': {
    atOnceBytes: 64 * kilobyte,
    readers: ['redactBytes', 'findSecrets', 'readEscape', 'decodeSegment'],
    inputs: {
      'nearly the secret': ['', 'aaaaaaaaaaaaaaab', ''],
      tokens: ['', '-eyJ', ''],
      addresses: ['', '://a', ''],
      escapes: ['', '\\u0061', ''],
      'escapes of percent signs': ['', '%2525', ''],
    },
    run: (bytes) => {
      const text = bytes.toString();
      redactText(text, secrets);
      redactBytes(bytes, secrets);
      findSecrets(bytes, secrets);
      notedText(text, secrets, 200);
      // Node accepts no longer headers and addresses.
      const header = bytes.toString('latin1', 0, 16_384);
      redactHeaders({ a: header }, secrets);
      outgoingQuery(`?a=${header}`, secrets);
      isPathSegment(header);
      isUnambiguousSegment(header);
    },
  },
  'what must not be kept': {
    atOnceBytes: 64 * kilobyte,
    readers: ['Redactor', 'laneOf', 'redactFrames'],
    inputs: {
      strings: ['[', '"",', '""]'],
      'nearly keys': ['{"a":"', 'sk-a eyJ-', '"}'],
      containers: ['', '{"a":[', ''],
      indexes: ['', '{"index":1,"a":"b","c":', ''],
      events: ['', 'data: {"a":"b"}\r\n\r\n', ''],
      'data lines': ['data: {"a":\n', 'data: "\n', '\n'],
      escapes: ['{"a":"', '\\n\u0061', '"}'],
    },
    run: (bytes) => redactor.body(bytes),
  },
  'the memory that a body will take': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['countValues'],
    inputs: documents,
    run: countValues,
  },
  'a list of models': {
    atOnceBytes: 256 * kilobyte,
    readers: ['parseModelList', 'listStyle'],
    inputs: { names: ['{"data":[', '{"id":"a"},', '{}]}'], nothing: ['[', '{},', '{}]'], ...documents },
    run: (bytes) => [parseModelList(bytes, 'x'), listStyle(bytes)],
  },
  'a name that is nearly one': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: { 'long names': ['', `${'a'.repeat(250)}\n`, ''] },
    run: (bytes) => nearestName('b'.repeat(250), bytes.toString().split('\n')),
  },
};

export const worstCases: Record<string, WorstCase> = { ...worstTranslating, ...worstReading };

const smallestBytes = 64 * kilobyte;
const largestBytes = 512 * kilobyte;
/** Quadratic work grows 64-fold where linear work grows eightfold. */
const mostGrowth = 3 * (largestBytes / smallestBytes);
/** Shorter durations cannot be distinguished from noise. */
const noiseWork = 3;
/** No acceptable parser takes this long for the smallest input. One that does would take minutes for the largest. */
const hopelessWork = 300;
/**
 * The limit is meant to be 25 ms at a time, about 20 times the reference. Several runs of a case correspond to one of a
 * request.
 */
const mostWorkAtOnce = 150;

/** Describes disproportionate growth of the work, or work that blocks the event loop for long; null if there is neither. */
export async function overdone(
  work: (bytes: number) => () => unknown,
  atOnceBytes = smallestBytes,
): Promise<string | null> {
  const small = await leastWorkOf(work(smallestBytes), Math.min(hopelessWork, mostWorkAtOnce));
  if (small >= hopelessWork) return `${smallestBytes} bytes take ${small} times the reference work`;
  const most = Math.max(noiseWork, small) * mostGrowth;
  const large = await leastWorkOf(work(largestBytes), most);
  if (large >= most) return `eight times as much takes ${large / small} times as long`;
  // What is between two inputs that are quick enough is so as well.
  const isQuick = Math.max(small, large) < mostWorkAtOnce && atOnceBytes <= largestBytes;
  const atOnce = isQuick ? 0 : await leastWorkOf(work(atOnceBytes), mostWorkAtOnce);
  return atOnce < mostWorkAtOnce ? null : `${atOnceBytes} bytes at once take ${atOnce} times the reference work`;
}

/** Tests that the time of each grows linearly with its input, and that none blocks the event loop for long. */
export function testWorstCases(cases: Record<string, WorstCase>): void {
  describe.each(Object.entries(cases))('%s', (_name, { atOnceBytes, inputs, run }) => {
    test.each(Object.entries(inputs))('takes no longer than its length explains: %s', async (_input, repeated) => {
      const work = (bytes: number) => {
        const input = inputOf(repeated, bytes);
        return () => run(input);
      };
      expect(await overdone(work, atOnceBytes)).toBeNull();
    });
  });
}

/** Part of a gateway for teams, with its case in `team/people/worst-logout-token.test.ts`. */
export const testedWithTeam = ['createLogoutCheck'];

/**
 * The files that export these store, copy or pass on bytes without inspecting them, or use a library that inspects them natively or in
 * pieces.
 */
export const lookAtNone = [
  'WireTranslation',
  'onePage',
  // They read the user's configuration and the results of Google's library.
  'readAwsKeys',
  'googleSigning',
  'fetchGoogleToken',
  // It reads a cookie of at most 2,000 characters.
  'createSignInRoutes',
  'AnswerDelivery',
  'failureOf',
  'AttemptNotes',
  'AttemptTimers',
  'CacheRecorder',
  'ExchangeCapture',
  'BodyStart',
  'ClientResponse',
  // zlib decompresses outside the event loop, up to a limit.
  'encodingsOf',
  'decodeWhole',
  'RequestTrace',
  // It handles the output of the shapes in `faults/`.
  'FaultInjector',
  // It passes the text of a header to `faults/parse-rule.ts`.
  'chooseFaults',
  // The client's body was read before, and `apis/neutral/json-text.ts` reads it again.
  'inEnvelope',
  'RequestPreparation',
  // The translation of embeddings reads the answer to each part, as it reads a whole one.
  'RequestTranslation',
  'inBatches',
  // They pass bytes to another thread, which translates them as this one would.
  'RequestApart',
  // It counts values, and leaves what has few of them to the translation of streams.
  'WeighedStream',
  'ownBytes',
  'TranslationSession',
  'TranslationThreads',
  'ContainedAttempt',
  'IncomingResponse',
  'DownloadReader',
  'HeldBeginning',
  'PassReader',
  'nothingYet',
  'acceptClient',
  'closeFrameOf',
  'UpstreamSearch',
  'openUpstream',
  'UpstreamResponseObserver',
  'joinTaps',
  'sendStored',
  'StreamDecoder',
  'BodyReader',
  'receiveMultipart',
  'UploadIntake',
  'receivePassthroughBody',
  'readBody',
  'receiveBody',
  'Spool',
  'StreamedBody',
  'createEventStreams',
  // What they are given was read before, or is Sluice's own.
  'Exchange',
  'Visit',
  'CaptureCompanion',
  'handleApiRequest',
  'SessionDoor',
  'sendError',
  'WebSocketUpgrades',
  'createSessionUpgrades',
  'UpgradedConnection',
  'openModelCache',
  'probeProvider',
  'anyKeyOf',
  'compileKeys',
  'keyChecksumHolds',
  'createFetch',
  'readResponse',
  'PhaseLimits',
  'UndiciCall',
  'proxyAuthorization',
  'EventFilter',
  'SessionFormat',
  'EventMeaning',
  'maxTextBytes',
];
