import { useEffect, useRef, useState } from 'react';
import type { GatewayCall } from '../../gateway-api.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { begin, carryOut, type Exchange, type Reply } from './exchange.ts';

export type PlaygroundCall = Omit<GatewayCall, 'secret' | 'signal'>;

export interface ExchangeRunner {
  /** The last one. */
  exchange: Exchange | null;
  isRunning: boolean;
  /** There is a key to call with. */
  canRun: boolean;
  /** Null: it failed or was stopped, as `exchange` says. */
  run(call: PlaygroundCall, onText?: (piece: string) => void): Promise<Reply | null>;
  stop(): void;
}

/** Calls the gateway with the chosen key, one call after the other; a screen that closes stops its call. */
export function useExchange(keyChoice: KeyChoice): ExchangeRunner {
  const [exchange, setExchange] = useState<Exchange | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  return {
    exchange,
    isRunning: exchange?.isRunning ?? false,
    canRun: keyChoice.secret !== null || (keyChoice.key?.canReveal ?? false),
    async run(call, onText) {
      const secret = await keyChoice.reveal();
      if (!secret) return null;
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      setExchange(begin(call));
      const onChange = (change: Partial<Exchange>) => {
        if (running.current === controller) setExchange((old) => old && { ...old, ...change });
      };
      return carryOut({ ...call, secret, signal: controller.signal }, { onChange, onText });
    },
    stop: () => running.current?.abort(),
  };
}
