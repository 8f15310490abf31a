/**
 * What an upstream's error means, whatever API it came from: the status decides, the words only refine it. The router
 * takes the class, the APIs' writers the meaning (`tellError`), so that both follow from one judgement. Pure.
 *
 * Sources: OpenAI, "Error codes"; Anthropic, "Errors"; Google, "Troubleshooting guide" and `google.rpc.Code`; Amazon
 * Bedrock API reference, "Converse" and "ConverseStream", Errors; AWS, "Common error types".
 */
import type { FailureClass } from '../../../contract/ledger.ts';
import type { ConnectionFault } from '../../../contract/provider-views.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { refusedMemberIn } from '../chat-flavour.ts';
import type { Overflow, UpstreamError } from '../upstream-error.ts';
import type { HeaderFields } from '../wire.ts';
import { overflowIn } from './context-overflow.ts';
import { isPolicyName, isRequestCode, type Meaning, named, rateName, statusOfError } from './error-names.ts';
import { toldWaitMs } from './told-wait.ts';

/** Another attempt is of no use: nobody waits for it, or this machine cannot make it. */
export function endsAllAttempts({ class: failure }: Failure): boolean {
  return failure === 'client-gone' || failure === 'shortage';
}

/** What kind of failure an upstream's response, or its silence, is. */
export interface Failure {
  class: FailureClass;
  /** Whether the same target with the same credential may soon succeed. */
  retryable: boolean;
  /** The delay that the upstream asked for; null if it did not. */
  retryAfterMs: number | null;
  /** Why there was no answer, or none of use. */
  fault?: ConnectionFault;
  /** The upstream itself reported it, as an error of its API. */
  isAnswer?: boolean;
  /** For `too-large`: the model's context size, if the upstream states it. */
  contextTokens?: number;
  /** The request may succeed without the conversation's reasoning, which another account produced or the client changed. */
  refusesReasoning?: boolean;
  /** A member of the request that the upstream refuses, although the answer would have the same meaning without it. */
  refusesMember?: string;
  /** The upstream had closed a connection kept from earlier calls, which says nothing about its health. */
  isStale?: boolean;
  /** For a rescue: the target's text differed, but it can be asked to continue the client's text. */
  continues?: boolean;
  /** The model's answer is nothing but a call that its provider could not read: another answer may be well. */
  isMalformedCall?: boolean;
  /** The answer had content, was paid for, and cannot be used: no other one is bought, as none is once a stream has begun. */
  isSpent?: boolean;
  /** For `credential`: it lacks the right for this kind of request, and may be used for others. */
  lacksOneRight?: boolean;
  /** For `credential`: it was not the credential but the time of the signature, which has been corrected. */
  isClockCorrected?: boolean;
  /** For `model-unavailable`: the credential may not use the model; another one of the provider may. */
  isDenied?: boolean;
  /** For a purchase (`isPurchase`): the upstream may have made and billed what was asked for, and its answer is lost. */
  isLost?: boolean;
  /** For `rejected`: only this target cannot serve the request, such as for lack of the route. Another target may accept it. */
  isOnlyHere?: boolean;
}

interface FailedAnswer {
  /** 400 or above. */
  status: number;
  headers: HeaderFields;
  /** Null if the body contains no known form of error. */
  error: UpstreamError | null;
  /** The request names a job, so 404 and 409 refer to it. */
  isAboutJob: boolean;
  /** The body is a page for people, which is no answer of the service. */
  isPage?: boolean;
}

interface ErrorVerdict {
  meaning: Meaning;
  /** For a context that is too long. */
  overflow: Overflow | null;
}

const classOf: Record<Meaning, FailureClass> = {
  invalid: 'rejected',
  policy: 'rejected',
  missing: 'rejected',
  'no-route': 'rejected',
  oversize: 'rejected',
  loop: 'rejected',
  clash: 'rejected',
  context: 'too-large',
  large: 'too-large',
  'no-model': 'model-unavailable',
  denied: 'model-unavailable',
  region: 'model-unavailable',
  unsupported: 'model-unavailable',
  'never-fits': 'model-unavailable',
  credential: 'credential',
  right: 'credential',
  quota: 'quota',
  rate: 'rate-limit',
  'not-ready': 'transient',
  conflict: 'transient',
  timeout: 'transient',
  overloaded: 'transient',
  failed: 'transient',
  page: 'transient',
  'proxy-size': 'transient',
};

