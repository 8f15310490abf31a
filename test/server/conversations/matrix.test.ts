/**
 * Any client in front, any provider behind, also when the provider changes: the official SDK of each API in conversations of
 * five turns, whose first provider fails in the third turn, before its calls or between these and their results, and is back
 * in the fourth. No turn fails, and no provider is sent anything that it refuses.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { envelopeBeginnings } from '../../../server/apis/neutral/requests/carried-reasoning.ts';
import { forgetFailures, mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as converse from '../../support/strict-bedrock.ts';
import { bedrockKey, sendException } from '../../support/strict-bedrock.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';
import { answer, type Call, type ClientName, callsOf, clients, type Stage, stageOf, turns } from './clients.ts';

/**
 * Seven providers of the same conversation: the five APIs, and chat in three flavours. Each refuses what its service refuses:
 * unknown members, wrong roles, seals that it did not make, and results that come back without the seal of their call.
 */

interface Upstream {
  model: string;
  /** Where it is, below the upstream's origin. */
  path: string;
  config: Json;
  secret: string;
  script(service: Service): Script;
}

/** One provider during one conversation. */
interface Service {
  /** The requests that it was asked, in order. */
  readonly asked: Stage[];
  /** The statuses of what it refused, which is not what it was too busy for. */
  readonly refusals: number[];
  /** Seals that it gave, by the turn of their calls. */
  readonly seals: Map<number, string>;
  /** Whether it fails with 503 at this stage. */
  isDown(stage: Stage): boolean;
}

function createService(): Service {
  return { asked: [], refusals: [], seals: new Map(), isDown: () => false };
}

/** How an API tells a refusal, and that it is overloaded. */
interface Errors {
  refuse(response: ServerResponse, reason: string): void;
  overloaded(response: ServerResponse): void;
}

const thoughtOf = (turn: number) => `Thought ${turn}.`;

interface Answering {
  errors: Errors;
  /** The seals in the request, which must be the service's own. */
  sealsIn(body: Json): string[];
  /** The seal of the thought of a turn; null if the service wants none back. */
  sealOf(turn: number): string | null;
  send(stage: Stage, calls: readonly Call[], response: ServerResponse): void;
}

/** Answers a request that is valid in its form. */
function converseWith(service: Service, body: Json, response: ServerResponse, how: Answering): void {
  const text = JSON.stringify(body);
  const stage = stageOf(text);
  if (typeof stage === 'string') {
    how.errors.refuse(response, stage);
    return;
  }
  service.asked.push(stage);
  if (service.isDown(stage)) {
    how.errors.overloaded(response);
    return;
  }
  const complaint = complaintAbout(service, text, how.sealsIn(body), stage);
  if (complaint !== null) {
    how.errors.refuse(response, complaint);
    return;
  }
  const seal = how.sealOf(stage.turn);
  if (!stage.isReport && seal !== null) service.seals.set(stage.turn, seal);
  how.send(stage, stage.isReport ? [] : callsOf(stage.turn), response);
}

function complaintAbout(service: Service, text: string, seals: readonly string[], stage: Stage): string | null {
  const envelope = envelopeBeginnings.find((beginning) => text.includes(`"${beginning}`));
  if (envelope !== undefined) return `an envelope of Sluice's, at ${text.indexOf(`"${envelope}`)}`;
  const own = [...service.seals.values()];
  const foreign = seals.find((seal) => !own.includes(seal));
  if (foreign !== undefined) return `a seal that it did not make: ${foreign}`;
  const wanted = stage.isReport ? service.seals.get(stage.turn) : undefined;
  return wanted === undefined || seals.includes(wanted) ? null : `the seal of turn ${stage.turn} is missing`;
}

/** A seal of this service, as a string without meaning in any other. */
const sealed = (name: string, turn: number) => Buffer.from(`${name} sealed ${turn}`).toString('base64');
const idsOf = (calls: readonly Call[], prefix: string) =>
  calls.map(({ name, given }) => ({ id: `${prefix}_${randomUUID()}`, name, given: given as Json }));

/** Every value of these names, at any depth. */
function valuesOf(value: unknown, ...names: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesOf(each, ...names));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (names.includes(name) ? [each] : valuesOf(each, ...names)));
}

const texts = (values: readonly unknown[]) =>
  values.filter((value) => typeof value === 'string' && value !== '') as string[];

