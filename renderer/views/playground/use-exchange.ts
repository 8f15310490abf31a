import { useEffect, useRef } from 'react';
import type { GatewayCall } from '../../gateway-api.ts';
import { createSessionValue, type SessionValue, useSessionValue } from '../../state/session-value.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { begin, carryOut, type Exchange, type Outcome, type Reply } from './exchange.ts';

type PlaygroundCall = Omit<GatewayCall, 'secret' | 'signal'>;

/** The last exchange of a bench, which stays when its screen is left. */
export type HeldExchange = SessionValue<Exchange | null>;

export const holdExchange = (): HeldExchange => createSessionValue<Exchange | null>(null);

export interface ExchangeRunner {
  /** The last one. */
  exchange: Exchange | null;
  isRunning: boolean;
  /** There is a key to call with. */
  canRun: boolean;
  /** Null: it failed or was stopped, as `exchange` says. */
  run(call: PlaygroundCall, onText?: (piece: string) => void): Promise<Reply | null>;
  /** The same, and tells why not. */
  attempt(call: PlaygroundCall, onText?: (piece: string) => void): Promise<Outcome>;
  stop(): void;
}

/** Calls the gateway with the chosen key, one call after the other; a screen that closes stops its call. */
export function useExchange(keyChoice: KeyChoice, held: HeldExchange): ExchangeRunner {
  const [exchange, setExchange] = useSessionValue(held);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const attempt: ExchangeRunner['attempt'] = async (call, onText) => {
    const { secret, isGone } = await keyChoice.peek();
    if (!secret) {
      const failure = { kind: isGone ? 'keyless' : 'unreachable' } as const;
      // Else the gateway could not even be asked for the key.
      if (isGone) setExchange({ ...begin(call), isRunning: false, failure });
      return { reply: null, failure };
    }
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setExchange(begin(call));
    const onChange = (change: Partial<Exchange>) => {
      if (running.current === controller) setExchange((old) => old && { ...old, ...change });
    };
    return carryOut({ ...call, secret, signal: controller.signal }, { onChange, onText });
  };
  return {
    exchange,
    isRunning: exchange?.isRunning ?? false,
    canRun: keyChoice.secret !== null || (keyChoice.key?.canReveal ?? false),
    run: async (call, onText) => (await attempt(call, onText)).reply,
    attempt,
    stop: () => running.current?.abort(),
  };
}
