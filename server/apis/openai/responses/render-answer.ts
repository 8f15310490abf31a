/** Renders a whole response. */

import { TextParts } from '../../neutral/answers/growing-text.ts';
import { type AnswerContext, isWholeObject } from '../../neutral/answers/wire-translation.ts';
import type { AnswerFormat, CallPart, Conversation, Seal, Tool } from '../../neutral/conversation.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type { Answer, Citation } from '../../neutral/neutral-answer.ts';
import { wrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { urlCitation } from '../url-citations.ts';
import { ownCallItem } from './own-tools.ts';
import { renderResponseUsage, renderStatus } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export function renderResponsesAnswer(answer: Answer, context: AnswerContext): Json {
  const id = context.identity?.id ?? answer.id;
  const output: Json[] = [];
  /** Content of the current message; adjacent texts form one message. */
  let content: Json[] | null = null;
  const texts = new TextParts<CitedText>();
  for (const part of answer.parts) {
    const index = output.length;
    if (part.type === 'text' || part.type === 'refusal' || part.type === 'media') {
      if (content === null) {
        content = [];
        output.push(messageItem(itemId('msg', id, index), content));
      }
      if (part.type === 'refusal') content.push(refusalPart(part.text));
      else {
        const text = part.type === 'text' ? part.text : pictureAsText(part);
        const cited: CitedText = { position: {}, annotations: [] };
        content.push(textPart(text, cited.annotations));
        texts.begin(cited);
        texts.add(text.length);
      }
      continue;
    }
    content = null;
    if (part.type === 'thinking') output.push(reasoningItem(itemId('rs', id, index), part.text, part.seal));
    else if (part.type === 'call') {
      output.push(callItem(itemId(callItemKind(part), id, index), part, part.arguments));
    }
  }
  for (const citation of answer.citations ?? []) {
    if (annotate(texts, citation) === null) context.losses.dropped('citations', 'provider-item');
  }
  const { status } = renderStatus(answer.stop);
  // The rest of the last message is what an incomplete response lacks.
  const last = output.at(-1);
  if (last?.type === 'message') last.status = status;
  const usage = answer.usage && renderResponseUsage(answer.usage);
  return responseObject(id, context, { ...renderStatus(answer.stop), output, usage });
}

/** OpenAI's clients expect ids that begin with `resp_`. */
export function responseId(id: string): string {
  return id.startsWith('resp_') ? id : `resp_${id}`;
}

/** An item's id begins with its kind and ends with its position. */
export function itemId(kind: 'msg' | 'rs' | CallItemKind, id: string, index: number): string {
  return `${kind}_${responseId(id).slice('resp_'.length)}_${index}`;
}

type CallItemKind = 'fc' | 'ctc' | 'call';

export function callItemKind({ kind, ownType }: Pick<CallPart, 'kind' | 'ownType'>): CallItemKind {
  if (ownType !== undefined) return 'call';
  return kind === 'custom' ? 'ctc' : 'fc';
}

export function textPart(text: string, annotations: readonly Json[] = []): Json {
  return { type: 'output_text', text, annotations, logprobs: [] };
}

/** A text with the citations in it. */
export interface CitedText {
  /** The members that name it in events. */
  position: Json;
  annotations: Json[];
}

/** Adds a citation to the text that it is in. Null if there is no text. */
export function annotate(
  texts: TextParts<CitedText>,
  citation: Citation,
): { text: CitedText; annotation: Json } | null {
  const found = texts.at(citation.place?.start ?? null);
  if (found === undefined) return null;
  const annotation = urlCitation(citation, found.start);
  found.part.annotations.push(annotation);
  return { text: found.part, annotation };
}

export function refusalPart(refusal: string): Json {
  return { type: 'refusal', refusal };
}

export function messageItem(id: string, content: readonly Json[], status = 'completed'): Json {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function reasoningItem(id: string, text: string, seal: Seal | undefined): Json {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return { id, type: 'reasoning', summary, ...(seal === undefined ? {} : { encrypted_content: wrapSeal(seal) }) };
}

type Called = Pick<CallPart, 'id' | 'name' | 'namespace' | 'kind' | 'ownType'>;

/** Torn arguments are those of an incomplete call, whatever the response says. */
export function callItem(
  id: string,
  { id: callId, name, namespace, kind, ownType }: Called,
  callArguments: string,
  status = kind === 'custom' || isWholeObject(callArguments) ? 'completed' : 'incomplete',
): Json {
  if (ownType !== undefined) return ownCallItem(ownType, { id, callId, arguments: callArguments });
  const namespaceMember = namespace === undefined ? {} : { namespace };
  if (kind === 'custom')
    return { id, type: 'custom_tool_call', status, call_id: callId, name, ...namespaceMember, input: callArguments };
  return { id, type: 'function_call', status, call_id: callId, name, ...namespaceMember, arguments: callArguments };
}

/** Includes the settings of the request, which clients expect to read in it. */
export function responseObject(id: string, { conversation, createdAt, identity }: AnswerContext, members: Json): Json {
  const { model, instructions, sampling, maxOutputTokens, parallelToolCalls, metadata, reasoning } = conversation;
  return {
    id: responseId(id),
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: instructions[0]?.at === 'instructions' ? instructions[0].text : null,
    max_output_tokens: maxOutputTokens ?? null,
    model,
    output: [],
    parallel_tool_calls: parallelToolCalls ?? true,
    previous_response_id: identity?.previousId ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.isVisible === true ? 'auto' : null },
    store: identity?.isKept ?? false,
    temperature: sampling.temperature ?? 1,
    text: { format: echoFormat(conversation.format) },
    tool_choice: echoChoice(conversation),
    tools: conversation.tools.map(echoTool),
    top_p: sampling.topP ?? 1,
    truncation: 'disabled',
    usage: null,
    metadata: metadata ?? {},
    ...members,
  };
}

function echoFormat(format: AnswerFormat | undefined): Json {
  if (format === undefined) return { type: 'text' };
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', name, description: description ?? null, schema, strict: strict ?? false };
}

function echoChoice({ toolChoice: choice, tools }: Conversation): unknown {
  if (choice === undefined) return 'auto';
  if (choice.mode === 'subset') return choice.isRequired ? 'required' : 'auto';
  if (choice.mode !== 'named') return choice.mode;
  const tool = tools.find(({ name }) => name === choice.name);
  return tool?.own ? { type: tool.own.type } : { type: tool?.kind ?? 'function', name: choice.name };
}

function echoTool({ kind, name, description, schema, strict, format, own }: Tool): Json {
  if (own !== undefined) return own;
  if (kind === 'custom') return { type: 'custom', name, description: description ?? null, format };
  return {
    type: 'function',
    name,
    description: description ?? null,
    parameters: schema ?? null,
    strict: strict ?? false,
  };
}
