import { Button, NativeSelect, Switch } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import type { GroupView, KeyView } from '../../../server/contract/access-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useOne } from '../../state/control/use-found.ts';
import { useLocks, useRights } from '../../state/rights/use-rights.ts';
import { overlay, type TestingSubject } from '../../state/window/overlay.ts';
import { useSessionValue } from '../../state/window/session-value.ts';
import { cassetteOf, keyCassetteOf } from '../access/cassette-draft.ts';
import { DrawerFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EmptyNote } from '../feedback/EmptyNote.tsx';
import { CacheSection } from './CacheSection.tsx';
import { CassetteSection } from './CassetteSection.tsx';
import { FaultsSection } from './FaultsSection.tsx';
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
