/** Amazon Bedrock as a provider: how it is addressed, and its models. */
import { isObject } from '../../../contract/is-object.ts';
import { identify } from '../../../contract/model-identity.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { ResponseHeaders } from '../../../transport/transport.ts';
import {
  allAvailable,
  type Dialect,
  type Envelope,
  type EnvelopedRequest,
  type HostedModel,
  type ModelPages,
  type SignedRequest,
  type Signing,
} from '../../core/dialects/dialect.ts';
import {
  claudeErrorType,
  countingPath,
  plainHeaders,
  sortBetas,
  withMarkedBlock,
  writeClaudeError,
} from '../../core/dialects/hosted-claude.ts';
import { type FrameFormat, frames, objectIn, onOneLine } from './frames.ts';

const foundationModels = '/foundation-models?byInferenceType=ON_DEMAND';
const inferenceProfiles = '/inference-profiles?maxResults=1000&typeEquals=SYSTEM_DEFINED';

/**
 * The models of a region: first those that are called by their own name, then the inference profiles, through which all
 * newer models are called. Sources: Amazon Bedrock API reference, "ListFoundationModels", "ListInferenceProfiles".
 */
export const bedrockModelPages: ModelPages = {
  first: foundationModels,
  after(page, query) {
    if (query === foundationModels) return inferenceProfiles;
    const token = isObject(page) ? page.nextToken : undefined;
    return typeof token === 'string' && token !== ''
      ? `${inferenceProfiles}&nextToken=${encodeURIComponent(token)}`
      : null;
  },
  place: ({ origin, basePath }, query) => ({
    // The control plane serves the lists, at `bedrock.us-east-1.amazonaws.com`.
    origin: origin.replace('//bedrock-runtime', '//bedrock'),
    path: basePath + query,
    headers: {},
  }),
  // "User: arn:aws:iam::… is not authorized to perform: bedrock:ListFoundationModels" (Amazon Bedrock user guide, "Troubleshooting").
  isRightMissing: (status, body) => status === 403 && body.includes('is not authorized to perform: bedrock:List'),
  read(page) {
    if (!isObject(page)) return null;
    if (Array.isArray(page.modelSummaries)) return page.modelSummaries.filter(isServed).map(nameOf('modelId'));
    if (!Array.isArray(page.inferenceProfileSummaries)) return null;
    return page.inferenceProfileSummaries.filter(isObject).map(nameOf('inferenceProfileId'));
  },
};

/** Models that write text or make embeddings. */
function isServed(summary: unknown): summary is Record<string, unknown> {
  if (!isObject(summary) || typeof summary.modelId !== 'string') return false;
  const model = summary.modelId;
  if (makesEmbeddings(model)) return true;
  return Array.isArray(summary.outputModalities) && summary.outputModalities.includes('TEXT');
}

function nameOf(field: string): (entry: Record<string, unknown>) => unknown {
  return (entry) => entry[field];
}

/**
 * Amazon Bedrock. Base URLs are those of its runtime: `https://bedrock-runtime.us-east-1.amazonaws.com`. A credential
 * is either a Bedrock API key or an AWS access key, which signs each request. Source: Amazon Bedrock API reference.
 */
export const bedrockDialect: Dialect = {
  id: 'bedrock',
  // The envelope puts it in, percent-encoded, because the ARN of an inference profile contains slashes.
  putsModelInPath: false,
  address: ({ basePath }, path, query) => basePath + path + query,
  serves: () => false,
  conversationWire: 'bedrock-converse',
  embeddingsWire: null,
  defaultHeaders: {},
  bindsReasoning: true,
  modelPages: bedrockModelPages,
  hasUnlistedModels: true,
  authorize: (secret) => (readAwsKeys(secret) ? {} : { authorization: `Bearer ${secret}` }),
  signing(secret) {
    const keys = readAwsKeys(secret);
    return keys && awsSigning(keys);
  },
  hosted: modelOnBedrock,
};

/** Kinds of resources whose ARN does not reveal the model, but which are never Claude. */
const others = ['imported-model/', 'custom-model-deployment/'];

/**
 * Claude is called through InvokeModel, which accepts all of Anthropic's API; all other models through Converse. A name
 * that does not reveal its maker, such as the ARN of an application inference profile, is treated as Claude.
 * @param model `us.anthropic.claude-opus-4-5-20251101-v1:0`, `amazon.nova-pro-v1:0`, or an ARN
 */
