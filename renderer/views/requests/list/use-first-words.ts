import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import type { RequestText } from '../../../../server/contract/session-views.ts';
import { useControlState, useControlStore } from '../../../state/control/use-control.ts';
import { useRequestTexts } from '../../../state/control/use-request-texts.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { useViewer } from '../../../state/rights/use-rights.ts';

/** A row that is only scrolled past is not asked for. */
const restMs = 250;
/** So many of the newest requests may be in memory although they are not captured. */
const mostInMemory = 50;

/**
 * The first words of the captured requests in sight, by id: of a person's message, or the tool whose result is sent. None
 * where people sign in, since there each look at a capture is written down.
 */
export function useFirstWords(inSight: readonly LiveRequest[]): ReadonlyMap<string, string> {
  const { query } = useControlStore();
  const { isShared } = useViewer();
  const inMemorySince = useControlState(({ views, requests }) =>
    views?.status.recentCapture ? (requests[mostInMemory - 1]?.startedAt ?? 0) : Number.POSITIVE_INFINITY,
  );
  const isKept = ({ outcome, captured, startedAt }: LiveRequest) =>
    outcome !== null && (captured !== null || startedAt >= inMemorySince);
  const kept = isShared ? [] : inSight.filter(isKept);
  const [settled] = useDebouncedValue(kept.map(({ id }) => id).join(' '), restMs);
  const texts = useRequestTexts(query, settled.split(' '));
  return useMemo(() => new Map([...texts].map(([id, text]) => [id, firstWordsOf(text)])), [texts]);
}

/** Empty if it says nothing. */
function firstWordsOf({ prompt, calls: [call], opening }: RequestText): string {
  const ofTool = call && [call.name, call.argument].filter((part) => part !== null).join(' ');
  return prompt ?? ofTool ?? opening ?? '';
}
