import { NativeSelect } from '@mantine/core';
import type { Lock } from '../../../../server/contract/lock.ts';
import { passesThrough } from '../../../../server/contract/operations.ts';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { Lockable } from '../../../components/locks/Lockable.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { onlyProvider, type PartProps, passthroughChoices } from './group-draft.ts';

interface PassthroughFieldProps extends PartProps {
  /** The provider that the draft selects; null if none, undefined until known. */
  provider: string | null | undefined;
  deletionLock: Lock | null;
}

const deletions = ['alone', 'allow', 'refuse'] as const;

/** The provider for API calls that Sluice does not serve itself: files, batches, assistants … */
export function PassthroughField({ draft, provider, change, lock, deletionLock }: PassthroughFieldProps) {
  const { groups: names } = useMessages();
  const providerName = useProviderName();
  const views = useControlState((state) => state.views?.providers ?? null) ?? [];
  const able = views.filter(({ isDemo, dialect }) => !isDemo && passesThrough[dialect]).map(({ id }) => id);
  const choices = passthroughChoices(draft, able);
  const labelOf = (choice: string | null) => {
    if (choice === onlyProvider) return names.passthroughOnly;
    return choice === null ? names.passthroughNone : providerName(choice);
  };
  const isNobody = provider === null && draft.passthrough !== null;
  const isUnset = draft.passthrough === onlyProvider;
  const whyNobody = able.length === 0 ? names.passthroughNobody : names.passthroughSeveral;
  const isRefused = isNobody && !isUnset;
  return (
    <CollapsibleFields
      title={names.passthrough}
      summary={isNobody ? names.passthroughNone : labelOf(draft.passthrough)}
      isSet={(draft.passthrough !== null && !isUnset) || draft.deleteUnknown !== 'alone'}
      isForcedOpen={isRefused}
      lock={lock}
    >
      <NativeSelect
        label={names.passthroughTo}
        description={isNobody && isUnset ? whyNobody : names.passthroughHint}
        data={choices.map((choice, index) => ({ value: String(index), label: labelOf(choice) }))}
        value={String(choices.indexOf(draft.passthrough))}
        error={isRefused && names.passthroughOutside}
        onChange={(event) => change({ passthrough: choices[Number(event.currentTarget.value)] ?? null })}
      />
      <Lockable lock={deletionLock}>
        <NativeSelect
          label={names.deleteUnknown}
          description={names.deleteUnknownHint}
          data={deletions.map((value) => ({ value, label: names.deletions[value] }))}
          value={draft.deleteUnknown}
          onChange={({ currentTarget: { value } }) =>
            change({ deleteUnknown: deletions.find((each) => each === value) ?? 'refuse' })
          }
        />
      </Lockable>
    </CollapsibleFields>
  );
}
