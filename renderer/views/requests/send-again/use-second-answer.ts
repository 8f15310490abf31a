import { useEffect, useRef, useState } from 'react';
import { type BodyContent, contentOf } from '../../../../server/contract/conversation/body-content.ts';
import { callPath, type PathCall } from '../../../state/calls/gateway-api.ts';
import { type KeyChoice, useKeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useKey } from '../../../state/control/use-found.ts';

export type SecondAnswer =
  | { state: 'running' }
  /** The answer is complete, whatever its status. */
  | { state: 'here'; status: number; requestId: string | null; content: BodyContent | null }
  | { state: 'failed'; reason: 'keyless' | 'unreachable' | 'stopped' };

interface ResendRunner {
  answer: SecondAnswer | null;
  run(call: Omit<PathCall, 'secret' | 'signal'>): Promise<void>;
  stop(): void;
}

/** Sends a request to the gateway with the chosen key. Closing the dialog aborts it. */
export function useSecondAnswer(keyChoice: KeyChoice): ResendRunner {
  const [answer, setAnswer] = useState<SecondAnswer | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  return {
    answer,
    stop: () => running.current?.abort(),
    async run(call) {
      const abort = new AbortController();
      running.current = abort;
      setAnswer({ state: 'running' });
      const { secret, isGone } = await keyChoice.peek();
      if (!secret) return setAnswer({ state: 'failed', reason: isGone ? 'keyless' : 'unreachable' });
      try {
        setAnswer(await answerOf(await callPath({ ...call, secret, signal: abort.signal })));
      } catch {
        setAnswer({ state: 'failed', reason: abort.signal.aborted ? 'stopped' : 'unreachable' });
      }
    },
  };
}

export async function answerOf(response: Response): Promise<Extract<SecondAnswer, { state: 'here' }>> {
  const { status, headers } = response;
  const contentType = headers.get('content-type') ?? '';
  const isText = contentType === '' || /json|^text\/|event-stream/.test(contentType);
  const data = isText ? await response.text() : await base64Of(await response.blob());
  const content = contentOf({
    headers: [['content-type', contentType]],
    body: { encoding: isText ? 'utf8' : 'base64', data },
  });
  return { state: 'here', status, requestId: headers.get('x-sluice-request-id'), content };
}

function base64Of(blob: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(blob);
  return promise;
}

/** Preselects the key that the request came with, if its secret was kept. */
export function useRequestKey(keyId: string | null): KeyChoice {
  const choice = useKeyChoice();
  const usedKey = useKey(keyId);
  const isKept = usedKey?.enabled === true && usedKey.canReveal;
  const { choose } = choice;
  // Only once; after that the person chooses.
  const isChosen = useRef(false);
  useEffect(() => {
    if (!isKept || keyId === null || isChosen.current) return;
    isChosen.current = true;
    choose(keyId);
  }, [isKept, keyId, choose]);
  return choice;
}