/** What the attempt loop makes of an error response. */
export function failureBy(failed: FailedAnswer): Failure {
  const { meaning, overflow } = verdictOn(failed);
  const { status, headers, error } = failed;
  const failureClass = classOf[meaning];
  const message = error?.message ?? '';
  const isPassing = (failureClass === 'transient' && meaning !== 'proxy-size') || failureClass === 'rate-limit';
  const refusedMember = error && (status === 400 || status === 422) ? refusedMemberIn(error) : null;
  const isDenied = meaning === 'denied' || (meaning === 'no-model' && accessWords.test(message));
  return {
    class: failureClass,
    retryable: isPassing && headers['x-should-retry'] !== 'false',
    retryAfterMs: error?.retryAfterMs ?? toldWaitMs(headers, failureClass === 'rate-limit'),
    ...(overflow?.limit && { contextTokens: overflow.limit }),
    ...(meaning === 'right' || meaning === 'credential' ? scopeOf(message) : {}),
    ...(isDenied && { isDenied: true }),
    ...(meaning === 'no-route' && { isOnlyHere: true }),
    ...(status === 400 && meaning === 'invalid' && reasoningWords.test(message) && { refusesReasoning: true }),
    ...(refusedMember !== null && { refusesMember: refusedMember }),
  };
}

/** Of OpenAI's restricted keys: "You have insufficient permissions for this operation. Missing scopes: api.responses.write." */
const scopeWords = boundedPattern(/missing scopes/i);
/** "The model `o3` does not exist or you do not have access to it.", with status 404. */
const accessWords = boundedPattern(/you do not have access/i);
/**
 * "Invalid `signature` in `thinking` block", "Expected `thinking` or `redacted_thinking`, but found `tool_use`", "`thinking` or
 * `redacted_thinking` blocks in the latest assistant message cannot be modified", "thinking.signature: Field required"
 * (tombii/better-ccflare#52, BerriAI/litellm#15601, anomalyco/opencode#25005); and of models that refuse even their own:
 * "User messages cannot contain reasoning content" (langchain-ai/langchain-aws#401, zed-industries/zed#32341). OpenAI: "The
 * encrypted content gAAA… could not be verified" (openai/codex#8128). Google: "Corrupted thought signature." (anomalyco/opencode#4832).
 */
const reasoningWords = boundedPattern(
  /Invalid `signature` in `thinking`|Expected `(?:redacted_)?thinking`|`thinking` or `redacted_thinking` blocks|thinking\.signature: Field required|^User messages cannot contain reasoning content|encrypted content \S{1,64} could not be verified|Corrupted thought signature/,
);

function scopeOf(message: string): Pick<Failure, 'lacksOneRight'> {
  return scopeWords.test(message) ? { lacksOneRight: true } : {};
}

/** Errors may echo the request after their first words. */
const maxReadLength = 1024;

/** The parts of an error that decide what it means. */
interface Words {
  message: string;
  type: string;
  code: string;
  /** The code, or the type if it is all there is. */
  name: string;
  param: string | null;
  isText: boolean;
  retryAfterMs: number | null;
}

function verdictOn({ status, error, isAboutJob, isPage = false }: Omit<FailedAnswer, 'headers'>): ErrorVerdict {
  const overflow = error && mayBeOverflow(status) ? overflowIn({ ...error, ...shortened(error) }) : null;
  if (overflow) return { meaning: 'context', overflow };
  const words = error && wordsOf(error);
  const meaning = meaningOf(status, words, isAboutJob);
  return { meaning: isPage && isAboutRequest(meaning) ? 'page' : meaning, overflow };
}

/** Whose fault it is, a page cannot say: a firewall or a proxy on the way sends the same. */
function isAboutRequest(meaning: Meaning): boolean {
  return ['rejected', 'credential', 'quota'].includes(classOf[meaning]) && meaning !== 'missing';
}

/** llama.cpp also answers 500 (ggml-org/llama.cpp#19774). 429 and the statuses about accounts keep their meaning whatever the words. */
function mayBeOverflow(status: number): boolean {
  return status === 400 || status === 413 || status === 422 || status >= 500;
}

function shortened({ message, type, code }: UpstreamError): Pick<UpstreamError, 'message' | 'type' | 'code'> {
  return {
    message: message.slice(0, maxReadLength),
    type: type.slice(0, maxReadLength),
    code: code.slice(0, maxReadLength),
  };
}

function wordsOf(error: UpstreamError): Words {
  const short = shortened(error);
  const { param, isText = false, retryAfterMs } = error;
  return { ...short, name: short.code || short.type, param, isText, retryAfterMs };
}

