/** Renders the stream of a response, item by item; its last event contains the whole response. */

import { type AnswerContext, type EventRenderer, isWholeObject } from '../../neutral/answers/wire-translation.ts';
import type { AnswerFormat, CallPart, Conversation, Seal, Tool } from '../../neutral/conversation.ts';
import { escapeText, GrowingText, TextParts, writeJson } from '../../neutral/json-text.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type {
  Answer,
  AnswerError,
  AnswerEvent,
  CallEvent,
  Citation,
  DeltaEvent,
  Stop,
  TokenUsage,
} from '../../neutral/neutral-answer.ts';
import { wrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { urlCitation } from '../url-citations.ts';
import { openaiErrorBody } from '../wire/formats.ts';
import { ownCallItem } from './own-tools.ts';
import { renderResponseUsage, renderStatus } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

/** The item that has begun but not ended. */
type Open =
  | { kind: 'text'; id: string; text: GrowingText; annotations: readonly Json[] }
  | { kind: 'refusal' | 'thinking'; id: string; text: GrowingText }
  | { kind: 'call'; id: string; text: GrowingText; call: CallEvent };

/**
 * The text of a delta of the open item before its sequence number, between that and the variable text, and after it.
 */
type Around = readonly [string, string, string];

export class ResponsesEventRenderer implements EventRenderer {
  readonly #context: AnswerContext;
  readonly #output: Json[] = [];
  #id = '';
  #open: Open | null = null;
  #sequenceNumber = 0;
  #usage: TokenUsage | null = null;
  #stop: Stop = { reason: 'end' };
  #hasStopped = false;
  #out = '';
  readonly #texts = new TextParts<CitedText>();
  /** Null if the open item has had no delta yet. */
  #deltaParts: Around | null = null;
  whole: Json | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(event: AnswerEvent): string {
    this.#out = '';
    this.#take(event);
    return this.#out;
  }

  fail(error: AnswerError): string {
    this.#out = '';
    this.#fail(error);
    return this.#out;
  }

  readonly ping = ': keep-alive\n\n';

  #take(event: AnswerEvent): void {
    if (event.type === 'start') this.#begin(event.id);
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'stop') this.#stop = event.stop;
    else if (event.type === 'error') this.#fail(event.error);
    else if (event.type === 'end') this.#end();
    else if (event.type === 'text' || event.type === 'refusal') this.#say(event.type, event.text);
    else if (event.type === 'media') this.#say('text', pictureAsText(event.part));
    else if (event.type === 'thinking') this.#think(event.text);
    else if (event.type === 'seal') this.#seal(event.seal);
    else if (event.type === 'citation') this.#cite(event.citation);
    else if (event.type === 'call') this.#beginCall(event);
    else if (event.type === 'arguments') this.#addArguments(event.text);
    else if (event.type === 'call-end') this.#endOpenCall(event.isCut === true);
  }

  #begin(id: string): void {
    this.#id = this.#context.identity?.id ?? id;
    const response = responseObject(this.#id, this.#context, {});
    this.#write('response.created', { response });
    this.#write('response.in_progress', { response });
  }

  #say(kind: 'text' | 'refusal', text: string): void {
    if (this.#open?.kind !== kind) {
      this.#close();
      const id = itemId('msg', this.#id, this.#output.length);
      const opened = { id, text: new GrowingText() };
      const open: Open = kind === 'text' ? { kind, ...opened, annotations: this.#beginCited(id) } : { kind, ...opened };
      this.#openItem(open, messageItem(id, [], 'in_progress'));
      const part = kind === 'text' ? textPart('') : refusalPart('');
      this.#write('response.content_part.added', { ...this.#itemPosition(), content_index: 0, part });
    }
    this.#add(text);
  }

  /** Returns the list to which the citations of the text are added. */
  #beginCited(id: string): readonly Json[] {
    const position = { item_id: id, output_index: this.#output.length, content_index: 0 };
    const cited: CitedText = { position, annotations: [] };
    this.#texts.begin(cited);
    return cited.annotations;
  }

  /** If the text has ended, the event still says so, and the response at the end. */
  #cite(citation: Citation): void {
    const cited = annotate(this.#texts, citation);
    if (cited === null) {
      this.#context.losses.dropped('citations', 'provider-item');
      return;
    }
    const { text, annotation } = cited;
    const members = { ...text.position, annotation_index: text.annotations.length - 1, annotation };
    this.#write('response.output_text.annotation.added', members);
  }

  #think(text: string): void {
    if (this.#open?.kind !== 'thinking') {
      this.#openThought();
      this.#write('response.reasoning_summary_part.added', {
        ...this.#itemPosition(),
        summary_index: 0,
        part: summaryPart(''),
      });
    }
    this.#add(text);
  }

  #openThought(): void {
    this.#close();
    const id = itemId('rs', this.#id, this.#output.length);
    this.#openItem({ kind: 'thinking', id, text: new GrowingText() }, reasoningItem(id, '', undefined));
  }

  #seal(seal: Seal): void {
    if (this.#open?.kind !== 'thinking') this.#openThought();
    this.#close(seal);
  }

  #beginCall(call: CallEvent): void {
    this.#close();
    const id = itemId(callItemKind(call), this.#id, this.#output.length);
    const open: Open = { kind: 'call', id, text: new GrowingText(), call };
    if (call.ownType === undefined) this.#openItem(open, callItem(id, call, '', 'in_progress'));
    else this.#open = open;
  }

  /** A call that the limit cut off is not told as done: clients would run a part of it. */
  #endOpenCall(isCut: boolean): void {
    if (isCut) this.#open = null;
    else this.#close();
  }

  #addArguments(delta: string): void {
    if (this.#open?.kind === 'call') this.#add(delta);
  }

  #openItem(open: Open, item: Json): void {
    this.#open = open;
    this.#deltaParts = null;
    this.#write('response.output_item.added', { output_index: this.#output.length, item });
  }

  #add(text: string): void {
    if (this.#open === null) return;
    this.#open.text.add(text);
    this.#out += this.#delta(this.#open, escapeText(text));
  }

  renderDelta({ type }: DeltaEvent, escaped: string): string | null {
    const open = this.#open;
    if (open === null || open.kind !== (type === 'arguments' ? 'call' : type)) return null;
    open.text.addEscaped(escaped);
    return this.#delta(open, escaped);
  }

  /** Nearly all events of a stream are deltas, so only their variable part is serialised. */
  #delta(open: Open, escaped: string): string {
    if (isToldAtOnce(open)) return '';
    this.#deltaParts ??= around(open, this.#output.length);
    const [before, between, after] = this.#deltaParts;
    return `${before}${this.#sequenceNumber++}${between}${escaped}${after}`;
  }

  #close(seal?: Seal): void {
    const open = this.#open;
    if (open === null) return;
    const item = open.kind === 'call' ? this.#endCall(open) : this.#endText(open, seal);
    if (isToldAtOnce(open)) this.#openItem(open, { ...item, status: 'in_progress' });
    this.#write('response.output_item.done', { output_index: this.#output.length, item });
    this.#output.push(item);
    this.#open = null;
  }

  #endCall({ id, text: { text }, call }: Extract<Open, { kind: 'call' }>): Json {
    if (call.ownType !== undefined) return callItem(id, call, text);
    const members = call.kind === 'custom' ? { input: text } : { arguments: text, name: call.name };
    this.#write(`${argumentsType(call)}.done`, { ...this.#itemPosition(), ...members });
    return callItem(id, call, text);
  }

  #endText(open: Exclude<Open, { kind: 'call' }>, seal: Seal | undefined): Json {
    const { kind, id } = open;
    const { text } = open.text;
    const position = this.#itemPosition();
    if (kind === 'thinking') {
      if (text !== '') {
        this.#write('response.reasoning_summary_text.done', { ...position, summary_index: 0, text });
        this.#write('response.reasoning_summary_part.done', { ...position, summary_index: 0, part: summaryPart(text) });
      }
      return reasoningItem(id, text, seal);
    }
    if (kind === 'text') this.#texts.add(text.length);
    const part = kind === 'text' ? textPart(text, open.annotations) : refusalPart(text);
    const members = kind === 'text' ? { text, logprobs: [] } : { refusal: text };
    const type = kind === 'text' ? 'response.output_text.done' : 'response.refusal.done';
    this.#write(type, { ...position, content_index: 0, ...members });
    this.#write('response.content_part.done', { ...position, content_index: 0, part });
    // The rest of a message that is still open at the end is what an incomplete response lacks.
    return messageItem(id, [part], this.#hasStopped ? renderStatus(this.#stop).status : 'completed');
  }

  #end(): void {
    this.#hasStopped = true;
    this.#close();
    const status = renderStatus(this.#stop);
    const usage = this.#usage && renderResponseUsage(this.#usage);
    const response = responseObject(this.#id, this.#context, { ...status, output: this.#output, usage });
    this.whole = response;
    this.#write(`response.${status.status}`, { response });
  }

  /** OpenAI's SDKs raise the first of the two, with its nested error; Codex reads the code from the second. */
  #fail(error: AnswerError): void {
    const body = openaiErrorBody(error);
    this.#write('error', { error: body });
    const failed = { code: body.code ?? 'server_error', message: body.message };
    const members = { status: 'failed', error: failed, output: this.#output };
    this.#write('response.failed', { response: responseObject(this.#id, this.#context, members) });
  }

  #itemPosition(): Json {
    return { item_id: this.#open?.id ?? responseId(this.#id), output_index: this.#output.length };
  }

  #write(type: string, members: Json): void {
    const data = writeJson({ type, sequence_number: this.#sequenceNumber++, ...members });
    this.#out += `event: ${type}\ndata: ${data}\n\n`;
  }
}

/** Clients read the input of these calls as an object. */
function isToldAtOnce(open: Open): boolean {
  return open.kind === 'call' && open.call.ownType !== undefined;
}

/** The event type of each item's deltas, and its members on both sides of the text. */
const deltas = {
  text: { type: 'response.output_text.delta', within: ',"content_index":0', rest: ',"logprobs":[]' },
  refusal: { type: 'response.refusal.delta', within: ',"content_index":0', rest: '' },
  thinking: { type: 'response.reasoning_summary_text.delta', within: ',"summary_index":0', rest: '' },
};

function around(open: Open, outputIndex: number): Around {
  const { type, within, rest } =
    open.kind === 'call' ? { type: `${argumentsType(open.call)}.delta`, within: '', rest: '' } : deltas[open.kind];
  return [
    `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
    `,"item_id":${JSON.stringify(open.id)},"output_index":${outputIndex}${within},"delta":"`,
    `"${rest}}\n\n`,
  ];
}

function summaryPart(text: string): Json {
  return { type: 'summary_text', text };
}

function argumentsType({ kind }: CallEvent): string {
  return kind === 'custom' ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
}

/** Renders a whole response. */
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
function responseId(id: string): string {
  return id.startsWith('resp_') ? id : `resp_${id}`;
}

/** An item's id begins with its kind and ends with its position. */
function itemId(kind: 'msg' | 'rs' | CallItemKind, id: string, index: number): string {
  return `${kind}_${responseId(id).slice('resp_'.length)}_${index}`;
}

type CallItemKind = 'fc' | 'ctc' | 'call';

function callItemKind({ kind, ownType }: Pick<CallPart, 'kind' | 'ownType'>): CallItemKind {
  if (ownType !== undefined) return 'call';
  return kind === 'custom' ? 'ctc' : 'fc';
}

function textPart(text: string, annotations: readonly Json[] = []): Json {
  return { type: 'output_text', text, annotations, logprobs: [] };
}

/** A text with the citations in it. */
interface CitedText {
  /** The members that name it in events. */
  position: Json;
  annotations: Json[];
}

/** Adds a citation to the text that it is in. Null if there is no text. */
function annotate(texts: TextParts<CitedText>, citation: Citation): { text: CitedText; annotation: Json } | null {
  const found = texts.at(citation.place?.start ?? null);
  if (found === undefined) return null;
  const annotation = urlCitation(citation, found.start);
  found.part.annotations.push(annotation);
  return { text: found.part, annotation };
}

function refusalPart(refusal: string): Json {
  return { type: 'refusal', refusal };
}

function messageItem(id: string, content: readonly Json[], status = 'completed'): Json {
  return { id, type: 'message', status, role: 'assistant', content };
}

function reasoningItem(id: string, text: string, seal: Seal | undefined): Json {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return { id, type: 'reasoning', summary, ...(seal === undefined ? {} : { encrypted_content: wrapSeal(seal) }) };
}

type Called = Pick<CallPart, 'id' | 'name' | 'namespace' | 'kind' | 'ownType'>;

/** Torn arguments are those of an incomplete call, whatever the response says. */
function callItem(
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
function responseObject(id: string, { conversation, createdAt, identity }: AnswerContext, members: Json): Json {
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
