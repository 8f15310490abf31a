/**
 * Every resource of the official SDKs, with every method that sends a request: what Sluice does not serve itself goes to a
 * provider of the SDK's own API and to no other one, or is a 404 in that API's form that says what to set.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Registry, servedApis } from '../../../../server/apis/registry.ts';
import { isObject } from '../../../../server/contract/is-object.ts';
import { hashOf, mainProvider, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';

const dialects = ['openai', 'anthropic', 'gemini'] as const;
type Dialect = (typeof dialects)[number];

let upstreams: Record<Dialect, ScriptedUpstream>;
let gateway: TestGateway;

beforeAll(async () => {
  const script = (_request: unknown, response: Parameters<typeof json>[0]) => json(response, made);
  const [openai, anthropic, gemini] = await Promise.all(dialects.map(() => startUpstream(script)));
  if (!openai || !anthropic || !gemini) throw new Error('There is no upstream.');
  upstreams = { openai, anthropic, gemini };
  gateway = await startGateway({
    config: {
      // What no upstream here answers in its API's form would be asked again after a pause.
      groups: dialects.map((id) => ({ id, passthrough: id, deleteUnknown: 'allow' as const, policy: { retries: 0 } })),
      keys: dialects.map((id) => ({ id, group: id, hash: hashOf(`key-of-${id}`) })),
      providers: dialects.map((dialect) => mainProvider(upstreams[dialect].baseUrl, { id: dialect, dialect })),
    },
    secrets: Object.fromEntries(dialects.map((id) => [`provider/${id}/c1`, `secret-of-${id}`])),
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(dialects.map((dialect) => upstreams[dialect].stop()));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** What every upstream answers, whatever it is asked. */
const made = { id: 'made-1', data: [], has_more: false, done: true, files: [], status: 'completed' };

interface Asked {
  method: string;
  url: URL;
  headers: Headers;
  status: number;
  text: string;
}

/** The requests that a program sends while it runs. */
async function requestsOf(run: () => Promise<void>): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  const send = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const response = await send(input, init);
    const text = await response.clone().text();
    const { method, url, headers } = request;
    // OpenAI's and Anthropic's SDKs try out whether this `fetch` sends forms.
    if (url.startsWith(gateway.origin))
      asked.push({ method, url: new URL(url), headers, status: response.status, text });
    return response;
  });
  await run();
  vi.restoreAllMocks();
  return asked;
}

/** Those that wait for something, read what they are given, or send more than one request. */
const unsuitable = /^_|^(?:stream|thread|constructor|runTools)$|poll|wait|worker|runner|Stream$|parse|unwrap|connect/i;

interface Walk {
  /** Arguments for a method of a resource, by its source text. */
  argumentsFor(resource: string, source: string): readonly unknown[];
}

/** Calls each method of each resource below `parent`. A call that cannot be made with such arguments sends nothing. */
async function walk(parent: object, name: string, by: Walk): Promise<void> {
  for (const [member, value] of Object.entries(parent)) {
    if (/^_|^logger$|client$/i.test(member) || !isObject(value) || !/^[A-Z]/.test(value.constructor?.name ?? ''))
      continue;
    const isResource = !['Object', 'Array', 'Map', 'Set', 'URL'].includes(value.constructor.name);
    if (!isResource) continue;
    const resource = `${name}${member}`;
    const own = [...Object.getOwnPropertyNames(Object.getPrototypeOf(value)), ...Object.keys(value)];
    for (const method of new Set(own)) {
      const call = value[method];
      if (typeof call !== 'function' || unsuitable.test(method)) continue;
      await attempt(() => call.apply(value, by.argumentsFor(resource, call.toString())));
    }
    await walk(value, `${resource}.`, by);
  }
}

async function attempt(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch {
    // The SDK refuses such arguments, or tells the error with which Sluice has answered: what was sent is looked at.
  }
}

const ids = [
  'agent skill session environment vault memory_store memory memory_version credential user_profile thread work dream',
  'deployment deployment_run resource version tunnel certificate file message_batch vector_store batch run container',
  'upload eval run assistant message project user group role fine_tuning_job completion conversation item skill',
].flatMap((line) => line.split(' '));
const anyParameters = {
  ...Object.fromEntries(ids.map((name) => [`${name}_id`, 'obj-2'])),
  version: '7',
  file: new File(['x'], 'x.txt'),
  files: [new File(['x'], 'x.txt')],
  model: 'gpt-x',
  messages: [{ role: 'user', content: 'Hi' }],
  input: 'Hi',
  prompt: 'Hi',
  max_tokens: 9,
};

/** Methods of OpenAI's and Anthropic's SDKs take ids first, then parameters. */
const byIds: Walk = {
  argumentsFor(_resource, source) {
    const parameters = (/^\s*(?:async )?\w+\(([^)]*)/.exec(source)?.[1] ?? '').split(',').map((each) => each.trim());
    return parameters.flatMap((name) => {
      if (/^options/.test(name)) return [];
      return [/ID\b|Id\b|^(?:id|model|version|name)\b/.test(name) ? 'obj-1' : { ...anyParameters }];
    });
  },
};