function meaningOf(status: number, words: Words | null, isAboutJob: boolean): Meaning {
  if (words && isRequestCode(words.name)) return 'policy';
  if (status === 402 || (words && isAboutMoney(words))) return 'quota';
  switch (status) {
    case 401:
      return 'credential';
    case 403:
      return words ? meaningOf403(words) : 'right';
    case 404:
      return meaningOf404(words, isAboutJob);
    case 405:
    case 501:
      return 'unsupported';
    case 409:
      return isAboutJob ? 'clash' : 'conflict';
    case 413:
      return meaningOf413(words);
    case 408:
    case 424:
    case 425:
    case 499:
      return 'failed';
    case 429:
      return words ? meaningOf429(words) : 'rate';
    // A loop of gateways, which each further attempt would extend.
    case 508:
      return 'loop';
    default:
      return status >= 500 ? meaningOf5xx(status, words) : meaningOf400(status, words, isAboutJob);
  }
}

const moneyName = boundedPattern(
  /^(?:insufficient_quota|credit_balance_exhausted|insufficient_balance|billing_\w+|quota_exceeded|exceeded_current_quota_error|enforced_spend_limit_reached|402)$/i,
);
const moneyWords = boundedPattern(
  /credit balance|insufficient (?:balance|funds|credits?)|billing|out of credits|used all available credits|free tier|prepa(?:id|yment)|余额不足|欠费/i,
);
/**
 * An account without credit, or at the limit that its owner has set, is reported with 400 `invalid_request_error` by Anthropic:
 * "Your credit balance is too low to access the Anthropic API", "You have reached your specified API usage limits"
 * (anthropics/claude-code#5300).
 */
const accountWords = boundedPattern(/credit balance is too low|specified (?:API|workspace API) usage limits/i);

function isAboutMoney({ name, type, message }: Words): boolean {
  return moneyName.test(name) || moneyName.test(type) || accountWords.test(message);
}

const policyWords = boundedPattern(/flagged|moderation|\bpolic(?:y|ies)\b|content filter|safety system/i);
/** IAM's: "… is not authorized to perform: bedrock:InvokeModel … because no identity-based policy allows …". */
const authorityWords = boundedPattern(/not authorized to perform/i);
/** A credential may be valid although its account is not allowed to count tokens. */
const countWords = boundedPattern(/bedrock:CountTokens/);
const modelName = boundedPattern(/model_not_found|model_not_supported|deploymentnotfound/i);
/** `models/…` is part of a resource's name at Google. */
const modelWords = boundedPattern(/\bmodels?\b(?!\/)|deployment/i);
const regionWords = boundedPattern(
  /unsupported_country_region_territory|country, region,? or territory|location is not supported|not (?:available|supported) in your (?:country|region|location)/i,
);

function isAboutPolicy({ name, type }: Words): boolean {
  return isPolicyName(name) || isPolicyName(type);
}

/** One model, one region or one content that the account may not ask for, or else the account. */
function meaningOf403(words: Words): Meaning {
  const { name, message } = words;
  if (isAboutPolicy(words) || countWords.test(message)) return 'policy';
  if (regionWords.test(name) || regionWords.test(message)) return 'region';
  if (modelName.test(name)) return 'denied';
  if (moneyWords.test(message)) return 'quota';
  if (policyWords.test(message) && !authorityWords.test(message)) return 'policy';
  // "No access to model: openai/o3" of GitHub Models; "You don't have access to the model with the specified model ID."
  return modelWords.test(message) ? 'denied' : 'right';
}

/** A file, a batch and the like: "File not found: file_1". */
const objectWords = boundedPattern(
  /\b(?:file|batch|upload|response|conversation|container|thread|cached ?content|vector store|skill)\w?\b[^.]{0,80}\b(?:not found|not exist|no longer)|^no such (?:file|batch|upload|response|conversation)/i,
);

/**
 * The service has no such path: "Unknown request URL", "Invalid URL (POST /v1/embeddings)", "Cannot POST /v1/embeddings" of
 * Express, `{"detail":"Not Found"}` of FastAPI, "404 page not found" of Go. OpenRouter's "No endpoints found for a/b" is about a model.
 */
const routeWords = boundedPattern(
  /\b(?:unknown|invalid|no such|no matching|unrecognized|unsupported) (?:request )?(?:route|path|url|endpoint)\b|\b(?:route|path|url|endpoint)\b[^.]{0,80}\b(?:not found|not exist|unknown)|\bno route\b|^cannot (?:get|post|put|patch|delete) \/|^(?:404:? )?(?:page )?not found\.?$/i,
);

