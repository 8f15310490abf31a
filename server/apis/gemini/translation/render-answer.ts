/** Renders a whole answer of Gemini's API. */
import type { AnswerContext } from '../../neutral/answers/answer-context.ts';
import { TextParts } from '../../neutral/answers/text-parts.ts';
import type { CallPart, MediaPart, Seal } from '../../neutral/conversation.ts';
import { RawJson } from '../../neutral/json-text.ts';
import { pictureAsText } from '../../neutral/media.ts';
import type { Answer } from '../../neutral/neutral-answer.ts';
import { envelopeOfNothing, wrapSeals } from '../../neutral/requests/carried-reasoning.ts';
import { renderGrounding } from './grounding.ts';
import { renderFinish, renderUsageMetadata } from './stops-and-usage.ts';

type Json = Record<string, unknown>;

export function renderGenerateAnswer(answer: Answer, context: AnswerContext): Json {
  const parts: Json[] = [];
  let seals: Seal[] = [];
  const texts = new TextParts<number>();
  for (const part of answer.parts) {
    if (part.type === 'thinking') {
      if (part.text !== '') parts.push({ text: part.text, thought: true });
      if (part.seal) seals.push({ ...part.seal, text: part.text });
      continue;
    }
    if (part.type === 'foreign') continue;
    if (part.type === 'call' && part.seal) seals.push(part.seal);
    const rendered =
      part.type === 'call'
        ? callPart(part, part.arguments)
        : part.type === 'media'
          ? mediaPart(part)
          : { text: part.text };
    if (part.type === 'text' || part.type === 'media') {
      texts.begin(parts.length);
      texts.add(Buffer.byteLength(part.type === 'text' ? part.text : pictureAsText(part)));
    }
    const isFirstCall = part.type === 'call' && !parts.some((each) => 'functionCall' in each);
    parts.push({ ...(isFirstCall ? unsigned : {}), ...rendered, ...signatureOf(seals) });
    seals = [];
  }
  if (seals.length > 0) parts.push({ text: '', ...signatureOf(seals) });
  const groundingMetadata = renderGrounding(answer.citations, texts);
  const finishReason = renderFinish(answer.stop.reason);
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0, groundingMetadata }],
    usageMetadata: answer.usage === null ? undefined : renderUsageMetadata(answer.usage),
    modelVersion: context.conversation.model,
    responseId: answer.id,
  };
}

/** Gemini 3 refuses a turn whose first call has no signature, and by this mark such a turn is recognised later. */
export const unsigned: Json = { thoughtSignature: envelopeOfNothing };

/** Clients return the signature of a call or a text, but no thoughts. That of the call itself comes last. */
export function signatureOf(seals: readonly Seal[]): Json {
  return seals.length === 0 ? {} : { thoughtSignature: wrapSeals(seals) };
}

export function callPart({ id, name }: Pick<CallPart, 'id' | 'name'>, callArguments: string): Json {
  return { functionCall: { id, name, args: new RawJson(callArguments) } };
}

export function mediaPart({ source }: MediaPart): Json {
  if (source.type === 'base64') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  return { text: source.type === 'url' ? `![](${source.url})` : '' };
}
