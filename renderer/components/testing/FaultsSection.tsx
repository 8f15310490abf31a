import { Button, NativeSelect, Stack, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type FaultProfileName, faultProfileNames } from '../../../server/contract/faults.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useMayStop } from '../../state/rights/use-rights.ts';
import type { TestingSubject } from '../../state/window/overlay.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import classes from './Testing.module.css';

type Choice = FaultProfileName | 'rules';
const choices: readonly Choice[] = [...faultProfileNames, 'rules'];

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const spans = [5, 10, 30, 60] as const;

/** Faults on purpose: those that are on now, with their end, or the form that switches some on for a while. */
export function FaultsSection({ subject, name }: { subject: TestingSubject; name: string }) {
  const { messages, formats } = useLocalization();
  const names = messages.faults;
  const { kind, id } = subject;
  const running = useControlState((state) =>
    state.views?.status.faults.find((faults) => faults.kind === kind && faults.id === id),
  );
  const mayStop = useMayStop(subject);
  const command = useCommand();
  if (!running) return <StartForm subject={subject} name={name} />;
  const what = running.profile === null ? running.rules.join(', ') : names.profile(running.profile);
  return (
    <>
      <p className={classes.text} role="status">
        {names.running(what, names[kind](name), formats.clock(running.untilMs))}
      </p>
      {mayStop && (
        <Button
          size="xs"
          variant="default"
          className={classes.start}
          loading={command.isRunning}
          onClick={() => void command.run({ type: 'faults.stop', [kind]: id })}
        >
          {names.stop}
        </Button>
      )}
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}

function StartForm({ subject: { kind, id }, name }: { subject: TestingSubject; name: string }) {
  const { faults: names } = useMessages();
  const [choice, setChoice] = useState<Choice>('rough');
  const [rules, setRules] = useState('');
  const [minutes, setMinutes] = useState<(typeof spans)[number]>(10);
  const command = useCommand();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const rulesOrProfile = choice === 'rules' ? { rules: linesOf(rules) } : { profile: choice };
    void command.run({ type: 'faults.start', [kind]: id, ...rulesOrProfile, minutes });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <p className={classes.text}>{names.lead(names[kind](name))}</p>
        <NativeSelect
          label={names.profileLabel}
          value={choice}
          data={choices.map((each) => ({
            value: each,
            label: each === 'rules' ? names.ownRules : names.profiles[each],
          }))}
          onChange={({ currentTarget }) => setChoice(choices.find((each) => each === currentTarget.value) ?? 'rough')}
        />
        {choice === 'rules' && (
          <Textarea
            label={names.rulesLabel}
            description={names.rulesHint}
            value={rules}
            onChange={({ currentTarget }) => setRules(currentTarget.value)}
            autosize
            minRows={3}
            maxRows={10}
            spellCheck={false}
            required
            withAsterisk={false}
          />
        )}
        <NativeSelect
          label={names.minutes}
          value={String(minutes)}
          data={spans.map((span) => ({ value: String(span), label: names.spans[span] }))}
          onChange={({ currentTarget }) => setMinutes(spans.find((span) => String(span) === currentTarget.value) ?? 10)}
        />
        {command.problem && <CommandProblem problem={command.problem} />}
        <Button size="xs" variant="default" className={classes.start} type="submit" loading={command.isRunning}>
          {names.start}
        </Button>
      </Stack>
    </form>
  );
}
