import { useEffect, useState } from 'react';
import type { RequestText } from '../../../server/contract/session-views.ts';
import type { ControlApi } from '../api/api.ts';

export type RequestTexts = ReadonlyMap<string, RequestText>;

/** The engine's maximum per query. */
const mostAsked = 50;

/**
 * What captured requests say, by request id. Each is asked for once: what a request says does not change. It is nowhere but on
 * this page, and only for as long as that shows it.
 */
export function useRequestTexts(query: ControlApi['query'], ids: readonly string[]): RequestTexts {
  const [texts, setTexts] = useState<RequestTexts>(new Map());
  const [asked] = useState(() => new Set<string>());
  // Compared as text, because the list is a new one on each render.
  const wanted = ids.join(' ');
  useEffect(() => {
    const unknown = wanted.split(' ').filter((id) => id !== '' && !asked.has(id));
    for (const id of unknown) asked.add(id);
    const askAll = async () => {
      for (let from = 0; from < unknown.length; from += mostAsked) {
        const part = unknown.slice(from, from + mostAsked);
        const answer = await query<'request-texts'>({ type: 'request-texts', ids: part });
        setTexts((known) => new Map([...known, ...answer.map((text) => [text.id, text] as const)]));
      }
    };
    // The page is complete without them, and says what is wrong with the engine by its own query.
    askAll().catch(() => {
      for (const id of unknown) asked.delete(id);
    });
  }, [query, asked, wanted]);
  return texts;
}
