/**
 * `groundingMetadata` of Gemini's answers: the pages (`groundingChunks`), and which part of the text each one supports, in
 * bytes of UTF-8. Source: Gemini API reference, `GroundingMetadata` and `Segment`.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { TextParts } from '../../neutral/json-text.ts';
import type { AnswerEvent, Citation, SourcePlace } from '../../neutral/neutral-answer.ts';

type Json = Record<string, unknown>;

/** The page of a chunk; null if it has no address. */
type Page = { url: string; title: string } | null;

/** What the events of a stream say of their sources. It is told at the end, when all of the text is there. */
export class Grounding {
  #pages: Page[] = [];
  /** Whether a support names the page. */
  #supported = new Set<Page>();
  readonly #events: AnswerEvent[] = [];
  #isEmpty = true;

  /** @param parts of the same event, in which the supports count */
  take(metadata: Json, parts: readonly Json[]): void {
    const chunks = objectsIn(metadata.groundingChunks);
    if (chunks.length > 0) {
      this.#endPages();
      this.#pages = chunks.map(pageOf);
    }
    const supports = objectsIn(metadata.groundingSupports);
    const starts = supports.length === 0 ? [] : startsOf(parts);
    for (const { segment, groundingChunkIndices: indices } of supports) {
      const place = isObject(segment) ? placeOf(segment, starts) : null;
      for (const index of Array.isArray(indices) ? indices : []) this.#support(this.#pages[Number(index)], place);
    }
    this.#isEmpty &&= Object.keys(metadata).length === 0;
    if (isObject(metadata.searchEntryPoint)) this.#lose('groundingMetadata.searchEntryPoint');
  }

  get events(): AnswerEvent[] {
    this.#endPages();
    // Such as the queries of a search that found nothing.
    if (this.#events.length === 0 && !this.#isEmpty) this.#lose('groundingMetadata');
    return this.#events;
  }

  #support(page: Page | undefined, place: SourcePlace | null): void {
    if (!page) return;
    this.#supported.add(page);
    this.#events.push({ type: 'source', source: { ...page, place } });
  }

  /** Pages that support no part of the text are told without a place. */
  #endPages(): void {
    for (const page of this.#pages) {
      if (page === null) this.#lose('groundingMetadata');
      else if (!this.#supported.has(page)) this.#support(page, null);
    }
    this.#pages = [];
  }

  #lose(name: string): void {
    this.#events.push({ type: 'foreign', name });
  }
}

/** The kind of source is the chunk's only member. */
function pageOf(chunk: Json): Page {
  const { uri, title } = Object.values(chunk).find(isObject) ?? {};
  return typeof uri === 'string' && uri !== '' ? { url: uri, title: typeof title === 'string' ? title : '' } : null;
}

/** The byte of the text at which each part begins. Thoughts are none of it. */
function startsOf(parts: readonly Json[]): number[] {
  let start = 0;
  return parts.map(({ text, thought }) => {
    const before = start;
    if (typeof text === 'string' && thought !== true) start += Buffer.byteLength(text);
    return before;
  });
}

/** Indexes count in a part of a whole answer, and in all of the text of a stream. Zeros are left out. */
function placeOf(
  { startIndex = 0, endIndex, partIndex = 0, text }: Json,
  partStarts: readonly number[],
): SourcePlace | null {
  const [start, end] = [Number(startIndex), Number(endIndex)];
  if (!Number.isInteger(start) || !Number.isInteger(end)) return null;
  const partStart = partStarts[Number(partIndex)] ?? 0;
  const said = typeof text === 'string' && text !== '' ? text : null;
  return { unit: 'bytes', starts: [partStart + start, start], length: end - start, text: said };
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/**
 * Undefined if there are no citations.
 *
 * @param texts the indexes of a whole answer's parts, each with its length in bytes. Absent for a stream, in which the
 *   indexes count in all of the text.
 */
export function renderGrounding(citations: readonly Citation[] = [], texts?: TextParts<number>): Json | undefined {
  if (citations.length === 0) return undefined;
  const chunks = new Map<string, { index: number; web: Json }>();
  const supports: Json[] = [];
  for (const { url, title, place } of citations) {
    const chunk = chunks.get(url) ?? { index: chunks.size, web: { uri: url, title } };
    chunks.set(url, chunk);
    if (!place?.quote) continue;
    const { startByte, endByte, text } = place.quote;
    const { part = 0, start = 0 } = texts?.at(startByte) ?? {};
    const range = { startIndex: startByte - start, endIndex: endByte - start };
    const segment = { partIndex: part || undefined, ...range, text: text ?? undefined };
    supports.push({ segment, groundingChunkIndices: [chunk.index] });
  }
  const groundingChunks = [...chunks.values()].map(({ web }) => ({ web }));
  return { groundingChunks, ...(supports.length === 0 ? {} : { groundingSupports: supports }) };
}
