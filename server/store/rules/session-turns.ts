/** Finds the turns of a session: a person's message, and all requests that answer it. */
import type { RequestOutcome, RequestSession } from '../../contract/ledger.ts';

/** The fields of a request that determine its turn. */
export interface TurnRequest {
  outcome: RequestOutcome | null;
  clientRetries: number;
  thread: string | null;
  step: RequestSession['step'];
}

interface TurnPlace {
  /** From 1. */
  turn: number;
  /** 0: the main one; others in order of their first request. */
  thread: number;
}

/**
 * The main conversation is the one with most requests. Requests of other conversations are subagents or side tasks, and
 * belong to the turn in progress. After the last request of the main conversation, the same rule is applied to the
 * rest, because a compacted conversation starts anew.
 *
 * @param requests in order of arrival
 */
export function placesOf(requests: readonly TurnRequest[]): TurnPlace[] {
  const mains = mainThreads(requests);
  const numbers = new Map<string | null, number>();
  const places: TurnPlace[] = [];
  let turn = 0;
  let previous: TurnRequest | null = null;
  for (const [index, request] of requests.entries()) {
    const isMain = request.thread === mains[index];
    if (isMain) {
      if (turn === 0 || (request.step === 'prompt' && !isAgain(request, previous))) turn++;
      previous = request;
    } else if (!numbers.has(request.thread)) numbers.set(request.thread, numbers.size + 1);
    places.push({ turn: Math.max(turn, 1), thread: isMain ? 0 : (numbers.get(request.thread) ?? 0) });
  }
  return places;
}

/** The same prompt was sent again after a failure. */
function isAgain(request: TurnRequest, previous: TurnRequest | null): boolean {
  if (previous?.step !== 'prompt') return false;
  return request.clientRetries > 0 || (previous.outcome !== null && previous.outcome !== 'ok');
}

/** A session of more changes consists of single requests rather than of conversations. */
const maxMains = 20;

/** For each request, the thread that is the main one at that time. */
function mainThreads(requests: readonly TurnRequest[]): (string | null)[] {
  const mains: (string | null)[] = [];
  for (let changes = 0; mains.length < requests.length; changes++) {
    if (changes === maxMains) return [...mains, ...requests.slice(mains.length).map(({ thread }) => thread)];
    const laterRequests = requests.slice(mains.length);
    const main = mostUsed(laterRequests);
    const end = laterRequests.findLastIndex(({ thread }) => thread === main) + 1;
    for (let index = 0; index < end; index++) mains.push(main);
  }
  return mains;
}

function mostUsed(requests: readonly TurnRequest[]): string | null {
  const uses = new Map<string | null, number>();
  for (const { thread } of requests) uses.set(thread, (uses.get(thread) ?? 0) + 1);
  let main: string | null = null;
  let most = 0;
  for (const [thread, count] of uses) {
    if (count <= most) continue;
    main = thread;
    most = count;
  }
  return main;
}
