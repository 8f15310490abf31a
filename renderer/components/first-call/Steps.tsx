import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../messages/use-messages.ts';
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
