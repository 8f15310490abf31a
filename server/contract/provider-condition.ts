/**
 * The condition of a provider, a model or a credential: one kind, one colour and one word in the window, at the tray and on the
 * command line, with the words for what went wrong.
 */
import type { FailureClass } from './ledger.ts';
import {
  blockOf,
  type ConnectionFault,
  type CooldownView,
  type CredentialView,
  type FailedWith,
  type FailingModels,
  failingModelsOf,
  type ProviderBlock,
  type ProviderView,
} from './provider-views.ts';
import { counted } from './units.ts';

/**
 * `refused`, `quota`, `unreachable`: it fails in this way. `cooling`: it fails otherwise, and is not used before a given time.
 * `failing`: it fails otherwise, and the next request tries it. All of these last until an answer or a test proves it well.
 * `degraded`: some of its models or credentials fail, or some requests. `unlisted`: its models could not be listed. `waiting`,
 * `untried`: nothing is known yet.
 */
export const conditions = [
  'off',
  'no-credential',
  'leads-back',
  'refused',
  'quota',
  'unreachable',
  'cooling',
  'failing',
  'degraded',
  'unlisted',
  'waiting',
  'untried',
  'ready',
] as const;
export type Condition = (typeof conditions)[number];

/** `bad`: it answers nothing until somebody acts, or until it can be reached. `warning`: it may recover by itself. */
export type Tone = 'good' | 'warning' | 'bad' | 'none';

export const toneOf: Readonly<Record<Condition, Tone>> = {
  off: 'none',
  'no-credential': 'bad',
  'leads-back': 'bad',
  refused: 'bad',
  quota: 'bad',
  unreachable: 'bad',
  cooling: 'warning',
  failing: 'warning',
  degraded: 'warning',
  unlisted: 'warning',
  waiting: 'none',
  untried: 'none',
  ready: 'good',
};

/** Of a target. */
const fromBest: readonly Condition[] = ['ready', 'degraded', 'failing', 'cooling', 'unreachable', 'quota', 'refused'];

type Troubled = Pick<CooldownView, 'state' | 'failure' | 'failedWith' | 'until'>;

/** Of a credential or a target by itself. */
export function conditionOfHealth({ state, failure, failedWith, until }: Troubled, nowMs: number): Condition {
  if (failure === null) return state === 'ok' ? 'ready' : state === 'degraded' ? 'degraded' : 'failing';
  if (failure === 'credential') return 'refused';
  if (failure === 'quota') return 'quota';
  if (failure === 'transient' && typeof failedWith === 'string') return 'unreachable';
  return until !== null && until > nowMs ? 'cooling' : 'failing';
}

export function conditionOf(provider: ProviderView, nowMs: number): Condition {
  const { health, discovery, isDemo } = provider;
  const block = blockOf(provider);
  if (block !== null) return block;
  if (health.state === 'degraded') return 'degraded';
  const condition = conditionOfHealth(health, nowMs);
  if (condition !== 'ready') return condition;
  if (discovery?.problem) return 'unlisted';
  if (discovery && discovery.refreshedAt === null) return 'waiting';
  return isDemo || discovery || health.answeredAt !== null ? 'ready' : 'untried';
}

/** Of a provider as the one that answers for a model: well if only others of its models fail. */
export function conditionOfTarget(provider: ProviderView, model: string, nowMs: number): Condition {
  const condition = conditionOf(provider, nowMs);
  const { models } = provider.health;
  if (condition !== 'degraded' || models.length === 0) return condition;
  const own = models.find((each) => each.model === model);
  return own ? conditionOfHealth(own, nowMs) : 'ready';
}

/** Whether it is said where a target is chosen. */
export const isUnwell = (condition: Condition) => condition === 'off' || !['good', 'none'].includes(toneOf[condition]);

/** The one whose condition is the best; undefined if there is none. */
export function bestHealth<Health extends Troubled>(healths: readonly Health[], nowMs: number): Health | undefined {
  const placeOf = (health: Health) => fromBest.indexOf(conditionOfHealth(health, nowMs));
  return healths.toSorted((a, b) => placeOf(a) - placeOf(b))[0];
}

/**
 * A model that nothing is known of is in the condition of its providers, if the last requests of all of them failed.
 * @param providers those that the reader knows
 */
export function conditionOfModel(
  { health, providers: ids }: { health: Troubled; providers: readonly string[] },
  providers: readonly ProviderView[],
  nowMs: number,
): Condition {
  const condition = conditionOfHealth(health, nowMs);
  if (condition !== 'ready') return condition;
  const ofProviders = ids.map((each) => {
    const provider = providers.find(({ id }) => id === each);
    return provider ? conditionOf(provider, nowMs) : 'ready';
  });
  if (ofProviders[0] === 'untried') return 'untried';
  const placeOf = (each: Condition) => fromBest.indexOf(each);
  const [best = condition] = ofProviders.toSorted((a, b) => placeOf(a) - placeOf(b));
  return placeOf(best) >= placeOf('failing') ? best : condition;
}

