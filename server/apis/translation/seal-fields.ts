/**
 * Where each API carries the seals of reasoning, and so Sluice's envelopes. A value that looks like an envelope anywhere
 * else, such as in a text, an argument or a result, is the client's own.
 */
import { geminiFacts } from '../../models/model-facts.ts';
import { withoutBudget } from '../anthropic/translation/without-thinking.ts';
import type { ByteRange } from '../json/json-scan.ts';
import type { JsonEdit } from '../json/json-splice.ts';
import { JsonMarks } from '../json/json-tokens.ts';
import type { SealKind, WireName } from '../neutral/conversation.ts';
import type { Losses } from '../neutral/losses.ts';
import { envelopeBeginnings, placeholderSignature } from '../neutral/requests/carried-reasoning.ts';
import { keptItemBeginnings, responseOfItem } from './kept-reasoning.ts';

/** A value in the conversation: what to look for in it. */
export interface Place {
  /** In its members. */
  members?: Readonly<Record<string, Place>>;
  /** In each of its elements; in itself, if it is no list. */
  each?: Place;
  /** In the value itself. */
  holder?: Holder;
  /** Without it, the object whose member it is says nothing. */
  isEssential?: true;
}

/** An object with a seal. */
export interface Holder {
  seals: readonly SealMember[];
  /** What a seal that the provider cannot read takes along: the whole object, or only its member. */
  leaves: 'object' | 'member';
  /** The member of objects to which Sluice gave an id that no provider knows. */
  madeId?: { member: string; isMade(id: string): boolean };
  /** For an object with a member of these: what takes the place of a seal that the provider cannot read; null for nothing. */
  substitute?: { of: readonly string[]; valueFor(model: string): string | null };
  /** A member of no use if it is empty and alone. */
  text?: string;
}

export interface SealMember {
  member: string;
  /** The `type` of the object; absent if any object may have the seal. */
  type?: string;
  /** What the API's own providers put there; `plain` if they also send thoughts without a seal. */
  kinds: readonly SealKind[];
  /** A thought without a seal has no such member, rather than an empty one. */
  isOptional?: true;
}

export interface SealedConversation {
  /** The top-level field with the list of messages, contents or items. */
  list: string;
  place: Place;
  /** Top-level members that may hold a whole request, with its list. */
  wrappers?: readonly string[];
  /** Changes that a request needs if these elements of the list have lost reasoning. */
  afterLoss?(body: Buffer, reduced: readonly ByteRange[], losses: Losses): JsonEdit[];
}

/** Anthropic's API reference, "Create a Message", and "Extended thinking", sections on preserving and redacted blocks. */
const thinkingBlock: Holder = {
  seals: [
    { type: 'thinking', member: 'signature', kinds: ['signature', 'plain'] },
    { type: 'redacted_thinking', member: 'data', kinds: ['redacted'] },
  ],
  leaves: 'object',
};

/** OpenAI's API reference, "Create a model response", and "Reasoning models", section on encrypted reasoning items. */
const item: Holder = {
  seals: [{ type: 'reasoning', member: 'encrypted_content', kinds: ['encrypted', 'plain'], isOptional: true }],
  leaves: 'object',
  madeId: { member: 'id', isMade: (id) => responseOfItem(id) !== null },
};

/** OpenRouter, "Reasoning tokens", section on preserving `reasoning_details`. */
const reasoningDetail: Holder = {
  seals: [
    { member: 'signature', kinds: ['signature'] },
    { member: 'data', kinds: ['encrypted', 'redacted'] },
  ],
  leaves: 'object',
};

/** Google, "OpenAI compatibility" and "Thought signatures", of calls and of messages; `vertex` at Vertex AI. */
const ownersOfSignatures: Holder = {
  seals: [{ member: 'thought_signature', kinds: ['thought-signature'] }],
  leaves: 'member',
};
const extraContent: Place = {
  members: { google: { holder: ownersOfSignatures }, vertex: { holder: ownersOfSignatures } },
};

/** Google, "Thought signatures"; its JSON for Protobuf takes both spellings. Gemini 3 refuses a call without one. */
const geminiPart: Holder = {
  seals: [
    { member: 'thoughtSignature', kinds: ['thought-signature'] },
    { member: 'thought_signature', kinds: ['thought-signature'] },
  ],
  leaves: 'member',
  substitute: {
    of: ['functionCall', 'function_call'],
    valueFor: (model) => (geminiFacts(model).needsSignatures ? placeholderSignature : null),
  },
  text: 'text',
};

export const sealFields: Readonly<Record<WireName, SealedConversation>> = {
  'anthropic-messages': {
    list: 'messages',
    place: { members: { content: { each: { holder: thinkingBlock }, isEssential: true } } },
    afterLoss: withoutBudget,
  },
  'openai-responses': { list: 'input', place: { holder: item } },
  'openai-chat': {
    list: 'messages',
    place: {
      members: {
        reasoning_details: { each: { holder: reasoningDetail } },
        tool_calls: { each: { members: { extra_content: extraContent } } },
        extra_content: extraContent,
      },
    },
  },
  'gemini-generate': {
    list: 'contents',
    place: { members: { parts: { each: { holder: geminiPart }, isEssential: true } } },
    // Google, "models.countTokens".
    wrappers: ['generateContentRequest', 'generate_content_request'],
  },
};

/**
 * By what the one scan of a body recognises a conversation in which Sluice has had a part: its envelopes, and the ids of
 * items of its responses.
 */
export const marksOfSluice = new JsonMarks([...envelopeBeginnings, ...keptItemBeginnings]);
