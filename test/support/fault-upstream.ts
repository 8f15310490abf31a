/**
 * An upstream that misbehaves as it is told, on real sockets. One server holds many lanes, each a provider of its own below
 * a base URL of its own, so that hundreds of cases can run beside one another; a lane plays its list of plays in order,
 * the last of them from then on, and remembers what it saw. The plays stand in `fault-plays.ts`.
 */
import type { ServerResponse } from 'node:http';
import { answerTo, type WholeAnswer } from './openai-calls.ts';
import { json, type SeenRequest, startUpstream } from './upstream.ts';

/** One call that reached a lane. */
export interface SeenCall extends SeenRequest {
  /** When its last byte was here; monotonic milliseconds. */
  atMs: number;
  /** The name of what was played. */
  played: string;
  /** `gone`: the other side closed the connection before the reply was complete. */
  state: 'open' | 'answered' | 'broken' | 'gone';
}

export interface Scene {
  call: SeenCall;
  response: ServerResponse;
  /** What a healthy upstream would answer. */
  answer: WholeAnswer;
  /** Aborted once the connection has closed, whoever closed it. */
  closed: AbortSignal;
}

export interface Play {
  name: string;
  /** It is recognised by a limit of time, so who plays it has limits. */
  isSlow?: true;
  /** May leave the reply open: the connection then ends when the other side ends it, or with the server. */
  act(scene: Scene): void | Promise<void>;
}

export interface Lane {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly seen: readonly SeenCall[];
  /** What is played from the next call on; the last one again and again. */
  plays(...plays: readonly [Play, ...Play[]]): void;
  /** Lets go of what it saw, and begins its list of plays anew. */
  forget(): void;
}

export interface FaultUpstream {
  readonly origin: string;
  /** A lane of that name, healthy at first; always the same one. */
  lane(name: string): Lane;
  stop(): Promise<void>;
}

export const healthy: Play = { name: 'healthy', act: ({ response, answer }) => sendWhole(response, answer) };

export function sendWhole(response: ServerResponse, { contentType, bytes, events }: WholeAnswer): void {
  // As the real ones do: a stream comes in chunks, all else with its length.
  const length = events ? {} : { 'content-length': bytes.length };
  response.writeHead(200, { 'content-type': contentType, ...length }).end(bytes);
}

export async function startFaultUpstream(): Promise<FaultUpstream> {
  const lanes = new Map<string, OpenLane>();
  const upstream = await startUpstream((request, response) => {
    const [, name = '', path = ''] = /^\/([^/]+)\/v1(.*)$/.exec(request.url) ?? [];
    const lane = lanes.get(name);
    const answer = answerTo(request, path);
    if (lane && answer) return lane.take(request, response, answer);
    json(response, { error: { message: `Nothing is scripted for ${request.method} ${request.url}.` } }, 418);
  });
  return {
    origin: upstream.origin,
    lane(name) {
      const lane = lanes.get(name) ?? new OpenLane(`${upstream.origin}/${name}/v1`);
      lanes.set(name, lane);
      return lane;
    },
    stop: () => upstream.stop(),
  };
}

class OpenLane implements Lane {
  readonly baseUrl: string;
  readonly seen: SeenCall[] = [];
  #plays: readonly Play[] = [healthy];
  #from = 0;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  plays(...plays: readonly [Play, ...Play[]]): void {
    this.#plays = plays;
    this.#from = this.seen.length;
  }

  forget(): void {
    this.seen.length = 0;
    this.#from = 0;
  }

  async take(request: SeenRequest, response: ServerResponse, answer: WholeAnswer): Promise<void> {
    const play = this.#plays[this.seen.length - this.#from] ?? this.#plays.at(-1) ?? healthy;
    const call: SeenCall = { ...request, atMs: performance.now(), played: play.name, state: 'open' };
    this.seen.push(call);
    const closed = new AbortController();
    response.on('close', () => {
      if (response.writableFinished) call.state = 'answered';
      else if (call.state === 'open') call.state = 'gone';
      closed.abort();
    });
    await play.act({ call, response, answer, closed: closed.signal });
  }
}