/** One language. */
interface ConditionTexts {
  conditions: Readonly<Record<Condition, string>>;
  withReason(condition: string, reason: string): string;
  ofModel(condition: string, model: string): string;
  /** In the place of `degraded`; `total` is null if the provider takes any model name. */
  failingModels(failing: string, total: string | null, models: string): string;
  withoutModel: string;
  /** Why no request goes to a provider. */
  blocked: Readonly<Record<ProviderBlock, string>>;
  /** Why something fails, after the provider's name and a colon. */
  failures: Readonly<Record<Exclude<FailureClass, 'transient'>, string>>;
  /** When a rejected credential is tried although nobody has replaced it. */
  refusedTrial: string;
  /** It answers with an error of this status. */
  answersWith(status: number): string;
  /** Its answers break off or are damaged. */
  badAnswers: string;
  unreachable(why: string): string;
  connectionFaults: Readonly<Record<ConnectionFault, string>>;
}

export const conditionTexts: ConditionTexts = {
  conditions: {
    off: 'Off',
    'no-credential': 'Needs a credential',
    'leads-back': 'Not usable',
    refused: 'API key rejected',
    quota: 'Quota used up',
    unreachable: 'Cannot be reached',
    cooling: 'Cooling down',
    failing: 'Last requests failed',
    degraded: 'Some requests failing',
    unlisted: 'Couldn’t list models',
    waiting: 'Listing models…',
    untried: 'Not tried yet',
    ready: 'Ready',
  },
  withReason: (condition, reason) => `${condition}: ${reason}`,
  ofModel: (condition, model) => `${condition} (${model})`,
  failingModels: (failing, total, models) =>
    total === null
      ? `Ready, ${counted(failing, 'model')} failing: ${models}`
      : `Ready, ${failing} of ${counted(total, 'model')} failing: ${models}`,
  withoutModel: 'requests without a model',
  blocked: {
    off: 'it is switched off',
    'no-credential': 'no enabled credential has a value',
    'leads-back': 'its base URL leads back to Sluice itself',
  },
  failures: {
    silent: 'it did not respond in time',
    'stream-broken': 'its streams were cut off',
    'model-unavailable': 'it does not have the model',
    'rate-limit': 'its rate limit was reached',
    quota: 'its quota or credit is used up',
    credential: 'it rejected the API key',
    'too-large': 'the request was too large for it',
    rejected: 'it rejected the request',
    lost: 'the outcome of a purchase is unknown',
    shortage: 'this machine ran out of connections or memory',
    'client-gone': 'the client closed its connection',
  },
  refusedTrial: 'one request in 5 minutes tries it, or one in 30 s if nothing else can answer',
  answersWith: (status) => `it answers with errors (${status})`,
  badAnswers: 'its answers break off or are damaged',
  unreachable: (why) => `it cannot be reached: ${why}`,
  connectionFaults: {
    dns: 'its host name has no address',
    'dns-timeout': 'no name server responded in time',
    refused: 'connection refused',
    tls: 'its certificate is not accepted',
    proxy: 'the proxy failed',
    reset: 'the connection was cut off',
    timeout: 'no connection in time',
    malformed: 'what responds there does not speak HTTP',
  },
};

export const conditionTextsZh: ConditionTexts = {
  conditions: {
    off: '已关闭',
    'no-credential': '需要凭据',
    'leads-back': '不可用',
    refused: 'API 密钥被拒绝',
    quota: '配额已用尽',
    unreachable: '无法连接',
    cooling: '冷却中',
    failing: '最近的请求失败',
    degraded: '部分请求失败',
    unlisted: '无法获取模型列表',
    waiting: '正在获取模型列表…',
    untried: '尚未请求过',
    ready: '就绪',
  },
  withReason: (condition, reason) => `${condition}：${reason}`,
  ofModel: (condition, model) => `${condition}（${model}）`,
  failingModels: (failing, total, models) =>
    total === null
      ? `就绪，${failing} 个模型失败：${models}`
      : `就绪，${total} 个模型中有 ${failing} 个失败：${models}`,
  withoutModel: '未指明模型的请求',
  blocked: {
    off: '已关闭',
    'no-credential': '没有可用的凭据（未填写或已停用）',
    'leads-back': '其 Base URL 指回 Sluice 自身',
  },
  failures: {
    silent: '未及时响应',
    'stream-broken': '流中途断开',
    'model-unavailable': '没有此模型',
    'rate-limit': '已达到其速率限制',
    quota: '配额或余额已用尽',
    credential: 'API 密钥被拒绝',
    'too-large': '请求过大',
    rejected: '请求被拒绝',
    lost: '创建请求的结果不明',
    shortage: '本机的连接或内存已用尽',
    'client-gone': '客户端已断开',
  },
  refusedTrial: '每 5 分钟由一个请求再次尝试；没有其他可用目标时，每 30 秒一个',
  answersWith: (status) => `服务返回错误（${status}）`,
  badAnswers: '响应中断或已损坏',
  unreachable: (why) => `无法连接：${why}`,
  connectionFaults: {
    dns: '主机名没有对应的地址',
    'dns-timeout': 'DNS 服务器未及时响应',
    refused: '连接被拒绝',
    tls: '其证书不受信任',
    proxy: '代理出错',
    reset: '连接中断',
    timeout: '连接超时',
    malformed: '对方使用的不是 HTTP',
  },
};