export function modelOnBedrock(model: string): HostedModel {
  const { maker } = identify(model);
  const isClaude = maker === 'anthropic' || (maker === null && !model.slice(model.lastIndexOf('/') + 1).includes('.'));
  return isClaude && !others.some((kind) => model.includes(kind)) ? claudeOnBedrock(model) : converseOnBedrock(model);
}

/**
 * As of 2026-11-22. Sources: Amazon Bedrock user guide, "Anthropic Claude Messages API"; for the betas of 2026,
 * BerriAI/litellm (`anthropic_beta_headers_config.json`).
 */
const betas: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'output-128k-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'dev-full-thinking-2025-05-14',
  'fine-grained-tool-streaming-2025-05-14',
  'context-management-2025-06-27',
  'context-1m-2025-08-07',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
  'effort-2025-11-24',
  'compact-2026-01-12',
  'mid-conversation-output-config-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
]);

/** Claude through InvokeModel: Anthropic's API, with the model in the path and streams in AWS's frames. */
export function claudeOnBedrock(model: string): HostedModel {
  return {
    wire: 'anthropic-messages',
    embeddingsWire: null,
    countsTokens: countedModel(model) !== null,
    envelope: (request) =>
      request.path === countingPath ? countEnvelope(model, request) : claudeEnvelope(model, request),
    errorBody: claudeErrorBody,
    unpacking: unpackingOf(claudeFrames),
  };
}

/**
 * The model name for counting tokens: that of the model itself instead of an inference profile
 * (Portkey-AI/gateway#1437). null for an ARN that does not name its model.
 */
function countedModel(model: string): string | null {
  const from = model.lastIndexOf('anthropic.');
  return from === -1 ? null : model.slice(from);
}

/** The counted request must be complete. Source: Amazon Bedrock API reference, "CountTokens". */
function countEnvelope(model: string, request: EnvelopedRequest): Envelope {
  const messageEnvelope = claudeEnvelope(model, request);
  return {
    ...messageEnvelope,
    path: `/model/${encodeURIComponent(countedModel(model) ?? model)}/count-tokens`,
    rewrite: (body, write) => {
      const complete = write({ ...withMarkedBlock(body), max_tokens: mostThought(body.thinking) + 1 });
      return { input: { invokeModel: { body: Buffer.from(complete).toString('base64') } } };
    },
  };
}

/** The thinking budget in tokens. The limit of an answer must be higher. */
function mostThought(thinking: unknown): number {
  return isObject(thinking) && typeof thinking.budget_tokens === 'number' ? thinking.budget_tokens : 0;
}

function claudeEnvelope(model: string, request: EnvelopedRequest): Envelope {
  const { headers, isStream } = request;
  const { accepted, unavailable } = sortBetas(headers['anthropic-beta'], betas, model);
  const version = { anthropic_version: 'bedrock-2023-05-31' };
  return {
    path: `/model/${encodeURIComponent(model)}/${isStream ? 'invoke-with-response-stream' : 'invoke'}`,
    headers: { ...plainHeaders(headers), accept: isStream ? frames : 'application/json' },
    omitted: ['model', 'stream'],
    unavailable,
    added: accepted.length === 0 ? version : { ...version, anthropic_beta: accepted },
    rewrite: withMarkedBlock,
  };
}

/** Bedrock's errors are `{"message":"…"}`; their name is in a header. */
function claudeErrorBody(status: number, headers: ResponseHeaders, body: Buffer): Buffer {
  const name = headers['x-amzn-errortype'];
  const message = messageIn(body);
  if (message === null) return body;
  const type = (typeof name === 'string' && exceptionType(name, message)) || claudeErrorType(status);
  return writeClaudeError(type, message);
}

/**
 * Frames of InvokeModelWithResponseStream for Claude. A `chunk` contains `{"bytes":"…"}`, an event of Anthropic's API
 * in base64. Source: Amazon Bedrock API reference, `ResponseStream`.
 */
export const claudeFrames: FrameFormat = {
  eventWriter: () => writeEvent,
  exception: (name, message) =>
    `event: error\ndata: ${writeClaudeError(exceptionType(name, message) ?? 'api_error', message)}\n\n`,
};

function writeEvent(payload: Buffer): string | null {
  const { bytes } = objectIn(payload);
  return typeof bytes === 'string' ? eventOf(Buffer.from(bytes, 'base64')) : '';
}

