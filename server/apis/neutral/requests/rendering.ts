/** Input shared by all request renderers: the conversation with its calls in order, and the collector of losses. */

import { hash as hashOf } from 'node:crypto';
import type { LossCode } from '../../../contract/loss-codes.ts';
import type { OpenaiFacts } from '../../../models/model-facts.ts';
import type { ChatFlavour } from '../../core/chat-flavour.ts';
import type { CallIdRule, FieldName } from '../client-api.ts';
import type {
  CallPart,
  Conversation,
  JsonSchema,
  MediaPart,
  Origin,
  Part,
  ResultPart,
  Seal,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  Turn,
} from '../conversation.ts';
import { writeJson } from '../json-text.ts';
import { type Losses, refuse } from '../losses.ts';
import { isUsableBy } from './carried-reasoning.ts';

/** The model for which a conversation is rendered. */
export interface Target {
  /** The provider's name for the model. */
  model: string;
  /** The origin for which the model's seals are valid. */
  origin: Origin;
  /** The maximum number of tokens of an answer; omitted if unknown. */
  maxOutputTokens?: number | undefined;
  /** The provider is configured not to be asked for usage at the end of a stream. */
  refusesStreamUsage?: boolean;
  /** What the provider refuses of chat requests; omitted: nothing that is known. */
  chatFlavour?: ChatFlavour | undefined;
  /** How the provider is asked to continue an answer: members of the last message and of the request. */
  prefill?:
    | { message: Readonly<Record<string, unknown>>; request: Readonly<Record<string, unknown>> }
    | null
    | undefined;
  /** Omits all reasoning from the history, after the provider has refused it once. */
  withoutReasoning?: boolean;
}

/** Asks for the rest of an answer where a conversation has to end with the user. */
export const goOn = 'Go on.';

/** A failed call's result where an API has no other mark of it. */
export function errorText(said: string): string {
  return said.trimStart().toLowerCase().startsWith('error:') ? said : `Error: ${said}`;
}

/** A request for an upstream, with the data needed to read its answer. */
export interface RenderedRequest {
  /** Must be written by `writeJson`. */
  body: Record<string, unknown>;
  names: ToolNames;
  /** The tool whose arguments are the answer, if an output format is emulated by one. */
  answerTool?: string | undefined;
}

export class Rendering {
  readonly conversation: Conversation;
  readonly target: Target;
  readonly losses: Losses;
  readonly turns: Turn[];
  readonly names: ToolNames;

