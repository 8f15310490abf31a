import { useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import type { ControlError } from '../api/api.ts';
import { useCommand } from '../control/use-command.ts';
import { useControlState } from '../control/use-control.ts';
import { useIsPartial, useOne } from '../control/use-found.ts';
import { createSessionValue, useSessionFields } from '../window/session-value.ts';

export interface KeyChoice {
  /** There is no key that may be used. */
  isNone: boolean;
  key: KeyView | null;
  choose(id: string): void;
  /** Null until revealed or entered. It is held only here and goes when the screen is left. */
  secret: string | null;
  enter(secret: string): void;
  /**
   * Returns the secret for one use, asking the engine if needed. It is null if unavailable; `problem` may then say why.
   */
  peek(): Promise<PeekedSecret>;
  /** The same, but also keeps the secret in `secret`. */
  reveal(): Promise<string | null>;
  forget(): void;
  isRevealing: boolean;
  problem: ControlError | null;
}

interface PeekedSecret {
  secret: string | null;
  /** The secret will stay unavailable: the key is gone or cannot be revealed. */
  isGone: boolean;
}

/** Outlives the screen, unlike a secret. */
const chosenKey = createSessionValue<{ id: string | null }>({ id: null });

/**
 * A key to call the gateway with, and its secret. Until the person chooses, a key whose secret was kept is preferred.
 */
export function useKeyChoice(): KeyChoice {
  const all = useControlState((state) => state.views?.keys ?? null);
  const [{ id: chosenId }, choose] = useSessionFields(chosenKey);
  const [revealed, setRevealed] = useState<{ keyId: string; secret: string } | null>(null);
  const command = useCommand();
  const keys = all?.filter((key) => key.enabled) ?? null;
  const isPartial = useIsPartial('key');
  const { view: chosen, isKnown } = useOne('key', chosenId);
  const usual = keys?.find(({ canReveal }) => canReveal) ?? keys?.[0] ?? null;
  // Not another one while the chosen one is asked for.
  const key = chosen?.enabled ? chosen : isKnown ? usual : null;
  // A secret is never shown with another key than its own.
  const secret = revealed && revealed.keyId === key?.id ? revealed.secret : null;
  const peek = async () => {
    if (secret || !key?.canReveal) return { secret, isGone: secret === null };
    const { result, problem } = await command.attempt({ type: 'key.reveal', id: key.id });
    return { secret: result?.secret ?? null, isGone: problem?.code === 'not_found' };
  };
  return {
    isNone: keys?.length === 0 && !isPartial,
    key,
    choose: (id) => choose({ id }),
    secret,
    enter: (entered) => setRevealed(key && entered ? { keyId: key.id, secret: entered } : null),
    peek,
    async reveal() {
      const { secret: revealedSecret } = await peek();
      if (key && revealedSecret) setRevealed({ keyId: key.id, secret: revealedSecret });
      return revealedSecret;
    },
    forget: () => setRevealed(null),
    isRevealing: command.isRunning,
    problem: command.problem,
  };
}
