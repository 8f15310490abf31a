/**
 * What a service takes of chat requests otherwise than OpenAI does, and how requests are fitted to it. Which service has which
 * flavour is in `providers/chat-flavours.ts`; what OpenAI's wire does with it, in `openai/wire/fit-request.ts`.
 */
import type { LossCode } from '../../contract/loss-codes.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { JsonEdit, TopMember } from '../json/json-peek.ts';
import type { WatchedMember } from '../json/watched-members.ts';

/** Members that a service refuses, and the name under which it takes the same value; null: it has none. */
export type RefusedMembers = Readonly<Record<string, string | null>>;

export interface ChatFlavour {
  /** Of the request itself. */
  readonly request: RefusedMembers;
  /** Of each message. */
  readonly messages: RefusedMembers;
  /** Of the function of each tool. */
  readonly functions: RefusedMembers;
  /** Roles that it refuses, and those that mean the same there. */
  readonly roles: Readonly<Record<string, string>>;
  /** Its chat templates take text as a string only: lists of texts are joined. Lists with other parts stay. */
  readonly joinsTexts: boolean;
  /**
   * Which of the assistant's messages it refuses without `reasoning_content`, which may be empty. Its models were trained with
   * their own, so that of a message with calls is kept for clients that do not bring it back.
   */
  readonly wantsReasoning: 'of none' | 'of calls' | 'of all';
  /**
   * Where it wants Google's signature of the first call of each message: in `reasoning_details` of the message, or in
   * `extra_content` of the call. It takes a placeholder for calls of other models. Null: it wants none.
   */
  readonly signsCalls: 'reasoning_details' | 'extra_content' | null;
}

/** Takes what OpenAI takes. */
export const plainFlavour: ChatFlavour = {
  request: {},
  messages: {},
  functions: {},
  roles: {},
  joinsTexts: false,
  wantsReasoning: 'of none',
  signsCalls: null,
};

/** A JSON body, and where its members are. */
export interface BodyOutline {
  bytes: Buffer;
  members: readonly TopMember[];
  /** The bits of the watched members that it has. */
  watched: number;
}

/** A member that was left out, or written in another way. */
export interface FittedMember {
  fate: 'dropped' | 'emulated';
  field: string;
  code: LossCode;
}

/** The reasoning that led to the calls of a message, `tool_calls`; empty if it is unknown. */
export type ReasoningOf = (calls: unknown) => string;

export interface FittedBody {
  edits: readonly JsonEdit[];
  losses: readonly FittedMember[];
}

export interface Fitting {
  /** What the reader of bodies notes, beside the top-level members. */
  readonly watched: readonly WatchedMember[];
  /** Null if the service takes the body as it is. A promise for a long body that has to be gone through once more. */
  fitted(body: BodyOutline, flavour: ChatFlavour, reasoningOf: ReasoningOf): MaybePromise<FittedBody | null>;
  /** Of a body that has been changed since it was read. */
  outlineOf(bytes: BodyOutline['bytes']): BodyOutline;
}
