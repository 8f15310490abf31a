import type { GroupView } from '../../../server/contract/access-views.ts';
import { CassetteFields } from '../../components/CassetteFields.tsx';
import { FieldPart } from '../../components/FieldPart.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { DraftProps } from './group-draft.ts';

/** Whether requests of the group's keys are recorded, or answered from recordings. */
export function CassetteField({ group, draft, change }: DraftProps & { group: GroupView }) {
  const { cassettes: names } = useMessages();
  return (
    <FieldPart legend={names.title}>
      <CassetteFields draft={draft.cassette} saved={group.cassette} onChange={(cassette) => change({ cassette })} />
    </FieldPart>
  );
}
