/** Plans a day of requests, which the same seed plans alike. */
import { pick, randomNumbers } from '../../support/random-numbers.ts';
import { type Api, apis, type ClientName, clientNames } from '../../support/usage-told.ts';
import type { Course } from './providers.ts';
import { type Counts, sayable } from './run-day.ts';

export const mediaKinds = ['embeddings', 'moderations', 'images', 'transcriptions'] as const;
export type MediaKind = (typeof mediaKinds)[number];

export type KeyName = 'plain' | 'budgeted' | 'cached' | 'limited' | 'replayed' | 'spent';

/** A request of a client. */
export interface Play {
  number: number;
  key: KeyName;
  /** `x-sluice-session`; null for none. */
  session: string | null;
  what:
    | {
        kind: 'talk';
        api: Api;
        client: ClientName;
        stream: boolean;
        model?: 'unpriced' | 'rescued' | 'half-priced' | 'unknown';
      }
    | { kind: MediaKind | 'background' | 'realtime' };
  course: Course;
  counts: Counts;
  /** `x-sluice-fault`. */
  fault?: string;
  /** The number in its text, if it repeats another request. */
  repeats?: number;
}

/** Requests that are sent together, and the time until the next ones. */
export interface Batch {
  plays: Play[];
  minutesAfter: number;
}

type Random = () => number;
const upTo = (random: Random, most: number) => Math.floor(random() * (most + 1));

function countsOf(random: Random): Counts {
  const input = 100 + upTo(random, 3_000);
  const cached = upTo(random, input / 2);
  const output = 20 + upTo(random, 900);
  return { input, cached, written: upTo(random, (input - cached) / 2), output, reasoning: upTo(random, output / 2) };
}

type Unnumbered = Omit<Play, 'number'>;

const batches = 14;

export function planDay(seed: number): Batch[] {
  const random = randomNumbers(seed);
  let number = 0;
  const numberedPlay = (play: Unnumbered): Play => ({ ...play, number: ++number });
  const plays = shuffled([...everyPair(random), ...oddities(random)], random).map(numberedPlay);
  const size = Math.ceil(plays.length / batches);
  return Array.from({ length: batches }, (_, at) => ({
    plays: [...plays.slice(at * size, (at + 1) * size), ...repeated(random).map(numberedPlay).map(withRepeat)],
    minutesAfter: 3 + upTo(random, 14),
  }));
}

/** Every client in front of every provider, whole and streamed. */
function everyPair(random: Random): Unnumbered[] {
  return apis.flatMap((api) =>
    clientNames.flatMap((client) =>
      [false, true].map((stream) => ({
        ...common(random),
        what: { kind: 'talk' as const, api, client, stream },
        counts: sayable(api, countsOf(random)),
      })),
    ),
  );
}

function common(random: Random): Pick<Play, 'key' | 'session' | 'course'> {
  const session = pick([null, 'morning', 'evening', 'night'], random);
  return { key: pick(['plain', 'budgeted'] as const, random), session, course: 'well' };
}

const someTalk = (random: Random, more: { api?: Api; client?: ClientName; stream?: boolean } = {}) => ({
  kind: 'talk' as const,
  ...{ api: pick(apis, random), client: pick(clientNames, random), stream: random() < 0.5 },
  ...more,
});

/** What does not end with a usage that a provider reported for one answer. */
function oddities(random: Random): Unnumbered[] {
  const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
  const odd = (what: Play['what'], more: Partial<Unnumbered> = {}): Unnumbered => ({
    ...{ ...common(random), counts: sayable('chat', countsOf(random)), what },
    ...more,
  });
  return [
    ...times(4, () => odd(someTalk(random), { course: 'untold' })),
    ...times(4, () => odd(someTalk(random), { course: 'rejected' })),
    ...times(2, () => odd(someTalk(random), { course: 'failing' })),
    ...times(2, () => odd(someTalk(random, { api: 'chat' }), { course: 'reset' })),
    ...times(2, () => odd(someTalk(random, { api: 'chat', client: 'chat', stream: true }), { course: 'broken' })),
    ...times(4, () => odd(someTalk(random, { api: 'chat', stream: true }), { course: 'gone' })),
    ...times(4, () => odd({ ...someTalk(random, { api: 'chat' }), model: 'unpriced' })),
    ...times(2, () =>
      odd(
        { ...someTalk(random, { api: 'chat', client: 'chat', stream: true }), model: 'unpriced' },
        { course: 'stumbling' },
      ),
    ),
    ...(['rescued', 'half-priced'] as const).flatMap((model) =>
      times(3, () =>
        odd({ ...someTalk(random, { api: 'chat', client: 'chat', stream: true }), model }, { course: 'rescued' }),
      ),
    ),
    ...times(3, () => odd({ ...someTalk(random, { api: 'chat' }), model: 'unknown' })),
    ...['status;code=500', 'rate-limit', 'context-overflow', 'status;code=529'].map((fault) =>
      odd(someTalk(random), { key: 'plain', fault }),
    ),
    ...times(6, () => odd(someTalk(random, { api: 'chat' }), { key: 'limited' })),
    ...times(6, () => odd(someTalk(random, { api: 'responses' }), { key: 'spent' })),
    ...mediaKinds.flatMap((kind) => times(3, () => odd({ kind }))),
    ...times(3, () => odd({ kind: 'background' })),
    ...times(2, () => odd({ kind: 'realtime' }, { counts: { ...countsOf(random), written: 0, reasoning: 0 } })),
  ];
}

/** Two equal requests for the cache, and two for the cassette; the second is sent once the first has ended. */
function repeated(random: Random): Unnumbered[] {
  return (['cached', 'replayed'] as const).flatMap((key) => {
    const what = someTalk(random, { api: 'chat', client: pick(['chat', 'messages'] as const, random) });
    const play = { ...common(random), key, what, counts: sayable('chat', countsOf(random)) };
    return [play, play];
  });
}

function withRepeat(play: Play, at: number): Play {
  return at % 2 === 1 ? { ...play, repeats: play.number - 1 } : play;
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