function meaningOf404(words: Words | null, isAboutJob: boolean): Meaning {
  if (isAboutJob) return 'missing';
  if (words === null) return 'no-model';
  if (namesNoRoute(words)) return 'no-route';
  return isAboutModel(words) ? 'no-model' : 'missing';
}

/** A route that a service lacks says nothing about the model, which other routes may serve. */
function namesNoRoute({ message, name, param }: Words): boolean {
  if (name === 'unknown_url') return true;
  return param !== 'model' && !modelName.test(name) && !modelWords.test(message) && routeWords.test(message);
}

/** A 404 that names another parameter, or an object, is about that. */
function isAboutModel({ message, type, param, isText }: Words): boolean {
  if (isText || param === 'model' || modelWords.test(message)) return true;
  // Anthropic names the model in an error about it: "model: claude-opus-6".
  return param === null && type !== 'not_found_error' && !objectWords.test(message);
}

function meaningOf413(words: Words | null): Meaning {
  // From a proxy in front of the service; another target's may accept more.
  if (words === null || words.isText) return 'proxy-size';
  // More than the account's tokens per minute, so that no wait helps (Groq).
  if (rateName.test(words.name)) return 'never-fits';
  return words.type === 'request_too_large' ? 'large' : 'oversize';
}

function meaningOf429({ message, type, retryAfterMs }: Words): Meaning {
  if (type === 'ModelNotReadyException') return 'not-ready';
  return retryAfterMs === null && moneyWords.test(message) ? 'quota' : 'rate';
}

function meaningOf5xx(status: number, words: Words | null): Meaning {
  if (status === 529) return 'overloaded';
  if (status === 504) return 'timeout';
  const meaning = words && (named(words.code)?.meaning ?? named(words.type)?.meaning);
  return meaning === 'overloaded' || meaning === 'timeout' ? meaning : 'failed';
}