/** The name of an event is its type. */
function eventOf(json: Buffer): string | null {
  const { type } = objectIn(json);
  return typeof type === 'string' ? `event: ${type}\ndata: ${onOneLine(json)}\n\n` : null;
}

/**
 * Models on Bedrock through its Converse API, which is the same for all of them. Models that make embeddings are called
 * through InvokeModel. Source: Amazon Bedrock API reference, "Converse".
 */
export function converseOnBedrock(model: string): HostedModel {
  return {
    wire: 'bedrock-converse',
    embeddingsWire: makesEmbeddings(model) ? 'bedrock-embeddings' : null,
    countsTokens: false,
    envelope: (request) => converseEnvelope(model, request),
    errorBody: converseErrorBody,
    unpacking: unpackingOf(converseFrames),
  };
}

function converseEnvelope(model: string, { path, headers }: EnvelopedRequest): Envelope {
  return {
    path: path.replace('{model}', () => encodeURIComponent(model)),
    headers: { ...headers, accept: path.endsWith('-stream') ? frames : 'application/json' },
    omitted: [],
    added: {},
    unavailable: allAvailable,
  };
}

/** Writes each event as an object whose only member is named after its type, as in AWS's SDKs. */
export const converseFrames: FrameFormat = {
  eventWriter(type) {
    const begin = `data: {${JSON.stringify(type)}:`;
    return (payload) => `${begin}${onOneLine(payload)}}\n\n`;
  },
  exception: (name, message) => `data: ${writeError(name, message)}\n\n`,
};

/**
 * An error whose header is like `ThrottlingException:http://internal.amazon.com/coral/`, rewritten with its name in the
 * body.
 */
function converseErrorBody(_status: number, headers: ResponseHeaders, body: Buffer): Buffer {
  const name = headers['x-amzn-errortype'];
  const message = messageIn(body);
  return message === null ? body : Buffer.from(writeError(typeof name === 'string' ? name : '', message));
}

/** In streams, the names of exceptions begin with a lower-case letter. */
function writeError(name: string, message: string): string {
  const [shortName = ''] = name.split(':');
  const typeName = shortName.charAt(0).toUpperCase() + shortName.slice(1);
  const type = typeName === 'ValidationException' && isUnknownModel(message) ? 'ResourceNotFoundException' : typeName;
  return JSON.stringify({ error: { type, message } });
}

/** `amazon.titan-embed-text-v2:0`, `us.cohere.embed-v4:0`, or an ARN that ends in such a name. */
const embeddingModel = boundedPattern(/(?:^|[./])(?:amazon\.titan-embed-(?:g1-)?text|cohere\.embed)-[^/]{0,200}$/);

/** Whether the model makes text embeddings in a format that Sluice knows. */
function makesEmbeddings(model: string): boolean {
  return embeddingModel.test(model);
}

const types: Record<string, string> = {
  validationexception: 'invalid_request_error',
  accessdeniedexception: 'permission_error',
  unrecognizedclientexception: 'authentication_error',
  expiredtokenexception: 'authentication_error',
  invalidsignatureexception: 'authentication_error',
  resourcenotfoundexception: 'not_found_error',
  throttlingexception: 'rate_limit_error',
  servicequotaexceededexception: 'rate_limit_error',
  modelnotreadyexception: 'overloaded_error',
  serviceunavailableexception: 'overloaded_error',
  modeltimeoutexception: 'timeout_error',
  internalserverexception: 'api_error',
  modelerrorexception: 'api_error',
  modelstreamerrorexception: 'api_error',
};

/**
 * Bedrock reports an unknown model as invalid input: "The provided model identifier is invalid.", "Invocation of model ID … with
 * on-demand throughput isn’t supported."
 */
const unknownModel = boundedPattern(
  /^(?:The provided model identifier is invalid|Invocation of model ID \S{1,200} with on-demand)/,
);

/** Errors of Bedrock: their names, statuses and bodies. */
function isUnknownModel(message: string): boolean {
  return unknownModel.test(message);
}

/**
 * undefined for an unknown exception.
 * @param name `ThrottlingException`, `throttlingException`, or with a namespace after a colon
 */
function exceptionType(name: string, message: string): string | undefined {
  const [shortName = ''] = name.split(':');
  const type = types[shortName.toLowerCase()];
  return type === 'invalid_request_error' && isUnknownModel(message) ? 'not_found_error' : type;
}

