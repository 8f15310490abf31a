import { Text } from '@mantine/core';
import { useState } from 'react';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { ConnectForm } from './ConnectForm.tsx';
import { PresetPicker } from './PresetPicker.tsx';
import type { Field, ProviderDraft } from './provider-draft.ts';
import { Trial } from './Trial.tsx';

/** The current step: choosing a service, entering what it needs, or testing it. */
export type Stage =
  | { name: 'pick' }
  /** `isLinked`: a link filled it in, which may come from anyone. */
  | { name: 'connect'; draft: ProviderDraft; field?: Field | null; isLinked?: boolean }
  | { name: 'try'; draft: ProviderDraft };

interface AddProviderProps {
  /** Null while closed. */
  first: Stage | null;
  onClose(): void;
  onKept(): void;
}

/**
 * Adds a provider in three steps, starting with `first`. Nothing is added before the last one has shown what it is. The
 * content is remounted each time it opens, so that it starts empty.
 */
export function AddProvider({ first, onClose, onKept }: AddProviderProps) {
  const { add: names } = useMessages().providers;
  return (
    <ModalFrame opened={first !== null} onClose={onClose} title={names.title}>
      {first && <Stages first={first} onKept={onKept} />}
    </ModalFrame>
  );
}

function Stages({ first, onKept }: { first: Stage; onKept(): void }) {
  const { add: names } = useMessages().providers;
  const [stage, setStage] = useState(first);
  const test = (draft: ProviderDraft) => setStage({ name: 'try', draft });
  switch (stage.name) {
    case 'pick':
      return <PresetPicker onPick={(draft) => setStage({ name: 'connect', draft })} onTry={test} />;
    case 'connect':
      return (
        <>
          {stage.isLinked && (
            <Text c="dimmed" mb="sm">
              {names.linked}
            </Text>
          )}
          <ConnectForm
            initial={stage.draft}
            field={stage.field ?? null}
            onBack={() => setStage({ name: 'pick' })}
            onTry={test}
          />
        </>
      );
    case 'try':
      return (
        <Trial
          draft={stage.draft}
          // What is corrected may lead elsewhere, where nothing is trusted yet.
          onEdit={(field) => setStage({ name: 'connect', draft: { ...stage.draft, certificate: null }, field })}
          onTrust={(certificate) => test({ ...stage.draft, certificate })}
          onKept={onKept}
        />
      );
  }
}
