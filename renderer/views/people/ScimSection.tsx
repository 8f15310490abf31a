import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import type { ScimView } from '../../../server/contract/people-views.ts';
import { CopyLine, SecretContent } from '../../components/copying/CopyButton.tsx';
import { CommandDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import section from '../../components/layout/Section.module.css';
import { Section } from '../../components/layout/Section.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/control/use-query.ts';
import classes from './People.module.css';

/** Whether the identity provider pushes people and groups, and the token that it needs for that. */
export function ScimSection() {
  const { scim: names } = useMessages();
  const { answer: view, problem, refetch } = useQuery<'scim'>({ type: 'scim' });
  const [asked, setAsked] = useState<'token' | 'off' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Section title={names.title} action={view && <ScimActions isOn={view.isOn} onAsk={setAsked} />}>
      {problem && <CommandProblem problem={problem} />}
      {!view && !problem && <ListSkeleton rows={1} rowHeight={60} />}
      {view && <ScimState view={view} />}
      <CommandDialog
        command={asked === 'token' ? { type: 'scim.token' } : null}
        title={view?.isOn ? names.replaceTitle : names.onTitle}
        text={view?.isOn ? names.replaceText : `${names.onText}${view?.deletesPushed ? names.deletes : ''}`}
        confirm={view?.isOn ? names.replaceConfirm : names.onConfirm}
        onDone={(made) => {
          setSecret(made.secret);
          refetch();
        }}
        onClose={() => setAsked(null)}
      />
      <CommandDialog
        command={asked === 'off' ? { type: 'scim.off' } : null}
        title={names.offTitle}
        text={names.offText}
        confirm={names.offConfirm}
        onDone={refetch}
        onClose={() => setAsked(null)}
      />
      <ModalFrame opened={secret !== null} onClose={() => setSecret(null)} title={names.made} ignoresClickOutside>
        {secret !== null && (
          <SecretContent
            shown={{
              ...{ title: names.made, name: names.title, secret, isKept: false },
              words: { text: names.once, label: names.what },
            }}
            onDone={() => setSecret(null)}
          />
        )}
      </ModalFrame>
    </Section>
  );
}

function ScimActions({ isOn, onAsk }: { isOn: boolean; onAsk(what: 'token' | 'off'): void }) {
  const { scim: names } = useMessages();
  return (
    <Group gap="xs">
      {isOn && (
        <Button size="xs" variant="default" onClick={() => onAsk('off')}>
          {names.off}
        </Button>
      )}
      <Button size="xs" variant="default" onClick={() => onAsk('token')}>
        {isOn ? names.replace : names.on}
      </Button>
    </Group>
  );
}

function ScimState({ view }: { view: ScimView }) {
  const { messages, formats } = useLocalization();
  const { scim: names } = messages;
  if (!view.isOn) return <p className={section.text}>{names.hint}</p>;
  const { url, usedAt, users, active, groups, withoutExternalId, unknownPeople } = view;
  return (
    <>
      <p className={section.text}>
        {names.pushed(formats.number(users), formats.number(active), formats.number(groups))}{' '}
        {usedAt === null ? names.neverUsed : <RelativeTime moment={usedAt} phrase={names.used} />}
      </p>
      {withoutExternalId > 0 && (
        <p className={section.text}>{names.withoutExternalId(formats.number(withoutExternalId))}</p>
      )}
      {unknownPeople > 0 && <p className={section.text}>{names.unknownPeople(formats.number(unknownPeople))}</p>}
      <div className={classes.address}>
        <CopyLine value={url} label={names.address} />
      </div>
    </>
  );
}
