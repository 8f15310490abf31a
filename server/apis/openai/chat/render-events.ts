/** Renders the stream of a chat completion. */

import type { AnswerContext, EventRenderer } from '../../neutral/answers/wire-translation.ts';
import type { CallPart, ThinkingPart } from '../../neutral/conversation.ts';
import { escapeText, GrowingText } from '../../neutral/json-text.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type {
  Answer,
  AnswerError,
  AnswerEvent,
  AnswerPart,
  DeltaEvent,
  Stop,
  TokenUsage,
} from '../../neutral/neutral-answer.ts';
import { wrapSeal } from '../../neutral/requests/carried-reasoning.ts';
import { chatAnnotation } from '../url-citations.ts';
import { openaiErrorBody } from '../wire/formats.ts';
import { chatErrorEvent } from '../wire/streams.ts';
import { renderChatUsage, renderFinishReason } from './parse-message.ts';

type Json = Record<string, unknown>;

export class ChatEventRenderer implements EventRenderer {
  readonly #context: AnswerContext;
  /** The constant beginning of each chunk's JSON. */
  #head = '';
  /** Text of the current thought, for its detail. */
  #thought = new GrowingText();
  #hasThought = false;
  /** The seals so far. */
  readonly #details: Json[] = [];
  /** How many of them the client has. */
  #told = 0;
  readonly #annotations: Json[] = [];
  #usage: TokenUsage | null = null;
  #kinds: ('function' | 'custom')[] = [];

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  push(event: AnswerEvent): string {
    switch (event.type) {
      case 'start':
        return this.#begin(event.id);
      case 'text':
        return this.#tellDetails() + this.#text(escapeText(event.text));
      case 'refusal':
        return this.#tellDetails() + this.#delta({ refusal: event.text });
      case 'media':
        return this.#tellDetails() + this.#delta({ content: visibleText(event.part) });
      case 'thinking':
        return this.#think(event.text);
      case 'seal': {
        const { text } = this.#thought;
        this.#thought = new GrowingText();
        this.#details.push({ ...reasoningDetail(event.seal, text), index: this.#details.length });
        return '';
      }
      case 'call': {
        this.#kinds[event.index] = event.kind;
        const members = calledMembers(event, '');
        const call = { index: event.index, id: event.id, ...members, ...sealMembers(event) };
        return this.#tellDetails() + this.#delta({ tool_calls: [call] });
      }
      case 'arguments':
        return this.#argumentsChunk(event.index, escapeText(event.text));
      case 'stop':
        return this.#tellAllDetails() + this.#annotate() + this.#finish(event.stop);
      case 'citation':
        this.#annotations.push(chatAnnotation(event.citation));
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'error':
        return this.fail(event.error);
      case 'end':
        return this.#end();
      default:
        return '';
    }
  }

  fail(error: AnswerError): string {
    return chatErrorEvent(openaiErrorBody(error));
  }

  readonly ping = ': keep-alive\n\n';

  /** Before the text or the call to which the thoughts led. */
  #tellDetails(): string {
    const [first] = this.#details;
    if (first === undefined || this.#told > 0) return '';
    this.#told = this.#details.length;
    return this.#delta({ reasoning_details: this.#details });
  }

