import { Button } from '@mantine/core';
import { IconKey, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { callGateway } from '../../state/calls/gateway-api.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../state/choices/use-model-choice.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useCanChange, usePerson } from '../../state/rights/use-rights.ts';
import { CopyButton } from '../copying/CopyButton.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { AnswerText } from '../text/AnswerText.tsx';
import classes from './FirstCall.module.css';
import { answerOf, type CallAnswer, callBody, callCommand, hiddenKey } from './first-call.ts';

interface FirstCallProps {
  choice: KeyChoice;
  /** A step before it offers a key. */
  isAfterKey?: boolean;
}

/**
 * A complete command for a chat call with the person's own address, key and model, and a button that makes the call.
 */
export function FirstCall({ choice, isAfterKey = false }: FirstCallProps) {
  const { firstCall: names } = useLocalization().messages;
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? null);
  const { model } = useModelChoice(choice.key?.id ?? null, 'chat');
  const [isRunning, setRunning] = useState(false);
  const [answer, setAnswer] = useState<CallAnswer | null>(null);
  if (baseUrl === null) return null;
  // Without a key there is no list of models to choose from.
  const command = (key: string) => callCommand({ baseUrl, key, model: model || '…' });
  const run = async () => {
    setRunning(true);
    const { secret } = await choice.peek();
    setAnswer(secret === null ? { kind: 'keyless' } : await call(secret, model));
    setRunning(false);
  };
  const copied = async () => {
    const { secret } = await choice.peek();
    return secret && command(secret);
  };
  return (
    <div className={classes.call}>
      <div className={classes.command}>
        <pre className={classes.text}>{command(choice.secret ?? hiddenKey)}</pre>
        {choice.key?.canReveal && <CopyButton value={copied} label={names.command} />}
      </div>
      <div className={classes.acts}>
        {choice.key?.canReveal ? (
          <Button
            size="xs"
            leftSection={<IconPlayerPlay size={14} />}
            loading={isRunning}
            disabled={model === ''}
            onClick={() => void run()}
          >
            {names.run}
          </Button>
        ) : (
          <NewKeyButton isNext={!isAfterKey} />
        )}
      </div>
      <div role="status">{answer && <Answer answer={answer} />}</div>
    </div>
  );
}

async function call(secret: string, model: string): Promise<CallAnswer> {
  const startedMs = performance.now();
  try {
    const response = await callGateway({ path: '/chat/completions', secret, body: callBody(model) });
    const text = await response.text();
    const requestId = response.headers.get('x-sluice-request-id');
    return answerOf({ isOk: response.ok, text, requestId, durationMs: performance.now() - startedMs });
  } catch {
    return { kind: 'unreachable' };
  }
}

function Answer({ answer }: { answer: CallAnswer }) {
  const { messages, formats } = useLocalization();
  const { firstCall: names } = messages;
  if (answer.kind === 'keyless') return <p className={classes.bad}>{names.keyless}</p>;
  if (answer.kind === 'unreachable') return <p className={classes.bad}>{messages.commandFailed.unanswered}</p>;
  const { isOk, text, requestId, durationMs } = answer;
  return (
    <figure className={classes.answer} aria-label={names.answer}>
      <blockquote className={isOk ? classes.said : classes.bad}>{isOk ? <AnswerText text={text} /> : text}</blockquote>
      <figcaption className={classes.facts}>
        {formats.duration(durationMs)}
        {requestId !== null && (
          <>
            {' · '}
            <Link href={`/requests/${encodeURIComponent(requestId)}`}>{names.seeRequest}</Link>
          </>
        )}
      </figcaption>
    </figure>
  );
}

/** Creates a key, for people who have none or none with a kept secret. `isNext`: it is what they do next. */
export function NewKeyButton({ isNext }: { isNext: boolean }) {
  const { firstCall: names } = useMessages();
  const canChange = useCanChange();
  const command = useCommand();
  const person = usePerson();
  // Whoever is no administrator makes keys in their own groups only.
  const [group] = person && !person.isAdmin ? [...person.memberOf, ...person.manages] : [];
  const create = () =>
    void command.run({ type: 'key.create', name: names.firstKeyName, keepSecret: true, ...(group && { group }) });
  return (
    <>
      <Button
        size="xs"
        variant={isNext ? 'filled' : 'default'}
        leftSection={<IconKey size={14} />}
        loading={command.isRunning}
        disabled={!canChange}
        onClick={create}
      >
        {names.createKey}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}
