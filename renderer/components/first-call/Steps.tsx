import { Button } from '@mantine/core';
import { IconCheck, IconEye, IconEyeOff } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { IconAction } from '../buttons/IconAction.tsx';
import { CopyButton } from '../copying/CopyButton.tsx';
import { NewKeyButton } from './FirstCall.tsx';
import { hiddenKey } from './first-call.ts';
import classes from './Steps.module.css';

interface StepProps {
  number: number;
  title: string;
  text: string;
  isDone: boolean;
  children: ReactNode;
}

/** One of the first steps, in an ordered list. */
export function Step({ number, title, text, isDone, children }: StepProps) {
  const { firstRun: names } = useMessages();
  return (
    <li className={classes.step} data-is-done={isDone || undefined}>
      <span className={classes.mark} aria-hidden>
        {isDone ? <IconCheck size={15} stroke={2.5} /> : number}
      </span>
      <div className={classes.content}>
        <h3 className={classes.title}>
          {title}
          {isDone && <span className={classes.done}>{names.done}</span>}
        </h3>
        <p className={classes.text}>{text}</p>
        {children}
      </div>
    </li>
  );
}

/** The tools that Sluice sets up in three clicks from here. */
const usualTools: readonly (readonly [client: string, name: string])[] = [
  ['claude-code', 'Claude Code'],
  ['codex', 'Codex CLI'],
  ['opencode', 'opencode'],
];

/** The tools that most people have, one click from their steps. */
export function ToolLinks() {
  const { firstRun: names } = useMessages();
  return (
    <div className={classes.services}>
      {usualTools.map(([client, name]) => (
        <Button key={client} size="xs" variant="default" component={Link} href={`/connect/${client}`}>
          {name}
        </Button>
      ))}
      <Button size="xs" variant="default" component={Link} href="/connect">
        {names.toolOpen}
      </Button>
    </div>
  );
}

interface AddressStepProps {
  choice: KeyChoice;
  /** The first step is to get a key. */
  isFirst?: boolean;
  onCopied(): void;
}

/** The settings that every client needs: the base URL and a key, whose secret is revealed only on request. */
export function AddressStep({ choice, isFirst = false, onCopied }: AddressStepProps) {
  const { firstRun: names, status } = useMessages();
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? '');
  const copyOf = (value: () => Promise<string | null>) => async () => {
    const text = await value();
    if (text !== null) onCopied();
    return text;
  };
  const copiedKey = copyOf(async () => (await choice.peek()).secret);
  return (
    <dl className={classes.values}>
      <dt>{status.baseUrl}</dt>
      <dd className={classes.value}>
        <code className={classes.code}>{baseUrl}</code>
        <CopyButton value={copyOf(async () => baseUrl)} label={status.baseUrl} />
      </dd>
      <dt>{names.key}</dt>
      <dd className={classes.value}>
        {choice.key?.canReveal ? (
          <>
            <code className={classes.code}>{choice.secret ?? hiddenKey}</code>
            {choice.secret === null ? (
              <IconAction label={names.showKey} icon={<IconEye size={18} />} onClick={() => void choice.reveal()} />
            ) : (
              <IconAction label={names.hideKey} icon={<IconEyeOff size={18} />} onClick={choice.forget} />
            )}
            <CopyButton value={copiedKey} label={names.key} />
          </>
        ) : (
          <NewKeyButton isNext={isFirst} />
        )}
      </dd>
    </dl>
  );
}