/** Longer bodies are not Bedrock's. */
const maxErrorBytes = 64 * 1024;

/** null if the body is not a Bedrock error. */
function messageIn(body: Buffer): string | null {
  if (body.length > maxErrorBytes) return null;
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const message = isObject(parsed) && !('error' in parsed) ? (parsed.message ?? parsed.Message) : null;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** Unpacking for streams of these frames. The package that decodes them is loaded with the first stream. */
function unpackingOf(format: FrameFormat): NonNullable<HostedModel['unpacking']> {
  return {
    contentType: frames,
    load: async () => {
      const { FrameUnpacker } = await import('./frame-unpacker.ts');
      return () => new FrameUnpacker(format);
    },
  };
}

// AWS access keys, with which each request is signed (Signature Version 4).

interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** `AKIA…:secret`, or `ASIA…:secret:session token` for temporary keys. */
const joined = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([^:\s]{1,200})(?::(\S{1,8192}))?$/;

/**
 * Reads the keys from a credential's secret: joined by colons, or as JSON in the format of
 * `aws configure export-credentials`. null for a Bedrock API key.
 */
export function readAwsKeys(secret: string): AwsKeys | null {
  if (secret.startsWith('{')) return keysIn(secret);
  const [, accessKeyId, secretAccessKey, sessionToken] = joined.exec(secret) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

function keysIn(json: string): AwsKeys | null {
  try {
    const parsed: unknown = JSON.parse(json);
    if (!isObject(parsed)) return null;
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = parsed;
    if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') return null;
    const keys = { accessKeyId, secretAccessKey };
    return typeof sessionToken === 'string' ? { ...keys, sessionToken } : keys;
  } catch {
    return null;
  }
}

const regionInHost = /^bedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws|api\.aws)/;
/** For addresses that do not contain a region, such as the alias of a VPC endpoint. */
const usualRegion = 'us-east-1';

/** AWS refuses signatures whose time differs more from its own. */
const mostSkewMs = 5 * 60_000;

/** @param now in milliseconds since 1970 */
export function awsSigning(keys: AwsKeys, now: () => number = Date.now): Signing {
  /** How far AWS's clock is ahead of this machine's; 0 until a request has been refused for that. */
  let aheadMs = 0;
  return {
    secrets: [keys.secretAccessKey, ...(keys.sessionToken === undefined ? [] : [keys.sessionToken])],
    async headersFor(request) {
      // Loaded on first use, because most users have no AWS account.
      const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
        import('@smithy/signature-v4'),
        import('@aws-crypto/sha256-js'),
      ]);
      const { hostname } = new URL(request.origin);
      const region = regionInHost.exec(hostname)?.[1] ?? usualRegion;
      const signer = new SignatureV4({ service: 'bedrock', region, credentials: keys, sha256: Sha256 });
      const signed = await signer.sign(toSign(request), { signingDate: new Date(now() + aheadMs) });
      return newHeaders(signed.headers);
    },
    // Relative to the time of the signature, as in AWS's SDKs, because other requests may have been refused and
    // corrected in the meantime.
    correctClock({ 'x-amz-date': signedAt = '' }, { date }) {
      const serverMs = Date.parse(String(date));
      const skewMs = Math.abs(serverMs - Date.parse(signedAt.replace(basicTime, '$1-$2-$3T$4:$5:$6Z')));
      // NaN without these times.
      if (!(skewMs >= mostSkewMs)) return false;
      aheadMs = serverMs - now();
      return true;
    },
  };
}

/** `20261122T000000Z` */
const basicTime = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Only the headers that AWS reads are signed, because proxies may change others. */
function toSign({ origin, method, path, headers, body }: SignedRequest) {
  const { protocol, host, hostname, pathname, searchParams } = new URL(origin + path);
  if (body !== null && !Buffer.isBuffer(body)) throw new Error('unreachable: conversations are sent from memory');
  const type = headers['content-type'];
  return {
    protocol,
    hostname,
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host, ...(type !== undefined && { 'content-type': String(type) }) },
    ...(body && { body }),
  };
}

/** The transport sets the host itself. */
function newHeaders(signed: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(signed).flatMap(([name, value]) => {
      const lower = name.toLowerCase();
      return lower === 'host' || lower === 'content-type' ? [] : [[lower, value]];
    }),
  );
}