  constructor(conversation: Conversation, target: Target, rules: { ids: CallIdRule; names: NameRule; losses: Losses }) {
    this.conversation = conversation;
    this.target = target;
    this.losses = rules.losses;
    this.turns = settleCalls(conversation.turns, rules.ids, rules.losses).map((turn) => this.#withSealedCalls(turn));
    this.names = new ToolNames(rules.names, conversation);
    for (const tool of conversation.tools) {
      if (this.names.encode(tool) !== tool.name) this.losses.carried(`${tool.at}.name`, 'renamed');
    }
  }

  /** Reports that a field is dropped, unless the client did not send it. */
  drop(field: FieldName, value: unknown, code: LossCode): void {
    if (value !== undefined) this.losses.dropped(this.nameOf(field), code);
  }

  /** As many stop sequences as the API takes. An empty one, which stops nothing, takes no place. */
  stopsUpTo(most: number): string[] | undefined {
    const stops = this.conversation.stopSequences.filter((sequence) => sequence !== '');
    if (stops.length > most) this.drop('stopSequences', stops, 'out-of-range');
    return stops.length === 0 ? undefined : stops.slice(0, most);
  }

  emulate(field: FieldName, code: LossCode): void {
    this.losses.emulated(this.nameOf(field), code);
  }

  /** For APIs without OpenAI's `detail` of an image. */
  dropDetail({ detail, at }: MediaPart): void {
    if (detail !== undefined && detail !== 'auto') this.losses.dropped(`${at}.detail`, 'no-equal');
  }

  /** For a model or an API whose calls may differ from the tool's schema. */
  dropStrict({ strict }: Tool, code: LossCode): void {
    this.drop('strictTool', strict === true || undefined, code);
  }

  refuse(field: FieldName, code: LossCode): never {
    return refuse(this.nameOf(field), code);
  }

  nameOf(field: FieldName): string {
    return this.conversation.client.fieldNames[field] ?? field;
  }

  /** Whether the target can use the seal. */
  opens(seal: Seal | undefined): seal is Seal {
    return this.target.withoutReasoning !== true && isUsableBy(seal, this.target.origin);
  }

  /** Gives the calls their seals back that a client returned as thoughts. What the target cannot use stays, to be reported. */
  #withSealedCalls(turn: Turn): Turn {
    if (!turn.parts.some((part) => this.#isSealOfCall(part))) return turn;
    const parts: Part[] = [];
    let seal: Seal | undefined;
    for (const part of turn.parts) {
      if (this.#isSealOfCall(part)) ({ seal } = part);
      else if (part.type !== 'call') parts.push(part);
      else {
        parts.push({ ...part, seal: part.seal ?? seal });
        seal = undefined;
      }
    }
    return { ...turn, parts };
  }

  #isSealOfCall(part: Part): part is ThinkingPart & { seal: Seal } {
    return part.type === 'thinking' && part.seal?.isOfCall === true && this.opens(part.seal);
  }

  /** Converts a custom tool to a function with one text argument, for an API without custom tools. */
  asFunction(tool: Tool): Tool {
    if (tool.kind === 'function') return tool;
    this.losses.emulated(tool.at, 'as-function');
    const grammar =
      typeof tool.format?.definition === 'string' ? `\n\nGrammar of the input:\n${tool.format.definition}` : '';
    return { ...tool, kind: 'function', description: `${tool.description ?? ''}${grammar}`, schema: customToolSchema };
  }
}

const customToolSchema = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

const cancelled = 'The tool call was cancelled: there is no result.';

/** A call of the current turn, with its result once that is found. */
interface OpenCall {
  call: CallPart;
  result: ResultPart | null;
}

/**
 * Matches tool calls with their results as all four APIs require: each call has one result, the results of a turn
 * follow it directly in the order of the calls, and there is no result without a call. Clients that were interrupted
 * send histories that violate this.
 */
function settleCalls(turns: readonly Turn[], rule: CallIdRule, losses: Losses): Turn[] {
  const settling = new Settling(rule, losses);
  for (const turn of turns.flatMap((each) => inTheirRoles(each, losses))) {
    if (turn.role === 'assistant') settling.takeAssistant(turn.parts);
    else settling.takeOther(turn);
  }
  return settling.finish();
}

/**
 * Results and media belong to the user, calls and thoughts to the assistant. The APIs refuse them in the other's turn,
 * except that Gemini's models return images.
 */
function inTheirRoles(turn: Turn, losses: Losses): Turn[] {
  const { role, parts } = turn;
  const owners = parts.map((part) => ownerOf(part, role));
  if (owners.every((owner) => owner === role)) return [turn];
  const turns: Turn[] = [];
  for (const [index, part] of parts.entries()) {
    const owner = owners[index] ?? role;
    if (part.type === 'media' && owner !== role) losses.emulated(part.at, 'moved-media');
    const before = turns.at(-1);
    if (before?.role === owner) before.parts.push(part);
    else turns.push({ role: owner, parts: [part] });
  }
  return turns;
}

function ownerOf({ type }: Part, role: Turn['role']): Turn['role'] {
  if (type === 'call' || type === 'thinking') return 'assistant';
  if (type === 'result') return 'user';
  return type === 'media' && role === 'assistant' ? 'user' : role;
}

class Settling {
  readonly #ids: CallIds;
  readonly #losses: Losses;
  readonly #settled: Turn[] = [];
  #open: OpenCall[] = [];
  /** By the client's id; the first `answered` calls of each entry have their result. */
  #byId = new Map<string, { calls: OpenCall[]; answered: number }>();
  #isAnswered = false;
  /** The position for the results of the open calls. */
  #resultPosition = 0;

  constructor(rule: CallIdRule, losses: Losses) {
    this.#ids = new CallIds(rule);
    this.#losses = losses;
  }

  /** Joins adjacent turns of the assistant, because Anthropic and Google require alternating roles. */
  takeAssistant(parts: readonly Part[]): void {
    let turn = this.#settled.at(-1);
    if (turn?.role !== 'assistant' || this.#isAnswered) {
      this.#close();
      turn = { role: 'assistant', parts: [] };
      this.#settled.push(turn);
      this.#resultPosition = this.#settled.length;
    }
    for (const part of parts) turn.parts.push(part.type === 'call' ? this.#openCall(part) : part);
  }

  takeOther({ role, parts }: Turn): void {
    const remaining = parts.flatMap((part) => (part.type === 'result' ? this.#takeResult(part) : [part]));
    if (remaining.length > 0) this.#settled.push({ role, parts: remaining });
  }

  finish(): Turn[] {
    this.#close();
    return this.#settled;
  }

  #openCall(part: CallPart): CallPart {
    const open: OpenCall = { call: { ...part, id: this.#ids.assign(part.id) }, result: null };
    this.#open.push(open);
    const sameId = this.#byId.get(part.id);
    if (sameId) sameId.calls.push(open);
    else this.#byId.set(part.id, { calls: [open], answered: 0 });
    return open.call;
  }

  /** Empty if the result was matched with its call; otherwise the parts that replace it. */
  #takeResult(result: ResultPart): Part[] {
    const sameId = this.#byId.get(result.callId);
    const open = sameId?.calls[sameId.answered];
    if (sameId && open) {
      sameId.answered++;
      this.#isAnswered = true;
      open.result = { ...result, callId: open.call.id };
      return [];
    }
    this.#losses.emulated(result.at, 'stray-result');
    const heading: TextPart = { type: 'text', text: `Result of a tool call (${result.callId}):`, at: result.at };
    return [heading, ...result.parts];
  }

  #close(): void {
    if (this.#open.length === 0) return;
    const results = this.#open.map(({ call, result }) => result ?? cancel(call, this.#losses));
    this.#settled.splice(this.#resultPosition, 0, { role: 'user', parts: results });
    this.#open = [];
    this.#byId = new Map();
    this.#isAnswered = false;
  }
}

function cancel({ id, at }: CallPart, losses: Losses): ResultPart {
  losses.emulated(at, 'missing-result');
  return { type: 'result', callId: id, parts: [{ type: 'text', text: cancelled, at: '' }], isError: true, at: '' };
}

/** Reports fields as dropped for which neither Anthropic's Messages API nor Bedrock's Converse has an equivalent. */
export function dropHints(rendering: Rendering): void {
  const { sampling, verbosity, metadata, cacheKey, serviceTier } = rendering.conversation;
  rendering.drop('seed', sampling.seed, 'no-equal');
  rendering.drop('presencePenalty', sampling.presencePenalty || undefined, 'no-equal');
  rendering.drop('frequencyPenalty', sampling.frequencyPenalty || undefined, 'no-equal');
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  rendering.drop('logitBias', sampling.logitBias, 'no-equal');
  rendering.drop('verbosity', verbosity, 'no-equal');
  rendering.drop('metadata', metadata, 'no-equal');
  rendering.drop('cacheKey', cacheKey, 'no-equal');
  const isTier = serviceTier === undefined || serviceTier === 'auto' || serviceTier === 'default';
  rendering.drop('serviceTier', isTier ? undefined : serviceTier, 'no-equal');
}

/** All tools, unless the request allows only some of them by name. */
export function offeredTools({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): readonly Tool[] {
  if (toolChoice?.mode !== 'subset') return tools;
  const names = new Set(toolChoice.names);
  return tools.filter(({ name }) => names.has(name));
}

/**
 * The model must call a tool that only the client's own provider runs, such as a web search: another would answer from
 * memory, as if it had searched.
 * @throws GatewayError `invalid_value`
 */
export function refuseLostChoice({ tools, toolChoice: choice, client }: Conversation, losses: Losses): void {
  if (choice === undefined || choice.mode === 'auto' || choice.mode === 'none') return;
  const isLost = losses.list.some(({ code, field }) => code === 'provider-tool' && field.startsWith('tools'));
  if (!isLost) return;
  if (!isPossible(choice, tools)) refuse(client.fieldNames.toolChoice ?? 'tool_choice', 'provider-tool');
}

function isPossible(choice: ToolChoice, tools: readonly Tool[]): boolean {
  const isOffered = (name: string) => tools.some((tool) => tool.name === name);
  if (choice.mode === 'named') return isOffered(choice.name);
  if (choice.mode === 'subset') return !choice.isRequired || choice.names.some(isOffered);
  return tools.length > 0;
}

/** Asks in words for an answer in a format, for models and APIs that cannot be told otherwise. */
export function formatPrompt(schema: JsonSchema | undefined): string {
  if (schema === undefined)
    return 'Answer with one JSON object and nothing else: no text around it, and no code fence.';
  return `Answer with JSON of this schema and nothing else, without a code fence:\n${writeJson(schema)}`;
}

export function temperatureOf(
  rendering: Rendering,
  { takesSampling }: OpenaiFacts,
): Record<string, number | undefined> {
  const { temperature, topP } = rendering.conversation.sampling;
  if (takesSampling) return { temperature, top_p: topP };
  rendering.drop('temperature', temperature === 1 ? undefined : temperature, 'model-takes-none');
  rendering.drop('topP', topP === 1 ? undefined : topP, 'model-takes-none');
  return {};
}

/** OpenAI's API reference, `safety_identifier`. */
const maxUserLength = 64;

/** The client's end user, unless the name that the client has for them is too long. */
export function userOf(rendering: Rendering): string | undefined {
  const { user } = rendering.conversation;
  if (user === undefined || user.length <= maxUserLength) return user;
  rendering.drop('user', user, 'no-equal');
  return undefined;
}

// Assigns ids to tool calls under the rules of each API. An id depends only on the ids before it in the conversation,
// so the same history has the same ids in each turn.

const maxLength = 64;

/** Assigns a unique id to each call of a conversation. */
export class CallIds {
  readonly #rule: CallIdRule;
  readonly #usedIds: Set<string>;
  /** How often each id has been used as a source, so that a history of identical ids does not take quadratic time. */
  readonly #occurrences = new Map<string, number>();

  /** @param usedIds ids that the conversation already contains */
  constructor(rule: CallIdRule, usedIds: Iterable<string> = []) {
    this.#rule = rule;
    this.#usedIds = new Set(usedIds);
  }

  /**
   * Keeps an id if the rule allows it and no earlier call has it. Kimi repeats ids such as `functions.bash:0` in each
   * turn.
   */
  assign(id: string): string {
    let occurrence = this.#occurrences.get(id) ?? 0;
    let assigned = id;
    while (this.#usedIds.has(assigned) || !isAllowedId(this.#rule, assigned))
      assigned = derive(this.#rule, id, occurrence++);
    this.#occurrences.set(id, occurrence);
    this.#usedIds.add(assigned);
    return assigned;
  }
}

/**
 * An id for a call for which the model provided none.
 * @param answer distinguishes the answer from those before it
 */
export function derivedCallId(answer: string, call: number, name: string): string {
  return derive('openai', `${answer} ${call} ${name}`, 0);
}

/** 22 letters and digits contain as much information as 128 bits. */
function derive(rule: CallIdRule, id: string, occurrence: number): string {
  const digest = hashOf('sha256', `${occurrence} ${id}`, 'base64url').slice(0, 22);
  const text = digest.replaceAll('-', 'a').replaceAll('_', 'b');
  return rule === 'mistral' ? text.slice(0, 9) : `call_${text}`;
}

function isAllowedId(rule: CallIdRule, id: string): boolean {
  if (id === '') return false;
  if (rule === 'any') return true;
  if (id.length > maxLength) return false;
  if (rule === 'openai') return true;
  return rule === 'mistral' ? id.length === 9 && isPlain(id, '') : isPlain(id, '_-');
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function isPlain(id: string, others: string): boolean {
  for (const character of id) if (!alphabet.includes(character) && !others.includes(character)) return false;
  return true;
}

interface NameRule {
  maxLength: number;
  /** Allowed characters besides letters and digits. */
  others: string;
  /** The first character must be a letter or `_`. */
  beginsWithLetter: boolean;
}

/** The client's tool that an upstream has called. */
interface CalledTool {
  name: string;
  namespace?: string | undefined;
  kind: CallPart['kind'];
  ownType?: string | undefined;
}

const hashLength = 8;

/** Converts names of tools to names that an upstream accepts, and back. */
export class ToolNames {
  readonly #rule: NameRule;
  readonly #encoded = new Map<string, string>();
  readonly #decoded = new Map<string, CalledTool>();

  /** Names of tools in no namespace, and full names of those in one. */
  readonly #offered: ReadonlySet<string>;

  constructor(rule: NameRule, { tools }: Pick<Conversation, 'tools'>) {
    this.#rule = rule;
    this.#offered = new Set(tools.map((tool) => fullName(tool)));
    for (const tool of tools) this.#decoded.set(this.encode(tool), calledTool(tool));
  }

  /** A tool has the same name in definitions, choice and history. */
  encode(tool: NamedTool): string {
    const whole = fullName(tool);
    // OpenAI's tool search puts a tool that it has found into a namespace in which it was not offered.
    const full = this.#offered.has(whole) || !this.#offered.has(tool.name) ? whole : tool.name;
    let encodedName = this.#encoded.get(full);
    if (encodedName === undefined) {
      encodedName = nameWithin(this.#rule, full);
      this.#encoded.set(full, encodedName);
    }
    return encodedName;
  }

  /** An unknown name is treated as a function with that name. */
  decode(encodedName: string): CalledTool {
    return this.#decoded.get(encodedName) ?? { name: encodedName, kind: 'function' };
  }
}

interface NamedTool {
  name: string;
  namespace?: string | undefined;
}

function fullName({ name, namespace }: NamedTool): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

function calledTool({ name, namespace, kind, own }: Tool): CalledTool {
  return { name, namespace, kind, ownType: own?.type };
}

/** A changed name ends in a hash of the original, so that names stay distinct. */
function nameWithin(rule: NameRule, name: string): string {
  const characters = Array.from(name, (character) => (isAllowedCharacter(rule, character) ? character : '_'));
  if (rule.beginsWithLetter && !isAllowedCharacter({ ...rule, others: '_' }, characters[0] ?? ''))
    characters.unshift('_');
  if (rule.beginsWithLetter && isDigit(characters[0] ?? '')) characters.unshift('_');
  const cleaned = characters.join('');
  if (cleaned === name && name !== '' && name.length <= rule.maxLength) return name;
  const hash = hashOf('sha256', name, 'hex').slice(0, hashLength);
  return `${cleaned.slice(0, Math.min(rule.maxLength, 64) - hashLength - 1)}_${hash}`;
}

function isAllowedCharacter({ others }: NameRule, character: string): boolean {
  const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  return character.length === 1 && (isLetter || isDigit(character) || others.includes(character));
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}
