/**
 * The strings of a body in any framing, by their place: whole JSON, JSON lines, a stream that is one array, and server-sent events
 * with any line ends, fields and number of data lines. Models split a text into many events, so that the strings at one place, one
 * after the other, are a text. Nothing is parsed: a body that is damaged or cut off is read as far as it goes.
 */
import { isLineEnd } from '../../apis/core/sse-framing.ts';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import { finish, type Steps } from '../../ground/promises.ts';

/** The content of a string, without its quotes and as it is escaped in the body. */
export interface Fragment extends ByteRange {
  /** The number of its event, line or array element. */
  part: number;
  /** The object or list that it is in. */
  within: Container | null;
}

/** The strings at the same place in all parts, in order. Elements of a list are one place. */
export class Place {
  readonly fragments: Fragment[] = [];
  /** Names of members, each of which stands for itself. */
  readonly areNames: boolean;
  #below: Map<string, Place> | null = null;

  constructor(areNames = false) {
    this.areNames = areNames;
  }

  below(name: string): Place {
    this.#below ??= new Map();
    const known = this.#below.get(name);
    if (known) return known;
    const place = new Place();
    this.#below.set(name, place);
    return place;
  }

  /** This one and all below, without those that have no strings. */
  *all(): Generator<Place, void, undefined> {
    const open: Place[] = [this];
    for (let place = open.pop(); place; place = open.pop()) {
      if (place.fragments.length > 0) yield place;
      if (place.#below) open.push(...place.#below.values());
    }
  }
}

interface Container {
  outer: Container | null;
  place: Place;
  isObject: boolean;
  /** Of the member whose value is next. */
  name: string;
  /** The indexes among its members. */
  indexes: string;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
/** Containers further inside are read as one place. */
const maxDepth = 256;
/** How far around a string indexes are looked for. */
const maxAround = 16;
const indexNames = new Set(['index', 'output_index', 'content_index', 'summary_index', 'choice_index']);
const beginsLikeEvents = /^(?:\xef\xbb\xbf)?\s{0,60}(?:data|event|id|retry)?:/;
const beginsLikeJson = /^(?:\xef\xbb\xbf)?\s{0,60}[[{"]/;
const beginningBytes = 80;
/** They take about a millisecond. */
const stepBytes = 64 * 1024;

export function* placesOf(body: Buffer): Steps<readonly Place[]> {
  const beginning = body.toString('latin1', 0, beginningBytes);
  const isEvents = beginsLikeEvents.test(beginning);
  if (isEvents || beginsLikeJson.test(beginning)) return yield* new StringScan(body, isEvents).places();
  const whole = new Place();
  whole.fragments.push({ start: 0, end: body.length, part: 0, within: null });
  return [whole];
}

/** Which of the answers, blocks or items that are sent in turns it belongs to: the indexes of the objects around it. */
export function laneOf({ within }: Fragment): string {
  let lane = '';
  let container = within;
  for (let around = 0; container && around < maxAround; around++) {
    lane += container.indexes;
    container = container.outer;
  }
  return lane;
}

class StringScan {
  readonly #body: Buffer;
  readonly #isEvents: boolean;
  readonly #root = new Place();
  readonly #names = new Place(true);
  #containers: Container[] = [];
  /** How many containers beyond `maxDepth` are open. */
  #deeper = 0;
  #part = 0;
  #at = 0;

  constructor(body: Buffer, isEvents: boolean) {
    this.#body = body;
    this.#isEvents = isEvents;
  }

  *places(): Steps<readonly Place[]> {
    const body = this.#body;
    if (this.#isEvents) this.#beginLine();
    let nextStop = stepBytes;
    while (this.#at < body.length) {
      if (this.#at > nextStop) {
        yield;
        nextStop = this.#at + stepBytes;
      }
      const byte = body[this.#at];
      if (byte === quote) this.#passString(yield* this.#endOfString(this.#at + 1));
      else if (byte === openObject || byte === openArray) this.#open(byte === openObject);
      else if (byte === closeObject || byte === closeArray) this.#close();
      else if (this.#isEvents && isLineEnd(byte)) this.#endLine();
      else this.#at++;
    }
    while (this.#containers.length > 0) this.#leave();
    return [...this.#root.all(), this.#names];
  }

  #open(isObject: boolean): void {
    this.#at++;
    const outer = this.#containers.at(-1);
    if (outer && this.#containers.length === maxDepth) {
      this.#deeper++;
      return;
    }
    const place = outer ? this.#placeIn(outer) : this.#root;
    this.#containers.push({ outer: outer ?? null, place, isObject, name: '', indexes: '' });
  }

  #close(): void {
    this.#at++;
    if (this.#deeper > 0) this.#deeper--;
    else this.#leave();
  }

  #leave(): void {
    this.#containers.pop();
    const [outermost, ...others] = this.#containers;
    if (!outermost || (others.length === 0 && !outermost.isObject)) this.#part++;
  }

  #placeIn({ place, isObject, name }: Container): Place {
    return place.below(isObject ? name : '*');
  }

  /** A name, which is noted, or a text; up to `end`. */
  #passString(end: number): void {
    const container = this.#containers.at(-1);
    const start = this.#at + 1;
    if (container?.isObject && this.#deeper === 0 && this.#body[this.#skipBlanks(end + 1)] === colon) {
      this.#names.fragments.push({ start, end, part: this.#part, within: container });
      container.name = this.#body.toString('latin1', start, end);
      this.#at = this.#skipBlanks(end + 1) + 1;
      if (indexNames.has(container.name)) this.#noteIndex(container);
      return;
    }
    const place = container ? this.#placeIn(container) : this.#root;
    this.#add(place, start, end);
    // A line ended within the string, which goes on in the next one.
    let last = end;
    while (this.#body[last] !== quote && last < this.#body.length) {
      const next = this.#afterDataField(last);
      if (next === -1) break;
      last = finish(this.#endOfString(next));
      this.#add(place, next, last);
    }
    this.#at = this.#body[last] === quote ? last + 1 : last;
  }

  #add(place: Place, start: number, end: number): void {
    place.fragments.push({ start, end, part: this.#part, within: this.#containers.at(-1) ?? null });
  }

  #noteIndex(container: Container): void {
    const start = this.#skipBlanks(this.#at);
    const [digits] = /^\d{1,9}/.exec(this.#body.toString('latin1', start, start + 9)) ?? [];
    if (digits !== undefined) container.indexes += `${container.name}${digits} `;
  }

  /** Offset of the quote, or of the end of the line or body before it. */
  *#endOfString(from: number): Steps<number> {
    const body = this.#body;
    let nextStop = from + stepBytes;
    for (let at = from; at < body.length; at++) {
      const byte = body[at];
      if (byte === quote || (this.#isEvents && isLineEnd(byte))) return at;
      if (byte === backslash) at++;
      if (at > nextStop) {
        yield;
        nextStop = at + stepBytes;
      }
    }
    return body.length;
  }

  #skipBlanks(from: number): number {
    let at = from;
    while ((this.#body[at] ?? quote) <= 0x20) {
      const next = this.#isEvents && isLineEnd(this.#body[at]) ? this.#afterDataField(at) : at + 1;
      if (next === -1) return at;
      at = next;
    }
    return at;
  }

  /** `lineEnd`: offset of the end of a line. Where the data of the next one begins; -1 if it has none. */
  #afterDataField(lineEnd: number): number {
    const body = this.#body;
    const start = body[lineEnd] === 0x0d && body[lineEnd + 1] === 0x0a ? lineEnd + 2 : lineEnd + 1;
    if (body.toString('latin1', start, start + 5) !== 'data:') return -1;
    return body[start + 5] === 0x20 ? start + 6 : start + 5;
  }

  #endLine(): void {
    const next = this.#afterDataField(this.#at);
    if (next !== -1 && this.#containers.length > 0) {
      this.#at = next;
      return;
    }
    this.#at += this.#body[this.#at] === 0x0d && this.#body[this.#at + 1] === 0x0a ? 2 : 1;
    // The event is over, whether its JSON is or not.
    if (this.#at >= this.#body.length || isLineEnd(this.#body[this.#at])) this.#endPart();
    this.#beginLine();
  }

  #endPart(): void {
    while (this.#containers.length > 0) this.#leave();
    this.#deeper = 0;
    this.#part++;
  }

  /** Passes over the name of a field; what is no JSON is one string until the end of the line. */
  #beginLine(): void {
    const body = this.#body;
    const [head, name] =
      /^(?:\xef\xbb\xbf)?(data|event|id|retry)?: ?/.exec(body.toString('latin1', this.#at, this.#at + 12)) ?? [];
    if (head === undefined) return;
    this.#at += head.length;
    const isData = name === 'data';
    const first = body[this.#at];
    if (isData && (first === openObject || first === openArray)) return;
    let end = this.#at;
    while (end < body.length && !isLineEnd(body[end])) end++;
    if (isData && first === quote && end > this.#at + 1 && body[end - 1] === quote) return;
    this.#add(isData ? this.#root : this.#root.below(`${name ?? ''}:`), this.#at, end);
    this.#at = end;
  }
}