  /**
   * If there were more thoughts later, all again: of several lists the helper of OpenAI's SDK for JavaScript keeps the last
   * one. That for Python joins the texts of those that have the same index.
   */
  #tellAllDetails(): string {
    if (this.#details.length === this.#told) return '';
    if (this.#told === 0) return this.#tellDetails();
    return this.#delta({
      reasoning_details: this.#details.map((detail, index) => ({ ...detail, index: this.#told + index })),
    });
  }

  /** All at once, because of several lists the helper of OpenAI's SDK for JavaScript keeps the last one. */
  #annotate(): string {
    return this.#annotations.length === 0 ? '' : this.#delta({ annotations: this.#annotations });
  }

  #finish({ reason }: Stop): string {
    return this.#chunk(`[{"index":0,"delta":{},"logprobs":null,"finish_reason":"${renderFinishReason(reason)}"}]`);
  }

  #begin(id: string): string {
    const { conversation, createdAt } = this.#context;
    const head = {
      id: completionId(id),
      object: 'chat.completion.chunk',
      created: createdAt,
      model: conversation.model,
    };
    this.#head = `data: ${JSON.stringify(head).slice(0, -1)},"choices":`;
    return this.#delta({ role: 'assistant', content: '' });
  }

  #think(text: string): string {
    const gap = this.#hasThought && this.#thought.isEmpty ? '\n\n' : '';
    this.#hasThought = true;
    this.#thought.add(text);
    return this.#thinking(escapeText(gap + text));
  }

  /** Nearly all chunks of a stream are of the following kinds, so only their variable part is serialised. */
  renderDelta(latest: DeltaEvent, escaped: string): string {
    if (latest.type === 'text') return this.#text(escaped);
    if (latest.type === 'arguments') return this.#argumentsChunk(latest.index, escaped);
    this.#thought.addEscaped(escaped);
    return this.#thinking(escaped);
  }

  #text(escaped: string): string {
    return this.#deltaOf(`{"content":"${escaped}"}`);
  }

  #thinking(escaped: string): string {
    return this.#deltaOf(`{"reasoning_content":"${escaped}"}`);
  }

  #argumentsChunk(index: number, escaped: string): string {
    const member =
      this.#kinds[index] === 'custom' ? `"custom":{"input":"${escaped}"}` : `"function":{"arguments":"${escaped}"}`;
    return this.#deltaOf(`{"tool_calls":[{"index":${index},${member}}]}`);
  }

  #delta(delta: Json): string {
    return this.#deltaOf(JSON.stringify(delta));
  }

  #deltaOf(json: string): string {
    return this.#chunk(`[{"index":0,"delta":${json},"logprobs":null,"finish_reason":null}]`);
  }

  #chunk(choices: string): string {
    const usage = this.#context.conversation.streamUsage ? ',"usage":null' : '';
    return `${this.#head}${choices}${usage}}\n\n`;
  }

  #end(): string {
    const isWanted = this.#context.conversation.streamUsage && this.#usage !== null;
    const usage =
      isWanted && this.#usage ? `${this.#head}[],"usage":${JSON.stringify(renderChatUsage(this.#usage))}}\n\n` : '';
    return `${usage}data: [DONE]\n\n`;
  }
}

/** Renders a whole chat completion. */
export function renderChatAnswer(answer: Answer, context: AnswerContext): Json {
  return {
    id: completionId(answer.id),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.conversation.model,
    choices: [
      {
        index: 0,
        message: renderMessage(answer),
        logprobs: null,
        finish_reason: renderFinishReason(answer.stop.reason),
      },
    ],
    usage: answer.usage === null ? undefined : renderChatUsage(answer.usage),
  };
}

/** OpenAI's clients expect ids that begin with `chatcmpl-`. */
function completionId(id: string): string {
  return id.startsWith('chatcmpl-') ? id : `chatcmpl-${id}`;
}

function renderMessage({ parts, citations }: Answer): Json {
  const content = parts.map(visibleText).join('');
  const refusal = parts.find(({ type }) => type === 'refusal');
  const thinking = parts.filter((part) => part.type === 'thinking');
  const calls = parts.filter((part) => part.type === 'call');
  const thoughts = thinking.map(({ text }) => text).filter((text) => text !== '');
  const details = thinking
    .flatMap(({ text, seal }) => (seal ? [reasoningDetail(seal, text)] : []))
    .map((detail, index) => ({ ...detail, index }));
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal) ? null : content,
    refusal: refusal?.type === 'refusal' ? refusal.text : null,
    reasoning_content: thoughts.length === 0 ? undefined : thoughts.join('\n\n'),
    reasoning_details: details.length === 0 ? undefined : details,
    tool_calls: calls.length === 0 ? undefined : calls.map(renderCall),
    annotations: citations?.map(chatAnnotation),
  };
}

function visibleText(part: AnswerPart): string {
  if (part.type === 'text') return part.text;
  return part.type === 'media' ? pictureAsText(part) : '';
}

/** Uses OpenRouter's notation. Clients that keep unknown members send it back. */
function reasoningDetail(seal: NonNullable<ThinkingPart['seal']>, text: string): Json {
  if (seal.kind === 'redacted' || seal.kind === 'encrypted') {
    return { type: 'reasoning.encrypted', ...(text === '' ? {} : { summary: text }), data: wrapSeal(seal) };
  }
  return { type: 'reasoning.text', text, signature: wrapSeal(seal) };
}

function renderCall(call: CallPart): Json {
  return { id: call.id, ...calledMembers(call, call.arguments), ...sealMembers(call) };
}

function calledMembers({ name, kind }: Pick<CallPart, 'name' | 'kind'>, callArguments: string): Json {
  if (kind === 'custom') return { type: 'custom', custom: { name, input: callArguments } };
  return { type: 'function', function: { name, arguments: callArguments } };
}

/** Uses Google's notation, for the same reason. */
function sealMembers({ seal }: Pick<CallPart, 'seal'>): Json {
  return seal === undefined ? {} : { extra_content: { google: { thought_signature: wrapSeal(seal) } } };
}
