/** Citations of pages in OpenAI's notation: nested in chats, flat in Responses. Services mix the two up. */
import { isObject } from '../../contract/is-object.ts';
import type { AnswerEvent, Citation } from '../neutral/neutral-answer.ts';

type Json = Record<string, unknown>;

/**
 * A citation without a place is told as one of nothing, because both indexes are required. OpenRouter does the same.
 *
 * @param from where the text begins to which the indexes refer
 */
export function urlCitation({ url, title, place }: Citation, from = 0): Json {
  const start = place ? place.start - from : 0;
  const end = place ? place.end - from : 0;
  return { type: 'url_citation', url, title, start_index: start, end_index: end };
}

export function chatAnnotation(citation: Citation): Json {
  const { type, ...cited } = urlCitation(citation);
  return { type, url_citation: cited };
}

/** @param from where in the answer's text that begins to which the annotation refers */
export function annotationEvent(annotation: Json, from = 0): AnswerEvent {
  const { url_citation: nested } = annotation;
  const { url, title, start_index: start, end_index: end } = isObject(nested) ? nested : annotation;
  if (typeof url !== 'string' || url === '') return { type: 'foreign', name: 'annotations' };
  const place =
    isIndex(start) && isIndex(end) && end > start
      ? { unit: 'characters' as const, start: from + start, end: from + end }
      : null;
  return { type: 'source', source: { url, title: typeof title === 'string' ? title : '', place } };
}

/**
 * The sources that Perplexity and xAI list beside a chat's choices, without saying where they are cited:
 * `search_results` have titles, `citations` are mostly addresses alone.
 *
 * @param told events of annotations, which say more of the same pages
 */
export function listedSources(
  { search_results: results, citations }: Json,
  told: readonly AnswerEvent[],
): AnswerEvent[] {
  const known = new Set(told.map((event) => (event.type === 'source' ? event.source.url : '')));
  return [...listOf(results), ...listOf(citations)].flatMap((listed): AnswerEvent[] => {
    const event = annotationEvent(isObject(listed) ? listed : { url: listed });
    if (event.type !== 'source') return [{ type: 'foreign', name: 'citations' }];
    if (known.has(event.source.url)) return [];
    known.add(event.source.url);
    return [event];
  });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
