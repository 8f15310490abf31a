/**
 * What a call tells of itself beside its usage, for spans: parameters that it sets, and which model answered and why it
 * stopped. Read only where spans are wanted, and only from the members where an API has these, so that nothing of what was
 * said can be among them. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { type Member, membersOfBeginning, membersOfEnd } from '../../json/json-peek.ts';
import { parseObject } from '../../json/parse-object.ts';
import { linesOf } from '../sse-framing.ts';
import type { FactPlaces, KeptAnswer, MeasuredRequest } from '../wire.ts';
import { isEventStream } from './reported-usage.ts';

interface RequestFacts {
  temperature: number | null;
  maxTokens: number | null;
}

interface AnswerFacts {
  id: string | null;
  model: string | null;
  /** One for each choice whose end is kept. */
  finishReasons: readonly string[];
}

type Place = FactPlaces['temperature'][number];
type AnswerPlaces = FactPlaces['whole'];

/** A configuration with a long schema in it is not parsed again. */
const maxMemberBytes = 64 * 1024;

export function requestFacts({ outline }: Pick<MeasuredRequest<never>, 'outline'>, places: FactPlaces): RequestFacts {
  const { temperature, maxTokens } = places;
  const most = numberAt(outline, maxTokens);
  return { temperature: numberAt(outline, temperature), maxTokens: most === null ? null : Math.ceil(most) };
}

function numberAt(outline: MeasuredRequest<never>['outline'], places: readonly Place[]): number | null {
  if (!outline) return null;
  const { bytes, members } = outline;
  for (const [top = '', ...rest] of places) {
    const member = members.findLast(({ key }) => bytes.toString('latin1', key.start + 1, key.end - 1) === top);
    if (!member || member.value.end - member.value.start > maxMemberBytes) continue;
    const parsed = parseObject(`{"value":${bytes.toString('utf8', member.value.start, member.value.end)}}`);
    const [found] = valuesAt(parsed, ['value', ...rest]);
    if (typeof found === 'number' && Number.isFinite(found)) return found;
  }
  return null;
}

const read = boundedPattern(/json|event-stream/i);
/** Longer answers are not parsed again: their beginning and end are searched. */
const maxParsedBytes = 256 * 1024;
const none = Buffer.alloc(0);

export function answerFacts(answer: KeptAnswer, places: FactPlaces): AnswerFacts {
  const { tail, head, line = none, whole, bytes, contentType } = answer;
  if (!read.test(contentType)) return noAnswerFacts;
  if (isEventStream(answer)) {
    const found = new FoundFacts(places.event);
    found.addEvents(head);
    found.addPiece(line, 'beginning');
    found.addEvents(tail);
    return found.facts;
  }
  const found = new FoundFacts(places.whole);
  const kept = whole !== undefined && whole.length <= maxParsedBytes ? whole : bytes <= tail.length ? tail : null;
  const parsed = kept && parseObject(`{"value":${kept.toString()}}`);
  // Without `alt=sse`, Gemini streams a list.
  if (parsed) for (const each of [parsed.value].flat()) found.add(each);
  else {
    found.addPiece(head, 'beginning');
    found.addPiece(tail, 'end');
  }
  return found.facts;
}

export const noAnswerFacts: AnswerFacts = { id: null, model: null, finishReasons: [] };
const dataField = 'data:';
const nameLength = 200;
const reasonPattern = boundedPattern(/^[\w.-]{1,60}$/);
/** The `status` of a response that is still being made. */
const ongoing = new Set<unknown>(['queued', 'in_progress']);

/** What the pieces of an answer tell, in their order: the first id and model, the last reason of each choice. */
class FoundFacts {
  readonly #places: AnswerPlaces;
  readonly #reasons = new Map<number, string>();
  #id: string | null = null;
  #model: string | null = null;

  constructor(places: AnswerPlaces) {
    this.#places = places;
  }

  get facts(): AnswerFacts {
    const inOrder = [...this.#reasons].sort(([one], [other]) => one - other);
    return { id: this.#id, model: this.#model, finishReasons: inOrder.map(([, each]) => each) };
  }

  /** A whole answer, or an event. */
  add(value: unknown): void {
    const { id, model, finishReason } = this.#places;
    this.#addNames(
      id.flatMap((place) => valuesAt(value, place)),
      model.flatMap((place) => valuesAt(value, place)),
    );
    for (const place of finishReason) {
      const list = place.indexOf('*') + 1;
      const choices = valuesAt(value, place.slice(0, list)).map((choice, at) => {
        const index = isObject(choice) && Number.isSafeInteger(choice.index) ? Number(choice.index) : at;
        return this.#addReason(index, valuesAt(choice, place.slice(list))[0]);
      });
      if (choices.includes(true)) return;
    }
  }

  addEvents(bytes: Buffer): void {
    linesOf(bytes.toString()).forEach((line, at) => {
      const isEvent = line.startsWith(dataField);
      const event = isEvent ? parseObject(line.slice(dataField.length)) : null;
      if (event) this.add(event);
      else if (isEvent) this.addPiece(Buffer.from(line), 'beginning');
      // What is around a member is not known, and an item of a response has an id and a status, too.
      else if (at === 0) this.addPiece(Buffer.from(line), 'end', 3);
    });
  }

  /** `leastLevel`: of the places that count. */
  addPiece(bytes: Buffer, end: 'beginning' | 'end', leastLevel = 1): void {
    const textsAt = (places: readonly Place[]) =>
      places.filter(({ length }) => length >= leastLevel).map((place) => textsIn(bytes, place, end));
    const { id, model, finishReason } = this.#places;
    this.#addNames(textsAt(id).flat(), textsAt(model).flat());
    for (const texts of textsAt(finishReason)) {
      texts.forEach((each, at) => {
        this.#addReason(at, each);
      });
      if (texts.length > 0) return;
    }
  }

  #addNames(ids: readonly unknown[], models: readonly unknown[]): void {
    this.#id ??= ids.find(isName)?.slice(0, nameLength) ?? null;
    this.#model ??= models.find(isName)?.slice(0, nameLength) ?? null;
  }

  #addReason(choice: number, value: unknown): boolean {
    const isReason = typeof value === 'string' && reasonPattern.test(value) && !ongoing.has(value);
    if (isReason) this.#reasons.set(choice, value);
    return isReason;
  }
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

function valuesAt(value: unknown, place: Place): unknown[] {
  const [name, ...rest] = place;
  if (name === undefined) return [value];
  if (name === '*') return Array.isArray(value) ? value.flatMap((each) => valuesAt(each, rest)) : [];
  return isObject(value) ? valuesAt(value[name], rest) : [];
}

const shortText = boundedPattern(/^"([^"\\]{1,200})"/);

/** In a piece of JSON, members are known by their level, and after its beginning by what is around them. */
function textsIn(bytes: Buffer, place: Place, end: 'beginning' | 'end'): string[] {
  const membersOf = end === 'end' ? membersOfEnd : membersOfBeginning;
  const owners = end === 'end' ? [] : place.slice(0, -1).map((name) => (name === '*' ? null : membersOf(bytes, name)));
  return membersOf(bytes, place.at(-1) ?? '')
    .filter(({ level }) => level === place.length)
    .filter(({ start }) =>
      owners.every((all, at) => all?.some((owner) => owner.level === at + 1 && isAround(owner, start)) ?? true),
    )
    .flatMap(({ start }) => shortText.exec(bytes.toString('utf8', start, start + 4 * nameLength))?.[1] ?? []);
}

/** The value of a list has no end of its own here. */
const isAround = (owner: Member, at: number) => owner.start < at && (owner.end === null || at < owner.end);