const googleNames: Record<string, string> = {
  files: 'files/obj-1',
  caches: 'cachedContents/obj-1',
  batches: 'batches/obj-1',
  fileSearchStores: 'fileSearchStores/obj-1',
  'fileSearchStores.documents': 'fileSearchStores/obj-1/documents/obj-2',
  tunings: 'tunedModels/obj-1',
};

/** Methods of Google's SDK take one object. */
const byName: Walk = {
  argumentsFor(resource) {
    const name = googleNames[resource] ?? 'obj-1';
    const operation = { name: 'models/veo-3/operations/obj-1', _fromAPIResponse: () => ({}) };
    return [
      {
        name,
        model: 'veo-3',
        contents: 'Hi',
        prompt: 'Hi',
        src: [{ contents: [{ parts: [{ text: 'Hi' }] }] }],
        file: new Blob(['x'], { type: 'text/plain' }),
        fileSearchStoreName: 'fileSearchStores/obj-1',
        parent: 'fileSearchStores/obj-1',
        fileName: 'files/obj-1',
        operation,
        input: 'Hi',
        config: {},
      },
    ];
  },
};

const walks: Record<string, { dialect: Dialect; run(key: string): Promise<void>; least: number }> = {
  'openai’s': {
    dialect: 'openai',
    run: (apiKey) => walk(new OpenAI({ apiKey, baseURL: gateway.baseUrl, maxRetries: 0 }), '', byIds),
    least: 100,
  },
  'anthropic’s': {
    dialect: 'anthropic',
    run: (apiKey) => walk(new Anthropic({ apiKey, baseURL: gateway.origin, maxRetries: 0 }), '', byIds),
    least: 100,
  },
  'google’s of /v1beta': { dialect: 'gemini', run: (key) => walkGoogle(key, 'v1beta'), least: 20 },
  'google’s of /v1': { dialect: 'gemini', run: (key) => walkGoogle(key, 'v1'), least: 20 },
};

async function walkGoogle(apiKey: string, apiVersion: string): Promise<void> {
  const client = new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl: gateway.origin } });
  const { interactions } = client;
  await walk(client, '', byName);
  await attempt(() => interactions.create({ model: 'gemini-x', input: 'Hi' }));
  await attempt(() => interactions.get('obj-1'));
  await attempt(() => interactions.cancel('obj-1'));
  await attempt(() => interactions.delete('obj-1'));
}

const registry = new Registry(servedApis);

/** Whether Sluice neither serves the request itself nor refuses it to everyone. */
function isPassed({ method, url, headers }: Asked): boolean {
  const location = registry.locate(url.pathname + url.search, Object.fromEntries(headers));
  if (location.api.models?.askedIn(location.path) != null && method !== 'DELETE') return false;
  if (/^\/organizations?\b|^\/projects\b|^\/videos$/.test(location.path)) return false;
  return registry.find(method, location).passthrough !== null;
}

const shapes: Record<Dialect, object> = {
  openai: { error: { code: 'unknown_url', type: 'invalid_request_error' } },
  anthropic: { type: 'error', error: { type: 'not_found_error' } },
  gemini: { error: { code: 404, status: 'NOT_FOUND' } },
};

const clear = () => {
  for (const dialect of dialects) upstreams[dialect].seen.length = 0;
};
const shown = ({ method, url }: Asked) => `${method} ${url.pathname}`;

describe.each(Object.entries(walks))('every resource of %s SDK', (_name, { dialect, run, least }) => {
  test('reaches a provider of its own API, and no other one', async () => {
    clear();
    const asked = (await requestsOf(() => run(`key-of-${dialect}`))).filter(isPassed);
    expect(asked.length).toBeGreaterThan(least);
    expect(asked.filter(({ status }) => status !== 200).map((each) => [shown(each), each.text])).toEqual([]);
    const own = upstreams[dialect].seen.map(({ method, url }) => `${method} ${withoutVersion(url)}`);
    const wanted = asked.map(({ method, url }) => `${method} ${withoutVersion(url.pathname)}`);
    expect(wanted.filter((each) => !own.includes(each))).toEqual([]);
    for (const { headers } of upstreams[dialect].seen)
      expect(JSON.stringify(headers)).toContain(`secret-of-${dialect}`);
  });

  test.each(dialects.filter((other) => other !== dialect))('is a 404 of its own API where %s is set', async (other) => {
    clear();
    const asked = (await requestsOf(() => run(`key-of-${other}`))).filter(isPassed);
    expect(asked.length).toBeGreaterThan(least);
    for (const each of asked) {
      expect([each.status, shown(each)]).toEqual([
        expect.toSatisfy((status) => status === 404 || status === 405),
        shown(each),
      ]);
      const error = JSON.parse(each.text);
      if (each.status === 404) expect(error).toMatchObject(shapes[dialect]);
      expect(error.error.message).toMatch(/speaks another API.*--passthrough PROVIDER/);
    }
    const passed = new Set(asked.map((each) => `${each.method} ${withoutVersion(each.url.pathname)}`));
    const seen = dialects.flatMap((each) => upstreams[each].seen);
    expect(seen.filter(({ method, url }) => passed.has(`${method} ${withoutVersion(url)}`))).toEqual([]);
  });
});

/** Google's SDK puts a version before the path of an upload, which has its own. */
function withoutVersion(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.replaceAll(/\/v1(?:beta)?(?=\/)/g, '');
}