/** Of the models that fail. */
const mostNamed = 3;

/** What is said of a provider's condition, in any language. */
export interface ConditionFacts extends Pick<CooldownView, 'failure' | 'failedWith'> {
  condition: Condition;
  /** The model whose failure it is; null stands for requests that name none, and undefined: for no model of several. */
  model: string | null | undefined;
  /** Of those that are `degraded`. */
  failing: FailingModels | null;
}

export function conditionFacts(provider: ProviderView, nowMs: number): ConditionFacts {
  const condition = conditionOf(provider, nowMs);
  const { failure, failedWith } = provider.health;
  const failing = condition === 'degraded' ? failingModelsOf(provider) : null;
  return { condition, failure, failedWith, model: blamedModel(provider, condition), failing };
}

function blamedModel({ health, modelNames, takesAnyModel }: ProviderView, condition: Condition) {
  const hasSeveral = takesAnyModel || modelNames.length > 1;
  if (!hasSeveral || (condition !== 'cooling' && condition !== 'failing')) return undefined;
  const { failure, failedWith, failedAt } = health;
  return health.models.find(
    (each) => each.failure === failure && each.failedWith === failedWith && each.failedAt === failedAt,
  )?.model;
}

/** How numbers and lists are written. */
interface Writing {
  number(value: number): string;
  list(items: readonly string[]): string;
}

const plain: Writing = { number: String, list: (items) => items.join(', ') };

/** `Cooling down`, or `Ready, 1 of 12 models failing: sora-2`. */
export function describeCondition(
  { condition, failing }: Pick<ConditionFacts, 'condition' | 'failing'>,
  texts: ConditionTexts,
  { number, list }: Writing = plain,
): string {
  if (!failing) return texts.conditions[condition];
  const total = failing.total === null ? null : number(failing.total);
  const models = failing.models.map((model) => model ?? texts.withoutModel);
  const named = models.length > mostNamed ? [...models.slice(0, mostNamed), '…'] : models;
  return texts.failingModels(number(models.length), total, list(named));
}

/** With the reason, where the word does not say it: `Cannot be reached: connection refused`. */
export function conditionLine(facts: ConditionFacts, texts: ConditionTexts): string {
  const reason = reasonOf(facts, texts);
  const word = describeCondition(facts, texts);
  if (reason === null) return word;
  const { model } = facts;
  return texts.withReason(model === undefined ? word : texts.ofModel(word, model ?? texts.withoutModel), reason);
}

function reasonOf({ condition, failure, failedWith }: ConditionFacts, texts: ConditionTexts): string | null {
  if (condition === 'no-credential' || condition === 'leads-back') return texts.blocked[condition];
  if (condition === 'unreachable' && typeof failedWith === 'string') return texts.connectionFaults[failedWith];
  const isTold = condition === 'cooling' || condition === 'failing';
  return isTold && failure !== null ? describeFailure(failure, failedWith, texts) : null;
}

/** Why something fails. A service that answers with errors is told from one that cannot be reached. */
export function describeFailure(failure: FailureClass, failedWith: FailedWith, texts: ConditionTexts): string {
  if (failure !== 'transient') return texts.failures[failure];
  if (typeof failedWith === 'string') return texts.unreachable(texts.connectionFaults[failedWith]);
  return failedWith !== null && failedWith >= 400 ? texts.answersWith(failedWith) : texts.badAnswers;
}

/** What a person should look at: a provider as a whole, or one of its credentials. */
export interface ProviderTrouble {
  condition: Condition;
  credential: CredentialView | null;
}

/** The demo is nobody's trouble, and rate limits of single credentials pass by themselves. */
export function troublesOf(provider: ProviderView, nowMs: number): ProviderTrouble[] {
  if (provider.isDemo) return [];
  const condition = conditionOf(provider, nowMs);
  const inTrouble = provider.credentials
    .filter(({ enabled }) => enabled)
    .map((credential) => ({ condition: conditionOfHealth(credential.health, nowMs), credential }))
    .filter((each) => toneOf[each.condition] === 'bad');
  if (condition === 'degraded') return inTrouble;
  const isTrouble = toneOf[condition] === 'bad' || toneOf[condition] === 'warning';
  return isTrouble ? [{ condition, credential: null }] : [];
}

/** A sentence begins with it. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
