import type { GroupView } from '../../../../server/contract/access-views.ts';
import { CassetteFields } from '../../../components/access/CassetteFields.tsx';
import { CollapsibleFields } from '../../../components/forms/CollapsibleFields.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import type { PartProps } from './group-draft.ts';

/** Whether requests of the group's keys are recorded, or answered from recordings. */
export function CassetteField({ group, draft, change, lock }: PartProps & { group: GroupView }) {
  const { cassettes: names } = useMessages();
  const { mode, folder } = draft.cassette;
  const isSet = mode !== 'off';
  const summary = [names.modes[mode], ...(isSet && folder !== '' ? [folder] : [])].join(' · ');
  return (
    <CollapsibleFields title={names.title} summary={summary} isSet={isSet} lock={lock}>
      <CassetteFields draft={draft.cassette} saved={group.cassette} onChange={(cassette) => change({ cassette })} />
    </CollapsibleFields>
  );
}
