/** Assembles the chunks of a chat completion or legacy completion. */

import { isObject } from '../is-object.ts';
import { type Json, numberOf, objectOf, objectsOf } from './json-values.ts';

/** Members that are sent in pieces; which of them occur depends on the provider. */
const appendedFields = new Set([
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'arguments',
  'input',
  'text',
  'data',
]);

export function assembleChat(chunks: readonly Json[], hasDone: boolean): { answer: Json; isComplete: boolean } {
  const answer: Json = {};
  const choices = new Map<number, Json>();
  for (const { choices: chunkChoices, ...rest } of chunks) {
    // The last usage report applies; chunks before it contain `null`.
    for (const [name, value] of Object.entries(rest)) if (value !== null || !(name in answer)) answer[name] = value;
    for (const choice of objectsOf(chunkChoices)) mergeChoice(choices, choice);
  }
  const whole = [...choices.entries()].sort(([one], [other]) => one - other).map(([, choice]) => finished(choice));
  if (answer.object === 'chat.completion.chunk') answer.object = 'chat.completion';
  const isComplete = hasDone || (whole.length > 0 && whole.every(({ finish_reason: reason }) => Boolean(reason)));
  return { answer: { ...answer, choices: whole }, isComplete };
}

/** Only chunks have the index of a call. */
function finished(choice: Json): Json {
  const message = objectOf(choice.message);
  if (!Array.isArray(message.tool_calls)) return choice;
  const calls = objectsOf(message.tool_calls).map(({ index: _, ...call }) => call);
  return { ...choice, message: { ...message, tool_calls: calls } };
}

function mergeChoice(choices: Map<number, Json>, { delta, ...rest }: Json): void {
  const index = numberOf(rest.index) ?? 0;
  const choice: Json = choices.get(index) ?? { index };
  choices.set(index, choice);
  if (isObject(delta)) {
    const message = objectOf(choice.message);
    merge(message, delta);
    choice.message = message;
  }
  for (const [name, value] of Object.entries(rest)) {
    if (name === 'text') choice.text = `${choice.text ?? ''}${value ?? ''}`;
    else if (value !== null || !(name in choice)) choice[name] = value;
  }
}

function merge(whole: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    const old = whole[name];
    if (value === null || value === undefined) whole[name] ??= null;
    else if (typeof value === 'string' && typeof old === 'string' && appendedFields.has(name))
      whole[name] = old + value;
    else if (Array.isArray(value)) whole[name] = mergeList(Array.isArray(old) ? old : [], value);
    else if (isObject(value)) {
      const inner = { ...objectOf(old) };
      merge(inner, value);
      whole[name] = inner;
    } else if (value !== '' || old === undefined) whole[name] = value;
  }
}

/**
 * Matches elements by `index`, if present. An element whose id differs from the previous one at its index is a new one.
 */
function mergeList(whole: readonly unknown[], delta: readonly unknown[]): unknown[] {
  const merged = [...whole];
  for (const element of delta) {
    const at = isObject(element) ? merged.findLastIndex((each) => isSame(objectOf(each), element)) : -1;
    if (at === -1 || !isObject(element)) {
      merged.push(element);
      continue;
    }
    const inner = { ...objectOf(merged[at]) };
    merge(inner, element);
    merged[at] = inner;
  }
  return merged;
}

function isSame(one: Json, other: Json): boolean {
  if (typeof other.index !== 'number' || one.index !== other.index) return false;
  return !one.id || !other.id || one.id === other.id;
}
