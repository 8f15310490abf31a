/** Renders the stream of a chat completion. */

import type { AnswerContext } from '../../neutral/answers/answer-context.ts';
import { escapeText, GrowingText } from '../../neutral/answers/growing-text.ts';
import type { EventRenderer } from '../../neutral/answers/wire-translation.ts';
import type { AnswerError, AnswerEvent, DeltaEvent, TokenUsage } from '../../neutral/neutral-answer.ts';
import { chatErrorEvent } from '../wire/chat-stream.ts';
import { openaiErrorBody } from '../wire/write-error.ts';
import { calledMembers, completionId, reasoningDetail, sealMembers, visibleText } from './render-answer.ts';
import { renderChatUsage, renderFinishReason } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export class ChatEventRenderer implements EventRenderer {
  readonly #context: AnswerContext;
  /** The constant beginning of each chunk's JSON. */
  #head = '';
  /** Text of the current thought, for its detail. */
  #thought = new GrowingText();
  #hasThought = false;
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
        return this.#text(escapeText(event.text));
      case 'refusal':
        return this.#delta({ refusal: event.text });
      case 'media':
        return this.#delta({ content: visibleText(event.part) });
      case 'thinking':
        return this.#think(event.text);
      case 'seal': {
        const { text } = this.#thought;
        this.#thought = new GrowingText();
        return this.#delta({ reasoning_details: [{ ...reasoningDetail(event.seal, text), index: 0 }] });
      }
      case 'call': {
        this.#kinds[event.index] = event.kind;
        const members = calledMembers(event, '');
        return this.#delta({ tool_calls: [{ index: event.index, id: event.id, ...members, ...sealMembers(event) }] });
      }
      case 'arguments':
        return this.#argumentsChunk(event.index, escapeText(event.text));
      case 'stop':
        return this.#chunk(
          `[{"index":0,"delta":{},"logprobs":null,"finish_reason":"${renderFinishReason(event.stop.reason)}"}]`,
        );
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
