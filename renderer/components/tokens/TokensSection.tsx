import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { TokenView } from '../../../server/contract/people-views.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { usePerson } from '../../state/rights/use-rights.ts';
import { CommandDialog } from '../dialogs/CommandDialog.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EmptyNote } from '../feedback/EmptyNote.tsx';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import section from '../layout/Section.module.css';
import { Section } from '../layout/Section.tsx';
import list from '../lists/List.module.css';
import { CreateTokenDialog } from './CreateTokenDialog.tsx';
import { TokenRow } from './TokenRow.tsx';

/** API tokens: the person's own, with a button to create one; or, for administrators, everyone's. */
export function TokensSection({ of }: { of: 'me' | 'all' }) {
  const { messages, formats } = useLocalization();
  const { tokens: names } = messages;
  const me = usePerson();
  const { answer, problem, refetch } = useQuery<'tokens'>({ type: 'tokens' });
  const { answer: people } = useQuery<'people'>(of === 'all' ? { type: 'people' } : null);
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<TokenView | null>(null);
  const tokens = answer?.filter(({ personId }) => of === 'all' || personId === me?.id);
  const personNames = new Map(people?.map(({ id, name }) => [id, name]));
  const create = (
    <Button size="xs" leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
      {names.create}
    </Button>
  );
  return (
    <Section
      title={names.title}
      count={tokens && formats.number(tokens.length)}
      action={of === 'me' ? create : undefined}
    >
      {of === 'me' && <p className={section.text}>{names.hint}</p>}
      {problem && <CommandProblem problem={problem} />}
      {!tokens && !problem && <ListSkeleton rows={2} rowHeight={56} />}
      {tokens?.length === 0 && (
        <EmptyNote title={names.emptyTitle} next={of === 'me' ? names.emptyNext : names.emptyNextOfAll} />
      )}
      <ul className={list.list}>
        {tokens?.map((token) => (
          <TokenRow
            key={token.id}
            token={token}
            person={of === 'all' ? (personNames.get(token.personId) ?? token.personId) : null}
            onRevoke={() => setRevoking(token)}
          />
        ))}
      </ul>
      <CreateTokenDialog opened={isCreating} onClose={() => setCreating(false)} onCreated={refetch} />
      <RevokeTokenDialog token={revoking} onClose={() => setRevoking(null)} onRevoked={refetch} />
    </Section>
  );
}

interface RevokeTokenDialogProps {
  /** Null while there is nothing to confirm. */
  token: TokenView | null;
  onClose(): void;
  onRevoked(): void;
}

function RevokeTokenDialog({ token, onClose, onRevoked }: RevokeTokenDialogProps) {
  const { tokens: names } = useMessages();
  return (
    <CommandDialog
      command={token && { type: 'token.revoke', id: token.id }}
      title={names.revokeTitle}
      text={token ? names.revokeText(token.name) : ''}
      confirm={names.revokeConfirm}
      onDone={onRevoked}
      onClose={onClose}
    />
  );
}
