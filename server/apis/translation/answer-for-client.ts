/** Maps the tools in a whole answer back to the client's: their names, kinds and call ids. */
import {
  type AnswerContext,
  answerCallIds,
  brokenArguments,
  isWholeObject,
  malformedCall,
  sealedBy,
  settledStop,
} from '../neutral/answers/answer-context.ts';
import type { CallPart, Seal } from '../neutral/conversation.ts';
import type { Answer, AnswerError, AnswerPart } from '../neutral/neutral-answer.ts';
import { customInput, isCutInput } from '../neutral/requests/custom-input.ts';

/** An error if there is no usable answer for the client. */
type AnswerResult = { ok: true; answer: Answer } | { ok: false; error: AnswerError };

export function answerForClient(answer: Answer, context: AnswerContext): AnswerResult {
  if (answer.error) return { ok: false, error: answer.error };
  if (answer.stop.reason === 'malformed') return { ok: false, error: malformedCall };
  const ids = answerCallIds(context.conversation);
  const parts: AnswerPart[] = [];
  for (const part of answer.parts) {
    if (part.type === 'foreign') context.losses.dropped(part.name, 'provider-item');
    else if (part.type === 'thinking' && part.seal) parts.push({ ...part, seal: sealedBy(context.origin, part.seal) });
    else if (part.type !== 'call') parts.push(part);
    else if (part.name === context.answerTool) parts.push({ type: 'text', text: part.arguments, at: '' });
    else {
      const call = callForClient(part, ids.assign(part.id), context);
      const isCut = call.kind === 'custom' && part.kind === 'function' && isCutInput(part.arguments);
      if (isCut || isBroken(call, context)) return { ok: false, error: brokenArguments(call.name) };
      if (call.seal && !context.conversation.client.hasSealedCalls) addSeal(parts, call.seal);
      parts.push(call);
    }
  }
  const hasCalls = parts.some(({ type }) => type === 'call');
  return { ok: true, answer: { ...answer, parts, stop: settledStop(answer.stop, hasCalls) } };
}

function callForClient(call: CallPart, id: string, { names, origin }: AnswerContext): CallPart {
  const { name, namespace, kind } = names.decode(call.name);
  const callArguments = call.arguments.trim() === '' && kind === 'function' ? '{}' : call.arguments;
  const isLowered = kind === 'custom' && call.kind === 'function';
  return {
    ...call,
    id,
    name,
    namespace,
    kind: call.kind === 'custom' ? 'custom' : kind,
    arguments: isLowered ? customInput(callArguments) : callArguments,
    seal: call.seal && sealedBy(origin, call.seal),
  };
}

/** Adds the seal to the preceding thought, or as a thought without text. */
function addSeal(parts: AnswerPart[], seal: Seal): void {
  const before = parts.at(-1);
  if (before?.type === 'thinking' && before.seal === undefined) parts[parts.length - 1] = { ...before, seal };
  else parts.push({ type: 'thinking', text: '', seal, at: '' });
}

function isBroken({ kind, arguments: callArguments }: CallPart, { conversation }: AnswerContext): boolean {
  return kind === 'function' && conversation.client.wantsWholeArguments && !isWholeObject(callArguments);
}