const openaiErrors: Errors = {
  refuse: (response, message) =>
    json(response, { error: { message, type: 'invalid_request_error', param: null, code: null } }, 400),
  overloaded: (response) =>
    json(response, { error: { message: 'Overloaded', type: 'server_error', param: null, code: null } }, 503),
};

/** What makes a flavour of chat: the members that it gives with its calls, and wants back. */
interface ChatFlavour {
  reasoning(turn: number, callId: string): Json;
  sealsIn(body: Json): string[];
  sealOf(turn: number): string | null;
  /** What it takes in messages beyond OpenAI's members; null: everything. */
  members: readonly string[];
}

/** Those of OpenAI's reference, with what its SDK adds to an answer. */
const messageMembers = [
  ...['role', 'content', 'name', 'tool_calls', 'tool_call_id'],
  ...['refusal', 'annotations', 'audio', 'function_call', 'parsed'],
];

function ofChat(preset: string, model: string, flavour: ChatFlavour): Upstream {
  const { sealsIn, sealOf, members } = flavour;
  const known = new Set([...messageMembers, ...members]);
  return {
    ...{ model, path: '/v1', secret: 'k', config: { serves: ['chat'], preset } },
    script: (service) =>
      chat.strictChat((body, response) => {
        const unknown = (body.messages as Json[]).flatMap(Object.keys).find((name) => !known.has(name));
        const role = (body.messages as Json[]).find(({ role: each }) => each === 'developer');
        if (unknown !== undefined || role !== undefined) {
          openaiErrors.refuse(response, `property '${unknown ?? 'developer'}' is unsupported`);
          return;
        }
        converseWith(service, body, response, {
          ...{ errors: openaiErrors, sealsIn, sealOf },
          send: (stage, calls) => sendChat(response, body, stage, calls, flavour),
        });
      }),
  };
}

function sendChat(
  response: ServerResponse,
  body: Json,
  stage: Stage,
  calls: readonly Call[],
  flavour: ChatFlavour,
): void {
  const said = answer(stage.turn);
  const called = idsOf(calls, 'call').map(({ id, name, given }) => chat.toolCall(id, name, given));
  const [first] = called;
  const finish = first ? 'tool_calls' : 'stop';
  const reasoning = first ? flavour.reasoning(stage.turn, String(first.id)) : {};
  if (body.stream !== true) {
    json(response, chat.completion(first ? { ...reasoning, tool_calls: called } : { content: said }, finish));
    return;
  }
  const deltas = first
    ? [reasoning, ...called.map((call, index) => ({ tool_calls: [{ index, ...call }] }))]
    : [...said].map((content) => ({ content }));
  chat.sendStream(response, chat.streamOf(deltas, finish));
}

const deepseek = ofChat('deepseek', 'deepseek-reasoner', {
  // It ignores what it does not know.
  members: ['reasoning_content', 'reasoning', 'reasoning_details'],
  reasoning: (turn) => ({ reasoning_content: `DeepSeek ${thoughtOf(turn)}` }),
  // Plain reasoning of others is taken, but that of the calls must be back.
  sealsIn: (body) => texts(valuesOf(body.messages, 'reasoning_content')).filter((text) => text.startsWith('DeepSeek')),
  sealOf: (turn) => `DeepSeek ${thoughtOf(turn)}`,
});

const groq = ofChat('groq', 'openai/gpt-oss-120b', {
  members: ['reasoning'],
  reasoning: (turn) => ({ reasoning: `Groq ${thoughtOf(turn)}` }),
  sealsIn: () => [],
  sealOf: () => null,
});

const openrouterData = (turn: number) => sealed('openrouter', turn);
const openrouter = ofChat('openrouter', 'google/gemini-3-pro-preview', {
  members: ['reasoning', 'reasoning_details', 'reasoning_content'],
  reasoning: (turn, callId) => ({
    reasoning: thoughtOf(turn),
    reasoning_details: [
      { type: 'reasoning.text', text: thoughtOf(turn), format: 'google-gemini-v1', index: 0 },
      {
        type: 'reasoning.encrypted',
        data: openrouterData(turn),
        id: callId,
        format: 'google-gemini-v1',
        index: 1,
      },
    ],
  }),
  sealsIn: (body) => [
    ...texts(valuesOf(valuesOf(body.messages, 'reasoning_details'), 'data', 'signature')).filter(
      (each) => !dummySignatures.includes(each),
    ),
    // It refuses calls without anything of the kind.
    ...(body.messages as Json[]).flatMap(({ tool_calls: called, reasoning_details: details }) =>
      called === undefined || valuesOf(details, 'data').length > 0 ? [] : ['calls without a signature'],
    ),
  ],
  sealOf: openrouterData,
});

