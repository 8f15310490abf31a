import { Link } from 'wouter';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import classes from '../Playground.module.css';

/** Shown below an answer: its usage, cost and speed, as recorded by Sluice. */
export function AnswerFacts({ requestId }: { requestId: string | null }) {
  const { messages, formats } = useLocalization();
  const { answer: names, toRequest } = messages.playground;
  const providerName = useProviderName();
  const request = useControlState(({ requests }) => requests.find(({ id }) => id === requestId) ?? null);
  if (!request || request.outcome === null) return null;
  const { usage, costUsd, firstByteMs, totalMs, provider } = request;
  const speed = tokensPerSecond(request);
  const facts = [
    usage?.inputTokens !== undefined && names.tokensIn(formats.number(usage.inputTokens)),
    usage?.outputTokens !== undefined && names.tokensOut(formats.number(usage.outputTokens)),
    costUsd !== null && formats.dollars(costUsd),
    firstByteMs !== null && names.firstByte(formats.duration(firstByteMs)),
    speed !== null && names.speed(formats.number(Math.round(speed))),
    totalMs !== null && names.total(formats.duration(totalMs)),
    provider !== null && providerName(provider),
  ];
  return (
    <p className={classes.answerFacts}>
      {facts.filter(Boolean).join(' · ')}{' '}
      <Link href={`/requests/${request.id}`} title={toRequest}>
        {names.details}
      </Link>
    </p>
  );
}

/** Measured from the first byte; null if the time was too short to measure. */
function tokensPerSecond({ usage, firstByteMs, totalMs }: LiveRequest): number | null {
  const streamMs = (totalMs ?? 0) - (firstByteMs ?? 0);
  if (firstByteMs === null || streamMs < 20 || !usage?.outputTokens) return null;
  return usage.outputTokens / (streamMs / 1_000);
}
