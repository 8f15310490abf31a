/** Input shared by all request renderers: the conversation with its calls in order, and the collector of losses. */
import type { LossCode } from '../../../contract/loss-codes.ts';
import type { ChatFlavour } from '../../core/chat-flavour.ts';
import type { CallIdRule, FieldName } from '../client-api.ts';
import type { Conversation, MediaPart, Origin, Part, Seal, ThinkingPart, Tool, Turn } from '../conversation.ts';
import { type Losses, refuse } from '../losses.ts';
import { isUsableBy } from './carried-reasoning.ts';
import { settleCalls } from './settle-calls.ts';
import { type NameRule, ToolNames } from './tool-names.ts';

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
