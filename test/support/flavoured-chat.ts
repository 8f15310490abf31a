/** Chat services that refuse what the table of flavours says they refuse, as far as the table itself is not what is tested. */
import type { ChatFlavour } from '../../server/apis/core/chat-flavour.ts';
import { missingSignature } from '../../server/apis/openai/wire/fit-request.ts';
import { chatFlavourOf } from '../../server/providers/chat-flavours.ts';
import { presets } from '../../server/providers/presets.ts';
import type { Json } from '../server/apis/translation/translating.ts';
import { bodyOf, completion, sendStream, streamOf } from './strict-chat.ts';
import { json, type Script } from './upstream.ts';

export interface FlavouredService {
  preset: string;
  /** A model to which its flavour applies. */
  model: string;
  flavour: ChatFlavour;
}

const thinkingModels: Readonly<Record<string, readonly string[]>> = {
  openai: ['gpt-5'],
  deepseek: ['deepseek-v4-pro'],
  moonshot: ['kimi-k2.6'],
  openrouter: ['google/gemini-3-pro-preview'],
};

/** All of the table. Some have another flavour for models that think. */
export const flavouredServices: readonly FlavouredService[] = presets.flatMap(({ id, dialect }) =>
  ['some-model', ...(thinkingModels[id] ?? [])].flatMap((model) => {
    const flavour = chatFlavourOf({ preset: id, dialect, baseUrl: 'http://127.0.0.1/v1' })(model);
    return flavour && dialect === 'openai' ? [{ preset: id, model, flavour }] : [];
  }),
);

/** Answers with 400 what the flavour refuses, and everything else with "Hello". */
export function flavouredChat(): Script {
  return (request, response) => {
    const body = bodyOf(request);
    const preset = request.url.split('/')[1];
    const { flavour } = flavouredServices.find((each) => each.preset === preset && each.model === body.model) ??
      flavouredServices.find((each) => each.preset === preset) ?? { flavour: undefined };
    const refused = flavour ? refusedIn(body, flavour) : [];
    if (refused.length > 0) {
      const message = refused.map((path) => `property '${path}' is unsupported`).join('; ');
      json(response, { error: { message, type: 'invalid_request_error' } }, 400);
    } else if (body.stream === true) sendStream(response, streamOf([{ content: 'Hello' }]));
    else json(response, completion({ content: 'Hello' }));
  };
}

/** Paths of all that the flavour refuses in a request. */
export function refusedIn(body: Json, flavour: ChatFlavour): string[] {
  const { messages = [], tools = [] } = body as { messages?: Json[]; tools?: { function?: Json }[] };
  return [
    ...Object.keys(body).filter((name) => name in flavour.request),
    ...messages.flatMap((message, index) => refusedInMessage(message, `messages[${index}].`, flavour)),
    ...tools.flatMap(({ function: each = {} }, index) =>
      Object.keys(each).flatMap((name) => (name in flavour.functions ? [`tools[${index}].function.${name}`] : [])),
    ),
  ];
}

function refusedInMessage(message: Json, path: string, flavour: ChatFlavour): string[] {
  const { messages, roles, joinsTexts, wantsReasoning, signsCalls } = flavour;
  const names = Object.keys(message).filter((name) => name in messages);
  const { role, content } = message;
  const isList = joinsTexts && Array.isArray(content) && content.every(({ type }: Json) => type === 'text');
  const isConcerned =
    wantsReasoning === 'of all' || (wantsReasoning === 'of calls' && message.tool_calls !== undefined);
  const isMissing = role === 'assistant' && isConcerned && message.reasoning_content === undefined;
  return [
    ...names.map((name) => `${path}${name}`),
    ...(String(role) in roles ? [`${path}role`] : []),
    ...(isList ? [`${path}content`] : []),
    ...(isMissing ? [`${path}reasoning_content`] : []),
    ...(missingSignature(message, signsCalls) === null ? [] : [`${path}${signsCalls}`]),
  ];
}