const openai: Upstream = {
  ...{ model: 'gpt-5.4', path: '/v1', secret: 'k', config: { serves: ['responses'] } },
  script: (service) =>
    responses.strictResponses((body, response) => {
      converseWith(service, body, response, {
        errors: openaiErrors,
        sealsIn: (asked) => texts(valuesOf(asked.input, 'encrypted_content')),
        sealOf: (turn) => sealed('openai', turn),
        send: ({ turn }, calls) => {
          const thought = {
            ...responses.reasoningWith(thoughtOf(turn)),
            id: `rs_${turn}`,
            encrypted_content: sealed('openai', turn),
          };
          const called = idsOf(calls, 'call').map(({ id, name, given }) => responses.callWith(id, name, given));
          const whole = responses.responseWith(
            calls.length > 0 ? [thought, ...called] : [responses.messageWith(answer(turn))],
          );
          if (body.stream !== true) json(response, whole);
          else chat.sendStream(response, responses.streamOfResponse(whole));
        },
      });
    }),
};

const claude: Upstream = {
  ...{ model: 'claude-opus-5-5', path: '', secret: anthropic.anthropicKey, config: { dialect: 'anthropic' } },
  script: (service) =>
    anthropic.strictAnthropic((body, response) => {
      converseWith(service, body, response, {
        errors: {
          refuse: (to, reason) => anthropic.sendError(to, 400, 'invalid_request_error', reason),
          overloaded: (to) => anthropic.sendError(to, 529, 'overloaded_error', 'Overloaded'),
        },
        sealsIn: ({ messages }) => texts(valuesOf(messages, 'signature')),
        sealOf: (turn) => anthropic.signatureOf(`Claude ${thoughtOf(turn)}`),
        send: ({ turn }, calls) => {
          const called = idsOf(calls, 'toolu').map(({ id, name, given }) => anthropic.toolUse(id, name, given));
          if (calls.length === 0) anthropic.send(response, body, [anthropic.text(answer(turn))]);
          else anthropic.send(response, body, [anthropic.thought(`Claude ${thoughtOf(turn)}`), ...called], 'tool_use');
        },
      });
    }),
};

/** Google's documents name these for calls that another model made ("Thought signatures"). */
const dummySignatures = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'];

const google: Upstream = {
  ...{ model: 'gemini-3-pro', path: '/v1beta', secret: gemini.geminiKey, config: { dialect: 'gemini' } },
  script: (service) =>
    gemini.strictGemini(({ verb, body }, response) => {
      converseWith(service, body, response, {
        errors: {
          refuse: (to, reason) => gemini.sendGoogleError(to, 400, 'INVALID_ARGUMENT', reason),
          overloaded: (to) => gemini.sendGoogleError(to, 503, 'UNAVAILABLE', 'The model is overloaded.'),
        },
        sealsIn: ({ contents }) =>
          texts(valuesOf(contents, 'thoughtSignature')).filter(
            (each) => ![each, Buffer.from(each, 'base64').toString()].some((text) => dummySignatures.includes(text)),
          ),
        sealOf: (turn) => sealed('google', turn),
        send: ({ turn }, calls) => {
          const called = calls.map(({ name, given }, index) => ({
            functionCall: { name, args: given },
            ...(index === 0 && { thoughtSignature: sealed('google', turn) }),
          }));
          const parts: Json[] =
            calls.length > 0 ? [{ text: thoughtOf(turn), thought: true }, ...called] : [{ text: answer(turn) }];
          if (verb === 'generateContent') json(response, gemini.answered(parts));
          else gemini.sendEvents(response, [gemini.answered(parts)]);
        },
      });
    }),
};

