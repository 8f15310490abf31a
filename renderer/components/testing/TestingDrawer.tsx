import { Button, NativeSelect, Stack, Switch, Textarea } from '@mantine/core';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { GroupView, KeyView } from '../../../server/contract/access-views.ts';
import { type FaultProfileName, faultProfileNames } from '../../../server/contract/faults.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useOne } from '../../state/control/use-found.ts';
import { useLocks, useMayStop, useRights } from '../../state/rights/use-rights.ts';
import { overlay, type TestingSubject } from '../../state/window/overlay.ts';
import { useSessionValue } from '../../state/window/session-value.ts';
import { DrawerFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EmptyNote } from '../feedback/EmptyNote.tsx';
import { CacheSection } from './CacheSection.tsx';
import { CassetteSection, cassetteOf, keyCassetteOf } from './CassetteSection.tsx';
import classes from './Testing.module.css';
import { type TestedView, useDescribeTests } from './TestingLine.tsx';

/** What helps to test the program behind a key or group: faults on purpose, cassettes and the cache; and what of it is on. */
export function TestingDrawer() {
  const { testing: names } = useMessages();
  const [subject, choose] = useSessionValue(overlay.testingSubject);
  return (
    <DrawerFrame title={names.title} opened onClose={overlay.close} isOverlay>
      <div className={classes.drawer}>
        <SubjectSelect subject={subject} onChoose={choose} />
        {subject === null && <AllThatIsOn onChoose={choose} />}
        {subject?.kind === 'key' && <TestsOfKey key={`key ${subject.id}`} id={subject.id} />}
        {subject?.kind === 'group' && <TestsOfGroup key={`group ${subject.id}`} id={subject.id} />}
      </div>
    </DrawerFrame>
  );
}

interface SubjectSelectProps {
  subject: TestingSubject | null;
  onChoose(subject: TestingSubject | null): void;
}

function SubjectSelect({ subject, onChoose }: SubjectSelectProps) {
  const { testing: names } = useMessages();
  const reported = useSubjects();
  const { view } = useOne(subject?.kind ?? 'key', subject?.id ?? null);
  const isListed = reported.some(({ kind, id }) => kind === subject?.kind && id === subject.id);
  const all: TestedView[] = [...reported, ...(subject && view && !isListed ? [{ ...subject, view }] : [])];
  const subjectText = ({ kind, id }: TestingSubject) => `${kind}:${id}`;
  const optionsOf = (wanted: TestingSubject['kind']) => ({
    group: names.kinds[wanted],
    items: all
      .filter(({ kind }) => kind === wanted)
      .map((each) => ({ value: subjectText(each), label: each.view.name ?? each.id })),
  });
  return (
    <NativeSelect
      label={names.subject}
      value={subject ? subjectText(subject) : ''}
      onChange={({ currentTarget }) => onChoose(all.find((each) => subjectText(each) === currentTarget.value) ?? null)}
      data={[{ value: '', label: names.all }, optionsOf('key'), optionsOf('group')]}
      data-autofocus
    />
  );
}

/** Those that the person manages. */
function useSubjects(): TestedView[] {
  const keys = useControlState((state) => state.views?.keys ?? null) ?? [];
  const groups = useControlState((state) => state.views?.groups ?? null) ?? [];
  const { manages } = useRights();
  return [
    ...keys.filter(({ group }) => manages(group)).map((view) => ({ kind: 'key' as const, id: view.id, view })),
    ...groups.filter(({ id }) => manages(id)).map((view) => ({ kind: 'group' as const, id: view.id, view })),
  ];
}

function AllThatIsOn({ onChoose }: Pick<SubjectSelectProps, 'onChoose'>) {
  const { testing: names } = useMessages();
  const describe = useDescribeTests();
  const tested = useSubjects().flatMap((each) => {
    const on = describe(each);
    return on.length > 0 ? [{ ...each, on }] : [];
  });
  if (tested.length === 0) return <EmptyNote title={names.nothing} next={names.nothingNext} />;
  return (
    <ul className={classes.list}>
      {tested.map(({ kind, id, view, on }) => (
        <li key={`${kind} ${id}`} className={classes.row}>
          <div>
            <p className={classes.subject}>{view.name ?? id}</p>
            <p className={classes.text}>{on.join(' · ')}</p>
          </div>
          <Button
            size="xs"
            variant="default"
            aria-label={names.changeOf(view.name ?? id)}
            onClick={() => onChoose({ kind, id })}
          >
            {names.change}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function TestsOfKey({ id }: { id: string }) {
  const { faults, cassettes } = useMessages();
  const { view } = useOne('key', id);
  const { isAdmin } = useRights();
  const asking = useCommand();
  const recording = useCommand();
  if (!view) return null;
  const update = (changes: Partial<Pick<KeyView, 'faults' | 'cassette'>>) => ({
    ...{ type: 'key.update' as const, id, changes },
  });
  return (
    <>
      <Part title={faults.part}>
        <FaultsSection subject={{ kind: 'key', id }} name={view.name ?? id} />
        <Switch
          label={faults.ask}
          description={faults.askHint}
          checked={view.faults}
          disabled={asking.isRunning}
          onChange={(event) => void asking.run(update({ faults: event.currentTarget.checked }))}
        />
        {asking.problem && <CommandProblem problem={asking.problem} />}
      </Part>
      {/* A folder on the machine that Sluice runs on. */}
      {isAdmin && (
        <Part title={cassettes.title}>
          <CassetteSection
            saved={view.cassette}
            hasGroup
            command={recording}
            onSave={(draft) => void recording.run(update({ cassette: keyCassetteOf(draft) }))}
          />
        </Part>
      )}
    </>
  );
}

function TestsOfGroup({ id }: { id: string }) {
  const { faults, cassettes, groups } = useMessages();
  const { view } = useOne('group', id);
  const locks = useLocks();
  const { isAdmin } = useRights();
  const recording = useCommand();
  const caching = useCommand();
  if (!view) return null;
  const { keyCount: _, limitUse: __, ...config } = view;
  const put = (changes: Partial<Pick<GroupView, 'cassette' | 'cache'>>) => ({
    ...{ type: 'group.put' as const, group: { ...config, ...changes } },
  });
  const lockOf = (field: keyof GroupView) => locks.changing('groups', id, field);
  return (
    <>
      <Part title={faults.part}>
        <FaultsSection subject={{ kind: 'group', id }} name={view.name ?? id} />
      </Part>
      {isAdmin && (
        <Part title={cassettes.title}>
          <CassetteSection
            saved={view.cassette}
            lock={lockOf('cassette')}
            command={recording}
            onSave={(draft) => void recording.run(put({ cassette: cassetteOf(draft) }))}
          />
        </Part>
      )}
      {isAdmin && (
        <Part title={groups.cache.title}>
          <CacheSection
            group={view}
            lock={lockOf('cache')}
            command={caching}
            onSave={(cache) => void caching.run(put({ cache }))}
          />
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes.section} aria-labelledby={id}>
      <h3 className={classes.title} id={id}>
        {title}
      </h3>
      {children}
    </section>
  );
}

type Choice = FaultProfileName | 'rules';
const choices: readonly Choice[] = [...faultProfileNames, 'rules'];

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const spans = [5, 10, 30, 60] as const;

/** Faults on purpose: those that are on now, with their end, or the form that switches some on for a while. */
function FaultsSection({ subject, name }: { subject: TestingSubject; name: string }) {
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