/** Google (`API_KEY_INVALID`) and xAI (continuedev/continue#10778) reject a key with status 400. */
const keyWords = boundedPattern(
  /\b(?:incorrect|invalid|expired) api[ -]?key|\bapi[ -]?key (?:is )?(?:not valid|invalid|expired|not found)/i,
);
/** Bedrock: "This model doesn't support the image content block that you provided." Another model may. */
const abilityWords = boundedPattern(/^This model doesn['’]t support/);

/** The remaining statuses from 400 to 499: usually the fault of the request, sometimes of the account or the model. */
function meaningOf400(status: number, words: Words | null, isAboutJob: boolean): Meaning {
  if (words === null) return 'invalid';
  const { name, type, message } = words;
  if (isAboutPolicy(words)) return 'policy';
  if (regionWords.test(name) || regionWords.test(message)) return 'region';
  if (modelName.test(name)) return isAboutJob ? 'missing' : 'no-model';
  if (status !== 400) return 'invalid';
  if (keyWords.test(message)) return 'credential';
  if (moneyWords.test(message)) return 'quota';
  if (type === 'FAILED_PRECONDITION' || abilityWords.test(message)) return 'unsupported';
  const meaning = named(words.code)?.meaning ?? named(type)?.meaning;
  return meaning !== undefined && refinements.has(meaning) ? meaning : 'invalid';
}

/** What the name of an error may make of a status 400: ServiceQuotaExceededException, ResourceNotFoundException. */
const refinements = new Set<Meaning>(['credential', 'quota', 'rate', 'no-model']);

/** How an error is told in OpenAI's terms, from which those of the other APIs are derived. */
export interface ToldError {
  message: string;
  /** OpenAI's names, as in `ErrorBody`. */
  type: string;
  code: string | null;
  status: number;
  /** For a context that is too long. */
  overflow?: Overflow;
}

interface Told {
  type: string;
  /** Null if the upstream's own code is told. */
  code: string | null;
  /** `own`: the upstream's. `refusal`: the upstream's if it is from 400 to 499, else 400. */
  status: number | 'own' | 'refusal';
}

const invalid = 'invalid_request_error';
const server = 'server_error';

const tellings: Record<Meaning, Told> = {
  invalid: { type: invalid, code: null, status: 'refusal' },
  policy: { type: invalid, code: null, status: 'refusal' },
  missing: { type: invalid, code: 'not_found', status: 404 },
  oversize: { type: invalid, code: 'request_too_large', status: 413 },
  loop: { type: server, code: null, status: 'own' },
  clash: { type: invalid, code: null, status: 'own' },
  context: { type: invalid, code: 'context_length_exceeded', status: 400 },
  large: { type: invalid, code: 'request_too_large', status: 413 },
  'no-route': { type: invalid, code: 'not_found', status: 404 },
  'no-model': { type: invalid, code: 'model_not_found', status: 404 },
  denied: { type: invalid, code: 'permission_denied', status: 403 },
  region: { type: invalid, code: 'permission_denied', status: 403 },
  unsupported: { type: invalid, code: null, status: 'own' },
  'never-fits': { type: invalid, code: 'request_too_large', status: 413 },
  credential: { type: invalid, code: 'invalid_api_key', status: 401 },
  right: { type: invalid, code: 'permission_denied', status: 403 },
  quota: { type: 'insufficient_quota', code: 'insufficient_quota', status: 429 },
  rate: { type: 'requests', code: 'rate_limit_exceeded', status: 429 },
  'not-ready': { type: 'requests', code: 'rate_limit_exceeded', status: 429 },
  conflict: { type: server, code: null, status: 'own' },
  timeout: { type: server, code: 'upstream_timeout', status: 'own' },
  overloaded: { type: server, code: 'server_overloaded', status: 503 },
  failed: { type: server, code: null, status: 'own' },
  page: { type: server, code: null, status: 'own' },
  'proxy-size': { type: invalid, code: 'request_too_large', status: 413 },
};

/** Codes that say what is wrong by themselves. Told with another meaning they would contradict it. */
const tellingCodes = new Set(Object.values(tellings).map(({ code }) => code));

/** The model's context and the request's size, as far as they are known, for errors that do not tell them. */
export interface KnownSize {
  contextTokens?: number | undefined;
  /** An estimate. */
  inputTokens: number;
}

export function tellError(failed: Omit<FailedAnswer, 'headers' | 'isAboutJob'>, known?: KnownSize): ToldError {
  const { status, error, isPage = false } = failed;
  const { meaning, overflow } = verdictOn({ ...failed, isAboutJob: false });
  const { type, code, status: toldStatus } = tellings[meaning];
  const size = overflow && completed(overflow, known);
  const said = error?.message || (isPage ? 'The upstream answered with a page of text.' : silent);
  const own = error?.code === '' || error?.code === String(status) || tellingCodes.has(error?.code ?? '');
  return {
    message: size ? withNumbers(size, said) : said,
    type,
    code: code ?? (own ? null : (error?.code ?? null)),
    status: toldStatus === 'own' ? status : toldStatus === 'refusal' ? (status < 500 ? status : 400) : toldStatus,
    ...(size && { overflow: size }),
  };
}

const silent = 'The upstream failed and did not say why.';

/** Clients compact a conversation by these numbers, so what the upstream did not say is filled in. */
function completed({ tokens, limit }: Overflow, known: KnownSize | undefined): Overflow {
  const most = limit ?? known?.contextTokens ?? null;
  if (most === null || tokens !== null || !known) return { tokens, limit: most };
  return { tokens: Math.max(known.inputTokens, most + 1), limit: most };
}

/** OpenAI's words, if the numbers are known. */
function withNumbers({ tokens, limit }: Overflow, said: string): string {
  if (limit === null) return said;
  const known = `This model's maximum context length is ${limit} tokens.`;
  return tokens === null ? `${known} ${said}` : `${known} However, your messages resulted in ${tokens} tokens.`;
}

/** The error of a stream or of an answer with status 200. */
export function tellErrorWithin(error: UpstreamError | null): ToldError {
  return tellError({ status: error ? statusOfError(error) : 502, error });
}

/** What is known of a failed call. */
interface FailedCall {
  /** Any byte of the request may have reached the upstream. */
  wasSent: boolean;
  /** The status of the answer, or the one that an error in it should have had; null if there was none. */
  status: number | null;
}

/** Of the server: it does not do this at all, cannot do it now, is a loop of gateways, or is overloaded (Anthropic). */
const refusals = new Set([501, 503, 508, 529]);
/** The server gave up waiting, found the same request under way, or its client gone: the work may have begun. */
const unclear = new Set([408, 409, 499]);

/**
 * Whether an upstream may have done what it was asked to do, although it gave no usable answer. Pure.
 *
 * False only if the request did not arrive or was refused before the work. A server error, a redirect that may follow
 * the work, a lost connection, a damaged answer and a silence all leave it open.
 */
export function mayHaveActed({ wasSent, status }: FailedCall): boolean {
  if (status === null) return wasSent;
  if (status === 307 || status === 308) return false;
  if (status >= 500) return !refusals.has(status);
  return status < 400 || unclear.has(status);
}