const bedrock: Upstream = {
  ...{ model: 'openai.gpt-oss-120b-1:0', path: '', secret: bedrockKey, config: { dialect: 'bedrock' } },
  script: (service) =>
    converse.strictConverse((asked, response) => {
      converseWith(service, asked.body, response, {
        errors: {
          refuse: (to, reason) => sendException(to, 400, 'ValidationException', reason),
          overloaded: (to) => sendException(to, 503, 'ServiceUnavailableException', 'Too busy'),
        },
        sealsIn: ({ messages }) => texts(valuesOf(messages, 'signature')),
        sealOf: (turn) => sealed('bedrock', turn),
        send: ({ turn }, calls) => {
          const called = idsOf(calls, 'tooluse').map(({ id, name, given }) => converse.toolUse(id, name, given));
          const thought = converse.reasoned(thoughtOf(turn), sealed('bedrock', turn));
          if (calls.length === 0) converse.sendConverse(response, asked, [{ text: answer(turn) }]);
          else converse.sendConverse(response, asked, [thought, ...called], 'tool_use');
        },
      });
    }),
};

const upstreams = { deepseek, groq, openrouter, openai, claude, google, bedrock } as const satisfies Record<
  string,
  Upstream
>;
type UpstreamName = keyof typeof upstreams;

/** The provider's script, which notes what it refuses. */
function scriptOf(name: UpstreamName, service: Service): Script {
  const script = upstreams[name].script(service);
  return (request, response, raw) => {
    response.on('finish', () => {
      const { statusCode } = response;
      if (statusCode >= 400 && statusCode < 500) service.refusals.push(statusCode);
    });
    return script(request, response, raw);
  };
}

const names = Object.keys(upstreams) as UpstreamName[];
const clientNames = Object.keys(clients) as ClientName[];
const scripted = new Map<UpstreamName, ScriptedUpstream>();
const services = new Map<UpstreamName, Service>();
let gateway: TestGateway;

/** The provider that stands in, another one for each client. */
function spareOf(first: UpstreamName, client: ClientName): UpstreamName {
  const distance = 1 + (clientNames.indexOf(client) % (names.length - 1));
  return names[(names.indexOf(first) + distance) % names.length] ?? first;
}

beforeAll(async () => {
  const providers = [];
  for (const name of names) {
    const { model, path, config } = upstreams[name];
    const upstream = await startUpstream();
    scripted.set(name, upstream);
    providers.push(mainProvider(`${upstream.origin}${path}`, { id: name, models: [model], ...config }));
  }
  const aliases = names.flatMap((first) =>
    names.map((spare) => ({
      name: `${first}-${spare}`,
      targets: [first, spare].map((provider, priority) => ({ provider, model: upstreams[provider].model, priority })),
    })),
  );
  const secrets = Object.fromEntries(names.map((name) => [`provider/${name}/c1`, upstreams[name].secret]));
  const groups = [{ id: 'default', policy: { retries: 0 } }];
  gateway = await startGateway({ config: { groups, providers, aliases }, secrets });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([...scripted.values()].map((upstream) => upstream.stop()));
});
beforeEach(async () => {
  for (const name of names) {
    const service = createService();
    services.set(name, service);
    scripted.get(name)?.answer(scriptOf(name, service));
    await forgetFailures(gateway, name);
  }
});

const isDownAt = {
  'before its calls': ({ turn }: Stage) => turn === 3,
  'between calls and results': ({ turn, isReport }: Stage) => turn === 3 && isReport,
} as const;

const cases = clientNames.flatMap((client) =>
  names.flatMap((first) =>
    [false, true].flatMap((isStreamed) =>
      Object.entries(isDownAt).map(([when, isDown]) => ({ client, first, isStreamed, when, isDown })),
    ),
  ),
);

describe.each(cases)('$client client, $first fails $when, streamed: $isStreamed', ({ client, first, ...how }) => {
  test('every turn ends with its calls and its answer, and nothing is refused', async () => {
    const spare = spareOf(first, client);
    const service = services.get(first);
    if (service) service.isDown = how.isDown;
    const talk = clients[client]({ gateway, isStreamed: how.isStreamed });
    const alias = `${first}-${spare}`;
    for (const turn of turns) {
      // Sealed reasoning keeps a conversation where it is, so that it goes back only if it is told to.
      if (turn === 4) await forgetFailures(gateway, first);
      const seen = await talk.turn(turn === 4 ? upstreams[first].model : alias, turn);
      expect(seen).toEqual({ calls: callsOf(turn), said: answer(turn) });
    }
    for (const name of [first, spare]) expect([name, services.get(name)?.refusals]).toEqual([name, []]);
    const askedTurns = (name: UpstreamName) => new Set(services.get(name)?.asked.map(({ turn }) => turn));
    expect([...askedTurns(first)]).toEqual(turns);
    expect([...askedTurns(spare)]).toEqual([3]);
  });
});
