import { Button, Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { type TokenScope, tokenScopes } from '../../../server/contract/people.ts';
import type { TokenView } from '../../../server/contract/people-views.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { usePerson } from '../../state/rights/use-rights.ts';
import { useNow } from '../../state/window/use-now.ts';
import { IconAction } from '../buttons/IconAction.tsx';
import { SecretContent, type ShownSecret } from '../copying/CopyButton.tsx';
import { CommandDialog } from '../dialogs/ConfirmDialog.tsx';
import { DialogActions, ModalFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EmptyNote } from '../feedback/EmptyNote.tsx';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import section from '../layout/Section.module.css';
import { Section } from '../layout/Section.tsx';
import list from '../lists/List.module.css';
import { RelativeTime } from '../text/RelativeTime.tsx';

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
    <Button size="xs" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
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

interface CreateTokenDialogProps {
  opened: boolean;
  onClose(): void;
  onCreated(): void;
}

const validDays = [7, 30, 90, 180, 365] as const;

/** The form for a new API token, followed by its secret, which is shown only once. */
function CreateTokenDialog({ opened, onClose, onCreated }: CreateTokenDialogProps) {
  const { tokens: names } = useMessages();
  const [secret, setSecret] = useState<ShownSecret | null>(null);
  const close = () => {
    setSecret(null);
    onClose();
  };
  const show = (shown: ShownSecret) => {
    setSecret(shown);
    onCreated();
  };
  return (
    <ModalFrame
      opened={opened}
      onClose={close}
      title={secret?.title ?? names.createTitle}
      ignoresClickOutside={secret !== null}
    >
      {secret ? <SecretContent shown={secret} onDone={close} /> : <CreateTokenForm onCancel={close} onCreated={show} />}
    </ModalFrame>
  );
}

interface CreateTokenFormProps {
  onCancel(): void;
  onCreated(secret: ShownSecret): void;
}

function CreateTokenForm({ onCancel, onCreated }: CreateTokenFormProps) {
  const { tokens: names } = useMessages();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<TokenScope[]>(['read']);
  const [days, setDays] = useState(90);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const tokenName = name.trim();
    const result = await command.run({ type: 'token.create', name: tokenName, scopes, days });
    if (!result) return;
    const words = { text: names.once(tokenName), label: names.what };
    onCreated({ title: names.created, name: tokenName, secret: result.secret, isKept: false, words });
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          placeholder={names.namePlaceholder}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          maxLength={100}
          autoComplete="off"
          required
          data-autofocus
        />
        <Checkbox.Group
          label={names.scopes}
          value={scopes}
          onChange={(chosen) => setScopes(tokenScopes.filter((scope) => chosen.includes(scope)))}
        >
          <Stack gap="xs" mt={6}>
            {tokenScopes.map((scope) => (
              <Checkbox
                key={scope}
                value={scope}
                label={names.scopeNames[scope]}
                description={names.scopeHints[scope]}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <NativeSelect
          label={names.expiry}
          data={validDays.map((count) => ({ value: String(count), label: names.days(count) }))}
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
        />
        <DialogActions
          command={command}
          submit={names.submit}
          isBlocked={name.trim() === '' || scopes.length === 0}
          onLeave={onCancel}
        />
      </Stack>
    </form>
  );
}

interface TokenRowProps {
  token: TokenView;
  /** The owner's name; null if it is the person's own token. */
  person: string | null;
  onRevoke(): void;
}

function TokenRow({ token, person, onRevoke }: TokenRowProps) {
  const { messages, formats } = useLocalization();
  const { tokens: names } = messages;
  const { name, scopes, createdAt, expiresAt } = token;
  const isExpired = useNow((now) => expiresAt <= now);
  return (
    <li className={list.plain}>
      <div>
        <div className={list.head}>
          <span className={list.name}>{name}</span>
          {scopes.map((scope) => (
            <span key={scope} className={list.tag} title={names.scopeHints[scope]}>
              {names.scopeNames[scope]}
            </span>
          ))}
        </div>
        <div className={list.detail}>
          {person !== null && `${names.of(person)} · `}
          <RelativeTime moment={createdAt} phrase={names.createdAgo} />
          {' · '}
          {isExpired ? (
            <span className={list.warning}>{names.expired}</span>
          ) : (
            <span title={formats.fullMoment(expiresAt)}>{names.expires(formats.day(expiresAt))}</span>
          )}
        </div>
      </div>
      <IconAction label={names.revoke(name)} icon={<IconTrash size={16} />} onClick={onRevoke} />
    </li>
  );
}
