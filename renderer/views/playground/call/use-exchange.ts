import { useEffect, useRef } from 'react';
import { type Exchange, newExchange, type Outcome, type Reply, runExchange } from '../../../state/calls/exchange.ts';
import type { GatewayCall } from '../../../state/calls/gateway-api.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { createSessionValue, type SessionValue, useSessionValue } from '../../../state/window/session-value.ts';

type PlaygroundCall = Omit<GatewayCall, 'secret' | 'signal'>;

/** The last exchange of a panel, kept when its screen is left. */
type ExchangeStore = SessionValue<Exchange | null>;

export const createExchangeStore = (): ExchangeStore => createSessionValue<Exchange | null>(null);

export interface ExchangeRunner {
  /** The last exchange. */
  exchange: Exchange | null;
  isRunning: boolean;
  /** There is a key to call with. */
  canRun: boolean;
  /** Resolves with null if the call failed or was stopped; see `exchange`. */
  run(call: PlaygroundCall, onText?: (chunk: string) => void): Promise<Reply | null>;
  /** The same, but also returns the failure. */
  attempt(call: PlaygroundCall, onText?: (chunk: string) => void): Promise<Outcome>;
  stop(): void;
}

/** Calls the gateway with the chosen key, one call at a time. Leaving the screen aborts the call. */
export function useExchange(keyChoice: KeyChoice, exchangeStore: ExchangeStore): ExchangeRunner {
  const [exchange, setExchange] = useSessionValue(exchangeStore);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const attempt: ExchangeRunner['attempt'] = async (call, onText) => {
    const { secret, isGone } = await keyChoice.peek();
    if (!secret) {
      const failure = { kind: isGone ? 'keyless' : 'unreachable' } as const;
      // Otherwise the request for the secret itself failed, and `keyChoice.problem` shows the error.
      if (isGone) setExchange({ ...newExchange(call), isRunning: false, failure });
      return { reply: null, failure };
    }
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setExchange(newExchange(call));
    const onChange = (change: Partial<Exchange>) => {
      if (running.current === controller) setExchange((old) => old && { ...old, ...change });
    };
    return runExchange({ ...call, secret, signal: controller.signal }, { onChange, onText });
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
